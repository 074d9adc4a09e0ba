// Package calls has the operations on calls to models: the record of calls and their outcomes,
// and the bytes sent in place of a client's.
//
// A call is recorded when it begins and when it ends, by ids, figures and digests only. A rewrite
// is text, so it belongs to a session: it is stored in the journal of the session and erased with
// it.
package calls

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/store"
)

// Calls has the operations on calls to models.
type Calls struct {
	*record.Recorder

	// Import, Compress and Export are implemented by packages sessions and windows.
	Import   func(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error)
	Compress func(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (*api.CompressResult, error)
	Export   func(ctx context.Context, scope governance.Scope, req *api.ExportRequest) (*api.ExportResult, error)
}

// maxWord is the most bytes of a word in the record of a call, so that a word is a name and never
// text of the conversation.
const maxWord = 256

// Begin records that a call is about to be sent.
func (e *Calls) Begin(ctx context.Context, scope governance.Scope, req *api.BeginRequest) (_ *api.BeginResult, err error) {
	defer base.During("begin call", &err)

	if err := checkWords(map[string]string{"dialect": req.Dialect, "model": req.Model, "reason": req.Reason, "client": req.Client}); err != nil {
		return nil, err
	}
	c := store.Call{ID: req.Call, Session: req.Session, State: store.CallIntent, Begun: e.Now()}
	if c.ID == "" {
		if c.ID, err = e.newID(); err != nil {
			return nil, err
		}
	}
	in := &record.StoredIntent{CallIntent: req.CallIntent}
	in.Manifest, in.Seal = "", digest.Digest{} // SealCall sets both
	if err := e.SealCall(scope, &c, in, req.Sealed); err != nil {
		return nil, err
	}
	if c.Intent, err = json.Marshal(in); err != nil {
		return nil, err
	}
	if err := e.Store.Record(ctx, scope, []store.Call{c}); err != nil {
		return nil, err
	}
	return &api.BeginResult{Call: c.ID}, nil
}

// newID returns the id of a call.
func (e *Calls) newID() (string, error) {
	var id [8]byte
	_, err := io.ReadFull(e.Opts.Rand, id[:])
	return "call_" + hex.EncodeToString(id[:]), err
}

// checkWords returns an error if a value in the map words has more than [maxWord] bytes. The keys
// of the map are names of fields for the error.
func checkWords(words map[string]string) error {
	for name, word := range words {
		if len(word) > maxWord {
			return &api.FieldError{Field: name, Text: fmt.Sprintf("has %d bytes, more than %d: it is to be a name", len(word), maxWord)}
		}
	}
	return nil
}

// End records the outcome of a call.
func (e *Calls) End(ctx context.Context, scope governance.Scope, req *api.EndRequest) (_ *api.EndResult, err error) {
	defer base.During("end", &err, "call "+req.Call)

	if err := checkWords(map[string]string{"reply": req.Reply, "stop": req.Stop, "error": req.Error}); err != nil {
		return nil, err
	}
	if req.State == store.CallIntent {
		return nil, &api.FieldError{Field: "state", Text: "is intent, with which a call begins"}
	}
	req = new(*req)
	if !req.First.IsZero() {
		req.First = req.First.UTC().Truncate(1e6)
	}
	outcome, err := json.Marshal(&req.CallOutcome)
	if err != nil {
		return nil, err
	}
	c := store.Call{ID: req.Call, State: req.State, Ended: e.Now(), Outcome: outcome}
	if err := e.Store.Record(ctx, scope, []store.Call{c}); err != nil {
		return nil, err
	}
	return &api.EndResult{Ended: c.Ended}, nil
}

// CloseCalls ends the open calls that began before req.Before, with the outcome unknown, because
// nobody recorded their outcome.
func (e *Calls) CloseCalls(ctx context.Context, scope governance.Scope, req *api.CloseCallsRequest) (_ *api.CloseCallsResult, err error) {
	defer base.During("close calls", &err)
	return base.Retry(ctx, func() (*api.CloseCallsResult, error) { // another process may have ended a call meanwhile
		var calls []store.Call
		res := &api.CloseCallsResult{Calls: []string{}}
		for c, err := range e.Store.Calls(ctx, scope, store.CallFilter{Open: true}) {
			if err != nil {
				return nil, err
			}
			if c.Begun.Before(req.Before) {
				calls = append(calls, store.Call{ID: c.ID, State: store.CallUnknown, Ended: e.Now()})
				res.Calls = append(res.Calls, c.ID)
			}
		}
		return res, e.Store.Record(ctx, scope, calls)
	})
}

// Calls returns the calls of a scope, or of one session, last begun first.
func (e *Calls) Calls(ctx context.Context, scope governance.Scope, req *api.CallsRequest) (_ *api.List[api.Call], err error) {
	defer base.During("list calls", &err)
	before := func(seq int64, limit int) ([]api.Call, error) {
		var list []api.Call
		filter := store.CallFilter{Session: req.Session, Since: req.Since, Before: seq}
		if req.Client == "" {
			filter.Limit = limit
		}
		err := e.EachCall(ctx, scope, filter, func(c *api.Call) bool {
			if req.Client == "" || c.Client == req.Client {
				list = append(list, *c)
			}
			return limit <= 0 || len(list) < limit
		})
		return list, err
	}
	if req.Logged {
		return e.listWithLogs(ctx, scope, req, before)
	}
	return base.ListPage(&base.Listing[api.Call, int64]{
		Name: "calls", Scope: scope, Of: []any{req.Session, req.Client, req.Since},
		Fetch: func(limit int) ([]api.Call, error) { return before(0, limit) },
		Key:   func(c *api.Call) int64 { return c.Seq },
		From:  before,
	}, req.Cursor)
}
