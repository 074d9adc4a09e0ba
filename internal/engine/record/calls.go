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

// EachCall calls f for each call that matches a filter, last begun first, until f returns false.
func (e *Recorder) EachCall(ctx context.Context, scope governance.Scope, filter store.CallFilter, f func(c *api.Call) bool) error {
	for c, err := range e.Store.Calls(ctx, scope, filter) {
		if err != nil {
			return err
		}
		call := api.Call{ID: c.ID, Seq: c.Seq, Session: c.Session, State: c.State, Begun: c.Begun, Ended: c.Ended}
		err := errors.Join(parse(c.Intent, &call.CallIntent), parse(c.Outcome, &call.CallOutcome))
		if err != nil {
			return fmt.Errorf("%w: decode the record of call %s: %w", store.ErrCorrupt, c.ID, err)
		}
		if !f(&call) {
			return nil
		}
	}
	return nil
}

// parse decodes data, a part of the record of a call, into a value. It does nothing if data is nil.
func parse(data json.RawMessage, into any) error {
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// latestCalls is how many of the last calls LastCall searches.
const latestCalls = 1000

// LastCall returns the last completed call of a session. If there is none, it returns the last
// completed call whose client uses the id of the session. It returns nil if the last calls include
// neither.
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
	return nil, nil //nolint:nilnil // no call came through the proxy
}
