package carrel

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// headAndSummary returns the head of a session and what stands for its older blocks, or
// nil.
func (e *Engine) headAndSummary(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, *standIn, error) {
	head, err := e.head(ctx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.standIn(ctx, scope, head.Summary)
	return head, s, err
}

// Summary returns what stands in the window of a session for its older blocks.
// A session that has none is [store.ErrNotFound].
func (e *Engine) Summary(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *SummaryResult, err error) {
	id := req.Session
	defer during("summary of session "+string(id), &err)

	_, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("session %s has no summary: compress it first: %w", id, store.ErrNotFound)
	}
	return &SummaryResult{Session: id, SummaryInfo: *summaryInfo(s, nil), Text: s.Text, Summary: s.whole()}, nil
}

// CheckSummary says whether a summary could stand for the blocks of a session, by
// the judgement that [Judgement] describes. It changes nothing.
func (e *Engine) CheckSummary(ctx context.Context, scope governance.Scope, req *CheckSummaryRequest) (_ *CheckSummaryResult, err error) {
	defer during("check a summary of session "+string(req.Session), &err)

	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	j, s, err := e.judged(h, req.Data, req.Blocks, req.ProbeMin)
	if err != nil {
		return nil, err
	}
	return &CheckSummaryResult{Session: req.Session, Judgement: *j, Summary: s}, nil
}

// factsOf returns the facts of the first n blocks of a session that blocks from
// one on have, or changed.
func (e *Engine) factsOf(h *held, n, from int) []facts.Fact {
	return facts.Extract(h.session.Messages, h.blocks[:n], &facts.Options{
		Tools: e.opts.Tools, Project: h.session.Project, Correction: pager.Correction, First: from,
	})
}

// source returns what a summary of the first n blocks is checked against.
func (e *Engine) source(h *held, n int, found []facts.Fact) *summary.Source {
	src := &summary.Source{Names: names1}
	all, to := h.entire(), h.behind()+n // a summary may speak of earlier windows, too
	size := 0
	for _, text := range all.texts()[:to] {
		size += len(text) + 1
	}
	b := make([]byte, 0, size)
	for _, text := range all.texts()[:to] {
		b = append(append(b, text...), '\n')
	}
	src.Text = string(b)
	seen := make(map[string]bool)
	for i := range found {
		if f := &found[i]; f.Kind == facts.FactChange && !byproduct(f) && !seen[f.Subject] {
			seen[f.Subject] = true
			src.Changed = append(src.Changed, f.Subject)
		}
	}
	src.Asked = askedOf(all, to)
	return src
}

// byproduct reports whether a file was made of what a command printed: a summary
// need not name it.
func byproduct(f *facts.Fact) bool { return f.Status == facts.StatusCreated && f.Text == "" }

// withoutByproducts returns facts without the changes that nobody asked for.
func withoutByproducts(found []facts.Fact) []facts.Fact {
	return slices.DeleteFunc(slices.Clone(found), func(f facts.Fact) bool { return f.Kind == facts.FactChange && byproduct(&f) })
}

// askedOf returns what persons said in the first n blocks.
func askedOf(h *held, n int) (all []string) {
	for i := range n {
		for _, k := range h.blocks[i].Messages {
			if m := &h.session.Messages[k]; m.Role == transcript.RoleUser && m.Text() != "" {
				all = append(all, m.Text())
			}
		}
	}
	return all
}

// left returns what facts leave open at the end: questions that nobody answered,
// and what is to do: of the list of things to do or, if it is older, of the steps
// that were announced last.
func left(found []facts.Fact) (open, steps []string) {
	plan, todo := -1, -1
	for i := range found {
		switch found[i].Kind { //nolint:exhaustive // the others announce nothing
		case facts.FactPlan:
			plan = max(plan, found[i].Block)
		case facts.FactTodo:
			todo = max(todo, found[i].Block)
		}
	}
	for i := range found {
		f := &found[i]
		switch {
		case f.Kind == facts.FactQuestion && f.Status == facts.StatusOpen:
			open = append(open, f.Text)
		case f.Kind == facts.FactPlan && f.Block == plan && plan >= todo:
			steps = append(steps, f.Text)
		case f.Kind == facts.FactTodo && f.Status != facts.StatusCompleted && f.Block == todo:
			steps = append(steps, f.Subject)
		}
	}
	return open, steps
}

// names1 returns the identifiers of a text, each once, without quantities, which a
// summary may say in other words.
func names1(text string) []string {
	var all []string
	seen := make(map[string]bool)
	facts.Each(text, func(id facts.Identifier, _ int) {
		if id.Kind != facts.KindQuantity && !seen[id.Text] {
			seen[id.Text] = true
			all = append(all, id.Text)
		}
	})
	return all
}

// State returns the state of compression of a session.
func (e *Engine) State(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *State, err error) {
	id := req.Session
	defer during("state of session "+string(id), &err)

	head, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	st := &State{Compression: CompressionState{Session: id, Tokens: head.Tokens, Window: head.Window}}
	if s != nil {
		c := &st.Compression
		c.Summary = s.whole()
		c.Count, c.At, c.ProbeScore = c.Summary.Count, c.Summary.At, c.Summary.ProbeScore
	}
	return st, nil
}

// probing are the options of probes that are asked about a session's first n blocks.
func probingOf(h *held, n int) *probe.Options {
	return &probe.Options{
		Ref:       func(block int) string { return h.rows[block].ID.Short() },
		Turn:      func(block int) int { return h.blocks[block].Turn },
		Originals: h.texts()[:n],
	}
}
