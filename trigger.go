package carrel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Trigger says whether a session is due for a pass. It changes nothing.
func (e *Engine) Trigger(ctx context.Context, scope governance.Scope, req *TriggerRequest) (_ *TriggerResult, err error) {
	defer during("trigger of session "+string(req.Session), &err)

	t := e.trigger(req.Trigger)
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if req.Window < 0 {
		return nil, fmt.Errorf("%w: a window of %d tokens", ErrRequest, req.Window)
	}
	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	res := &TriggerResult{Session: req.Session, Used: h.head.Window, Window: cmp.Or(req.Window, e.capacity(h.session.Model))}
	res.Effective, res.Figures = t.EffectiveOf(res.Window), t.Figures(res.Window)
	for i := range h.rows {
		switch h.rows[i].State {
		case store.StateLive:
			res.Messages += len(h.blocks[i].Messages)
		case store.StateStub:
			res.Messages++
		case store.StateCold, store.StatePurged:
		}
	}
	if res.Cycles, err = e.cycles(ctx, scope, req.Session); err != nil {
		return nil, err
	}
	res.Iterations = pager.Iterations(h.session.Messages, h.blocks)
	res.Pending = pager.Pending(h.session.Messages, h.blocks)
	res.Verdict = *t.Due(&pager.Load{
		Used: res.Used, Effective: res.Effective, Floor: t.FloorOf(res.Window), Messages: res.Messages,
		Cycles: res.Cycles, Iterations: res.Iterations, Pending: res.Pending, Retry: req.Retry,
	})
	return res, nil
}

// trigger returns the trigger of a request, or that of the options.
func (e *Engine) trigger(asked *pager.Trigger) *pager.Trigger {
	if asked != nil {
		return asked
	}
	return &e.opts.Trigger
}

// cycles returns how often a session was compressed, without what was undone.
func (e *Engine) cycles(ctx context.Context, scope governance.Scope, id transcript.SessionID) (int, error) {
	passes := make(map[string]bool)
	for entry, err := range e.store.Entries(ctx, scope, id, 0) {
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
