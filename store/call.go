package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/transcript"
)

// A Call is the record of a request to a model and its answer. It holds only
// ids, figures and digests, so it can stay when its session is purged.
type Call struct {
	ID      string               // made by the writer, such as "call_5c1f09ab7d20e613", unique in a scope
	Seq     int64                // position in its scope, from 1, in the order in which calls were recorded as begun; set by the store
	Session transcript.SessionID // may be empty, or name a session that is not stored
	State   CallState
	Begun   time.Time       // UTC, whole milliseconds
	Ended   time.Time       // UTC, whole milliseconds; zero while the state is CallIntent
	Intent  json.RawMessage // description of the call before it was sent, which the store does not interpret; holds no text
	Outcome json.RawMessage // outcome of the call; holds no text; nil in the state CallIntent
}

// A CallState is the state of a call. It is stored as its text.
type CallState string

// The states of a call. A call begins as an intent and ends in one of the
// other states. An unknown call may still end as done or failed.
const (
	CallIntent  CallState = "intent"  // about to be sent, or sent
	CallDone    CallState = "done"    // the whole answer arrived
	CallFailed  CallState = "failed"  // refused, or the answer was cut
	CallUnknown CallState = "unknown" // the outcome was never reported
)

// A CallFilter selects calls. Its zero value selects all.
type CallFilter struct {
	Session transcript.SessionID // calls of this session, unless empty
	Since   time.Time            // calls begun at this time or later, unless zero
	Open    bool                 // calls in the state CallIntent
	ID      string               // the call with this id, unless empty
	Before  int64                // calls with a lower Seq, unless 0
	Limit   int                  // largest number of calls, of which the latest are selected; 0 or less means all
}

// A Rewrite is a text that was sent to a model in place of messages of the client. A session has at
// most one rewrite of each kind for a chain: a new one replaces the earlier one.
type Rewrite struct {
	Chain    digest.Digest // digest of the client's messages up to the last replaced one; the store only compares it
	Kind     RewriteKind
	Epoch    int    // number of the epoch in which it was made: each RewriteHead begins one; 0 before the first
	Messages int    // number of messages in the chain, at least 1
	Cell     CellID // cell of kind CellSent with the sent bytes
}

// A RewriteKind is the kind of a rewrite. It is stored as its text.
type RewriteKind string

// The kinds of rewrites.
const (
	RewriteHead    RewriteKind = "head"    // replaces all messages of the chain
	RewriteMessage RewriteKind = "message" // replaces the last message of the chain
)

// Calls stores calls to models and rewrites.
type Calls interface {
	// Record writes calls durably, all or none. A call in the state CallIntent begins; if its id
	// exists, Record fails with ErrConflict. A call in another state ends the recorded call with
	// its id: only ID, State, Ended and Outcome are used. Record then fails with ErrNotFound if no
	// call with that id was begun, and with ErrConflict if it has ended, except that CallUnknown
	// may change to another state. It refuses calls that [ValidateCalls] refuses.
	Record(ctx context.Context, scope governance.Scope, calls []Call) error

	// Calls yields the selected calls by Seq, the last first.
	Calls(ctx context.Context, scope governance.Scope, filter CallFilter) iter.Seq2[*Call, error]

	// Rewrites yields the rewrites of a session by epoch, then by number of messages, kind and
	// chain. [Change.Rewrites] adds them. It yields ErrNotFound if the session does not exist.
	Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*Rewrite, error]
}

// ValidateCalls returns the first error in calls that can be found without the store. Every driver
// calls it before it writes. Each call has an ID, which occurs once, and a valid State. In the
// state CallIntent it has a time Begun and neither Ended nor Outcome; in every other state it has
// Ended.
func ValidateCalls(calls []Call) error {
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		c := &calls[i]
		switch ended := c.State != CallIntent; {
		case c.ID == "":
			return fmt.Errorf("call %d has no id", i+1)
		case seen[c.ID]:
			return fmt.Errorf("call %s is twice in one record", c.ID)
		case !c.State.valid():
			return fmt.Errorf("call %s: no such state: %q", c.ID, c.State)
		case !ended && c.Begun.IsZero():
			return fmt.Errorf("call %s has no begin time", c.ID)
		case ended == c.Ended.IsZero():
			return fmt.Errorf("call %s is %s: a call has an end time in every state except %s", c.ID, c.State, CallIntent)
		case !ended && c.Outcome != nil:
			return fmt.Errorf("call %s has an outcome in the state %s: a call has none before it has ended", c.ID, c.State)
		}
		seen[c.ID] = true
	}
	return nil
}

// Ends reports whether c may end a recorded call that is now in the state present.
func (c *Call) Ends(present CallState) bool {
	return present == CallIntent || present == CallUnknown && c.State != CallUnknown
}

// Fits reports whether the filter selects c, ignoring the limit.
func (f *CallFilter) Fits(c *Call) bool {
	return (f.Session == "" || c.Session == f.Session) && !c.Begun.Before(f.Since) && (!f.Open || c.State == CallIntent) &&
		(f.ID == "" || c.ID == f.ID) && (f.Before == 0 || c.Seq < f.Before)
}

func (s CallState) valid() bool {
	switch s {
	case CallIntent, CallDone, CallFailed, CallUnknown:
		return true
	default:
		return false
	}
}

// validateRewrites returns the first error in the rewrites of a change. The map brought has the
// kind of each cell that the change adds or adopts.
func validateRewrites(rewrites []Rewrite, brought map[CellID]CellKind) error {
	type key struct {
		kind  RewriteKind
		chain digest.Digest
	}
	seen := make(map[key]bool, len(rewrites))
	for i := range rewrites {
		r := &rewrites[i]
		switch {
		case r.Kind != RewriteHead && r.Kind != RewriteMessage:
			return fmt.Errorf("rewrite %d of the change: no such kind: %q", i+1, r.Kind)
		case r.Chain == digest.Digest{}:
			return fmt.Errorf("rewrite %d of the change has no chain", i+1)
		case seen[key{r.Kind, r.Chain}]:
			return fmt.Errorf("rewrite %d of the change has the same kind %q and chain as an earlier one", i+1, r.Kind)
		case r.Epoch < 0 || r.Messages < 1:
			return fmt.Errorf("rewrite %d of the change has epoch %d and %d messages: want at least 0 and 1", i+1, r.Epoch, r.Messages)
		case brought[r.Cell] != CellSent:
			return fmt.Errorf("rewrite %d of the change: the change adds no cell %s of kind %q, which has the sent bytes", i+1, r.Cell, CellSent)
		}
		seen[key{r.Kind, r.Chain}] = true
	}
	return nil
}
