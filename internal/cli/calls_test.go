package cli

import (
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// recordCalls records calls as a proxy does: one managed, one refused, and one of a held-out
// conversation that is not stored.
func recordCalls(t *testing.T, env *job.Env, session transcript.SessionID, word string) {
	t.Helper()
	j := job.New(env)
	j.JSON = ""
	err := j.With(t.Context(), true, func(a *job.Access) error {
		intent := carrel.CallIntent{Dialect: "anthropic", Model: word, Messages: 3, Bytes: 9000, SentBytes: 4000, Epoch: 1, Managed: true, Reason: word}
		for i, end := range []*carrel.EndRequest{
			{State: store.CallDone, CallOutcome: carrel.CallOutcome{Status: 200, Usage: carrel.Usage{Input: 10, CacheRead: 3000, Output: 20}, Stop: "end_turn", Received: 70, First: env.Now()}},
			{State: store.CallFailed, CallOutcome: carrel.CallOutcome{Status: 400, Error: word}},
			nil,
		} {
			req := &carrel.BeginRequest{Call: []string{"call_1", "call_2", "call_3"}[i], Session: session, CallIntent: intent}
			if end == nil {
				req.Session, req.Managed, req.Holdout, req.Epoch = "held-"+session, false, true, 0
			}
			if _, err := a.Begin(t.Context(), a.Scope, req); err != nil {
				return err
			}
			if end == nil {
				continue
			}
			end.Call = req.Call
			if _, err := a.End(t.Context(), a.Scope, end); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
