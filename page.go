package carrel

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

func tally(t *Tally, s store.State, n int64) {
	switch s {
	case store.StateLive:
		t.Live += n
	case store.StateStub:
		t.Stub += n
	case store.StateCold, store.StatePurged:
		t.Cold += n
	}
}

// A move is a change of one block, as the journal keeps it: enough to explain
// it and to take it back.
type move struct {
	pager.Decision
	FromStub store.CellID `json:"from_stub,omitempty"`
	ToStub   store.CellID `json:"to_stub,omitempty"`
}

// paged is what the journal keeps of a pass: the move of every block, also of
// those that stayed.
type paged struct {
	Budget  token.Count   `json:"budget"`
	Before  token.Count   `json:"before"`
	After   token.Count   `json:"after"`
	Weights pager.Weights `json:"weights"`
	Cuts    pager.Cuts    `json:"cuts"`
	Intent  int           `json:"intent"` // how many terms it had
	Moves   []move        `json:"moves"`

	Strategy Strategy     `json:"strategy,omitempty"`
	Summary  *summaryMove `json:"summary,omitempty"` // if it changed
	Round    *Round       `json:"round,omitempty"`   // what the probes said
}

// A pass is what one pass over a session knows.
type pass struct {
	engine *Engine
	held   *held
	meter  meter
	stubs  map[transcript.BlockID]pager.Stub // now in the window
	made   map[pageKey]pager.Stub            // made for the plan
	names  *names                            // once asked for
	intent pager.Intent
	hits   []int // terms of the intent in each block
	rules  []pager.Rule

	effects contract.Effects // of the corrections in the contract

	scope    governance.Scope
	capacity token.Count // of the request, or 0
	needs    *likely     // once asked for
	covering *cover      // once asked for
	account  *accounted  // once asked for
	verbatim bool        // in an account, words under hard rules stay as they are, as far as they have room
	told     int         // of so many blocks, a model's text in the window says what the agent said
	heads    []string    // of stubs with lines, once asked for
}

type pageKey struct {
	block int
	form  pager.Form
}

func (e *Engine) newPass(ctx context.Context, scope governance.Scope, h *held, req *CompressRequest) (*pass, error) {
	p := &pass{engine: e, held: h, scope: scope, capacity: req.Window, made: make(map[pageKey]pager.Stub), told: h.summary.tells()}
	var err error
	if p.meter, err = e.meterFor(h.session, h.head.Encoding); err != nil {
		return nil, err
	}
	if p.stubs, err = e.stubs(ctx, scope, h.rows); err != nil {
		return nil, err
	}
	if p.rules, err = e.rules(ctx, scope, h, req.KeepLast); err != nil {
		return nil, err
	}
	a, err := e.agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	p.effects = a.state.Effects()
	p.intent = focusOf(h, req.Intent)
	p.hits = p.intent.Hits(h.texts())
	return p, nil
}

// focus is how many terms an intent has that was not given.
const focus = 12

// focusOf returns the given words, or the keywords of given intents, as terms, or else those of what a person asked
// for last: the keywords of its intent, those that the fewest blocks have. Prompts
// that only say to go on are passed over, and what was asked before is added while
// there are too few.
func focusOf(h *held, given []string) pager.Intent {
	if len(given) > 0 {
		var words []string
		for _, text := range given {
			if in, err := intent.Parse([]byte(text)); err == nil {
				words = append(words, in.Keywords()...)
			} else {
				words = append(words, text)
			}
		}
		return pager.NewIntent(words...)
	}
	all := h.texts()
	var words []string
	var in pager.Intent
	for i := len(h.blocks) - 1; i >= 0 && len(in) < focus/4; i-- {
		if h.blocks[i].Kind != transcript.KindUser {
			continue
		}
		if more := intent.Compile(all[i], nil).Keywords(); len(more) > 0 {
			words = append(words, more...)
			in = pager.NewIntent(words...).Focus(all, focus)
		}
	}
	return in
}

// request returns what the plan depends on.
func (p *pass) request(req *CompressRequest) *pager.Request {
	h := p.held
	r := &pager.Request{
		Blocks: p.candidates(), Fixed: p.meter.fixed(h.session) + h.summary.tokens(), Size: p.size,
		Budget: p.budget(req), Weights: p.engine.opts.Weights, Cuts: p.engine.opts.Cuts,
	}
	return r
}

// budget returns how many tokens a request leaves for the window.
func (p *pass) budget(req *CompressRequest) token.Count {
	window := cmp.Or(req.Window, p.engine.capacity(p.held.session.Model))
	t := &p.engine.opts.Trigger
	budget := token.Count(t.Complete().Target.Scale(int64(t.EffectiveOf(window))))
	switch {
	case req.Target > 0:
		budget = req.Target
	case req.Share > 0:
		budget = p.shared(req.Share)
	case req.Strategy == StrategyOpaque:
		budget = p.held.head.Tokens / 20
	}
	if req.Auto {
		budget = max(budget, t.FloorOf(window))
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
	stays = p.meter.fixed(h.session)
	for i := range h.rows {
		if p.rules[i] == pager.RuleSystem {
			stays += h.rows[i].Tokens
		} else {
			leaves += h.rows[i].Tokens
		}
	}
	return leaves, stays
}

func (p *pass) candidates() []pager.Candidate {
	h := p.held
	behind := 0 // of the packet that the session began with
	if p.effects.PriorContext {
		_, behind = h.packet()
	}
	cs := make([]pager.Candidate, len(h.blocks))
	for i := range h.blocks {
		b := &h.blocks[i]
		c := &cs[i]
		*c = pager.Candidate{
			ID: b.ID, Turn: b.Turn, Rule: p.rules[i], Form: pager.Form(h.rows[i].Form),
			Signals: pager.Signals{
				Hits:  p.hits[i],
				Terms: len(p.intent),
				Age:   len(h.blocks) - b.Turn,
				Prior: p.effects.PriorContext && (b.Kind == transcript.KindSummary || i == behind-1),
			},
		}
		for _, k := range b.Messages {
			m := &h.session.Messages[k]
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
		return p.engine.opts.Tools.Of(c) == tool.Read
	})
}

// size returns the tokens of a block in a form.
func (p *pass) size(i int, f pager.Form) token.Count {
	h := p.held
	row := &h.rows[i]
	switch f {
	case pager.Form(row.Form):
		return row.Window
	case pager.Whole:
		return row.Tokens
	case pager.Bare:
		return row.Tokens - p.meter.thinking(h.session.Messages, &h.blocks[i])
	case pager.Gone:
		return 0
	case pager.Lines:
		return p.meter.entries(pager.Entries(h.session.Messages, &h.blocks[i], f, p.stub(i, f))) + p.end()
	case pager.Calls, pager.Line:
	}
	return p.meter.entries(pager.Entries(h.session.Messages, &h.blocks[i], f, p.stub(i, f)))
}

// end returns what it costs to say where a quotation ends, if the provider of the session
// needs that.
func (p *pass) end() token.Count {
	if !merges(p.held.head.Format) {
		return 0
	}
	return p.count("\n" + transcript.End)
}

// stub returns the stub of a block in a form, made once.
func (p *pass) stub(i int, f pager.Form) pager.Stub {
	key := pageKey{i, f}
	s, ok := p.made[key]
	if !ok {
		b := &p.held.blocks[i]
		if p.names == nil {
			p.names = newNames(p.held)
		}
		v := pager.View{
			Block: b, Messages: p.held.session.Messages, Tokens: p.held.rows[i].Tokens,
			Names: func(from, to, n int) []string { return p.names.of(i, from, to, n) },
		}
		s = v.Stub(f)
		p.made[key] = s
	}
	return s
}

// apply returns the rows and stubs as they are after a plan. Stubs that are new
// have no cells yet.
func (p *pass) apply(plan *pager.Plan) ([]store.Block, map[transcript.BlockID]pager.Stub) {
	rows := slices.Clone(p.held.rows)
	stubs := make(map[transcript.BlockID]pager.Stub)
	for i := range rows {
		d := &plan.Decisions[i]
		if !d.Changed() {
			stubs[d.Block] = p.stubs[d.Block]
			continue
		}
		rows[i].Form, rows[i].State, rows[i].Window, rows[i].Stub = string(d.To), state(d.To), d.After, ""
		if state(d.To) == store.StateStub {
			stubs[d.Block] = p.stub(i, d.To)
		}
	}
	return rows, stubs
}

func (p *pass) result(req *CompressRequest, o *outcome) *CompressResult {
	h, plan := p.held, o.plan
	window := cmp.Or(p.capacity, p.engine.capacity(h.session.Model))
	res := &CompressResult{
		Session: h.head.ID, Strategy: o.strategy, Budget: plan.Budget, Imported: h.head.Tokens, Before: h.head.Window, After: plan.After,
		Intent: p.intent, Changed: plan.Changes(), Provider: h.head.Format, Decisions: plan.Decisions,
		Probes: o.report, Warnings: o.warnings, Figures: p.engine.opts.Trigger.Figures(window), Sent: token.Count(h.session.Sent),
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
func (p *pass) check(rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *standIn) error {
	f, err := FormatNamed(p.held.head.Format)
	if err != nil {
		return err
	}
	out, err := f.Encode(joined(p.held.window(rows, stubs, sum), f.Name()))
	if err != nil {
		return err
	}
	violations, err := f.Validate(out.Data)
	if err != nil {
		return err
	}
	if len(violations) > 0 {
		return &InvalidError{Format: f.Name(), Violations: violations}
	}
	return nil
}

// passChange returns the change that an outcome makes.
func (e *Engine) passChange(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (*store.Change, error) {
	h, plan, rows := p.held, o.plan, o.rows
	c := &store.Change{Head: *h.head}
	data := paged{
		Budget: plan.Budget, Before: h.head.Window, After: plan.After,
		Weights: e.opts.Weights, Cuts: e.opts.Cuts, Intent: len(p.intent), Strategy: o.strategy,
	}
	if o.drafted != nil {
		if err := e.keepSummary(c, h, o, &data); err != nil {
			return nil, err
		}
	}
	var err error
	if data.Moves, err = e.moves(c, p, o); err != nil {
		return nil, err
	}
	c.Head.Window, c.Head.Updated = plan.After, e.now()
	return c, e.record(ctx, scope, h, c, "page", data, &settlement{rows: rows, limit: plan.Budget, kept: o.kept})
}

// byHand returns the change that pages blocks that somebody named. Its journal entry has
// no budget, and the moves of those blocks alone.
func (e *Engine) byHand(ctx context.Context, scope governance.Scope, p *pass, o *outcome) (*store.Change, error) {
	h := p.held
	c := &store.Change{Head: *h.head}
	data := paged{Before: h.head.Window, After: o.plan.After, Weights: e.opts.Weights, Cuts: e.opts.Cuts, Intent: len(p.intent)}
	moves, err := e.moves(c, p, o)
	if err != nil {
		return nil, err
	}
	data.Moves = slices.DeleteFunc(moves, func(m move) bool { return !m.Changed() })
	c.Head.Window, c.Head.Updated = data.After, e.now()
	return c, e.record(ctx, scope, h, c, opPageByHand, data, &settlement{rows: o.rows, limit: data.Before, kept: o.kept})
}

// opPageByHand is the journal's word for what [Engine.Page] did.
const opPageByHand = "page-by-hand"

// moves returns the move of every block, and adds what changed to a change: rows, stubs
// and what these were made from.
func (e *Engine) moves(c *store.Change, p *pass, o *outcome) ([]move, error) {
	h, rows := p.held, o.rows
	moves := make([]move, len(rows))
	for i := range rows {
		d := o.plan.Decisions[i]
		m := move{Decision: d, FromStub: h.rows[i].Stub, ToStub: rows[i].Stub}
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
	rows := p.held.rows
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
func (e *Engine) stubCell(c *store.Change, s pager.Stub, from []store.CellID) (store.CellID, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	cell, err := e.cell(store.CellStub, body)
	if err != nil {
		return "", err
	}
	c.Cells = append(c.Cells, cell)
	for _, id := range slices.Compact(slices.Clone(from)) {
		c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: id, Rel: "stub"})
	}
	return cell.ID, nil
}

// record adds the journal entry and the statements of the contract to a change
// after which the window is as the settlement says.
func (e *Engine) record(ctx context.Context, scope governance.Scope, h *held, c *store.Change, op string, data any, s *settlement) error {
	var err error
	if c.Entry, err = e.entry(scope, h.head.ID, h.head.Revision, op, data); err != nil {
		return err
	}
	c.Statements, err = e.settle(ctx, scope, h, c, s)
	return err
}

// fitWindow returns the rows and stubs with which the window of a session, measured by m,
// has target tokens at most. It changes nothing.
func (e *Engine) fitWindow(ctx context.Context, scope governance.Scope, h *held, m meter, target token.Count) ([]store.Block, map[transcript.BlockID]pager.Stub, error) {
	p, err := e.newPass(ctx, scope, h, &CompressRequest{Session: h.session.ID})
	if err != nil {
		return nil, nil, err
	}
	p.meter = m
	plan, err := pager.Make(p.request(&CompressRequest{Target: target}))
	if err != nil {
		return nil, nil, err
	}
	rows, stubs := p.apply(plan)
	return rows, stubs, nil
}

// Floor says by how much a budget is too small and what holds it up, if err is
// an [ErrBudget].
func Floor(err error) (*pager.FloorError, bool) { return api.FloorOf(err) }
