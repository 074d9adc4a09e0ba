package demo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/transcript"
)

// logOf is the command whose output the story follows.
const logOf = "kubectl -n billing logs billing-worker-7 --since=24h"

// story shows on a copy of the session its window before and after: a log, the text that
// replaces it, a line that left and was found again, and the saving.
func (d *demo) story(ctx context.Context) error {
	c, err := d.compressed(ctx, carrel.StrategyAccount)
	if err != nil {
		return err
	}
	e, in, r, original, window := c.engine, c.imported, c.result, c.original, c.window
	blocks := transcript.Group(original.ID, 0, original.Messages)
	log := slices.IndexFunc(blocks, func(b transcript.Block) bool { return strings.Contains(b.Text(original.Messages), logOf) })
	d.check(log >= 0, "the log of a worker is in the conversation")
	if log < 0 {
		return nil
	}
	text := blocks[log].Text(original.Messages)
	d.say("An agent looks for why a deploy hangs. Its window has %s tokens,\na log among them:", group(int(in.Tokens)))
	d.quote(excerpt(text))
	after := said(window.Messages)
	stands := paragraphWith(after, logOf)
	d.check(stands != "", "an account of the log is in the window")
	d.say("%s compress --target 10%% leaves %s tokens. For the log stands:", d.program, group(int(r.After)))
	d.quote(strings.Split(stands, "\n"))
	if err := d.lost(ctx, e, text, after, original.RawBlock(&blocks[log])); err != nil {
		return err
	}
	saved := "Saved: " + group(int(r.Before-r.After)) + " tokens of every call from here on"
	if m, ok := economy.Published().Find(original.Model); ok && m.Priced() {
		saved += fmt.Sprintf(".\nAt the list price of %s that is %s a call, or %s\nwhere it is read from the provider's cache", original.Model, m.Input.Of(r.Before-r.After), m.Input.Times(m.Read).Of(r.Before-r.After))
	}
	d.say("%s.", saved)
	return nil
}

// lost finds a line of text that is not in after, the text of the window after the compression. It
// searches for the line by its words, recalls its block, and prints both.
func (d *demo) lost(ctx context.Context, e *carrel.Engine, text, after string, raw []byte) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.Contains(line, "invoices=") || strings.Contains(after, line) {
			continue
		}
		batch, _, _ := strings.Cut(line[strings.Index(line, "b-"):], " ")
		found, err := carrel.Items(e.Search(ctx, d.scope, &carrel.SearchRequest{Query: "settled batch " + batch, Limit: 1}))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		got, err := e.Recall(ctx, d.scope, &carrel.RecallRequest{Block: string(found[0].Block)})
		if err != nil {
			return err
		}
		d.check(bytes.Equal(got.Data, raw), "the log that has %s is recalled byte for byte", batch)
		d.say("A line that left, and is found again:")
		id := found[0].Block.Short()
		d.quote([]string{"… " + line[strings.Index(line, "msg="):], "$ " + d.program + ` search "settled batch ` + batch + `"  → ` + id, "$ " + d.program + " recall " + id + " --text  → the whole log, byte for byte"})
		return nil
	}
	d.check(false, "a line of the log left the window, and a search finds it")
	return nil
}

// say prints a sentence of the story.
func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// quote prints lines of a window, as wide as a terminal.
func (d *demo) quote(lines []string) {
	const widest = 74
	fmt.Fprintln(d.out)
	for _, l := range lines {
		if r := []rune(l); len(r) > widest {
			l = string(r[:widest-1]) + "…"
		}
		fmt.Fprintf(d.out, "    %s\n", l)
	}
	fmt.Fprintln(d.out)
}

// excerpt returns the first lines of a text and its last one.
func excerpt(text string) []string {
	const first = 4
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= first+2 {
		return lines
	}
	return append(lines[:first:first], fmt.Sprintf("… %d more lines", len(lines)-first-1), lines[len(lines)-1])
}

// paragraphWith returns the lines about a command in an account, from its mark to the id of its
// block.
func paragraphWith(text, command string) string {
	at := strings.Index(text, command)
	if at < 0 {
		return ""
	}
	from := 1 + strings.LastIndexByte(text[:max(at-1, 0)], '\n')
	rest, _, closed := strings.Cut(text[at:], "]\n")
	if closed {
		rest += "]"
	}
	return text[from:at] + rest
}
