package demo

import (
	"bytes"
	"context"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
)

// A copied is a copy of the session in its own store, compressed to a tenth of its tokens.
type copied struct {
	engine           *carrel.Engine
	imported         *carrel.ImportResult
	result           *carrel.CompressResult
	original, window *transcript.Session
}

// compressed compresses a copy of the session with a strategy.
func (d *demo) compressed(ctx context.Context, strategy carrel.Strategy) (c *copied, err error) {
	c = &copied{}
	if c.engine, err = carrel.New(memory.New(), &carrel.Options{Now: clock}); err != nil {
		return nil, err
	}
	if c.imported, err = c.engine.Import(ctx, d.scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: d.data}); err != nil {
		return nil, err
	}
	id := c.imported.Session
	if c.result, err = c.engine.Compress(ctx, d.scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(1, 10)}, Strategy: strategy}); err != nil {
		return nil, err
	}
	out, err := c.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: id})
	if err != nil {
		return nil, err
	}
	if c.original, err = decode(d.data); err != nil {
		return nil, err
	}
	c.window, err = decode(out.Data)
	return c, err
}

// planner compresses a copy of the session to a tenth of its tokens without a summary. It checks
// that every block is in the window, or that the window has its id, by which it can be recalled.
func (d *demo) planner(ctx context.Context) error {
	c, err := d.compressed(ctx, carrel.StrategyImportance)
	if err != nil {
		return err
	}
	e, r, original, window := c.engine, c.result, c.original, c.window
	d.check(r.After <= r.Budget, "without a summary, a window of %d tokens fits a budget of %d", r.After, r.Budget)
	blocks := transcript.Group(original.ID, 0, original.Messages)
	text := said(window.Messages)
	kept, named, same := 0, 0, 0
	for i := range r.Decisions {
		dec := &r.Decisions[i]
		if dec.To == pager.Whole || dec.To == pager.Bare || dec.Lines > 0 {
			kept++
		}
		if dec.To == pager.Whole || dec.To == pager.Bare || strings.Contains(text, "[carrel "+dec.Block.Short()) {
			named++
		}
		got, err := e.Recall(ctx, d.scope, &carrel.RecallRequest{Block: string(dec.Block)})
		if err != nil {
			return err
		}
		if bytes.Equal(got.Data, original.RawBlock(&blocks[i])) {
			same++
		}
	}
	all := len(blocks)
	d.check(named == all, "%d of %d blocks are in the window or named there by their ids", named, all)
	d.check(same == all, "%d of %d blocks are recalled byte for byte", same, all)
	lines, names := d.kept(said(original.Messages), text)
	d.report("planner", "a copy, %s → %s tok (−%d%%), no summary · %s lines and %s names of %d blocks kept · %d/%d blocks one recall away",
		group(int(r.Before)), group(int(r.After)), 100-100*int(r.After)/int(r.Before), group(lines), group(names), kept, same, all)
	return nil
}

// kept counts the lines and the names that are still in a text, and checks that they are more
// than the user's words have.
func (d *demo) kept(before, after string) (lines, names int) {
	lines, names = shared(linesOf(before), linesOf(after)), shared(namesOf(before), namesOf(after))
	d.check(lines >= 50 && names >= 200, "%d lines and %d names are kept", lines, names)
	return lines, names
}

func decode(data []byte) (*transcript.Session, error) {
	f, err := carrel.Detect(data)
	if err != nil {
		return nil, err
	}
	return f.Decode("demo.jsonl", data)
}

// said returns the text of messages, with the arguments and results of calls.
func said(msgs []transcript.Message) string {
	var b strings.Builder
	for i := range msgs {
		b.WriteString(msgs[i].Text() + "\n")
		for _, c := range msgs[i].Calls() {
			b.Write(c.Input)
			b.WriteByte('\n')
		}
		for _, r := range msgs[i].Results() {
			b.WriteString(r.Text() + "\n")
		}
	}
	return b.String()
}

// linesOf returns the lines of a text.
func linesOf(text string) map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			set[line] = true
		}
	}
	return set
}

// namesOf returns the identifiers in a text.
func namesOf(text string) map[string]bool {
	set := make(map[string]bool)
	facts.Each(text, func(id facts.Identifier, _ int) { set[id.Text] = true })
	return set
}

// shared returns the number of elements that two sets share.
func shared(a, b map[string]bool) int {
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
