package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/pager"
)

func newWhy(_ *Env, g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "why ID",
		Short: "Say why a block is where it is",
		Long: `Why tells of every decision about a block: the rule that held it, or what its
score was made of, and when it moved. It also says what rule and score it has
now. The score is

    relevance weight × share of the intent's words in the block
  + recency weight × 1/(1+ln(1+turns since))`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeBlock,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				res, err := a.Why(ctx, a.scope, args[0])
				if err != nil {
					return err
				}
				return g.result(document{name: "why", value: res}, func(p *page) { printWhy(p, res) })
			})
		},
	}
}

func printWhy(p *page, r *carrel.WhyResult) {
	rows := [][]any{
		{"block", r.Block},
		{"session", r.Session},
		{"kind", strings.Join(append([]string{string(r.Kind)}, r.Tools...), " ")},
		{"turn", fmt.Sprint(r.Turn)},
		{"says", r.Preview},
		{"state", fmt.Sprintf("%s, %s: %s of %s tokens in the window", r.State, r.Form, thousands(int64(r.Window)), thousands(int64(r.Tokens)))},
	}
	if r.Off {
		rows = append(rows, []any{"off", "left the conversation when it was imported again"})
	}
	if d := r.Now; d != nil {
		rows = append(rows, []any{"rule", ruleWords(d.Rule)}, []any{"score", scoreWords(r, d)}, []any{"verdict", verdict(r, d)})
	}
	if r.Stub != nil && r.Stub.Text != "" {
		rows = append(rows, []any{"stub", r.Stub.Text})
	}
	p.fields(rows...)
	if p.tty && len(r.History) > 0 {
		p.line("")
	}
	t := &table{whole: true}
	for i := range r.History {
		h := &r.History[i]
		t.add(h.Time, h.Op, h.Kind, string(h.Actor), historyWords(h))
	}
	p.table(t)
}

func ruleWords(r pager.Rule) string {
	switch {
	case r == "":
		return "none: the score decides"
	case r.Hard():
		return string(r) + ": stays as it is"
	}
	return string(r) + ": never leaves"
}

func scoreWords(r *carrel.WhyResult, d *pager.Decision) string {
	s := d.Signals
	return fmt.Sprintf("%s = %s × relevance %s (%d of %d words) + %s × recency %s (age %d)", d.Score.Short(),
		r.Weights.Relevance.Short(), s.Relevance().Short(), s.Hits, s.Terms, r.Weights.Recency.Short(), s.Recency().Short(), s.Age)
}

func verdict(r *carrel.WhyResult, d *pager.Decision) string {
	words := fmt.Sprintf("%s (retain from %s, evict below %s)", d.Directive, r.Cuts.Retain.Short(), r.Cuts.Evict.Short())
	if r.Cuts.Directive(d.Score) != d.Directive {
		words += ": blocks that are young or share no word are paged at most"
	}
	return words
}

func historyWords(h *carrel.WhyEntry) string {
	switch {
	case h.Pinned != nil && *h.Pinned:
		return "pinned"
	case h.Pinned != nil:
		return "unpinned"
	case h.Decision == nil:
		return ""
	}
	d := h.Decision
	if d.Directive == "" { // a discard asks no score
		return fmt.Sprintf("%s → %s, %s → %s tokens, step %s", d.From, d.To, thousands(int64(d.Before)), thousands(int64(d.After)), d.Step)
	}
	why := cmp.Or(string(d.Rule), "score "+d.Score.Short())
	if !d.Changed() {
		return fmt.Sprintf("stayed %s, %s, %s", d.To, why, d.Directive)
	}
	words := fmt.Sprintf("%s → %s, %s → %s tokens, %s, %s", d.From, d.To, thousands(int64(d.Before)), thousands(int64(d.After)), why, d.Directive)
	if d.Step != "" {
		words += ", step " + string(d.Step)
	}
	if h.Budget > 0 {
		words += ", budget " + thousands(int64(h.Budget))
	}
	return words
}
