package session

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

func newProbe(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "probe gen|run|lint|report",
		Aliases: []string{"probes"},
		Short:   "Test whether a window answers questions about the original",
		Long: `Probe tests whether the window of a conversation still answers questions that the
original answers. A probe is a question with the keywords of its answer. Probes are generated from
facts: changed files, decisions and their reasons, errors and their fixes, open questions,
finished work, next steps, and the user's tasks and corrections. Paths of changed files,
corrections, the user's decisions and the first task are critical.

"carrel compress" runs probes when it makes a summary or has --probe-min, and changes nothing
unless enough are answered: "carrel help summaries".`,
		Example: `  carrel probe gen | carrel probe lint -
  carrel probe run --min 0.95
  carrel probe run --text summary.md --probes probes.json
  carrel probe report`,
		RunE: job.Group("probe", "gen, run, lint, report"),
	}
	cmd.AddCommand(newProbeGen(j), newProbeRun(j), newProbeLint(j), newProbeReport(j))
	return cmd
}

func newProbeGen(j *job.Job) *cobra.Command {
	req := &carrel.ProbesRequest{}
	var in string
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "gen [SESSION | --in FILE] [--blocks N]",
		Short: "Generate probes from the originals of a conversation",
		Long: `Gen generates probes from the originals of a conversation, not from its window. A terminal gets a table; anything else gets a list in JSON that "carrel probe run
--probes" and "carrel probe lint" read.`,
		Example:           `  carrel probe gen @last > probes.json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Blocks < 0 {
				return out.Usagef("--blocks: %d is below 0", req.Blocks)
			}
			ctx := cmd.Context()
			return s.On(ctx, j, in, args, func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Probes(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				if j.JSON == "" && !j.StdoutTerminal {
					out, err := out.JSONText(res.Probes, true)
					if err != nil {
						return err
					}
					return j.Write(job.Output{}, out)
				}
				return j.List("probes", res, "probes", func(p *out.Page) {
					t := &out.Table{Head: []string{"probe", "type", "critical", "source", "question"}}
					for i := range res.Probes {
						q := &res.Probes[i]
						t.Add(q.ID, string(q.Type), criticalWord(q.Critical), q.Source, q.Question)
					}
					p.Table(t)
				})
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().StringVar(&in, "in", "", "take the conversation of a `file`")
	cmd.Flags().IntVar(&req.Blocks, "blocks", 0, "ask about the first `n` blocks only")
	return cmd
}

func criticalWord(critical bool) string {
	if critical {
		return "critical"
	}
	return ""
}

func newProbeRun(j *job.Job) *cobra.Command {
	req := &carrel.RunProbesRequest{}
	var in, probes, text, least string
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "run [SESSION | --in FILE] [--probes FILE] [--text FILE] [--model] [--min 0.9]",
		Short: "Grade the window by probes",
		Long: `Run asks probes of the window of a conversation, or of the text of a file, and
changes nothing. A probe passes if the keywords of its answer stand together in the window; if
they are only in a block that a stub or the summary names, it counts as one recall away, otherwise
as lost. The exit code is 0 if 90% of all probes (probes.accept, --min) and all critical ones
pass, and otherwise 1. --min 0 requires none.

The text of --text is judged as a summary, as "carrel summary accept" does. With --probes it may
be any text, and needs no stored conversation. With --model the model of the settings answers from
the window alone, and its answers are graded.`,
		Example: `  carrel probe run --min 0.95
  carrel probe run --text summary.md --probes probes.json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.ProbeMin, err = parseLeast("--min", least); err != nil {
				return err
			}
			if probes != "" {
				if req.Probes, err = readProbes(j, probes); err != nil {
					return err
				}
			}
			if text != "" {
				data, err := j.Read(text)
				if err != nil {
					return err
				}
				t := string(data)
				req.Text = &t
			}
			ctx := cmd.Context()
			run := func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				req.ProbeMin = cmp.Or(req.ProbeMin, a.Settings.ProbeMin())
				res, err := a.RunProbes(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				if err := j.Result("probe-run", res, func(p *out.Page) { printRun(p, res, req.ProbeMin) }); err != nil {
					return err
				}
				if !res.Verdict.Accepted {
					return out.ErrNo
				}
				return nil
			}
			if req.Text != nil && req.Probes != nil && in == "" && len(args) == 0 && s.Word == "" {
				return j.With(ctx, false, func(a *job.Access) error { return run(a, "") })
			}
			return s.On(ctx, j, in, args, run)
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&in, "in", "", "take the conversation of a `file`")
	f.StringVar(&probes, "probes", "", "ask the probes of a `file`; those that the originals give by default")
	f.StringVar(&text, "text", "", "ask the text of a `file` in place of the window")
	f.BoolVar(&req.Model, "model", false, "let the model of the settings answer: carrel help config")
	f.StringVar(&least, "min", "", "`share` of the probes that must be answered; by default that in the settings, or else 0.9")
	return cmd
}

// readProbes reads a list of probes.
func readProbes(j *job.Job, file string) ([]probe.Probe, error) {
	data, err := j.Read(file)
	if err != nil {
		return nil, err
	}
	probes, err := probe.Parse(data)
	if err != nil {
		return nil, out.InFile(file, err)
	}
	return probes, nil
}

func printRun(p *out.Page, r *carrel.RunProbesResult, least *ratio.Ratio) {
	rep := r.Report
	t := &out.Table{Head: []string{"type", "passed", "of", "recall", "lost", ""}}
	for i := range rep.Types {
		k := &rep.Types[i]
		row := []any{string(k.Type), k.Passed, k.Total, k.Recall, k.Lost()}
		if p.TTY {
			row = append(row, shareBar(k.Passed, k.Total, 20))
		}
		t.Add(row...)
	}
	if p.TTY {
		if len(t.Rows) > 0 {
			p.Table(t)
			p.Line("")
		}
		p.Line("probes  %s", probeWords(rep, least))
		if r.Model != "" {
			p.Line("answers by %s, %s", out.Visible(r.Model), out.Count(r.Calls, "call"))
		}
	} else {
		p.Table(t)
		p.Fields([]any{"probes", rep.Passed, rep.Total}, []any{"critical", rep.Critical.Passed, rep.Critical.Total})
	}
	printMissed(p, rep, 0)
	if len(r.Problems) > 0 {
		printProblems(p, r.Problems)
	}
	printVerdict(p, r.Verdict)
}

// printVerdict prints whether something is accepted, and why not.
func printVerdict(p *out.Page, v *probe.Acceptance) {
	word, color := "accepted", out.Green
	if !v.Accepted {
		word, color = "not accepted", out.Red
	}
	if !p.TTY {
		p.Fields([]any{"verdict", word})
	} else {
		p.Line("verdict %s", p.Paint(color, word))
	}
	for _, list := range []struct {
		word  string
		texts []string
	}{{"reason", v.Reasons}, {"warning", v.Warnings}, {"redflag", v.RedFlags}} {
		for _, text := range list.texts {
			if !p.TTY {
				p.Fields([]any{list.word, text})
			} else {
				p.Line("%-7s %s", list.word, out.Visible(text))
			}
		}
	}
}

// shareBar draws the share n/of as a bar of width columns. It is full or empty only if the share is
// exactly 1 or 0.
func shareBar(n, of, width int) string {
	if of <= 0 {
		return ""
	}
	filled := n * width / of
	if filled == 0 && n > 0 {
		filled = 1
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "]"
}

// probeWords sums up a report, such as
// "3/3 critical · 58/60 all (0.97 ≥ 0.90) · 2 missed".
func probeWords(r *probe.Report, least *ratio.Ratio) string {
	if r.Total == 0 {
		return "none: the conversation has no facts for probes"
	}
	want := probe.DefaultPolicy().Overall
	if least != nil {
		want = *least
	}
	sign := "≥"
	if r.Score < want {
		sign = "<"
	}
	words := fmt.Sprintf("%d/%d critical · %d/%d all (%s %s %s)", r.Critical.Passed, r.Critical.Total, r.Passed, r.Total,
		r.Score.Short(), sign, want.Short())
	if missed := r.Total - r.Passed; missed > 0 {
		words += fmt.Sprintf(" · %d missed", missed)
		switch {
		case r.Recall == missed:
			words += ", one recall away"
		case r.Recall > 0:
			words += fmt.Sprintf(", %d of them one recall away", r.Recall)
		}
	}
	return words
}

// printMissed lists the probes that were not passed. It lists at most limit probes, or all if limit
// is 0.
func printMissed(p *out.Page, r *probe.Report, limit int) {
	failed := r.Failed()
	if limit == 0 {
		limit = len(failed)
	}
	for i := range failed[:min(limit, len(failed))] {
		f := &failed[i]
		if !p.TTY {
			p.Fields([]any{"missed", f.Probe.ID, string(f.Probe.Type), criticalWord(f.Probe.Critical), string(f.Place), f.Probe.Question, strings.Join(f.Missing, ", ")})
			continue
		}
		p.Line("        %s", missWords(f))
	}
	if more := len(failed) - limit; more > 0 {
		p.Line("        … %d more: carrel probe run", more)
	}
}

// missWords describes a missed probe in one line: its question, and what the answer lacks.
func missWords(f *probe.Result) string {
	words := "lost"
	if f.Place == probe.Recall {
		words = "one recall away"
	}
	if f.Probe.Critical {
		words += ", critical"
	}
	if len(f.Missing) > 0 {
		words += "; missing: " + strings.Join(f.Missing, ", ")
	} else {
		words += "; the words of its answer are not in one place"
	}
	return out.Visible(f.Probe.Question) + out.Cut(out.Visible(" ("+words+")"), 72)
}

func newProbeLint(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|-",
		Short: "Check probes: no question may have its answer in it",
		Long: `Lint checks a list of probes: a question may not have a keyword of its answer or a
part of its path in it, fields may not be empty, and keywords must not be too common. If there is a
problem, the exit code is 1.`,
		Example: `  carrel probe gen | carrel probe lint -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			probes, err := readProbes(j, args[0])
			if err != nil {
				return err
			}
			value := struct {
				File     string          `json:"file"`
				OK       bool            `json:"ok"`
				Probes   int             `json:"probes"`
				Problems []probe.Problem `json:"problems"`
			}{args[0], true, len(probes), append([]probe.Problem{}, probe.Lint(probes)...)}
			value.OK = len(value.Problems) == 0
			err = j.Result("probe-lint", value, func(p *out.Page) {
				t := &out.Table{Head: []string{"index", "probe", "rule", "problem"}}
				for _, q := range value.Problems {
					t.Add(q.Index, q.Probe, q.Rule, q.Text)
				}
				if value.OK {
					p.Line("%s ok", out.Count(value.Probes, "probe"))
				} else {
					p.Table(t)
				}
			})
			if err == nil && !value.OK {
				return out.ErrNo
			}
			return err
		},
	}
}

// shownRefusals is how many missed probes an error lists for a person if a compression is refused.
const shownRefusals = 10

// PrintProbes prints the attempts of a refused compression, and the probes that the best attempt
// missed.
func PrintProbes(w io.Writer, attempts []carrel.Attempt, failed []probe.Result) {
	for i := range attempts {
		fmt.Fprintf(w, "  try %d: %s\n", i+1, out.Visible(attemptWords(&attempts[i])))
	}
	if len(failed) > 0 {
		fmt.Fprintln(w, "the best attempt does not answer:")
	}
	for i := range failed[:min(shownRefusals, len(failed))] {
		fmt.Fprintf(w, "  %s\n", missWords(&failed[i]))
	}
	if more := len(failed) - shownRefusals; more > 0 {
		fmt.Fprintf(w, "  … %d more\n", more)
	}
}
