package windows

import (
	"cmp"
	"errors"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// request returns the inputs of a plan for req.
func (p *pass) request(req *api.CompressRequest) *pager.Request {
	h := p.held
	r := &pager.Request{
		Blocks: p.candidates(), Fixed: p.meter.Fixed(h.Session) + h.Summary.Size(), Size: p.size,
		Budget: p.budget(req), Weights: p.engine.Opts.Weights, Cuts: p.engine.Opts.Cuts,
	}
	return r
}

// budget returns the most tokens that the window may have after req.
func (p *pass) budget(req *api.CompressRequest) token.Count {
	window := cmp.Or(req.Window, p.engine.Capacity(p.held.Session.Model))
	figures := p.engine.Opts.Trigger.Figures(window)
	budget := figures.Target
	switch {
	case req.Target.Tokens > 0:
		budget = req.Target.Tokens
	case req.Target.Share > 0:
		budget = p.shared(req.Target.Share)
	case req.Strategy == api.StrategyOpaque:
		budget = p.held.Head.Tokens / 20
	}
	if req.Auto {
		budget = max(budget, figures.Floor)
	}
	return budget
}

// shared returns the budget for a target that is a share. The budget is this share of the tokens of
// the blocks that may leave the window, and all tokens of what may not leave: the system text, the
// definitions of tools and the framing.
func (p *pass) shared(share ratio.Ratio) token.Count {
	leaves, stays := p.shares()
	return stays + token.Count(share.Scale(int64(leaves)))
}

// shares returns the tokens of the blocks that may leave, as imported, and the tokens that always
// stay.
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
	behind := 0 // index behind the packet that the session began with
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

// reads reports whether a message calls a tool that reads a file or another source.
func (p *pass) reads(m *transcript.Message) bool {
	return slices.ContainsFunc(m.Calls(), func(c transcript.ToolCall) bool {
		return p.engine.Opts.Tools.Of(c) == tool.Read
	})
}

// size returns the tokens of block i in form f.
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

// planCover returns a plan that keeps single lines of blocks. The planner counts lines one by one,
// and a stub with all of them may have more tokens than that; then planCover lowers the budget and
// plans again.
func (p *pass) planCover(req *pager.Request) (*pager.Plan, error) {
	c := p.cover()
	r := &pager.CoverRequest{Request: *req, Readings: c.Readings, Names: c.Names, Count: func(block, passage int) token.Count {
		if passage < 0 {
			return p.meter.Framing.Message + p.count(p.head(block, passage == pager.ShortPassage)+"\n")
		}
		return p.count(transcript.Quote(c.Text(block, passage)) + "\n")
	}}
	for {
		plan, err := pager.Cover(r)
		if floor, ok := errors.AsType[*pager.FloorError](err); ok {
			floor.Need += req.Budget - r.Budget // the parts counted one by one are that much too small
			floor.Budget = req.Budget
		}
		if err != nil || plan.Picks == nil {
			return plan, err
		}
		over := p.recut(plan) - req.Budget
		if over <= 0 {
			plan.Budget = req.Budget
			return plan, nil
		}
		r.Budget -= over
	}
}
