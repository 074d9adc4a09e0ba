package windows

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
)

// mostExplained is how many names and lines of a block are explained.
const mostExplained = 10

// need says what of block i is likely to be needed again.
func (p *pass) need(i int) *api.WhyNeed {
	c := p.likely()
	model := p.engine.Opts.Model
	if model == nil {
		model = facts.DefaultModel()
	}
	window := p.window()
	w := &api.WhyNeed{Names: []api.WhyName{}, Lines: []api.WhyLine{}, Calls: []api.WhyCall{}}
	named, copied := make(map[int32]bool), make(map[int32]bool)
	for n := range c.Pieces {
		piece := &c.Pieces[n]
		if piece.Block != i {
			continue
		}
		for k, id := range c.Need.Marks[n] {
			if name := &c.Need.Names[id]; !named[id] && name.Chance > 0 {
				named[id] = true
				text := piece.Text[piece.Marks[k].From:piece.Marks[k].To]
				w.Names = append(w.Names, api.WhyName{
					Name: text, Chance: share(name.Chance), Kept: strings.Contains(window, text), Because: model.ExplainName(name.Features),
				})
			}
		}
		for k := range piece.Lines {
			l := &piece.Lines[k]
			if line := &c.Need.Lines[n][k]; line.Copy != 0 && !copied[line.Copy] {
				copied[line.Copy] = true
				text := piece.Text[l.From:l.To]
				w.Lines = append(w.Lines, api.WhyLine{
					Text: text, Chance: share(line.Chance), Kept: strings.Contains(window, text), Because: model.ExplainLine(line.Features),
				})
			}
		}
	}
	slices.SortStableFunc(w.Names, func(a, b api.WhyName) int { return cmp.Compare(b.Chance, a.Chance) })
	slices.SortStableFunc(w.Lines, func(a, b api.WhyLine) int { return cmp.Compare(b.Chance, a.Chance) })
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
	if h.Summary != nil {
		b.WriteString(h.Summary.Text + "\n")
	}
	for n := range p.likely().Pieces {
		piece := &p.likely().Pieces[n]
		switch pager.Form(h.Rows[piece.Block].Form) {
		case pager.Whole, pager.Bare:
			b.WriteString(piece.Text + "\n")
		case pager.Gone, pager.Calls, pager.Lines, pager.Line:
		}
	}
	for i := range h.Blocks {
		switch form := pager.Form(h.Rows[i].Form); form {
		case pager.Calls, pager.Lines, pager.Line:
			b.WriteString(said(pager.Entries(h.Session.Messages, &h.Blocks[i], form, p.stubs[h.Rows[i].ID])))
		case pager.Gone, pager.Whole, pager.Bare:
		}
	}
	return b.String()
}

// overtaken adds the calls of block i whose results later calls have overtaken.
func (p *pass) overtaken(i int, w *api.WhyNeed) {
	h := p.held
	graph := facts.NewGraph(h.Session.Messages, h.Blocks, &facts.Options{Tools: p.engine.Opts.Tools})
	for _, k := range h.Blocks[i].Messages {
		for _, c := range h.Session.Messages[k].Calls() {
			if s := graph.Call(c.ID); s.State != facts.StateCurrent {
				w.Calls = append(w.Calls, api.WhyCall{
					CallID: c.ID, State: s.State, By: h.Rows[s.By.Block].ID, About: s.About, Part: s.Part,
				})
			}
		}
	}
}
