package windows

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Trigger says whether a session is due for a pass.
func (e *Windows) Trigger(ctx context.Context, scope governance.Scope, req *api.TriggerRequest) (_ *api.TriggerResult, err error) {
	defer base.During("trigger of session "+string(req.Session), &err)

	t := e.trigger(req.Trigger)
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrRequest, err)
	}
	if req.Window < 0 {
		return nil, fmt.Errorf("%w: a window of %d tokens", api.ErrRequest, req.Window)
	}
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	res := &api.TriggerResult{Session: req.Session, Used: h.Head.Window, Window: cmp.Or(req.Window, e.Capacity(h.Session.Model))}
	res.Figures = t.Figures(res.Window)
	res.Effective = res.Figures.Effective
	for i := range h.Rows {
		switch h.Rows[i].State {
		case store.StateLive:
			res.Messages += len(h.Blocks[i].Messages)
		case store.StateStub:
			res.Messages++
		case store.StateCold, store.StatePurged:
		}
	}
	if res.Cycles, err = e.cycles(ctx, scope, req.Session); err != nil {
		return nil, err
	}
	res.Iterations = pager.Iterations(h.Session.Messages, h.Blocks)
	res.Pending = pager.Pending(h.Session.Messages, h.Blocks)
	res.Verdict = *t.Due(&pager.Load{
		Used: res.Used, Effective: res.Effective, Floor: res.Figures.Floor, Messages: res.Messages,
		Cycles: res.Cycles, Iterations: res.Iterations, Pending: res.Pending, Retry: req.Retry,
	})
	return res, nil
}

// trigger returns the trigger of a request, or that of the options.
func (e *Windows) trigger(asked *pager.Trigger) *pager.Trigger {
	if asked != nil {
		return asked
	}
	return &e.Opts.Trigger
}

// cycles returns how often a session was compressed, without what was undone.
func (e *Windows) cycles(ctx context.Context, scope governance.Scope, id transcript.SessionID) (int, error) {
	passes := make(map[string]bool)
	for entry, err := range e.Store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return 0, err
		}
		switch entry.Op {
		case "page":
			passes[entry.ID] = true
		case "undo":
			var u undone
			if err := json.Unmarshal(entry.Data, &u); err != nil {
				return 0, fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
			}
			delete(passes, u.Undoes)
		}
	}
	return len(passes), nil
}
