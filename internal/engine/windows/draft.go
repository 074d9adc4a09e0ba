package windows

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/summary/abstractive"
	"github.com/carrel-dev/carrel/summary/extractive"
	"github.com/carrel-dev/carrel/transcript"
)

// A drafted summary is one that was made for a compression.
type drafted struct {
	summary *summary.Summary
	covers  int // blocks, from the first
	fresh   int // of them, how many it was drafted from; the others were merged before
	merged  bool
	edits   []summary.Edit    // what the merge took from the summary before
	left    []summary.Elision // what the window has no room for
	calls   int               // of the model
	todos   json.RawMessage   // the request's, as they are now
	err     error             // why the model's draft cannot be used
}

// errDraft means that a model's draft cannot be used.
var errDraft = errors.New("draft of the model")

// draft returns the summary of the blocks that a way covers: what is new since
// the last compression, merged with what there was.
func (c *compression) draft(ctx context.Context, w way) (*drafted, error) {
	key := draftKey{covers: c.covers(w.keepLast), model: w.model, anew: w.strategy == api.StrategyRegenerative}
	d, ok := c.drafts[key]
	if !ok {
		d = c.newDraft(ctx, key)
		c.drafts[key] = d
	}
	return d, d.err
}

func (c *compression) newDraft(ctx context.Context, key draftKey) *drafted {
	old := c.before(key.anew)
	from := 0
	if old != nil {
		from = old.Covers
		key.covers = max(key.covers, from) // what is merged speaks of these, however many stay raw
	}
	d := &drafted{covers: key.covers, fresh: key.covers - from, merged: old != nil}
	var next *summary.Summary
	if key.model {
		next = c.written(ctx, d, old, from)
		if d.err != nil {
			return d
		}
	} else {
		o := &extractive.Options{Ref: c.ref}
		if old != nil {
			o.Intent = old.Summary.Intent
		}
		found := c.since(from, key.covers)
		next = extractive.Draft(found, o)
		next.Depth = c.depth(found)
		if old != nil {
			dropEmptyEntries(next, found)
		}
	}
	next.Messages, next.Strategy = key.covers, string(c.req.Strategy)
	next.Input = c.inputs[key.covers].String()
	next.At = c.engine.Now().Format(time.RFC3339)
	if old != nil {
		next.Depth = max(next.Depth, old.Summary.Depth)
		d.summary, d.edits = old.Summary.Merge(next)
	} else {
		d.summary, next.Count = next, 1
		if c.pass.held.Summary != nil {
			next.Count = c.pass.held.Summary.Summary.Count + 1
		}
	}
	d.err = d.syncTodos(c.req.Todos)
	return d
}

// earlier returns the summary of the windows before a compaction by the client, or nil
// if there are none.
func (c *compression) earlier() *summary.Summary {
	h := c.pass.held
	if c.past == nil && len(h.Earlier) > 0 {
		all := h.Entire()
		ref := func(block int) string { return all.Rows[block].ID.Short() }
		c.past = extractive.Draft(c.engine.FactsOf(all, h.Behind(), 0), &extractive.Options{Ref: ref})
	}
	return c.past
}

// dropEmptyEntries takes out of a draft of what is new that nothing comes next or is open,
// where nothing new has to do with it: then what was said before stands.
func dropEmptyEntries(s *summary.Summary, found []facts.Fact) {
	steps, open := false, false
	for i := range found {
		switch found[i].Kind {
		case facts.FactTodo, facts.FactPlan, facts.FactTask:
			steps = true
		case facts.FactQuestion, facts.FactError:
			open = true
		case facts.FactCorrection, facts.FactChange, facts.FactRead, facts.FactCommand, facts.FactDecision, facts.FactProgress, facts.FactReference, facts.FactQuote:
		}
	}
	none := func(list []summary.Item) bool { return len(list) == 1 && list[0].Text == summary.None }
	if !steps && none(s.Next) {
		s.Next = nil
	}
	if !open && none(s.Blockers) {
		s.Blockers = nil
	}
}

// depth is how many times what a summary is made from was summarized, this time
// included: once, or twice where the agent's own compaction had left a summary. What
// we made is merged and never read again, so it grows no deeper.
func (c *compression) depth(found []facts.Fact) int {
	for i := range found {
		if c.pass.held.Blocks[found[i].Block].Kind == transcript.KindSummary {
			return 2
		}
	}
	return 1
}

// sync brings a list of things to do and the summary together.
func (d *drafted) syncTodos(todos json.RawMessage) error {
	if todos == nil {
		return nil
	}
	list, err := summary.ParseTodos(todos)
	if err != nil {
		return err
	}
	list.Todos, d.summary, _ = summary.SyncTodos(list.Todos, d.summary)
	d.todos = list.JSON()
	return nil
}

// before returns the summary to merge with: the one in the window, if it speaks
// of blocks that are still there.
func (c *compression) before(anew bool) *hold.WindowSummary {
	s := c.pass.held.Summary
	if s == nil || anew || s.Covers >= len(c.inputs) || c.inputs[s.Covers] != s.Input {
		return nil
	}
	return s
}

// inputsOf returns digests of what the first n blocks of a session say, for each n
// from 0: each is of the one before and a text. So the digest of what a summary
// covers does not depend on how many compressions it took.
func inputsOf(h *hold.Snapshot) []digest.Digest {
	all := make([]digest.Digest, len(h.Blocks)+1)
	for i, text := range h.Texts() {
		sum := sha256.New()
		sum.Write(all[i][:])
		sum.Write([]byte(text))
		sum.Sum(all[i+1][:0])
	}
	return all
}

// written lets the generator write what is new.
func (c *compression) written(ctx context.Context, d *drafted, old *hold.WindowSummary, from int) *summary.Summary {
	h := c.pass.held
	in := &abstractive.Input{}
	if old != nil {
		in.Previous = old.Summary
	}
	for i := from; i < d.covers; i++ {
		if h.Blocks[i].Kind == transcript.KindSummary {
			continue // a rule keeps it; nothing is made from a summary
		}
		in.Blocks = append(in.Blocks, abstractive.Block{ID: c.ref(i), Role: string(h.Blocks[i].Kind), Text: h.Texts()[i]})
	}
	found := c.since(from, d.covers)
	for i := range found {
		if f := &found[i]; f.Subject != "" {
			in.Facts = append(in.Facts, string(f.Kind)+": "+f.Subject)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.engine.Opts.Patience)
	defer cancel()
	w := abstractive.Summarizer{
		Generator: c.engine.Opts.Generator,
		Counter:   func(text string) int { return int(c.pass.meter.Counter.Count(text)) },
	}
	next, rec, err := w.Draft(ctx, in)
	if rec != nil {
		d.calls = rec.Calls
	}
	if err == nil {
		if problems := summary.Check(next, c.engine.source(h, d.covers, found)); len(problems) > 0 {
			err = fmt.Errorf("%d problems, the first: %s", len(problems), problems[0])
		}
	}
	if err != nil {
		d.err = fmt.Errorf("%w: %w", errDraft, err)
		return nil
	}
	next.Model, next.Depth = rec.Model, 1
	return next
}

// ref returns the id by which a summary names a block.
func (c *compression) ref(block int) string { return c.pass.held.Rows[block].ID.Short() }

// factsOf returns the facts of the first n blocks.
func (c *compression) factsOf(n int) []facts.Fact {
	all, ok := c.texts[n]
	if !ok {
		all = c.engine.FactsOf(c.pass.held, n, 0)
		c.texts[n] = all
	}
	return all
}

// since returns the facts of the blocks from one to another, and what became of
// older ones there.
func (c *compression) since(from, to int) []facts.Fact {
	if from == 0 {
		return c.factsOf(to)
	}
	return c.engine.FactsOf(c.pass.held, to, from)
}
