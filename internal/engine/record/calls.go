package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// EachCall calls f for each call that fits a filter, last begun first, until f returns
// false.
func (e *Recorder) EachCall(ctx context.Context, scope governance.Scope, filter store.CallFilter, f func(c *api.Call) bool) error {
	for c, err := range e.Store.Calls(ctx, scope, filter) {
		if err != nil {
			return err
		}
		call := api.Call{ID: c.ID, Seq: c.Seq, Session: c.Session, State: c.State, Begun: c.Begun, Ended: c.Ended}
		err := errors.Join(parse(c.Intent, &call.CallIntent), parse(c.Outcome, &call.CallOutcome))
		if err != nil {
			return fmt.Errorf("%w: call %s: %w", store.ErrCorrupt, c.ID, err)
		}
		if !f(&call) {
			return nil
		}
	}
	return nil
}

// parse reads what is recorded of a call, if anything is.
func parse(data json.RawMessage, into any) error {
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// latestCalls is how many calls of a scope are looked at for one of a client's session.
const latestCalls = 1000

// LastCall returns the last call of a session whose answer came, or of what its client calls
// by the session's id. It is nil if there is none, or none among the last of the scope.
func (e *Recorder) LastCall(ctx context.Context, scope governance.Scope, id transcript.SessionID) (last *api.Call, err error) {
	for _, filter := range []store.CallFilter{{Session: id, Limit: latestCalls}, {Limit: latestCalls}} {
		err := e.EachCall(ctx, scope, filter, func(c *api.Call) bool {
			if c.State == store.CallDone && c.Session != "" && (c.Session == id || c.Client == string(id)) {
				last = c
			}
			return last == nil
		})
		if last != nil || err != nil {
			return last, err
		}
	}
	return nil, nil //nolint:nilnil // no proxy has seen it
}
