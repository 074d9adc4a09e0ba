package carrel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyNeed says what of a block is likely to be needed again, as of now, and what
// became of its calls.
type WhyNeed struct {
	Names []WhyName `json:"names"` // the likeliest first, ten at most
	Lines []WhyLine `json:"lines"` // the likeliest first, ten at most
	Calls []WhyCall `json:"calls"` // whose results later ones have overtaken
}

// A WhyName is an identifier that a block has.
type WhyName struct {
	Name    string         `json:"name"`
	Chance  ratio.Ratio    `json:"chance"` // that the agent uses it in its next calls
	Kept    bool           `json:"kept"`   // it is in the window
	Because []facts.Reason `json:"because"`
}

// A WhyLine is a line of a block that may be copied.
type WhyLine struct {
	Text    string         `json:"text"`
	Chance  ratio.Ratio    `json:"chance"` // that the agent copies it in its next calls
	Kept    bool           `json:"kept"`   // it is in the window
	Because []facts.Reason `json:"because"`
}

// A WhyCall is a call of a block that a later one has overtaken.
type WhyCall struct {
	CallID string             `json:"call_id"`
	State  facts.State        `json:"state"`
	By     transcript.BlockID `json:"by"`
	About  string             `json:"about"`          // the file, the command or the entry
	Part   bool               `json:"part,omitempty"` // only part of it is overtaken
}

// mostExplained is how many names and lines of a block are explained.
const mostExplained = 10

// need says what of block i is likely to be needed again.
func (p *pass) need(i int) *WhyNeed {
	c := p.cover()
	model := p.engine.opts.Model
	if model == nil {
		model = facts.DefaultModel()
	}
	window := p.window()
	w := &WhyNeed{Names: []WhyName{}, Lines: []WhyLine{}, Calls: []WhyCall{}}
	named, copied := make(map[int32]bool), make(map[int32]bool)
	for n := range c.pieces {
		piece := &c.pieces[n]
		if piece.Block != i {
			continue
		}
		for k, id := range c.need.Marks[n] {
			if name := &c.need.Names[id]; !named[id] && name.Chance > 0 {
				named[id] = true
				text := piece.Text[piece.Marks[k].From:piece.Marks[k].To]
				w.Names = append(w.Names, WhyName{text, share(name.Chance), strings.Contains(window, text), model.ExplainName(name.Features)})
			}
		}
		for k := range piece.Lines {
			l := &piece.Lines[k]
			if line := &c.need.Lines[n][k]; line.Copy != 0 && !copied[line.Copy] {
				copied[line.Copy] = true
				text := piece.Text[l.From:l.To]
				w.Lines = append(w.Lines, WhyLine{text, share(line.Chance), strings.Contains(window, text), model.ExplainLine(line.Features)})
			}
		}
	}
	slices.SortStableFunc(w.Names, func(a, b WhyName) int { return cmp.Compare(b.Chance, a.Chance) })
	slices.SortStableFunc(w.Lines, func(a, b WhyLine) int { return cmp.Compare(b.Chance, a.Chance) })
	w.Names, w.Lines = w.Names[:min(len(w.Names), mostExplained)], w.Lines[:min(len(w.Lines), mostExplained)]
	p.overtaken(i, w)
	return w
}

// share turns a chance, which is in billionths, to millionths.
func share(c facts.Chance) ratio.Ratio { return ratio.Ratio((c + 500) / 1000) }

// window returns all that the window says.
func (p *pass) window() string {
	h := p.held
	var b strings.Builder
	if h.summary != nil {
		b.WriteString(h.summary.Text + "\n")
	}
	for n := range p.covering.pieces {
		piece := &p.covering.pieces[n]
		switch pager.Form(h.rows[piece.Block].Form) {
		case pager.Whole, pager.Bare:
			b.WriteString(piece.Text + "\n")
		case pager.Gone, pager.Calls, pager.Lines, pager.Line:
		}
	}
	for i := range h.blocks {
		switch form := pager.Form(h.rows[i].Form); form {
		case pager.Calls, pager.Lines, pager.Line:
			b.WriteString(said(pager.Entries(h.session.Messages, &h.blocks[i], form, p.stubs[h.rows[i].ID])))
		case pager.Gone, pager.Whole, pager.Bare:
		}
	}
	return b.String()
}

// overtaken adds the calls of block i whose results later calls have overtaken.
func (p *pass) overtaken(i int, w *WhyNeed) {
	h := p.held
	graph := facts.NewGraph(h.session.Messages, h.blocks, &facts.Options{Tools: p.engine.opts.Tools})
	for _, k := range h.blocks[i].Messages {
		for _, c := range h.session.Messages[k].Calls() {
			if s := graph.Call(c.ID); s.State != facts.StateCurrent {
				w.Calls = append(w.Calls, WhyCall{c.ID, s.State, h.rows[s.By.Block].ID, s.About, s.Part})
			}
		}
	}
}
