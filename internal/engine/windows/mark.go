package windows

import (
	"context"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/store"
)

// Mark marks a session as critical, or lifts the mark: in a critical one nothing stands for
// blocks that nobody can read and check, so that [StrategyOpaque] is refused.
func (e *Windows) Mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (_ *api.MarkResult, err error) {
	defer base.During("mark session "+string(req.Session), &err)

	return base.Retry(ctx, func() (*api.MarkResult, error) { return e.mark(ctx, scope, req) })
}

func (e *Windows) mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (*api.MarkResult, error) {
	head, err := e.Head(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	a, err := e.About(ctx, scope, head)
	if err != nil {
		return nil, err
	}
	res := &api.MarkResult{Session: req.Session, Critical: req.Critical, Changed: a.Critical != req.Critical}
	if !res.Changed || req.DryRun {
		return res, nil
	}
	a.Critical = req.Critical
	cell, err := e.JSONCell(store.CellAbout, a)
	if err != nil {
		return nil, err
	}
	c := &store.Change{Head: *head, Cells: []store.Cell{cell}}
	c.Head.About, c.Head.Updated = cell.ID, e.Now()
	res.Op, err = e.Apply(ctx, scope, head, c, "mark", map[string]bool{"critical": req.Critical})
	return res, err
}
