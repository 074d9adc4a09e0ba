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

// planCover returns the plan of lines for a request. What texts cost one by one may
// be a little less than what they cost together; then a little less is planned.
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
			floor.Need += req.Budget - r.Budget // what the parts cost more together
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
