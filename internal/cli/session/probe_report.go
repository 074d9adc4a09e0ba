package session

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

func newProbeReport(j *job.Job) *cobra.Command {
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "report [SESSION]",
		Short: "Show how probes fared over the compressions of a conversation",
		Long: `Report lists the compressions of a conversation with the probes that each window
answered, by type, how the shares drifted, and which probes were passed once and fail now. What
was undone does not count.`,
		Example:           `  carrel probe report @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				res, err := a.ProbeReport(ctx, a.Scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				return j.Result("probe-report", res, func(p *out.Page) { printReport(p, j, res) })
			})
		},
	}
	s = job.TakesSession(cmd)
	return cmd
}

func printReport(p *out.Page, j *job.Job, r *carrel.ProbeReport) {
	if len(r.Rounds) == 0 && p.TTY {
		p.Line("session %s was not compressed with a summary", out.Short(r.Session))
		return
	}
	t := &out.Table{Spare: []string{"covers", "summary", "when"}, Head: []string{"round", "op", "when", "strategy", "covers", "summary", "before", "after", "critical", "probes", ""}}
	for i := range r.Rounds {
		e := &r.Rounds[i]
		row := []any{e.Count, e.Op, p.When(e.Time, j.Clock()()), string(e.Strategy), e.Covers, e.Tokens, e.Before, e.After}
		if q := e.Probes; q != nil {
			row = append(row, fmt.Sprintf("%d/%d", q.Critical.Passed, q.Critical.Total), fmt.Sprintf("%d/%d", q.Passed, q.Total))
		} else {
			row = append(row, "", "")
		}
		word := ""
		if e.Undone {
			word = "undone"
		}
		t.Add(append(row, word)...)
	}
	p.Table(t)
	d := r.Drift
	if d == nil || len(d.Rounds) == 0 {
		return
	}
	if p.TTY {
		p.Line("")
		printDrift(p, d)
		return
	}
	p.Fields([]any{"drift", d.First, d.Last, signed(d.Change)})
	for i := range d.Types {
		k := &d.Types[i]
		p.Fields([]any{"type", string(k.Type), k.First, k.Last, signed(k.Change)})
	}
	for _, id := range d.Regressed {
		p.Fields([]any{"regressed", id})
	}
	for _, id := range d.Recovered {
		p.Fields([]any{"recovered", id})
	}
}

// printDrift draws a bar for each type of probe and each round. It omits the oldest rounds if not
// all fit the line.
func printDrift(p *out.Page, d *probe.Drift) {
	const width = 10
	rounds := d.Rounds[max(len(d.Rounds)-max((p.Width-20)/(width+10), 1), 0):]
	for i := range d.Types {
		k := &d.Types[i]
		var line strings.Builder
		fmt.Fprintf(&line, "%-13s", k.Type)
		for _, r := range rounds {
			cell := strings.Repeat(" ", width+10)
			for _, t := range r.Types {
				if t.Type == k.Type {
					cell = shareBar(t.Passed, t.Total, width) + fmt.Sprintf(" %-7s", fmt.Sprintf("%d/%d", t.Passed, t.Total))
				}
			}
			line.WriteString(cell)
		}
		p.Line("%s %s", line.String(), signed(k.Change))
	}
	var scores []string
	for _, r := range rounds {
		scores = append(scores, fmt.Sprintf("round %d %s", r.Number, r.Score.Short()))
	}
	p.Line("%s   drift: %s over %s", strings.Join(scores, "  "), signed(d.Change), out.Count(len(d.Rounds), "round"))
	if len(d.Regressed) > 0 {
		p.Line("passed once and fail now: %s", strings.Join(d.Regressed, " "))
	}
	if len(d.Recovered) > 0 {
		p.Line("failed before and pass now: %s", strings.Join(d.Recovered, " "))
	}
}

// signed formats a difference of shares with its sign.
func signed(r ratio.Ratio) string {
	if r < 0 {
		return "−" + (-r).Short()
	}
	return "+" + r.Short()
}
