package windows

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// undone is the data of an undo in the journal: the moves, and the operation undone.
type undone struct {
	Undoes string      `json:"undoes"`
	Before token.Count `json:"before"`
	After  token.Count `json:"after"`
	Moves  []hold.Move `json:"moves"`
	Pins   []pinning   `json:"pins,omitempty"`

	Summary *hold.SummaryChange `json:"summary,omitempty"`
}

// Undo reverts the last pass, paging by hand, discard, pin or unpin of a session that is not
// undone: the form of the blocks that it changed, their pins and the summary are then as before.
// Blocks that left the conversation since stay as they are.
func (e *Windows) Undo(ctx context.Context, scope governance.Scope, req *api.UndoRequest) (_ *api.UndoResult, err error) {
	r := *req
	where := "in session " + string(r.Session)
	if r.Session == "" {
		where = r.Op
	}
	defer base.During("undo", &err, where)

	if r.Session == "" {
		if r.Session, err = e.sessionOf(ctx, scope, r.Op); err != nil {
			return nil, err
		}
	}
	return base.Retry(ctx, func() (*api.UndoResult, error) { return e.undo(ctx, scope, &r) })
}

// sessionOf returns the session that an operation belongs to.
func (e *Windows) sessionOf(ctx context.Context, scope governance.Scope, op string) (transcript.SessionID, error) {
	for h, err := range e.Store.Heads(ctx, scope) {
		if err != nil {
			return "", err
		}
		for entry, err := range e.Store.Entries(ctx, scope, h.ID, 0) {
			if err != nil {
				return "", err
			}
			if entry.ID == op {
				return h.ID, nil
			}
		}
	}
	return "", base.Statef(store.ErrNotFound, "no session has an operation %q", op)
}

func (e *Windows) undo(ctx context.Context, scope governance.Scope, req *api.UndoRequest) (*api.UndoResult, error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	target, err := e.lastOp(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	var was undone // the entries of passes and pins have the same fields
	if err := hold.ReadEntry(target, &was); err != nil {
		return nil, err
	}
	res := &api.UndoResult{Session: req.Session, Undone: target.ID, Kind: target.Op, Before: h.Head.Window, After: h.Head.Window}
	c := &store.Change{Head: *h.Head}
	data := undone{Undoes: target.ID, Before: h.Head.Window}
	rows := slices.Clone(h.Rows)
	places := h.IndexByID()
	touched := make(map[int]bool)
	for _, m := range was.Moves {
		i, there := places[m.Block]
		if !there || !m.Changed() {
			continue // the block left the conversation since, or did not move
		}
		back := m
		back.From, back.To, back.Before, back.After, back.Step = m.To, m.From, m.After, m.Before, ""
		back.FromStub, back.ToStub = m.ToStub, m.FromStub
		hold.SetForm(&rows[i], back.To, back.ToStub, back.After)
		res.After += back.After - h.Rows[i].Window
		data.Moves = append(data.Moves, back)
		touched[i] = true
	}
	for _, p := range was.Pins {
		if i, there := places[p.Block]; there {
			rows[i].Pinned = !p.Pinned
			touched[i] = true
		} else if r := h.EarlierRow(p.Block); r != nil {
			r.Pinned = !p.Pinned
			c.Blocks = append(c.Blocks, *r)
		} else {
			continue // the block left the conversation since
		}
		data.Pins = append(data.Pins, pinning{p.Block, !p.Pinned})
	}
	if m := was.Summary; m != nil && m.To == h.Head.Summary {
		c.Head.Summary = m.From
		data.Summary = &hold.SummaryChange{From: m.To, To: m.From, FromTokens: m.ToTokens, ToTokens: m.FromTokens}
		res.After += m.FromTokens - m.ToTokens
	}
	for i := range rows {
		if touched[i] {
			c.Blocks = append(c.Blocks, rows[i])
		}
	}
	res.Blocks, data.After = len(c.Blocks), res.After
	if req.DryRun {
		return res, nil
	}
	c.Head.Window, c.Head.Updated = res.After, e.Now()
	kept, err := e.ReadSummary(ctx, scope, c.Head.Summary)
	if err != nil {
		return nil, err
	}
	res.Op, err = e.Record(ctx, scope, h, c, hold.OpUndo, data, &record.Settlement{Rows: rows, Limit: res.After, Undo: true, Kept: kept})
	return res, err
}

// lastOp returns the operation to undo: the last one that changed the window or the pins and is
// not undone. It fails with [api.ErrPolicy] if req names another.
func (e *Windows) lastOp(ctx context.Context, scope governance.Scope, req *api.UndoRequest) (*store.Entry, error) {
	ops, err := e.Ops(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	var last *store.Entry
	known := make(map[string]string)
	for i := range ops {
		o := &ops[i]
		known[o.ID] = o.Op
		switch o.Op {
		case hold.OpPage, hold.OpPageByHand, hold.OpDiscard, hold.OpPin, hold.OpUnpin:
			if !o.Undone {
				last = &o.Entry
			}
		}
	}
	kind, exists := known[req.Op]
	switch {
	case req.Op != "" && !exists:
		return nil, base.Statef(store.ErrNotFound, "session %s has no operation %q", req.Session, req.Op)
	case kind == hold.OpImport:
		return nil, fmt.Errorf("%w: operation %s is an import and cannot be undone: it removed nothing", api.ErrPolicy, req.Op)
	case kind == hold.OpContract:
		return nil, fmt.Errorf("%w: operation %s changed the contract and cannot be undone: a contract only grows", api.ErrPolicy, req.Op)
	case kind == hold.OpRewrite:
		return nil, fmt.Errorf("%w: operation %s records bytes sent to a model and cannot be undone", api.ErrPolicy, req.Op)
	case last == nil:
		return nil, api.About(api.SubjectHistory, base.Statef(store.ErrNotFound, "session %s has nothing to undo", req.Session))
	}
	if req.Op != "" && req.Op != last.ID {
		return nil, fmt.Errorf("%w: %s is not the last operation: undo %s first", api.ErrPolicy, req.Op, last.ID)
	}
	return last, nil
}
