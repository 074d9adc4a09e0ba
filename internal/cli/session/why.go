package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
)

func newWhy(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "why ID",
		Short: "Say why a block is where it is",
		Long: `Why explains one block: each decision of a pass about it, with the rule that kept it
or the part that was kept, and when. ID is the id of the block, or a prefix of it: "carrel
messages" lists ids.

It also lists, for the present moment, the lines and names of the block that the agent will most
likely need next, each with its chance, whether it is in the window, and the strongest reasons for
(+) and against (−) it; and the calls of the block whose results later calls made stale or
repeated. --json has all lines, names and reasons.

If the last pass wrote an account, why lists the units of the block, first those in the window.
For each it prints the worth per byte (the mean of the conversation is 1; below the floor no unit
had room) and the tokens. For a unit that is not in the window it also prints the block that says
the same in its place, or the smallest --target that brings the unit back. "carrel recall" returns
the text in any case.

Rule and score are those of the strategy pager. Its score is

    relevance weight × share of the intent's words in the block
  + recency weight × 1/(1+ln(1+turns since))`,
		Example:           `  carrel why 77e0b1c2`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, j.CompleteBlock),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Why(ctx, a.Scope, &carrel.BlockRequest{Block: args[0]})
				if err != nil {
					return err
				}
				return j.Result("why", res, func(p *out.Page) { printWhy(p, res) })
			})
		},
	}
}

func printWhy(p *out.Page, r *carrel.WhyResult) {
	rows := [][]any{
		{"block", r.Block},
		{"session", r.Session},
		{"kind", strings.Join(append([]string{string(r.Kind)}, r.Tools...), " ")},
		{"turn", fmt.Sprint(r.Turn)},
		{"says", r.Preview},
		{"state", fmt.Sprintf("%s, %s: %s of %s tokens in the window", r.State, r.Form, out.Thousands(r.Window), out.Thousands(r.Tokens))},
	}
	if r.Earlier > 0 {
		rows = append(rows, []any{"earlier", fmt.Sprintf("of window %d, before a compaction by the client", r.Earlier)})
	}
	if r.Off {
		rows = append(rows, []any{"off", "left the conversation when it was imported again"})
	}
	if d := r.Now; d != nil {
		rows = append(rows, []any{"rule", ruleWords(d.Rule)}, []any{"score", scoreWords(r, d)}, []any{"verdict", verdict(r, d)})
	}
	p.Fields(rows...)
	printStub(p, r.Stub)
	if r.Account != nil {
		printAccount(p, r.Account)
	}
	if r.Need != nil {
		printNeed(p, r.Need)
	}
	if p.TTY && len(r.History) > 0 {
		p.Line("")
	}
	t := &out.Table{Whole: true}
	for i := range r.History {
		h := &r.History[i]
		t.Add(h.Time, h.Op, h.Kind, string(h.Actor), historyWords(h))
	}
	p.Table(t)
}

// printStub prints the stub of a block. On a terminal it prints the first lines of the stub, and in
// a pipe the whole stub in one line.
func printStub(p *out.Page, s *pager.Stub) {
	if s == nil || s.Text == "" {
		return
	}
	if !p.TTY {
		p.Fields([]any{"stub", s.Text})
		return
	}
	lines := strings.Split(s.Text, "\n")
	label := "stub"
	for _, line := range lines[:min(len(lines), stubLines)] {
		p.Line("%-9s%s", label, p.Paint(out.Yellow, out.Cut(out.Visible(line), max(p.Width-9, 20))))
		label = ""
	}
	if more := len(lines) - stubLines; more > 0 {
		p.Line("%9sand %s more", "", out.Count(more, "line"))
	}
}

// Limits of what a terminal shows: lines of a stub, and names and lines that are likely needed
// again.
const (
	stubLines   = 8
	likelyShown = 5
)

// printAccount prints the units of a block, and for each whether it is in the account. On a
// terminal it prints only some of them.
func printAccount(p *out.Page, w *carrel.WhyAccount) {
	if !p.TTY {
		p.Fields([]any{"units", w.Kept, w.Total, "floor", w.Floor})
	} else if len(w.Units) > 0 {
		p.Line("")
		p.Line("%s", p.Paint(out.Dim, fmt.Sprintf("account  worth    %d of %s in the window, floor %s", w.Kept, out.Count(w.Total, "unit"), timesWords(w.Floor))))
	}
	shown := 0
	for i := range w.Units {
		u := &w.Units[i]
		if i > 0 && u.Kept != w.Units[i-1].Kept {
			shown = 0
		}
		if shown++; p.TTY && shown > likelyShown {
			continue
		}
		state, color := keptWords(u.Kept)
		if !p.TTY {
			p.Fields([]any{u.Kind, u.Worth, state, u.Text, unitWords(u), becauseWords(u.Because)})
			continue
		}
		p.Line("%-8s %6s  %s  %s", u.Kind, timesWords(u.Worth), p.Paint(color, fmt.Sprintf("%-8s", state)), out.Cut(out.Visible(text.Fold(u.Text)), max(p.Width-27, 20)))
		p.Line("%27s%s", "", p.Paint(out.Dim, unitWords(u)+": "+becauseWords(u.Because)))
	}
}

// timesWords formats the worth of a unit of an account, which is a multiple of the mean worth, such
// as "2.5×".
func timesWords(r ratio.Ratio) string { return r.Short() + "×" }

// unitWords returns in words how many tokens a unit of an account costs, and with which --target of
// compress the account would contain it.
func unitWords(u *carrel.WhyUnit) string {
	words := out.Count(int(u.Tokens), "token")
	if u.In != "" {
		words += ", said in " + u.In.Short()
	}
	if u.Target > 0 {
		words += ", back at --target " + out.Thousands(u.Target)
	}
	return words
}

// printNeed prints the names and lines of a block that are likely needed again.
func printNeed(p *out.Page, n *carrel.WhyNeed) {
	if p.TTY && len(n.Lines)+len(n.Names) > 0 {
		p.Line("")
		p.Line("%s", p.Paint(out.Dim, "needed   chance"))
	}
	for i := range n.Lines {
		if l := &n.Lines[i]; !p.TTY || i < likelyShown {
			printLikely(p, "line", l.Text, l.Chance, l.Kept, l.Because)
		}
	}
	for i := range n.Names {
		if m := &n.Names[i]; !p.TTY || i < likelyShown {
			printLikely(p, "name", m.Name, m.Chance, m.Kept, m.Because)
		}
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		if p.TTY {
			p.Line("%-8s %s", c.State, out.Visible(callWords(c)))
			continue
		}
		p.Fields([]any{"call", c.CallID, string(c.State), c.By, callWords(c)})
	}
}

// printLikely prints a name or line that may be needed again, and why.
func printLikely(p *out.Page, what, text string, chance ratio.Ratio, kept bool, because []facts.Contribution) {
	state, color := keptWords(kept)
	if !p.TTY {
		p.Fields([]any{what, chance, state, text, becauseWords(because)})
		return
	}
	p.Line("%-6s %8s  %s  %s", what, chance.Percent(), p.Paint(color, fmt.Sprintf("%-8s", state)), out.Cut(out.Visible(text), max(p.Width-27, 20)))
	p.Line("%27s%s", "", p.Paint(out.Dim, becauseWords(because)))
}

// keptWords returns the word and the color for whether something is in the window.
func keptWords(kept bool) (string, string) {
	if kept {
		return "kept", out.Green
	}
	return "not kept", out.Yellow
}

// callWords returns in words which later call made the result of a call outdated.
func callWords(c *carrel.WhyCall) string {
	what, part := "its result", ""
	if c.About != "" {
		what = "what it says of " + c.About
	}
	if c.Part {
		part = " in part"
	}
	by := c.By.Short()
	switch c.State {
	case facts.StateStale:
		return fmt.Sprintf("%s is%s stale: written in %s", what, part, by)
	case facts.StateRedundant:
		return fmt.Sprintf("%s is%s there again: in %s", what, part, by)
	case facts.StateResolved:
		return fmt.Sprintf("%s is%s resolved: it succeeded in %s", what, part, by)
	case facts.StateSuperseded:
		return fmt.Sprintf("%s is%s superseded: stated anew in %s", what, part, by)
	case facts.StateCurrent:
	}
	return what + " is current"
}

func ruleWords(r pager.Rule) string {
	switch {
	case r == "":
		return "none: the strategy decides"
	case r.Absolute():
		return string(r) + ": stays as it is"
	case r.Hard():
		return string(r) + ": never leaves, and is whole first"
	}
	return string(r) + ": never leaves"
}

func scoreWords(r *carrel.WhyResult, d *pager.BlockDecision) string {
	s := d.Signals
	return fmt.Sprintf("%s = %s × relevance %s (%d of %d words) + %s × recency %s (age %d)", d.Score.Short(),
		r.Weights.Relevance.Short(), s.Relevance().Short(), s.Hits, s.Terms, r.Weights.Recency.Short(), s.Recency().Short(), s.Age)
}

func verdict(r *carrel.WhyResult, d *pager.BlockDecision) string {
	words := fmt.Sprintf("%s, by the score (retain from %s, evict below %s)", d.Directive, r.Cuts.Retain.Short(), r.Cuts.Evict.Short())
	if r.Cuts.Directive(d.Score) != d.Directive {
		words += ": blocks that are young or share no word are paged at most"
	}
	return words
}

// coverWords returns in words how much of a block a plan kept, after the rule that kept the block,
// if any.
func coverWords(d *pager.BlockDecision) string {
	kept := "nothing of it kept"
	switch {
	case d.Lines > 0:
		kept = out.Count(d.Lines, "passage") + " kept"
	case d.To == pager.Whole || d.To == pager.Bare:
		kept = "all of it kept"
	case d.To == pager.Line:
		kept = "its id kept"
	}
	if d.Rule != "" {
		return string(d.Rule) + ", " + kept
	}
	return kept
}

func historyWords(h *carrel.WhyEntry) string {
	switch {
	case h.Pinned != nil && *h.Pinned:
		return "pinned"
	case h.Pinned != nil:
		return "unpinned"
	case h.Decision == nil:
		return h.Reason
	}
	d := h.Decision
	step := ""
	if d.Step != "" {
		step = ", step " + string(d.Step)
	}
	if d.Directive == "" { // a discard uses no score
		return fmt.Sprintf("%s → %s, %s → %s tokens%s", d.From, d.To, out.Thousands(d.Before), out.Thousands(d.After), step)
	}
	why := cmp.Or(string(d.Rule), "score "+d.Score.Short()) + ", " + string(d.Directive)
	if d.Step == pager.StageCover || d.Step == pager.StageAccount { // these stages do not go by the directive
		why = coverWords(d)
	}
	if !d.Changed() {
		return fmt.Sprintf("stayed %s, %s", d.To, why)
	}
	words := fmt.Sprintf("%s → %s, %s → %s tokens, %s", d.From, d.To, out.Thousands(d.Before), out.Thousands(d.After), why) + step
	if h.Budget > 0 {
		words += ", budget " + out.Thousands(h.Budget)
	}
	return words
}
