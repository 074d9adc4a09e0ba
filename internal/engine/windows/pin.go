package windows

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Pin pins blocks, which puts them under the hard rule [pager.RulePin], or unpins them. Blocks of
// one session change together. Each session is written by itself, after the blocks of all sessions
// were found, so only an error of the store can leave the blocks of other sessions changed.
func (e *Windows) Pin(ctx context.Context, scope governance.Scope, req *api.PinRequest) (_ *api.PinResult, err error) {
	defer base.During("pin", &err)

	res := &api.PinResult{Pinned: !req.Unpin, Blocks: []transcript.BlockID{}, Changed: []transcript.BlockID{}}
	bySession := make(map[transcript.SessionID][]transcript.BlockID)
	var sessions []transcript.SessionID
	for _, word := range req.Blocks {
		ref, _, err := e.FindBlock(ctx, scope, word)
		if err != nil {
			return nil, err
		}
		if bySession[ref.Session] == nil {
			sessions = append(sessions, ref.Session)
		}
		bySession[ref.Session] = append(bySession[ref.Session], ref.Block)
		res.Blocks = append(res.Blocks, ref.Block)
		res.Session = ref.Session
	}
	if dry := *req; len(sessions) > 1 {
		dry.DryRun = true
		for _, id := range sessions {
			if _, err := e.pinSession(ctx, scope, id, bySession[id], &dry); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range sessions {
		changed, err := base.Retry(ctx, func() (*api.PinResult, error) { return e.pinSession(ctx, scope, id, bySession[id], req) })
		if err != nil {
			return nil, err
		}
		res.Changed, res.Ops = append(res.Changed, changed.Changed...), append(res.Ops, changed.Ops...)
	}
	return res, nil
}

func (e *Windows) pinSession(ctx context.Context, scope governance.Scope, id transcript.SessionID, blocks []transcript.BlockID, req *api.PinRequest) (*api.PinResult, error) {
	h, err := e.Load(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	c := &store.Change{Head: *h.Head}
	var data pins
	res := &api.PinResult{}
	all := h.WithEarlier()
	rows, places := slices.Clone(all.Rows), all.IndexByID()
	for _, b := range blocks {
		i, there := places[b]
		if !there {
			return nil, fmt.Errorf("%w: block %s is no longer in the conversation", api.ErrPolicy, b.Short())
		}
		if rows[i].Pinned == !req.Unpin {
			continue
		}
		rows[i].Pinned = !req.Unpin
		c.Blocks = append(c.Blocks, rows[i])
		data.Pins = append(data.Pins, pinning{b, !req.Unpin})
		res.Changed = append(res.Changed, b)
	}
	if len(res.Changed) == 0 || req.DryRun {
		return res, nil
	}
	op := hold.OpPin
	if req.Unpin {
		op = hold.OpUnpin
	}
	c.Head.Updated = e.Now()
	entry, err := e.Apply(ctx, scope, h.Head, c, op, data)
	res.Ops = []string{entry}
	return res, err
}

// A pinning is a pin set or removed, as the journal has it.
type pinning struct {
	Block  transcript.BlockID `json:"block"`
	Pinned bool               `json:"pinned"`
}

// pins is the data of a pin or unpin in the journal.
type pins struct {
	Pins []pinning `json:"pins"`
}

// Mark marks a session as critical, or removes the mark. A critical session refuses
// [api.StrategyOpaque], because nobody could read and check such a summary.
func (e *Windows) Mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (_ *api.MarkResult, err error) {
	defer base.During("mark", &err, "session "+string(req.Session))

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
