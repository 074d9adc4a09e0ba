package windows

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// needs are the texts of a session, and what of them the agent is likely to need again.
type needs struct {
	Pieces []facts.Piece
	Need   *facts.Need
}

// likely reads the session, once.
func (p *pass) likely() *needs {
	if p.needs == nil {
		pieces := p.engine.PiecesOf(p.scope, p.held.Session.Messages, p.held.Blocks)
		p.needs = &needs{pieces, facts.Estimate(pieces, p.engine.Opts.Model)}
	}
	return p.needs
}

// skipped says which blocks have texts of which a part was not looked at.
func (p *pass) skipped() []string {
	var all []string
	for _, t := range p.likely().Pieces {
		if t.Skipped > 0 {
			all = append(all, fmt.Sprintf("block %s: of a text of %d bytes, %d in the middle were not looked at for what may be needed again; "+
				"carrel recall %[1]s prints all of it", p.held.Rows[t.Block].ID.Short(), len(t.Text), t.Skipped))
		}
	}
	return all
}

// cover reads the session as a plan of lines needs it, once.
func (p *pass) cover() *pager.Passages {
	if p.covering == nil {
		l := p.likely()
		p.covering = pager.NewPassages(l.Pieces, l.Need, len(p.held.Blocks), -1)
		for i := range p.covering.Readings {
			p.covering.Readings[i].Head = len(p.head(i, false)) + 1
		}
	}
	return p.covering
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
