package windows

import (
	"context"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// check encodes the window as planned and fails if the validator of its provider rejects it.
func (p *pass) check(rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *hold.WindowSummary) error {
	f, err := hold.FormatNamed(p.held.Head.Format)
	if err != nil {
		return err
	}
	_, err = hold.Encode(f, hold.JoinStubs(p.held.Window(rows, stubs, sum), f.Name()))
	return err
}

// storePass stores the outcome of a compression and returns the id of its journal entry.
func (e *Windows) storePass(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (string, error) {
	h, plan := p.held, o.plan
	c := &store.Change{Head: *h.Head}
	data := hold.PassEntry{
		Budget: plan.Budget, Before: h.Head.Window, After: plan.After,
		Weights: e.Opts.Weights, Cuts: e.Opts.Cuts, Intent: len(p.intent), Strategy: o.strategy,
	}
	if o.drafted != nil {
		if err := e.keepSummary(c, h, o, &data); err != nil {
			return "", err
		}
	}
	var err error
	if data.Moves, err = e.moves(c, p, o); err != nil {
		return "", err
	}
	c.Head.Window, c.Head.Updated = plan.After, e.Now()
	return e.Record(ctx, scope, h, c, hold.OpPage, data, &record.Settlement{Rows: o.rows, Limit: plan.Budget, Kept: o.kept})
}

// storeByHand stores an outcome that paged the blocks which a caller named. Its journal entry has
// no budget, and only the moves of those blocks.
func (e *Windows) storeByHand(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (string, error) {
	h := p.held
	c := &store.Change{Head: *h.Head}
	data := hold.PassEntry{Before: h.Head.Window, After: o.plan.After, Weights: e.Opts.Weights, Cuts: e.Opts.Cuts, Intent: len(p.intent)}
	moves, err := e.moves(c, p, o)
	if err != nil {
		return "", err
	}
	data.Moves = slices.DeleteFunc(moves, func(m hold.Move) bool { return !m.Changed() })
	c.Head.Window, c.Head.Updated = data.After, e.Now()
	return e.Record(ctx, scope, h, c, hold.OpPageByHand, data, &record.Settlement{Rows: o.rows, Limit: data.Before, Kept: o.kept})
}

// moves returns the move of every block, and adds the changed rows, the new stubs and the edges
// to their sources to c.
func (e *Windows) moves(c *store.Change, p *pass, o *outcome) ([]hold.Move, error) {
	h, rows := p.held, o.rows
	moves := make([]hold.Move, len(rows))
	for i := range rows {
		d := o.plan.Decisions[i]
		m := hold.Move{BlockDecision: d, FromStub: h.Rows[i].Stub, ToStub: rows[i].Stub}
		if d.Changed() {
			if rows[i].State == store.StateStub {
				cell, err := e.stubCell(c, o.stubs[d.Block], p.sources(i))
				if err != nil {
					return nil, err
				}
				rows[i].Stub, m.ToStub = cell, cell
			}
		}
		if d.Changed() || rows[i].Window != h.Rows[i].Window {
			c.Blocks = append(c.Blocks, rows[i])
		}
		moves[i] = m
	}
	return moves, nil
}

// sources returns the cells that the stub of block i is made from: those of the block and, if the
// stub ends with the state, those of all blocks that the state comes from.
func (p *pass) sources(i int) []store.CellID {
	rows := p.held.Rows
	if p.account == nil || p.account.holder != i {
		return rows[i].Cells
	}
	all := slices.Clone(rows[i].Cells)
	for _, k := range p.account.state.Blocks {
		all = append(all, rows[k].Cells...)
	}
	slices.Sort(all)
	return all
}

// stubCell adds a cell with a stub to a change, and edges to the cells from which it was made.
func (e *Windows) stubCell(c *store.Change, s pager.Stub, from []store.CellID) (store.CellID, error) {
	cell, err := e.JSONCell(store.CellStub, s)
	if err != nil {
		return "", err
	}
	c.Cells = append(c.Cells, cell)
	for _, id := range slices.Compact(slices.Clone(from)) {
		c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: id, Rel: "stub"})
	}
	return cell.ID, nil
}

// figure writes the figures of an outcome into its new summary: tokens, ratio and score of the
// probes.
func (o *outcome) figure(h *hold.Snapshot) {
	s := o.kept.Summary
	s.TokensBefore, s.TokensAfter = int64(h.Head.Window), int64(o.plan.After)
	s.Ratio = ratio.One - ratio.Of(o.plan.After, h.Head.Window)
	if o.report != nil {
		s.ProbeScore = o.report.Score
	}
}

// keepSummary adds the cell of a new summary to a change, with edges to its sources.
func (e *Windows) keepSummary(c *store.Change, h *hold.Snapshot, o *outcome, data *hold.PassEntry) error {
	s, d := o.kept, o.drafted
	o.figure(h)
	data.Round = &api.Round{
		Strategy: o.strategy, Model: s.Summary.Model, Calls: d.calls, Covers: s.Covers, Fresh: d.fresh, Count: s.Summary.Count, Tokens: s.Tokens,
		Before: h.Head.Window, After: o.plan.After, Edits: d.edits, Left: d.left,
	}
	if o.report != nil {
		data.Round.Probes = newProbeRound(o.report)
	}
	cell, err := e.JSONCell(store.CellSummary, s)
	if err != nil {
		return err
	}
	c.Cells = append(c.Cells, cell)
	made := make(map[store.CellID]bool)
	from := func(rows []store.Block) {
		for i := range rows {
			for _, id := range rows[i].Cells {
				if !made[id] {
					made[id] = true
					c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: id, Rel: "summary"})
				}
			}
		}
	}
	for i := range h.Earlier {
		from(h.Earlier[i].Rows)
	}
	from(h.Rows[s.Covers-d.fresh : s.Covers])
	if d.merged {
		c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: h.Head.Summary, Rel: "merge"})
	}
	data.Summary = &hold.SummaryChange{From: h.Head.Summary, To: cell.ID, FromTokens: h.Summary.Size(), ToTokens: s.Tokens}
	c.Head.Summary = cell.ID
	return nil
}

func newProbeRound(r *probe.Report) *api.ProbeRound {
	p := &api.ProbeRound{Tally: r.Tally, Score: r.Score, Critical: r.Critical, Ordinary: r.Ordinary, Types: r.Types}
	for i := range r.Results {
		list := idsOf(p, r.Results[i].Place)
		*list = append(*list, r.Results[i].Probe.ID)
	}
	return p
}

func idsOf(p *api.ProbeRound, place probe.Location) *[]string {
	switch place {
	case probe.Window:
		return &p.Window
	case probe.Recall:
		return &p.Recall
	case probe.Lost:
	}
	return &p.Lost
}
