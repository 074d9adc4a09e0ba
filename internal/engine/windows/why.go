package windows

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Why returns every decision about a block, with its rule or the inputs of its score, and its
// present rule and score. For the names and lines of the block it returns how likely the agent
// needs them again, why, and whether they are in the window.
func (e *Windows) Why(ctx context.Context, scope governance.Scope, req *api.BlockRequest) (_ *api.WhyResult, err error) {
	block := req.Block
	defer base.During("why", &err, block)

	ref, row, err := e.FindBlock(ctx, scope, block)
	if err != nil {
		return nil, err
	}
	h, err := e.Load(ctx, scope, ref.Session)
	if err != nil {
		return nil, err
	}
	res := &api.WhyResult{
		Session: ref.Session, Block: row.ID, Kind: row.Kind, Tools: row.Tools, Turn: row.Turn, State: row.State,
		Form: pager.Form(row.Form), Off: row.Off, Tokens: row.Tokens, Window: row.Window,
		Weights: e.Opts.Weights, Cuts: e.Opts.Cuts,
	}
	if i := h.Index(row.ID); i >= 0 {
		p, err := e.newPass(ctx, scope, h, &api.CompressRequest{Session: ref.Session})
		if err != nil {
			return nil, err
		}
		plan, err := pager.Make(p.request(&api.CompressRequest{Target: api.Target{Tokens: math.MaxInt}}))
		if err != nil {
			return nil, err
		}
		res.Now, res.Intent = &plan.Decisions[i], p.intent
		res.Preview, res.Need = hold.Preview(h.Session.Messages, &h.Blocks[i]), p.need(i)
		if res.Account, err = e.whyAccount(ctx, scope, p, i); err != nil {
			return nil, err
		}
		if s, ok := p.stubs[row.ID]; ok {
			res.Stub = &s
		}
	}
	if all := h.WithEarlier(); res.Off {
		if i := all.Index(row.ID); i >= 0 {
			res.Off, res.Earlier, res.Preview = false, h.WindowOf(i), hold.Preview(all.Session.Messages, &all.Blocks[i])
		}
	}
	res.History, err = e.history(ctx, scope, ref)
	return res, err
}

// imports returns the changes of a block that the client had made, and that the import in entry
// recorded.
func imports(entry *store.Entry, block transcript.BlockID) ([]api.WhyEntry, error) {
	var data hold.ImportEntry
	if err := hold.ReadEntry(entry, &data); err != nil {
		return nil, err
	}
	w := api.WhyEntry{Op: entry.ID, Actor: entry.Actor, Time: entry.Time}
	switch c := data.Compacted; {
	case c != nil && slices.Contains(c.Blocks, block):
		w.Kind, w.Actor, w.Reason = "compacted", c.Actor, string(c.Rule)
	case slices.Contains(data.Back, block):
		w.Kind, w.Reason = "back", "in the conversation again, whole"
	default:
		return nil, nil
	}
	return []api.WhyEntry{w}, nil
}

// history returns what the journal says about a block.
func (e *Windows) history(ctx context.Context, scope governance.Scope, ref store.BlockRef) ([]api.WhyEntry, error) {
	var history []api.WhyEntry
	for entry, err := range e.Store.Entries(ctx, scope, ref.Session, 0) {
		if err != nil {
			return nil, err
		}
		w := api.WhyEntry{Op: entry.ID, Kind: entry.Op, Actor: entry.Actor, Time: entry.Time}
		if entry.Op == hold.OpImport {
			if len(history) == 0 {
				history = append(history, w)
			}
			more, err := imports(entry, ref.Block)
			if err != nil {
				return nil, err
			}
			history = append(history, more...)
			continue
		}
		var data struct {
			Budget token.Count `json:"budget"`
			Moves  []hold.Move `json:"moves"`
			Pins   []pinning   `json:"pins"`
		}
		if err := hold.ReadEntry(entry, &data); err != nil {
			return nil, err
		}
		w.Budget = data.Budget
		for i := range data.Moves {
			if data.Moves[i].Block == ref.Block {
				w.Decision = &data.Moves[i].BlockDecision
				history = append(history, w)
			}
		}
		for i := range data.Pins {
			if data.Pins[i].Block == ref.Block {
				w.Pinned = &data.Pins[i].Pinned
				history = append(history, w)
			}
		}
	}
	return history, nil
}

// mostExplained is how many names and lines of a block are explained.
const mostExplained = 10

// need returns the names and lines of block i that are likely to be needed again.
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
	p.supersededCalls(i, w)
	return w
}

// share converts a chance in billionths to millionths.
func share(c facts.Chance) ratio.Ratio { return ratio.Ratio((c + 500) / 1000) }

// window returns the text of the whole window.
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
			b.WriteString(textOf(pager.Entries(h.Session.Messages, &h.Blocks[i], form, p.stubs[h.Rows[i].ID])))
		case pager.Gone, pager.Whole, pager.Bare:
		}
	}
	return b.String()
}

// supersededCalls adds to w the calls of block i whose results are out of date because of later calls.
func (p *pass) supersededCalls(i int, w *api.WhyNeed) {
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
