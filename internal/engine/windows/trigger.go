package windows

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
)

// Trigger says whether a session is due for a pass.
func (e *Windows) Trigger(ctx context.Context, scope governance.Scope, req *api.TriggerRequest) (_ *api.TriggerResult, err error) {
	defer base.During("trigger", &err, "of session "+string(req.Session))

	t := e.trigger(req.Trigger)
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrRequest, err)
	}
	if req.Window < 0 {
		return nil, fmt.Errorf("%w: a window of %d tokens is below 0: want 0 or more", api.ErrRequest, req.Window)
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
	ops, err := e.Ops(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	for i := range ops {
		if ops[i].Op == hold.OpPage && !ops[i].Undone {
			res.Cycles++
		}
	}
	res.Iterations = pager.Iterations(h.Session.Messages, h.Blocks)
	res.Pending = pager.Pending(h.Session.Messages, h.Blocks)
	res.Advice = *t.Due(&pager.Load{
		Used: res.Used, Effective: res.Effective, Floor: res.Figures.Floor, Messages: res.Messages,
		Cycles: res.Cycles, Iterations: res.Iterations, Pending: res.Pending, Retry: req.Retry,
	})
	return res, nil
}

// trigger returns the argument asked or, if asked is nil, the trigger of the options.
func (e *Windows) trigger(asked *pager.Trigger) *pager.Trigger {
	if asked != nil {
		return asked
	}
	return &e.Opts.Trigger
}
