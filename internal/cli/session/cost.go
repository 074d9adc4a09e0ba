package session

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

func newCost(j *job.Job) *cobra.Command {
	var after string
	cmd := &cobra.Command{
		Use:   "cost [SESSION] [--since D]",
		Short: "Show the cost of conversations, and the causes of cache misses",
		Long: `Cost adds up the provider's charges for the calls of a conversation, as its client
or the proxy recorded them: input read from the provider's cache, written to it, and uncached, and
output, in tokens and at list prices. It lists the calls that could have read more from the cache,
with the cause and its author:

  expired     time    the call came after the cache entry had expired
  compaction  client  the client compacted its history
  model       client  the call used another model
  frame       client  tools or system text changed; of session files, only those
                      with a log of requests record that
  edited      client  a sent message was changed or left out, or the user went
                      back; of session files, only those with a log record that
  epoch       carrel  Carrel made the window smaller
  unknown             no cause is recorded: tools or system text may have
                      changed, or the provider dropped the cache entry

Without SESSION it adds up all stored sessions and all calls through the proxy. A call that both
recorded counts once. It needs no proxy: import the session files of Claude Code first. Prices of
other models go into the settings, see the guide doc/guide/cost.md.

The cost with managed windows is an estimate and no promise. For calls through the proxy it uses
the estimates recorded with them; the upper bound assumes that a quarter of the removed text is
sent nevertheless. For other calls it assumes that a window is made smaller when it is 80% full,
and when it is cold and above its target, which is 40% (lower bound) to 60% (upper bound) of it,
and that no tool result is shortened. For both, the upper bound assumes that the model looks
something up twice after each cut and otherwise does the same. Managed calls count with their real
cost.`,
		Example: `  carrel import --all
  carrel cost --since 7d
  carrel cost @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
	}
	s := job.TakesSession(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		since, err := parseSince(after, j.Clock()())
		if err != nil {
			return err
		}
		return j.With(cmd.Context(), false, func(a *job.Access) error {
			req := &carrel.CostRequest{Since: since}
			if len(args) > 0 || s.Word != "" {
				if req.Session, err = s.Find(cmd.Context(), a, args); err != nil {
					return err
				}
			}
			res, err := a.Cost(cmd.Context(), a.Scope, req)
			if errors.Is(err, store.ErrNotFound) {
				return out.Hinted(err, "carrel import --all, or carrel import FILE")
			}
			if err != nil {
				return err
			}
			return j.Result("cost", res, func(p *out.Page) { printCost(p, res, req.Session != "", j.Clock()()) })
		})
	}
	cmd.Flags().StringVar(&after, "since", "", "only calls since `D`: a date, or such as 36h, 7d or 2w ago")
	return cmd
}

// printCost prints the cost of sessions. If one is true, r is about a single session, and printCost
// adds its breaks of the cache; otherwise it adds a table of the sessions.
func printCost(p *out.Page, r *carrel.CostResult, one bool, now time.Time) {
	b := &r.Total
	parts := &out.Table{Head: []string{"part", "tokens", "of the prompts", "cost"}}
	prompt := b.Spend.Prompt()
	for _, part := range []struct {
		name string
		n    token.Count
		cost economy.Money
	}{
		{"read", b.Spend.Read, b.Charge.Read},
		{"written", b.Spend.Written(), b.Charge.Write},
		{"uncached", b.Spend.Uncached, b.Charge.Uncached},
	} {
		parts.Add(part.name, part.n, out.Percent(part.n, prompt), money(b, part.cost))
	}
	parts.Add("output", b.Spend.Output, "", money(b, b.Charge.Output))
	p.Table(parts)
	printBreaks(p, b)
	if !one && len(r.Sessions) > 0 {
		p.Line("")
		t := &out.Table{Spare: []string{"breaks", "prompts", "used", "read"}, Head: []string{"session", "used", "model", "calls", "prompts", "read", "breaks", "cost", "title"}}
		for i := range r.Sessions {
			s := &r.Sessions[i]
			cost := s.Total.String()
			if s.Unpriced == s.Calls {
				cost = "–"
			}
			t.Add(cmp.Or(s.Session, "(beside)"), p.When(s.Last, now), p.Short(s.Model, 24), s.Calls, s.Spend.Prompt(), out.Percent(s.Spend.Read, s.Spend.Prompt()), s.Breaks, cost, s.Title)
		}
		p.Table(t)
	}
	p.Line("")
	p.Line("%s of %s: %s", out.Count(b.Calls, "call"), out.Count(len(r.Sessions), "session"), total(b))
	if m := r.Managed; m != nil {
		p.Line("%s", managedWords(m))
	}
	printMissing(p, r)
}

// managedWords returns in words what calls might have cost if the proxy had managed their windows.
func managedWords(m *carrel.ManagedCost) string {
	return fmt.Sprintf("managed, it might have been %v to %v, with %s: an estimate and no promise, see carrel cost --help", m.Least, m.Most, out.Count(m.Epochs, "epoch"))
}

// money formats the cost of a part of a bill, or a dash if no price is known.
func money(b *economy.Bill, m economy.Money) string {
	if b.Unpriced == b.Calls {
		return "–"
	}
	return m.String()
}

// total formats the total of a bill.
func total(b *economy.Bill) string {
	if b.Calls == 0 {
		return "no calls are recorded"
	}
	if b.Unpriced == b.Calls {
		return "no price is known"
	}
	return b.Total.String() + "; without a cache it had been " + b.Uncached.String()
}

// printBreaks prints the breaks of the cache, and their cost by cause.
func printBreaks(p *out.Page, b *economy.Bill) {
	if len(b.Breaks) > 0 {
		p.Line("")
		t := &out.Table{Head: []string{"call", "at", "cause", "by", "idle", "lost", "extra"}}
		for _, k := range b.Breaks {
			at := "" // unknown
			if !k.At.IsZero() {
				at = k.At.UTC().Format(time.DateTime)
			}
			t.Add(k.Call+1, at, string(k.Cause), k.By, k.Idle.Round(time.Second).String(), k.Lost, money(b, k.Extra))
		}
		p.Table(t)
	}
	if len(b.Causes) > 0 {
		p.Line("")
		t := &out.Table{Head: []string{"cause", "by", "breaks", "lost", "extra"}}
		for _, k := range b.Causes {
			t.Add(string(k.Cause), k.By, k.Breaks, k.Lost, money(b, k.Extra))
		}
		p.Table(t)
	}
}

// printMissing prints which costs are not known, and why.
func printMissing(p *out.Page, r *carrel.CostResult) {
	if b := &r.Total; b.Unpriced > 0 {
		p.Line("%s without a price, of %s: the tokens are counted, the money is not; the settings take prices.MODEL.input and .output",
			out.Count(b.Unpriced, "call"), strings.Join(b.Missing, ", "))
	}
	if n := len(r.Unmetered); n > 0 {
		p.Line("%s left out: their formats record no usage, and no call came through the proxy", out.Count(n, "session"))
	}
	if r.Twice > 0 {
		p.Line("%s in a session file came through the proxy, too: they count once, as the proxy saw them", out.Count(r.Twice, "call"))
	}
	if r.Unseen > 0 {
		p.Line("%s with calls of their own that are not imported", out.Count(r.Unseen, "sub-agent"))
	}
	if r.Compacted > 0 {
		p.Line("%s by the client: the call that wrote the summary is not recorded", out.Count(r.Compacted, "compaction"))
	}
}
