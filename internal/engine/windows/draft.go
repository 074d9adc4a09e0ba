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
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/summary/abstractive"
	"github.com/carrel-dev/carrel/summary/extractive"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A drafted is a new summary that a compression made.
type drafted struct {
	summary *summary.Summary
	covers  int // number of blocks, from the first
	fresh   int // how many of these blocks the merged summary did not cover
	merged  bool
	edits   []summary.Edit    // changes of the merge to the former summary
	left    []summary.Elision // entries that the window has no room for
	calls   int               // number of calls of the model
	todos   json.RawMessage   // the to-do list of the request, updated
	warning string            // which entries of the model's draft were left out, or empty
	err     error             // why the model's draft cannot be used, or nil
}

// errDraft means that a model's draft cannot be used.
var errDraft = errors.New("the draft of the model cannot be used")

// draft returns the new summary for a way to compress: a draft of the blocks that the former
// summary does not cover, merged with the former summary. A model is told the room, in tokens.
func (c *compression) draft(ctx context.Context, w way, room token.Count) (*drafted, error) {
	key := draftKey{covers: c.covers(w.keepLast), model: w.model, anew: w.strategy == api.StrategyRegenerative}
	if w.model {
		key.room = room
	}
	if w.model && w.plans() == api.StrategyAccount {
		key.covers = len(c.pass.held.Blocks) // the state of the work is that at the end
	}
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
		key.covers = max(key.covers, from) // the merged summary covers these, however many stay raw
	}
	d := &drafted{covers: key.covers, fresh: key.covers - from, merged: old != nil}
	var next *summary.Summary
	if key.model {
		next = c.written(ctx, d, old, from, key.room)
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

// earlier returns the summary of the windows before a compaction by the client, or nil if there
// are none.
func (c *compression) earlier() *summary.Summary {
	h := c.pass.held
	if c.past == nil && len(h.Earlier) > 0 {
		all := h.WithEarlier()
		ref := func(block int) string { return all.Rows[block].ID.Short() }
		c.past = extractive.Draft(c.engine.FactsOf(all, h.Behind(), 0), &extractive.Options{Ref: ref})
	}
	return c.past
}

// dropEmptyEntries removes the entry "none" from next steps and blockers of a draft if no new
// fact is about steps or blockers. Then the merge keeps the former entries.
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

// depth returns how often the source of a summary has been summarized, including this time. That is
// twice if it contains a summary of the client's compaction, and otherwise once. Summaries by
// Carrel are merged and never read again, so they add nothing.
func (c *compression) depth(found []facts.Fact) int {
	for i := range found {
		if c.pass.held.Blocks[found[i].Block].Kind == transcript.KindSummary {
			return 2
		}
	}
	return 1
}

// syncTodos marks entries of a to-do list that the summary says are done, and adds the list to
// the summary.
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

// before returns the summary to merge with. This is the summary in the window if the blocks that it
// covers are unchanged. Otherwise, and if anew is true, before returns nil.
func (c *compression) before(anew bool) *hold.WindowSummary {
	s := c.pass.held.Summary
	if s == nil || anew || s.Covers >= len(c.inputs) || c.inputs[s.Covers] != s.Input {
		return nil
	}
	return s
}

// inputsOf returns a list whose element n is the digest of the texts of the first n blocks of a
// session. Each digest is made of the digest before it and one text, so the digest of the blocks
// that a summary covers does not depend on how many compressions made the summary.
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

// written lets the generator write the summary of the new blocks, from the block with the index from
// on, in about room tokens. It sets d.err if the summary cannot be used.
func (c *compression) written(ctx context.Context, d *drafted, old *hold.WindowSummary, from int, room token.Count) *summary.Summary {
	h := c.pass.held
	in := &abstractive.Input{Room: int(room)}
	if old != nil {
		in.Previous = old.Summary
	}
	for i := from; i < d.covers; i++ {
		if h.Blocks[i].Kind == transcript.KindSummary {
			continue // never summarize a summary; a rule keeps it in the window
		}
		in.Blocks = append(in.Blocks, abstractive.Block{ID: c.ref(i), Role: string(h.Blocks[i].Kind), Text: h.Texts()[i]})
	}
	found := c.since(from, d.covers)
	for i := range found {
		f, label := &found[i], string(found[i].Kind)
		if f.Kind == facts.FactTodo {
			label = "to do" // an entry that begins with "todo:" would be a placeholder
		}
		if f.Subject != "" {
			in.Facts = append(in.Facts, label+": "+f.Subject)
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
		next, err = d.usable(next, c.source(d.covers, found))
	}
	if err != nil {
		d.err = fmt.Errorf("%w: %w", errDraft, err)
		return nil
	}
	next.Model, next.Depth = rec.Model, 1
	return next
}

// ref returns the short id by which a summary names a block.
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

// since returns the facts of the blocks with the indexes from ≤ i < to. It also returns facts of
// earlier blocks whose status changed in these blocks.
func (c *compression) since(from, to int) []facts.Fact {
	if from == 0 {
		return c.factsOf(to)
	}
	return c.engine.FactsOf(c.pass.held, to, from)
}

// source returns the original of a draft. Beside an account a draft need not list the changed files:
// the state does.
func (c *compression) source(covers int, found []facts.Fact) *summary.Original {
	src := c.engine.source(c.pass.held, covers, found)
	if c.req.Strategy == api.StrategyAccount || c.req.Strategy == api.StrategyAnchored {
		src.Changed = nil
	}
	return src
}

// usable returns a model's draft without the entries that break a rule. It fails if these are more
// than a quarter, or if the rest breaks a rule.
func (d *drafted) usable(draft *summary.Summary, src *summary.Original) (*summary.Summary, error) {
	problems := summary.Check(draft, src)
	if len(problems) == 0 {
		return draft, nil
	}
	first := fmt.Sprintf("%s: %s: %s", problems[0].Section, text.Short(problems[0].Entry, 60), problems[0].Text)
	rest, gone := draft.Without(problems)
	if gone > len(draft.Entries())/4 || len(summary.Check(rest, src)) > 0 {
		return nil, fmt.Errorf("it has %d problems, the first: %s", len(problems), first)
	}
	d.warning = fmt.Sprintf("texts of the model's draft that broke a rule were left out; problems: %d, the first: %s", len(problems), first)
	return rest, nil
}
