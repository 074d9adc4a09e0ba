package session

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// sinceCalls is the usage text of --since.
const sinceCalls = "only calls that were begun since `D`: a date, or such as 36h, 7d or 2w ago"

func newCalls(j *job.Job) *cobra.Command {
	var after string
	req := &carrel.CallsRequest{Logged: true}
	cmd := &cobra.Command{
		Use:   "calls [SESSION] [--since D] [--limit N]",
		Short: "List the calls to models that the proxy or a client recorded",
		Long: `Calls lists the calls to models, the last begun first, of all conversations or of one:
the model, the outcome, and how many of the tokens that the provider counted were read from its
cache. A call that passes through Carrel is recorded before it is sent and again when its answer
arrives:

  intent   about to be sent, or sent; the outcome is not known yet
  done     the whole answer arrived
  failed   the call was refused, or its answer was cut
  unknown  the sender ended before the answer arrived

Calls in the log that Claude Code writes into its session files are listed, too, once the file is
imported. They have the reason "client's log" and an id that consists of the session and the place
in the log. Their sizes are those of the logged JSON. Such a call is unknown if the file has no
answer to it. A call that came through the proxy as well is listed once.

Would is the estimated size of an unmanaged call's prompt if Carrel had managed its window; it is
no promise. Why then names the action that managing would have taken.

The record of a call has no text of the conversation. The record of the proxy stays when the
conversation is purged; name a purged conversation by its whole id. A logged call is gone with the
conversation.`,
		Example:           `  carrel calls @last --limit 5`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
	}
	s := job.TakesSession(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx := cmd.Context()
		if req.Since, err = parseSince(after, j.Clock()()); err != nil {
			return err
		}
		return j.With(ctx, false, func(a *job.Access) error {
			var missing error // the conversation
			if len(args) > 0 || s.Word != "" {
				req.Session, err = s.Find(ctx, a, args)
				if errors.Is(err, store.ErrNotFound) && len(args) > 0 {
					req.Session, missing, err = transcript.SessionID(args[0]), err, nil
				}
				if err != nil {
					return err
				}
			}
			res, err := a.Calls(ctx, a.Scope, req)
			if err == nil && len(res.Items) == 0 {
				err = missing
			}
			if err != nil {
				return err
			}
			return j.List("calls", res, "items", func(p *out.Page) { printCalls(p, res.Items, j.Clock()()) })
		})
	}
	f := cmd.Flags()
	f.StringVar(&after, "since", "", sinceCalls)
	f.IntVar(&req.Limit, "limit", 0, "list `n` at most")
	cmd.AddCommand(newCallsShow(j))
	return cmd
}

func printCalls(p *out.Page, calls []carrel.Call, now time.Time) {
	if len(calls) == 0 {
		if p.TTY {
			p.Line("no calls are recorded")
		}
		return
	}
	t := &out.Table{Spare: []string{"epoch", "came", "sent", "output", "would", "begun", "read", "session"}, Head: []string{"call", "begun", "session", "model", "state", "epoch", "came", "sent", "prompt", "read", "output", "would", "why"}}
	for i := range calls {
		c := &calls[i]
		state := string(c.State)
		if c.State == store.CallFailed {
			state = cmp.Or(c.Error, state)
		}
		if c.State != store.CallDone && c.Status >= 400 {
			state = fmt.Sprintf("%s %d", state, c.Status)
		}
		would, why := any(""), c.Reason
		if w := c.Would; w != nil {
			would, why = w.Tokens, strings.TrimPrefix(c.Reason+"; would: "+w.Reason, "; ")
		}
		t.Add(c.ID, p.When(c.Begun, now), c.Session, p.Short(c.Model, 17), p.Short(state, 14), c.Epoch, c.Bytes, c.SentBytes,
			c.Usage.Prompt(), out.Percent(c.Usage.CacheRead, c.Usage.Prompt()), c.Usage.Output, would, why)
	}
	p.Table(t)
}

func newReport(j *job.Job) *cobra.Command {
	var after string
	cmd := &cobra.Command{
		Use:   "report [--since D]",
		Short: "Report the calls to models, and how much managing saved",
		Long: `Report adds up the calls to models that passed through Carrel, separately for
conversations that it managed, for those held out for comparison, and for all others. Came and
sent are the sizes in bytes of the bodies that clients sent and that went to the provider; prompt,
read, written, uncached and output are tokens as the provider counted them.

A conversation counts as held out if any of its calls is, otherwise as managed if any is.
Conversations are held out at random: the difference per conversation between them and the managed
ones is the effect of managing, plus chance.

For unmanaged conversations it estimates the cost with managing. The lower bound is the sum of the
estimates recorded with their calls; the upper bound assumes that a quarter of the removed text is
sent nevertheless and that the model looks something up twice after each cut. It is no promise.`,
		Example: `  carrel report --since 7d`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			since, err := parseSince(after, j.Clock()())
			if err != nil {
				return err
			}
			return j.With(cmd.Context(), false, func(a *job.Access) error {
				res, err := a.Report(cmd.Context(), a.Scope, &carrel.ReportRequest{Since: since})
				if err != nil {
					return err
				}
				return j.Result("report", res, func(p *out.Page) { printCallReport(p, res) })
			})
		},
	}
	cmd.Flags().StringVar(&after, "since", "", sinceCalls)
	return cmd
}

func printCallReport(p *out.Page, r *carrel.ReportResult) {
	t := &out.Table{Head: []string{"of", "sessions", "calls", "managed", "refused", "failed", "unknown", "epochs", "came", "sent", "prompt", "read", "written", "uncached", "output"}}
	for _, row := range []struct {
		name  string
		tally *carrel.CallTally
	}{{"managed", &r.Managed}, {"held out", &r.Holdout}, {"others", &r.Observed}, {"all", &r.Total}} {
		k := row.tally
		if k.Calls == 0 && p.TTY {
			continue
		}
		u := &k.Usage
		t.Add(row.name, k.Sessions, k.Calls, k.Managed, k.Refused, k.Failed-k.Refused, k.Unknown+k.Open, k.Epochs, k.Bytes, k.SentBytes,
			u.Prompt(), u.CacheRead, u.CacheWrite5m+u.CacheWrite1h, u.Input, u.Output)
	}
	if !p.TTY {
		p.Table(t)
		for _, k := range r.Reasons {
			p.Fields([]any{"reason", managedWord(k.Managed), k.Calls, k.Reason})
		}
		cost := r.Total.Cost.String()
		if priced(&r.Total) == 0 {
			cost = "–"
		}
		p.Fields([]any{"gaps", r.Gaps}, []any{"cost", cost, r.Total.Unpriced})
		if w := &r.Would; w.Managed != nil {
			p.Fields([]any{"would", w.Sessions, w.Calls, w.Missing, w.Came, w.Tokens, w.Cost.String(), w.Managed.Least.String(), w.Managed.Most.String()})
		}
		return
	}
	if r.Total.Calls > 0 {
		p.Table(t.Turned())
		p.Line("")
		why := &out.Table{Head: []string{"calls", "", "why"}}
		for _, k := range r.Reasons {
			why.Add(k.Calls, managedWord(k.Managed), k.Reason)
		}
		p.Table(why)
		p.Line("")
		p.Line("read from caches: %s of the prompts%s", out.Percent(r.Total.Usage.CacheRead, r.Total.Usage.Prompt()), compared(r))
		p.Line("%s", costOf(&r.Total))
		printWould(p, &r.Would)
		p.Line("from %s to %s", r.First.UTC().Format("2006-01-02 15:04"), r.Last.UTC().Format("2006-01-02 15:04"))
	} else {
		p.Line("no calls are recorded")
	}
	if r.Gaps > 0 {
		p.Line("%s passed without a record", out.Count(r.Gaps, "call"))
	}
}

// printWould prints an estimate for the calls that the proxy only passed on: how many tokens they
// might have had if the proxy had managed them.
func printWould(p *out.Page, w *api.UnmanagedTally) {
	if w.Calls == 0 {
		return
	}
	p.Line("%s went as they came, with %s tokens in prompts; managed, it might have been %s%s", out.Count(w.Calls, "call"), out.Thousands(w.Came), out.Thousands(w.Tokens), missingEstimates(w))
	if m := w.Managed; m != nil {
		p.Line("%s cost %v; %s", out.Count(w.Sessions, "conversation"), w.Cost, managedWords(m))
	}
}

// missingEstimates returns in words for how many calls there is no estimate.
func missingEstimates(w *api.UnmanagedTally) string {
	if w.Missing == 0 {
		return ""
	}
	return fmt.Sprintf(" (no estimate for %s)", out.Count(w.Missing, "other call"))
}

// priced returns the number of calls whose price is known.
func priced(t *carrel.CallTally) int {
	n := -t.Unpriced
	for i := range t.Models {
		n += t.Models[i].Calls
	}
	return n
}

// costOf returns the cost of calls, as far as their prices are known.
func costOf(t *carrel.CallTally) string {
	switch {
	case priced(t) == 0:
		return "no price is known for the models: carrel help config"
	case t.Unpriced > 0:
		return fmt.Sprintf("%s at list prices, without %s of models that have none", t.Cost, out.Count(t.Unpriced, "call"))
	}
	return t.Cost.String() + " at list prices"
}

func managedWord(managed bool) string {
	if managed {
		return "managed"
	}
	return "as it came"
}

// compared returns a sentence that compares two sorts of conversations: those that the proxy
// managed, and those that it left alone for comparison (--holdout). It compares their tokens.
func compared(r *carrel.ReportResult) string {
	m, h := &r.Managed, &r.Holdout
	if m.Sessions == 0 || h.Sessions == 0 {
		return ""
	}
	each := func(t *carrel.CallTally) string {
		return out.Thousands(t.Usage.Prompt() / token.Count(t.Sessions))
	}
	return fmt.Sprintf("; tokens of prompts per conversation: %s of %d managed, %s of %d held out", each(m), m.Sessions, each(h), h.Sessions)
}
