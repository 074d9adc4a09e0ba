package windows

import (
	"errors"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// likely reads the session, once.
func (p *pass) likely() *hold.Likely {
	if p.needs == nil {
		h := p.held
		l := &hold.Likely{Pieces: p.engine.PiecesOf(p.scope, h.Session.Messages, h.Blocks)}
		l.Need = facts.Estimate(l.Pieces, p.engine.Opts.Model)
		p.needs = l
	}
	return p.needs
}

// cover reads the session as a plan of lines needs it, once.
func (p *pass) cover() *hold.Cover {
	if p.covering != nil {
		return p.covering
	}
	h := p.held
	c := &hold.Cover{Likely: p.likely(), Spans: make([][]hold.Span, len(h.Blocks)), Readings: make([]pager.Reading, len(h.Blocks))}
	c.Names = make([]int64, len(c.Need.Names))
	for i := range c.Names {
		c.Names[i] = c.Need.Names[i].Worth
	}
	for i := range h.Blocks {
		c.Readings[i].Head = len(p.head(i, false)) + 1
	}
	names := c.Room()
	for i := range c.Pieces {
		names = c.Read(i, names)
	}
	p.covering = c
	return c
}

// head returns the first line of the stub of a block that is cut to lines.
func (p *pass) head(i int, short bool) string {
	v := pager.View{Block: &p.held.Blocks[i], Messages: p.held.Session.Messages}
	if short {
		return v.ShortHead()
	}
	if p.heads == nil {
		p.heads = make([]string, len(p.held.Blocks))
	}
	if p.heads[i] == "" {
		p.heads[i] = v.Head()
	}
	return p.heads[i]
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

// count returns the tokens of a text that may be in a stub.
func (p *pass) count(text string) token.Count {
	return p.engine.Scans.Count(p.scope, p.meter.Counter, text)
}

// closes reports whether the quotation of block i must say where it ends: see [closed].
func (p *pass) closes(plan *pager.Plan, i int) bool {
	for i++; i < len(plan.Decisions); i++ {
		switch plan.Decisions[i].To {
		case pager.Gone:
			continue
		case pager.Line, pager.Lines:
			return false
		case pager.Whole, pager.Bare, pager.Calls:
		}
		m := &p.held.Session.Messages[p.held.Blocks[i].Messages[0]]
		return m.Role != transcript.RoleAssistant || !hold.Speaks(m)
	}
	return true
}

// quoted returns lines of a block behind the head of its stub.
func quoted(lines string) string {
	if lines == "" {
		return ""
	}
	return "\n" + transcript.Quote(lines[1:])
}

// recut makes the stubs of a plan, counts them as they are, and returns the tokens of
// the window.
func (p *pass) recut(plan *pager.Plan) token.Count {
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Step != pager.StageCover || d.To != pager.Lines && d.To != pager.Line {
			continue
		}
		stub := pager.Stub{Text: p.head(i, plan.Short[i]) + quoted(p.covering.Lines(i, plan.Picks[i]))}
		p.made[pageKey{i, d.To}] = stub
		size := p.meter.Framing.Message + p.count(stub.Text)
		if len(plan.Picks[i]) > 0 && p.closes(plan, i) {
			size += p.end()
		}
		plan.After += size - d.After
		d.After = size
		d.Recut = d.From == d.To && stub.Text != p.stubs[d.Block].Text
	}
	return plan.After
}
