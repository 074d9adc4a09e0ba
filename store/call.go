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

// A Call is what a store knows of one request to a model and its answer. It holds no
// text, so that it outlives the session it names: ids, figures and digests are all there is.
type Call struct {
	ID      string               // such as "call_5c1f09ab7d20e613", unique in a scope
	Seq     int64                // place in its scope, from 1 in the order in which calls were begun; set by the store
	Session transcript.SessionID // may be empty, or name a session that is not stored
	State   CallState
	Begun   time.Time       // UTC, whole milliseconds
	Ended   time.Time       // UTC, whole milliseconds; zero while the state is CallIntent
	Intent  json.RawMessage // what was known before the request was sent; holds no text
	Outcome json.RawMessage // what came of it; holds no text; none while the state is CallIntent
}

// A CallState says what is known of the outcome of a call. It is stored as its text.
type CallState string

// The states of a call. It begins as an intent and ends in one of the others; one whose
// outcome is unknown may still end as done or failed, when that becomes known.
const (
	CallIntent  CallState = "intent"  // it is about to be sent, or was sent
	CallDone    CallState = "done"    // the answer came, whole
	CallFailed  CallState = "failed"  // it was refused, or its answer was cut
	CallUnknown CallState = "unknown" // nobody has said what came of it
)

// A CallFilter says which calls are wanted. All fit its zero value.
type CallFilter struct {
	Session transcript.SessionID // that name this session, unless it is empty
	Since   time.Time            // that were begun then or later, unless it is zero
	Open    bool                 // whose state is CallIntent
	Limit   int                  // how many at most, the latest; 0 or less is all
}

// A Rewrite says what was sent to a model in place of what a client sent. A session has
// one for each kind and chain: a later one takes its place.
type Rewrite struct {
	Chain    digest.Digest // of the client's messages, up to the last that it stands for
	Kind     RewriteKind
	Epoch    int    // in which it was made; 0 is the time before the first head
	Messages int    // how many messages of the client the chain is of, at least 1
	Cell     CellID // the bytes that were sent, a cell of kind CellSent
}

// A RewriteKind says what a rewrite stands for. It is stored as its text.
type RewriteKind string

// The kinds of rewrites.
const (
	RewriteHead    RewriteKind = "head"    // the messages sent in place of all that the chain is of
	RewriteMessage RewriteKind = "message" // the message sent in place of the last that the chain is of
)

// Calls keeps the calls to models, and what was sent in place of what a client sent.
type Calls interface {
	// Record writes calls, whole or not at all, durably. One whose state is CallIntent
	// begins, and it fails with ErrConflict if there is one with that id. One with
	// another state ends: only its id, its state, Ended and Outcome are taken. It fails
	// with ErrNotFound if no call with that id was begun, and with ErrConflict if it has
	// ended, unless as CallUnknown with now another state. It refuses calls that are not
	// valid, and an id that is there twice.
	Record(ctx context.Context, scope governance.Scope, calls []Call) error

	// Calls yields the calls that fit a filter by Seq, the last first.
	Calls(ctx context.Context, scope governance.Scope, filter CallFilter) iter.Seq2[*Call, error]

	// Rewrites yields the rewrites of a session by epoch, then by how many messages they
	// stand for, kind and chain. [Change.Rewrites] brings them. For no session it yields
	// ErrNotFound.
	Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*Rewrite, error]
}

// ValidateCalls reports what is wrong with calls that are to be recorded, whatever the
// store holds. Every driver asks before it writes.
func ValidateCalls(calls []Call) error {
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		c := &calls[i]
		switch ended := c.State != CallIntent; {
		case c.ID == "":
			return fmt.Errorf("call %d has no id", i+1)
		case seen[c.ID]:
			return fmt.Errorf("call %s is recorded twice at once", c.ID)
		case !c.State.valid():
			return fmt.Errorf("call %s: no such state: %q", c.ID, c.State)
		case !ended && c.Begun.IsZero():
			return fmt.Errorf("call %s was never begun", c.ID)
		case ended == c.Ended.IsZero():
			return fmt.Errorf("call %s is %s and has ended: %t", c.ID, c.State, !c.Ended.IsZero())
		case !ended && c.Outcome != nil:
			return fmt.Errorf("call %s has an outcome and has not ended", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// Ends reports whether a call may end as c says, given its present state.
func (c *Call) Ends(present CallState) bool {
	return present == CallIntent || present == CallUnknown && c.State != CallUnknown
}

// Fits reports whether a call is one of those that are wanted, whatever the limit.
func (f *CallFilter) Fits(c *Call) bool {
	return (f.Session == "" || c.Session == f.Session) && !c.Begun.Before(f.Since) && (!f.Open || c.State == CallIntent)
}

func (s CallState) valid() bool {
	switch s {
	case CallIntent, CallDone, CallFailed, CallUnknown:
		return true
	default:
		return false
	}
}

// validateRewrites reports what is wrong with the rewrites of a change, given the kinds
// of the cells that it brings.
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
			return fmt.Errorf("rewrite %d of the change is of the same %s as one before it", i+1, r.Kind)
		case r.Epoch < 0 || r.Messages < 1:
			return fmt.Errorf("rewrite %d of the change is of epoch %d and %d messages", i+1, r.Epoch, r.Messages)
		case brought[r.Cell] != CellSent:
			return fmt.Errorf("rewrite %d of the change: cell %s is not one of kind %q that the change brings", i+1, r.Cell, CellSent)
		}
		seen[key{r.Kind, r.Chain}] = true
	}
	return nil
}
