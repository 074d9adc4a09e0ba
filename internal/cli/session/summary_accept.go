package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

func newSummaryAccept(j *job.Job) *cobra.Command {
	var of summaryOf
	var fig figures
	cmd := &cobra.Command{
		Use:   "accept FILE|- --session S | --source FILE; or --ratio R [--score R] [--critical R]",
		Short: "Tell whether a summary can stand for a conversation",
		Long: `Accept says whether a summary could stand for a conversation: it must be whole, say
nothing that the conversation does not say, and answer 90% of the probes that any summary must
answer, and all critical ones. That more than 95% of the tokens are gone is a red flag, but no
reason to refuse it. The exit code is 0 if it is accepted, and 1 if not. It changes nothing.
"carrel compress" and "carrel probe run --text" judge the text of a summary in the same way.

Without a file it calculates: --ratio is the share of the tokens that are gone, --score that of
the probes, and --critical that of the critical probes that are answered. Figures are judged as
"carrel compress" judges a window: a red flag refuses them.`,
		Example: `  carrel summary accept draft.md --session @last
  carrel summary accept --ratio 0.72 --score 0.93 --critical 1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if of.named() {
					return out.Usagef("summary accept: FILE is missing: name the file with the summary")
				}
				return judgeFigures(j, &fig, of.least)
			}
			if fig.given() {
				return out.Usagef("summary accept: %s and figures such as --ratio: give only one", args[0])
			}
			if !of.named() {
				return out.Usagef("summary accept: %s: say what it is a summary of, with --session or --source", args[0])
			}
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			return of.check(cmd.Context(), j, data, func(res *carrel.CheckSummaryResult) error {
				if err := j.Result("summary-accept", res, func(p *out.Page) { printAccept(p, res, of.minimum) }); err != nil {
					return err
				}
				if !res.Accepted {
					return out.ErrNo
				}
				return nil
			})
		},
	}
	of.register(cmd, j)
	f := cmd.Flags()
	f.StringVar(&of.least, "probe-min", "", "`share` of the probes that must be answered; by default that in the settings, or else 0.9")
	f.StringVar(&fig.ratio, "ratio", "", "`share` of the tokens that are gone, such as 0.72")
	f.StringVar(&fig.score, "score", "", "`share` of the probes that are answered")
	f.StringVar(&fig.critical, "critical", "", "`share` of the critical probes that are answered")
	return cmd
}

// figures are the flags by which a summary can be judged without its text.
type figures struct{ ratio, score, critical string }

func (fig *figures) given() bool { return *fig != figures{} }

// judgeFigures judges figures by the criteria for summaries.
func judgeFigures(j *job.Job, fig *figures, least string) error {
	if !fig.given() {
		return out.Usagef("summary accept: name a summary, or figures such as --ratio and --score")
	}
	settings, err := j.Settings()
	if err != nil {
		return err
	}
	given, err := parseLeast("--probe-min", least)
	if err != nil {
		return err
	}
	policy := probe.DefaultPolicy()
	if given = cmp.Or(given, settings.ProbeMin()); given != nil {
		policy.Overall = *given
	}
	if policy.Overall == 0 { // as for a summary: every criterion is met
		policy = probe.Criteria{Overall: -1, Critical: -1, Ordinary: -1, RedFlag: -1, MaxRatio: ratio.One}
	}
	const all = int(ratio.One)
	report := &probe.Report{}
	var before, after token.Count
	for _, n := range []struct {
		flag, text string
		set        func(ratio.Ratio)
	}{
		{"--ratio", fig.ratio, func(r ratio.Ratio) { before, after = token.Count(all), token.Count(all)-token.Count(r) }},
		{"--score", fig.score, func(r ratio.Ratio) { report.Total, report.Passed, report.Score = all, int(r), r }},
		{"--critical", fig.critical, func(r ratio.Ratio) { report.Critical = probe.Tally{Total: all, Passed: int(r)} }},
	} {
		if n.text == "" {
			continue
		}
		r, err := parseLeast(n.flag, n.text)
		if err != nil {
			return err
		}
		n.set(*r)
	}
	v := report.Judge(&policy, before, after)
	v.Accepted = v.Accepted && len(v.RedFlags) == 0
	for _, list := range [...][]string{v.Reasons, v.Warnings, v.RedFlags} {
		for i := range list {
			for _, t := range [...]probe.Tally{report.Tally, report.Critical} { // the counts are only shares, so do not print them
				list[i] = strings.TrimPrefix(list[i], fmt.Sprintf("%d of %d ", t.Passed, t.Total))
			}
		}
	}
	if err := j.Result("summary-judge", v, func(p *out.Page) { printVerdict(p, v) }); err != nil {
		return err
	}
	if !v.Accepted {
		return out.ErrNo
	}
	return nil
}

func printAccept(p *out.Page, r *carrel.CheckSummaryResult, least *ratio.Ratio) {
	if len(r.Problems) > 0 {
		printProblems(p, r.Problems)
	}
	gone := ratio.Of(r.Before-r.After, r.Before)
	if !p.TTY {
		p.Fields([]any{"session", r.Session}, []any{"blocks", r.Blocks}, []any{"before", r.Before}, []any{"after", r.After},
			[]any{"ratio", gone}, []any{"problems", len(r.Problems)})
	} else {
		p.Line("check   %s", out.Count(len(r.Problems), "problem"))
		p.Line("size    %s → %s tokens of %s, %s gone", out.Thousands(r.Before), out.Thousands(r.After), out.Count(r.Blocks, "block"), gone.Percent())
	}
	if r.Probes != nil {
		if p.TTY {
			p.Line("probes  %s", probeWords(r.Probes, least))
		} else {
			p.Fields([]any{"probes", r.Probes.Passed, r.Probes.Total}, []any{"critical", r.Probes.Critical.Passed, r.Probes.Critical.Total})
		}
		printMissed(p, r.Probes, 0)
	}
	printVerdict(p, r.Verdict)
}
