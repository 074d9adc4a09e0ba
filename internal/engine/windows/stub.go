package windows

import (
	"slices"

	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// stub returns the stub of block i in form f. It makes each stub once.
func (p *pass) stub(i int, f pager.Form) pager.Stub {
	key := pageKey{i, f}
	s, ok := p.made[key]
	if !ok {
		b := &p.held.Blocks[i]
		if p.names == nil {
			p.names = pager.NewMentions(p.held.Texts())
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

// head returns the first line of the stub of block i, above the lines that the stub keeps. If
// short is true, it returns the short form of that line.
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

// quoted returns the kept lines of a block as a quotation below the head of its stub.
func quoted(lines string) string {
	if lines == "" {
		return ""
	}
	return "\n" + transcript.Quote(lines[1:])
}

// closes reports whether the quotation in the stub of block i must end with a line that says so:
// see [hold.CloseQuotes].
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
		return m.Role != transcript.RoleAssistant || !hold.HasContent(m)
	}
	return true
}

// recut makes the stub of each block that the plan cuts to lines, corrects the plan, which had only
// estimated the stubs' tokens, and returns the tokens of the window.
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

// apply returns the rows and stubs after a plan. New stubs have no cells yet. The tokens of an
// unchanged stub can still change, because its neighbors decide whether its quotation must be
// closed.
func (p *pass) apply(plan *pager.Plan) ([]store.Block, map[transcript.BlockID]pager.Stub) {
	rows := slices.Clone(p.held.Rows)
	stubs := make(map[transcript.BlockID]pager.Stub)
	for i := range rows {
		d := &plan.Decisions[i]
		if !d.Changed() {
			stubs[d.Block], rows[i].Window = p.stubs[d.Block], d.After
			continue
		}
		hold.SetForm(&rows[i], d.To, "", d.After)
		if rows[i].State == store.StateStub {
			stubs[d.Block] = p.stub(i, d.To)
		}
	}
	return rows, stubs
}
