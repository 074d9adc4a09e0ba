package windows

import (
	"context"
	"encoding/json"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/store"
)

// Mark marks a session as critical, or lifts the mark: in a critical one nothing stands for
// blocks that nobody can read and check, so that [StrategyOpaque] is refused.
func (e *Windows) Mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (_ *api.MarkResult, err error) {
	defer base.During("mark session "+string(req.Session), &err)

	var res *api.MarkResult
	err = base.Retry(ctx, func() error {
		res, err = e.mark(ctx, scope, req)
		return err
	})
	return res, err
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
	body, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	cell, err := e.Cell(store.CellAbout, body)
	if err != nil {
		return nil, err
	}
	c := &store.Change{Head: *head, Cells: []store.Cell{cell}}
	c.Head.About, c.Head.Updated = cell.ID, e.Now()
	if c.Entry, err = e.Entry(scope, req.Session, head.Revision, "mark", map[string]bool{"critical": req.Critical}); err != nil {
		return nil, err
	}
	if _, err := e.Store.Apply(ctx, scope, req.Session, head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	return res, nil
}
