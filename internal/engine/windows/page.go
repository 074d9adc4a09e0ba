package windows

import (
	"cmp"
	"context"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

func tally(t *api.Tally, s store.State, n int64) {
	switch s {
	case store.StateLive:
		t.Live += n
	case store.StateStub:
		t.Stub += n
	case store.StateCold, store.StatePurged:
		t.Cold += n
	}
}

// A pass is what one pass over a session knows.
type pass struct {
	engine *Windows
	held   *hold.Held
	meter  hold.Meter
	stubs  map[transcript.BlockID]pager.Stub // now in the window
	made   map[pageKey]pager.Stub            // made for the plan
	names  *hold.Names                       // once asked for
	intent pager.Intent
	hits   []int // terms of the intent in each block
	rules  []pager.Rule

	effects contract.Effects // of the corrections in the contract

	scope    governance.Scope
	capacity token.Count     // of the request, or 0
	needs    *needs          // once asked for
	covering *pager.Passages // once asked for
	account  *accounted      // once asked for
	verbatim bool            // in an account, words under hard rules stay as they are, as far as they have room
	told     int             // of so many blocks, a model's text in the window says what the agent said
	heads    []string        // of stubs with lines, once asked for
}

type pageKey struct {
	block int
	form  pager.Form
}

func (e *Windows) newPass(ctx context.Context, scope governance.Scope, h *hold.Held, req *api.CompressRequest) (*pass, error) {
	p := &pass{engine: e, held: h, scope: scope, capacity: req.Window, made: make(map[pageKey]pager.Stub), told: h.Summary.Tells()}
	var err error
	if p.meter, err = e.MeterFor(h.Session, h.Head.Encoding); err != nil {
		return nil, err
	}
	if p.stubs, err = e.Stubs(ctx, scope, h.Rows); err != nil {
		return nil, err
	}
	if p.rules, err = e.Rules(ctx, scope, h, req.KeepLast); err != nil {
		return nil, err
	}
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	p.effects = a.State.Effects()
	p.intent = hold.FocusOf(h, req.Intent)
	p.hits = p.intent.Hits(h.Texts())
	return p, nil
}

// request returns what the plan depends on.
func (p *pass) request(req *api.CompressRequest) *pager.Request {
	h := p.held
	r := &pager.Request{
		Blocks: p.candidates(), Fixed: p.meter.Fixed(h.Session) + h.Summary.Size(), Size: p.size,
		Budget: p.budget(req), Weights: p.engine.Opts.Weights, Cuts: p.engine.Opts.Cuts,
	}
	return r
}

// budget returns how many tokens a request leaves for the window.
func (p *pass) budget(req *api.CompressRequest) token.Count {
	window := cmp.Or(req.Window, p.engine.Capacity(p.held.Session.Model))
	figures := p.engine.Opts.Trigger.Figures(window)
	budget := figures.Target
	switch {
	case req.Target > 0:
		budget = req.Target
	case req.Share > 0:
		budget = p.shared(req.Share)
	case req.Strategy == api.StrategyOpaque:
		budget = p.held.Head.Tokens / 20
	}
	if req.Auto {
		budget = max(budget, figures.Floor)
	}
	return budget
}

// shared returns the budget that a share of the conversation leaves: that share of what
// was imported and may leave, and all that may not, which is system text, the definitions
// of tools and framing.
func (p *pass) shared(share ratio.Ratio) token.Count {
	leaves, stays := p.shares()
	return stays + token.Count(share.Scale(int64(leaves)))
}

// shares returns the tokens of what was imported and may leave, which a share is of, and
// of what stays beside it.
func (p *pass) shares() (leaves, stays token.Count) {
	h := p.held
	stays = p.meter.Fixed(h.Session)
	for i := range h.Rows {
		if p.rules[i] == pager.RuleSystem {
			stays += h.Rows[i].Tokens
		} else {
			leaves += h.Rows[i].Tokens
		}
	}
	return leaves, stays
}

func (p *pass) candidates() []pager.Candidate {
	h := p.held
	behind := 0 // of the packet that the session began with
	if p.effects.PriorContext {
		_, behind = h.Packet()
	}
	cs := make([]pager.Candidate, len(h.Blocks))
	for i := range h.Blocks {
		b := &h.Blocks[i]
		c := &cs[i]
		*c = pager.Candidate{
			ID: b.ID, Turn: b.Turn, Rule: p.rules[i], Form: pager.Form(h.Rows[i].Form),
			Signals: pager.Signals{
				Hits:  p.hits[i],
				Terms: len(p.intent),
				Age:   len(h.Blocks) - b.Turn,
				Prior: p.effects.PriorContext && (b.Kind == transcript.KindSummary || i == behind-1),
			},
		}
		for _, k := range b.Messages {
			m := &h.Session.Messages[k]
			c.Thinking = c.Thinking || m.HasThinking()
			c.Results = c.Results || len(m.Results()) > 0
			c.Signals.Source = c.Signals.Source || p.effects.SourcesFirst && p.reads(m)
		}
	}
	return cs
}

// reads reports whether a message has a call that brings in a source.
func (p *pass) reads(m *transcript.Message) bool {
	return slices.ContainsFunc(m.Calls(), func(c transcript.ToolCall) bool {
		return p.engine.Opts.Tools.Of(c) == tool.Read
	})
}

// size returns the tokens of a block in a form.
func (p *pass) size(i int, f pager.Form) token.Count {
	h := p.held
	row := &h.Rows[i]
	switch f {
	case pager.Form(row.Form):
		return row.Window
	case pager.Whole:
		return row.Tokens
	case pager.Bare:
		return row.Tokens - p.meter.Thinking(h.Session.Messages, &h.Blocks[i])
	case pager.Gone:
		return 0
	case pager.Lines:
		return p.meter.Entries(pager.Entries(h.Session.Messages, &h.Blocks[i], f, p.stub(i, f))) + p.end()
	case pager.Calls, pager.Line:
	}
	return p.meter.Entries(pager.Entries(h.Session.Messages, &h.Blocks[i], f, p.stub(i, f)))
}

// end returns what it costs to say where a quotation ends, if the provider of the session
// needs that.
func (p *pass) end() token.Count {
	if !hold.Merges(p.held.Head.Format) {
		return 0
	}
	return p.count("\n" + transcript.End)
}

// stub returns the stub of a block in a form, made once.
func (p *pass) stub(i int, f pager.Form) pager.Stub {
	key := pageKey{i, f}
	s, ok := p.made[key]
	if !ok {
		b := &p.held.Blocks[i]
		if p.names == nil {
			p.names = hold.NewNames(p.held)
		}
		v := pager.View{
			Block: b, Messages: p.held.Session.Messages, Tokens: p.held.Rows[i].Tokens,
			Names: func(from, to, n int) []string { return p.names.Of(i, from, to, n) },
		}
		s = v.Stub(f)
		p.made[key] = s
	}
	return s
}

// apply returns the rows and stubs as they are after a plan. Stubs that are new
// have no cells yet.
func (p *pass) apply(plan *pager.Plan) ([]store.Block, map[transcript.BlockID]pager.Stub) {
	rows := slices.Clone(p.held.Rows)
	stubs := make(map[transcript.BlockID]pager.Stub)
	for i := range rows {
		d := &plan.Decisions[i]
		if !d.Changed() {
			stubs[d.Block] = p.stubs[d.Block]
			continue
		}
		rows[i].Form, rows[i].State, rows[i].Window, rows[i].Stub = string(d.To), hold.State(d.To), d.After, ""
		if hold.State(d.To) == store.StateStub {
			stubs[d.Block] = p.stub(i, d.To)
		}
	}
	return rows, stubs
}

func (p *pass) result(req *api.CompressRequest, o *outcome) *api.CompressResult {
	h, plan := p.held, o.plan
	window := cmp.Or(p.capacity, p.engine.Capacity(h.Session.Model))
	res := &api.CompressResult{
		Session: h.Head.ID, Strategy: o.strategy, Budget: plan.Budget, Imported: h.Head.Tokens, Before: h.Head.Window, After: plan.After,
		Intent: p.intent, Changed: plan.Changes(), Provider: h.Head.Format, Decisions: plan.Decisions,
		Probes: o.report, Warnings: o.warnings, Figures: p.engine.Opts.Trigger.Figures(window), Sent: token.Count(h.Session.Sent),
	}
	if req.Target == 0 && req.Share > 0 {
		res.Share = req.Share
		res.Leaves, res.Stays = p.shares()
	}
	if res.Before > 0 {
		res.Ratio = ratio.One - ratio.Of(res.After, res.Before)
	}
	for i := range o.rows {
		tally(&res.Blocks, o.rows[i].State, 1)
		tally(&res.Tokens, o.rows[i].State, int64(o.rows[i].Tokens))
	}
	if o.kept != nil {
		res.Summary = summaryInfo(o.kept, o.drafted)
	}
	return res
}

// check encodes the window as it would be and asks the provider's rules.
func (p *pass) check(rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *hold.StandIn) error {
	f, err := hold.FormatNamed(p.held.Head.Format)
	if err != nil {
		return err
	}
	out, err := f.Encode(hold.Joined(p.held.Window(rows, stubs, sum), f.Name()))
	if err != nil {
		return err
	}
	violations, err := f.Validate(out.Data)
	if err != nil {
		return err
	}
	if len(violations) > 0 {
		return &api.InvalidError{Format: f.Name(), Violations: violations}
	}
	return nil
}

// storePass writes what a compression comes to, and returns the id of its journal entry.
func (e *Windows) storePass(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (string, error) {
	h, plan := p.held, o.plan
	c := &store.Change{Head: *h.Head}
	data := hold.Paged{
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
	return e.Record(ctx, scope, h, c, "page", data, &record.Settlement{Rows: o.rows, Limit: plan.Budget, Kept: o.kept})
}

// storeByHand writes that blocks which a caller named were paged. Its journal entry has no
// budget, and the moves of those blocks alone.
func (e *Windows) storeByHand(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (string, error) {
	h := p.held
	c := &store.Change{Head: *h.Head}
	data := hold.Paged{Before: h.Head.Window, After: o.plan.After, Weights: e.Opts.Weights, Cuts: e.Opts.Cuts, Intent: len(p.intent)}
	moves, err := e.moves(c, p, o)
	if err != nil {
		return "", err
	}
	data.Moves = slices.DeleteFunc(moves, func(m hold.Move) bool { return !m.Changed() })
	c.Head.Window, c.Head.Updated = data.After, e.Now()
	return e.Record(ctx, scope, h, c, hold.OpPageByHand, data, &record.Settlement{Rows: o.rows, Limit: data.Before, Kept: o.kept})
}

// moves returns the move of every block, and adds what changed to a change: rows, stubs
// and what these were made from.
func (e *Windows) moves(c *store.Change, p *pass, o *outcome) ([]hold.Move, error) {
	h, rows := p.held, o.rows
	moves := make([]hold.Move, len(rows))
	for i := range rows {
		d := o.plan.Decisions[i]
		m := hold.Move{Decision: d, FromStub: h.Rows[i].Stub, ToStub: rows[i].Stub}
		if d.Changed() {
			if rows[i].State == store.StateStub {
				cell, err := e.stubCell(c, o.stubs[d.Block], p.sources(i))
				if err != nil {
					return nil, err
				}
				rows[i].Stub, m.ToStub = cell, cell
			}
			c.Blocks = append(c.Blocks, rows[i])
		}
		moves[i] = m
	}
	return moves, nil
}

// sources returns the cells that the stub of a block is made from: those of the block and,
// of what holds at the end of an account, those of all blocks that say so.
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

// stubCell adds a cell with a stub to a change, and edges to what it was made
// from.
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

// FitWindow returns the rows and stubs with which the window of a session, measured by m,
// has target tokens at most.
func (e *Windows) FitWindow(ctx context.Context, scope governance.Scope, h *hold.Held, m hold.Meter, target token.Count) ([]store.Block, map[transcript.BlockID]pager.Stub, error) {
	p, err := e.newPass(ctx, scope, h, &api.CompressRequest{Session: h.Session.ID})
	if err != nil {
		return nil, nil, err
	}
	p.meter = m
	plan, err := pager.Make(p.request(&api.CompressRequest{Target: target}))
	if err != nil {
		return nil, nil, err
	}
	rows, stubs := p.apply(plan)
	return rows, stubs, nil
}
