package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A compressed is the result of a compression, with what is needed to print it.
type compressed struct {
	*carrel.CompressResult

	least *ratio.Ratio // least share of answered probes
	dry   bool
	kept  bool // the session is in a store
}

// page prints the result: in words for a terminal, and as fields for a pipe.
func (c *compressed) page(p *out.Page) {
	if p.TTY {
		c.print(p)
		return
	}
	rows := [][]any{
		{"session", c.Session},
		{"op", c.Op},
		{"strategy", string(c.Strategy)},
		{"budget", c.Budget},
		{"imported", c.Imported},
		{"before", c.Before},
		{"after", c.After},
		{"ratio", c.Ratio},
		{"live", c.Blocks.Live},
		{"stub", c.Blocks.Stub},
		{"cold", c.Blocks.Cold},
		{"changed", c.Changed},
		{"provider", c.Provider},
	}
	if s := c.Summary; s != nil {
		rows = append(rows, []any{"summary", s.ID, s.Covers, s.Tokens})
	}
	if r := c.Probes; r != nil {
		rows = append(rows, []any{"probes", r.Passed, r.Total}, []any{"critical", r.Critical.Passed, r.Critical.Total})
	}
	for _, w := range c.Warnings {
		rows = append(rows, []any{"warning", w})
	}
	for _, t := range c.Todos {
		if t.Completed {
			rows = append(rows, []any{"todo", t.Status, t.Content})
		}
	}
	p.Fields(rows...)
	if c.Probes != nil {
		printMissed(p, c.Probes, 0)
	}
}

// shownMisses is the most missed probes that are listed on a terminal.
const shownMisses = 5

// budgetWords returns the budget, and its share of the conversation if the target is a share.
func budgetWords(c *carrel.CompressResult) string {
	budget := out.Thousands(c.Budget)
	if c.Share > 0 {
		return fmt.Sprintf("%s = %s of %s tokens of conversation + %s fixed", budget, c.Share.Percent(), out.Thousands(c.Leaves), out.Thousands(c.Stays))
	}
	return measureWords(c.Budget, &c.Figures)
}

// print prints a result for a terminal.
func (c *compressed) print(p *out.Page) {
	if len(c.Attempts) == 0 {
		p.Line("fits    %s tokens are within the budget: nothing to do", out.Thousands(c.Before))
		p.Line("budget  %s", budgetWords(c.CompressResult))
		c.printTodos(p)
		return
	}
	p.Line("plan    %s · %s · %s · %s · %s change", c.Strategy, p.Paint(out.Green, count64(c.Blocks.Live, "live")),
		p.Paint(out.Yellow, count64(c.Blocks.Stub, "stub")), p.Paint(out.Dim, count64(c.Blocks.Cold, "cold")),
		out.Thousands(c.Changed))
	p.Line("budget  %s", budgetWords(c.CompressResult))
	if len(c.Attempts) > 1 {
		label := "tries"
		for i := range c.Attempts {
			p.Line("%-7s %d %s", label, i+1, out.Visible(attemptWords(&c.Attempts[i])))
			label = ""
		}
	}
	if s := c.Summary; s != nil {
		p.Line("summary %s", summaryWords(s))
	}
	if c.Probes != nil {
		p.Line("probes  %s", probeWords(c.Probes, c.least))
		printMissed(p, c.Probes, shownMisses)
	}
	for _, w := range c.Warnings {
		p.Line("warning %s", out.Visible(w))
	}
	done := "apply"
	if c.dry {
		done = "would"
	}
	p.Line("%-7s %s → %s tokens (%s)", done, out.Thousands(c.Before), out.Thousands(c.After), change(c.Before, c.After))
	p.Line("check   %s ok", c.Provider)
	c.printTodos(p)
	switch {
	case c.dry:
		p.Line("dry run: nothing was written")
	case c.kept:
		p.Line("undo    carrel undo %s --session %s", c.Op, out.Short(c.Session))
	}
}

// printTodos prints the to-do list, if one was given.
func (c *compressed) printTodos(p *out.Page) {
	if c.Todos == nil {
		return
	}
	done := 0
	for _, t := range c.Todos {
		if t.Completed {
			done++
		}
	}
	p.Line("todos   %d of %s done now", done, out.Thousands(len(c.Todos)))
	for _, t := range c.Todos {
		if t.Completed {
			p.Line("        [x] %s", out.Cut(out.Visible(t.Content), max(p.Width-12, 20)))
		}
	}
}

// summaryWords describes the summary of older blocks.
func summaryWords(s *carrel.SummaryInfo) string {
	words := []string{fmt.Sprintf("of %s, %s tokens", out.Count(s.Covers, "block"), out.Thousands(s.Tokens))}
	if s.Covers > 1 {
		words[0] = fmt.Sprintf("of blocks 1–%d, %s tokens", s.Covers, out.Thousands(s.Tokens))
	}
	switch {
	case s.Fresh == 0:
		words = append(words, "nothing new")
	case s.Merged:
		words = append(words, "merged", fmt.Sprintf("%s new", out.Thousands(s.Fresh)))
	}
	if s.Model != "" {
		words = append(words, "by "+out.Visible(s.Model))
	}
	left := 0
	for _, e := range s.Left {
		left += e.Count
	}
	if left > 0 {
		words = append(words, fmt.Sprintf("%s %s only by recall", out.Thousands(left), out.Plural(left, "entry", "entries")))
	}
	return strings.Join(words, ", ") + " · " + string(s.ID)
}

// attemptWords describes an attempt and its result.
func attemptWords(a *carrel.Attempt) string {
	words := string(a.Strategy)
	if a.Model != "" {
		words += " by " + a.Model
	}
	switch {
	case a.Account && a.Detail == 0:
		words += ", account"
	case a.Account:
		words += ", account with a summary"
	}
	if a.Detail > 0 {
		words += fmt.Sprintf(", summary up to %s of the budget", strings.Replace(a.Detail.Percent(), ".0%", "%", 1))
	}
	words += fmt.Sprintf(", newest %s whole", out.Count(a.KeepLast, "block"))
	if why := cmp.Or(strings.Join(a.Reasons, "; "), strings.Join(a.RedFlags, "; ")); !a.Accepted && why != "" {
		return words + ": " + why // it has the figures
	}
	if a.Probes > 0 {
		words += fmt.Sprintf(": %d of %d probes", a.Passed, a.Probes)
	}
	if a.Accepted {
		return words + ", accepted"
	}
	return words + ", not accepted"
}

func count64(n int64, word string) string { return word + " " + out.Thousands(n) }

// change returns the change of a figure in percent.
func change(before, after token.Count) string {
	r := ratio.Of(after-before, before)
	if r < 0 {
		return "−" + (-r).Percent()
	}
	return fmt.Sprintf("+%s", r.Percent())
}
