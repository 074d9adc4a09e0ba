package windows

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// headAndSummary returns the head of a session and what stands for its older blocks, or
// nil.
func (e *Windows) headAndSummary(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, *hold.StandIn, error) {
	head, err := e.Head(ctx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.StandIn(ctx, scope, head.Summary)
	return head, s, err
}

// Summary returns what stands in the window of a session for its older blocks.
func (e *Windows) Summary(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SummaryResult, err error) {
	id := req.Session
	defer base.During("summary of session "+string(id), &err)

	_, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, api.About(api.SubjectNoSummary, fmt.Errorf("session %s has no summary: compress it first: %w", id, store.ErrNotFound))
	}
	return &api.SummaryResult{Session: id, SummaryInfo: *summaryInfo(s, nil), Text: s.Text, Summary: s.Whole()}, nil
}

// CheckSummary says whether a summary could stand for the blocks of a session, by the
// judgement that [Judgement] describes.
func (e *Windows) CheckSummary(ctx context.Context, scope governance.Scope, req *api.CheckSummaryRequest) (_ *api.CheckSummaryResult, err error) {
	defer base.During("check a summary of session "+string(req.Session), &err)

	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	j, s, err := e.judged(h, req.Data, req.Blocks, req.ProbeMin)
	if err != nil {
		return nil, err
	}
	return &api.CheckSummaryResult{Session: req.Session, Judgement: *j, Summary: s}, nil
}

// source returns what a summary of the first n blocks is checked against.
func (e *Windows) source(h *hold.Held, n int, found []facts.Fact) *summary.Source {
	src := &summary.Source{Names: names1}
	all, to := h.Entire(), h.Behind()+n // a summary may speak of earlier windows, too
	size := 0
	for _, text := range all.Texts()[:to] {
		size += len(text) + 1
	}
	b := make([]byte, 0, size)
	for _, text := range all.Texts()[:to] {
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
func askedOf(h *hold.Held, n int) (all []string) {
	for i := range n {
		for _, k := range h.Blocks[i].Messages {
			if m := &h.Session.Messages[k]; m.Role == transcript.RoleUser && m.Text() != "" {
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
func (e *Windows) State(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.State, err error) {
	id := req.Session
	defer base.During("state of session "+string(id), &err)

	head, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	st := &api.State{Compression: api.CompressionState{Session: id, Tokens: head.Tokens, Window: head.Window}}
	if s != nil {
		c := &st.Compression
		c.Summary = s.Whole()
		c.Count, c.At, c.ProbeScore = c.Summary.Count, c.Summary.At, c.Summary.ProbeScore
	}
	return st, nil
}

// probing are the options of probes that are asked about a session's first n blocks.
func probingOf(h *hold.Held, n int) *probe.Options {
	return &probe.Options{
		Ref:       func(block int) string { return h.Rows[block].ID.Short() },
		Turn:      func(block int) int { return h.Blocks[block].Turn },
		Originals: h.Texts()[:n],
	}
}
