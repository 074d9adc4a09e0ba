package windows

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// grow returns an outcome that brings back text which former passes took out of the window and
// which now fits. It returns nil if the budget is not larger than that of the last pass, if the
// request comes from an automatic pass or asks for the smallest window, or if nothing changes.
func (e *Windows) grow(ctx context.Context, scope governance.Scope, p *pass, req *api.CompressRequest) (*outcome, error) {
	h := p.held
	before, err := e.passes(ctx, scope, h.Head.ID)
	if err != nil {
		return nil, err
	}
	r := p.request(req)
	if req.Auto || req.Smallest || r.Budget <= before.budget || len(before.paged) == 0 {
		return nil, nil //nolint:nilnil // nothing comes back
	}
	before.reopen(h, r)
	o := &outcome{strategy: req.Strategy, kept: h.Summary}
	if summarizes(req.Strategy) {
		o.strategy = api.StrategyWindow
		if req.Strategy == api.StrategyAnchored {
			o.strategy = api.StrategyAccount
		}
	}
	p.verbatim = req.Strategy == api.StrategyAnchored
	o.plan, err = p.plan(o.strategy, r)
	if errors.Is(err, api.ErrBudget) {
		return nil, nil //nolint:nilnil // the present window fits, a larger one would not
	}
	if err != nil {
		return nil, err
	}
	p.startFromWindow(o.plan)
	if o.plan.After <= h.Head.Window || o.plan.Changes() == 0 {
		return nil, nil //nolint:nilnil // nothing to gain
	}
	o.rows, o.stubs = p.apply(o.plan)
	return o, nil
}

// startFromWindow changes the decisions of a plan so that each decision begins with the form that
// the block has in the present window.
func (p *pass) startFromWindow(plan *pager.Plan) {
	plan.Before = p.held.Head.Window
	for i := range plan.Decisions {
		d, row := &plan.Decisions[i], &p.held.Rows[i]
		d.From, d.Before = pager.Form(row.Form), row.Window
		d.Recut = false
		if d.From != d.To {
			d.Step = cmp.Or(d.Step, pager.StageReturn)
			continue
		}
		switch d.To {
		case pager.Calls, pager.Lines, pager.Line:
			made, now := p.stub(i, d.To), p.stubs[d.Block]
			d.Recut = !made.Same(&now)
		case pager.Whole, pager.Bare, pager.Gone:
		}
		if !d.Recut && d.After != d.Before {
			plan.After += d.Before - d.After
			d.After = d.Before
		}
	}
}

// A passHistory holds what the journal says about the passes of a session.
type passHistory struct {
	budget  token.Count                 // of the last pass that is not undone
	account bool                        // that pass wrote an account
	paged   map[transcript.BlockID]bool // blocks whose last change was by a pass
}

// passes reads from the journal the blocks that passes have cut or taken out, and the budget of
// the last pass. Blocks that an agent discarded, a person paged by hand or the client compacted
// are not included.
func (e *Windows) passes(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*passHistory, error) {
	ops, err := e.Ops(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	h := &passHistory{paged: make(map[transcript.BlockID]bool)}
	for i := range ops {
		o := &ops[i]
		if o.Undone || o.Op != hold.OpPage && o.Op != hold.OpPageByHand && o.Op != hold.OpDiscard {
			continue
		}
		var data hold.PassEntry
		if err := hold.ReadEntry(&o.Entry, &data); err != nil {
			return nil, err
		}
		if o.Op == hold.OpPage {
			h.budget = data.Budget
			h.account = slices.ContainsFunc(data.Moves, func(m hold.Move) bool { return m.Step == pager.StageAccount })
		}
		for _, m := range data.Moves {
			if m.Changed() {
				h.paged[m.Block] = o.Op == hold.OpPage
			}
		}
	}
	maps.DeleteFunc(h.paged, func(_ transcript.BlockID, paged bool) bool { return !paged })
	return h, nil
}

// reopen makes a request treat the blocks that passes have cut or taken out as whole.
func (b *passHistory) reopen(h *hold.Snapshot, r *pager.Request) {
	for i := range r.Blocks {
		if b.paged[h.Rows[i].ID] && h.Rows[i].State != store.StatePurged {
			r.Blocks[i].Form = pager.Whole
		}
	}
}
