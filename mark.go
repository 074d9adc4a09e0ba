package carrel

import (
	"context"
	"encoding/json"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Mark marks a session as critical, or lifts the mark: in a critical one nothing
// stands for blocks that nobody can read and check, so that [StrategyOpaque] is
// refused.
func (e *Engine) Mark(ctx context.Context, scope governance.Scope, req *MarkRequest) (_ *MarkResult, err error) {
	defer during("mark session "+string(req.Session), &err)

	var res *MarkResult
	err = retry(ctx, func() error {
		res, err = e.mark(ctx, scope, req)
		return err
	})
	return res, err
}

func (e *Engine) mark(ctx context.Context, scope governance.Scope, req *MarkRequest) (*MarkResult, error) {
	head, err := e.head(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	a, err := e.about(ctx, scope, head)
	if err != nil {
		return nil, err
	}
	res := &MarkResult{Session: req.Session, Critical: req.Critical, Changed: a.Critical != req.Critical}
	if !res.Changed || req.DryRun {
		return res, nil
	}
	a.Critical = req.Critical
	body, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	cell, err := e.cell(store.CellAbout, body)
	if err != nil {
		return nil, err
	}
	c := &store.Change{Head: *head, Cells: []store.Cell{cell}}
	c.Head.About, c.Head.Updated = cell.ID, e.now()
	if c.Entry, err = e.entry(scope, req.Session, head.Revision, "mark", map[string]bool{"critical": req.Critical}); err != nil {
		return nil, err
	}
	if _, err := e.store.Apply(ctx, scope, req.Session, head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	return res, nil
}
