package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

func newProbe(env *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "probe gen|run|lint|report",
		Aliases: []string{"probes"},
		Short:   "Ask of a window what its original can answer",
		Long: `Probe asks of what is in the window of a conversation what its originals could
answer. A probe is a question with the words that its answer must have. They are
generated from facts: files that were changed, decisions and their reasons,
errors and what resolved them, open questions, what was done, what comes next,
and what a person asked for and corrected. Paths of changed files, corrections,
decisions of the user and the first task are critical.

"carrel compress" does it by itself where it makes a summary or is told to with
--probe-min, and changes nothing unless enough is answered: "carrel help
summaries".`,
		Example: `  carrel probe gen | carrel probe lint -
  carrel probe run --min 0.95
  carrel probe run --text summary.md --probes probes.json
  carrel probe report`,
		RunE: group("probe", "gen, run, lint, report"),
	}
	cmd.AddCommand(newProbeGen(env, g), newProbeRun(g), newProbeLint(g), newProbeReport(g))
	return cmd
}

// group returns what a command does that has only commands below it.
func group(name, below string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("unknown command %q for \"carrel %s\"", args[0], name)
		}
		return usagef("%s: name one of %s", name, below)
	}
}

func newProbeGen(env *Env, g *globals) *cobra.Command {
	req := &carrel.ProbesRequest{}
	var in string
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "gen [SESSION | --in FILE] [--blocks N]",
		Short: "Generate probes from the originals of a conversation",
		Long: `Gen generates probes from the originals of a conversation, whatever is in its
window. A terminal gets a table; anything else gets a list in JSON that "carrel
probe run --probes" and "carrel probe lint" read.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Blocks < 0 {
				return usagef("--blocks: %d is below 0", req.Blocks)
			}
			ctx := cmd.Context()
			return s.on(ctx, g, in, args, func(a *access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Probes(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if g.json == "" && !env.StdoutTerminal {
					out, err := jsonText(res.Probes, true)
					if err != nil {
						return err
					}
					return g.write(output{}, out)
				}
				return g.result(document{"probes", res, "probes"}, func(p *page) {
					t := &table{head: []string{"probe", "type", "critical", "source", "question"}}
					for i := range res.Probes {
						q := &res.Probes[i]
						t.add(q.ID, string(q.Type), criticalWord(q.Critical), q.Source, q.Question)
					}
					p.table(t)
				})
			})
		},
	}
	s = takesSession(cmd)
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

func newProbeRun(g *globals) *cobra.Command {
	req := &carrel.RunProbesRequest{}
	var in, probes, text, least string
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "run [SESSION | --in FILE] [--probes FILE] [--text FILE] [--model] [--min 0.9]",
		Short: "Grade what is in the window by probes",
		Long: `Run asks probes of what is in the window of a conversation, or of the text of a
file in its place, and changes nothing. A probe is passed if the words of its
answer stand together in the window; what is not there but in a block that a
stub or the summary names is counted as one recall away, and the rest as lost.
The exit code is 0 if enough is answered, and 1 if not: 90% of all probes
(probes.accept, --min) and all critical ones. With --min 0 nothing is asked.

The text of --text is judged as a summary, as "carrel summary accept" does it. With
--probes it may be any text, and needs no stored conversation. With --model the model
of the settings answers from the window alone, and its answers are graded.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.ProbeMin, err = parseLeast("--min", least); err != nil {
				return err
			}
			if probes != "" {
				if req.Probes, err = g.readProbes(probes); err != nil {
					return err
				}
			}
			if text != "" {
				data, err := g.read(text)
				if err != nil {
					return err
				}
				t := string(data)
				req.Text = &t
			}
			ctx := cmd.Context()
			run := func(a *access, id transcript.SessionID) error {
				req.Session = id
				req.ProbeMin = cmp.Or(req.ProbeMin, a.settings.ProbeMin())
				res, err := a.RunProbes(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if err := g.result(document{name: "probe-run", value: res}, func(p *page) { printRun(p, res, req.ProbeMin) }); err != nil {
					return err
				}
				if !res.Verdict.Accepted {
					return errNo
				}
				return nil
			}
			if req.Text != nil && req.Probes != nil && in == "" && len(args) == 0 && s.word == "" {
				return g.with(ctx, false, func(a *access) error { return run(a, "") })
			}
			return s.on(ctx, g, in, args, run)
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&in, "in", "", "take the conversation of a `file`")
	f.StringVar(&probes, "probes", "", "ask the probes of a `file`; those that the originals give by default")
	f.StringVar(&text, "text", "", "ask the text of a `file` in place of the window")
	f.BoolVar(&req.Model, "model", false, "let the model of the settings answer: carrel help config")
	f.StringVar(&least, "min", "", "`share` of the probes that must be answered; of the settings, or else 0.9, by default")
	return cmd
}

// readProbes reads a list of probes.
func (g *globals) readProbes(file string) ([]probe.Probe, error) {
	data, err := g.read(file)
	if err != nil {
		return nil, err
	}
	probes, err := probe.Parse(data)
	if err != nil {
		return nil, inFile(file, err)
	}
	return probes, nil
}

func printRun(p *page, r *carrel.RunProbesResult, least *ratio.Ratio) {
	rep := r.Report
	t := &table{head: []string{"type", "passed", "of", "recall", "lost", ""}}
	for i := range rep.Types {
		k := &rep.Types[i]
		row := []any{string(k.Type), k.Passed, k.Total, k.Recall, k.Lost()}
		if p.tty {
			row = append(row, shareBar(k.Passed, k.Total, 20))
		}
		t.add(row...)
	}
	if p.tty {
		if len(t.rows) > 0 {
			p.table(t)
			p.line("")
		}
		p.line("probes  %s", probeWords(rep, least))
		if r.Model != "" {
			p.line("answers by %s, %s", visible(r.Model), count(r.Calls, "call"))
		}
	} else {
		p.table(t)
		p.fields([]any{"probes", rep.Passed, rep.Total}, []any{"critical", rep.Critical.Passed, rep.Critical.Total})
	}
	p.missed(rep, 0)
	if len(r.Problems) > 0 {
		p.problems(r.Problems)
	}
	p.verdict(r.Verdict)
}

// verdict prints whether something is accepted, and why not.
func (p *page) verdict(v *probe.Verdict) {
	word, color := "accepted", green
	if !v.Accepted {
		word, color = "not accepted", red
	}
	if !p.tty {
		p.fields([]any{"verdict", word})
	} else {
		p.line("verdict %s", p.paint(color, word))
	}
	for _, list := range []struct {
		word  string
		texts []string
	}{{"reason", v.Reasons}, {"warning", v.Warnings}, {"redflag", v.RedFlags}} {
		for _, text := range list.texts {
			if !p.tty {
				p.fields([]any{list.word, text})
			} else {
				p.line("%-7s %s", list.word, visible(text))
			}
		}
	}
}

// shareBar draws a share as a bar of some columns. It is full, or empty, only if
// the share is.
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
		return "none: nothing that could be asked"
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

// missed lists the probes that were not passed, limit at most; 0 means all.
func (p *page) missed(r *probe.Report, limit int) {
	failed := r.Failed()
	if limit == 0 {
		limit = len(failed)
	}
	for i := range failed[:min(limit, len(failed))] {
		f := &failed[i]
		if !p.tty {
			p.fields([]any{"missed", f.Probe.ID, string(f.Probe.Type), criticalWord(f.Probe.Critical), string(f.Place), f.Probe.Question, strings.Join(f.Missing, ", ")})
			continue
		}
		p.line("        %s", missWords(f))
	}
	if more := len(failed) - limit; more > 0 {
		p.line("        … %d more: carrel probe run", more)
	}
}

// missWords says in a line what a probe asks, and what is missing of its answer.
func missWords(f *probe.Result) string {
	place := "lost"
	if f.Place == probe.Recall {
		place = "recall"
	}
	if f.Probe.Critical {
		place += ", critical"
	}
	missing := fmt.Sprintf(" (%s: no %s)", place, strings.Join(f.Missing, ", "))
	if len(f.Missing) == 0 {
		missing = " (" + place + ": its words do not stand together)"
	}
	return visible(f.Probe.Question) + cut(visible(missing), 72)
}

func newProbeLint(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|-",
		Short: "Check probes: no question may have its answer in it",
		Long: `Lint checks a list of probes: a question may not have a keyword of its answer or a
part of its path in it, fields may not be empty, and keywords must tell
something. If there is a problem, the exit code is 1.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			probes, err := g.readProbes(args[0])
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
			err = g.result(document{name: "probe-lint", value: value}, func(p *page) {
				t := &table{head: []string{"index", "probe", "rule", "what is wrong"}}
				for _, q := range value.Problems {
					t.add(q.Index, q.Probe, q.Rule, q.Text)
				}
				if value.OK {
					p.line("%s ok", count(value.Probes, "probe"))
				} else {
					p.table(t)
				}
			})
			if err == nil && !value.OK {
				return errNo
			}
			return err
		},
	}
}

func newProbeReport(g *globals) *cobra.Command {
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "report [SESSION]",
		Short: "Show how probes fared over the compressions of a conversation",
		Long: `Report lists the compressions of a conversation with the probes that each window
answered, by type, how the shares drifted, and which probes were passed once and
fail now. What was undone does not count.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				res, err := a.ProbeReport(ctx, a.scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				return g.result(document{name: "probe-report", value: res}, func(p *page) { printReport(p, g, res) })
			})
		},
	}
	s = takesSession(cmd)
	return cmd
}

func printReport(p *page, g *globals, r *carrel.ProbeReport) {
	if len(r.Rounds) == 0 && p.tty {
		p.line("session %s was not compressed with a summary", short(r.Session))
		return
	}
	t := &table{head: []string{"round", "op", "when", "strategy", "covers", "summary", "before", "after", "critical", "probes", ""}}
	for i := range r.Rounds {
		e := &r.Rounds[i]
		row := []any{e.Count, e.Op, p.when(e.Time, g.clock()()), string(e.Strategy), e.Covers, e.Tokens, e.Before, e.After}
		if q := e.Probes; q != nil {
			row = append(row, fmt.Sprintf("%d/%d", q.Critical.Passed, q.Critical.Total), fmt.Sprintf("%d/%d", q.Passed, q.Total))
		} else {
			row = append(row, "", "")
		}
		word := ""
		if e.Undone {
			word = "undone"
		}
		t.add(append(row, word)...)
	}
	p.table(t)
	d := r.Drift
	if d == nil || len(d.Rounds) == 0 {
		return
	}
	if p.tty {
		p.line("")
		p.picture(d)
		return
	}
	p.fields([]any{"drift", d.First, d.Last, signed(d.Change)})
	for i := range d.Types {
		k := &d.Types[i]
		p.fields([]any{"type", string(k.Type), k.First, k.Last, signed(k.Change)})
	}
	for _, id := range d.Regressed {
		p.fields([]any{"regressed", id})
	}
	for _, id := range d.Recovered {
		p.fields([]any{"recovered", id})
	}
}

// picture draws a bar for each type and round, up to the rounds that a line has
// room for.
func (p *page) picture(d *probe.Drift) {
	const width = 10
	rounds := d.Rounds[max(len(d.Rounds)-max((p.width-20)/(width+10), 1), 0):]
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
		p.line("%s %s", line.String(), signed(k.Change))
	}
	var scores []string
	for _, r := range rounds {
		scores = append(scores, fmt.Sprintf("round %d %s", r.Number, r.Score.Short()))
	}
	p.line("%s   drift: %s over %s", strings.Join(scores, "  "), signed(d.Change), count(len(d.Rounds), "round"))
	if len(d.Regressed) > 0 {
		p.line("passed once and fail now: %s", strings.Join(d.Regressed, " "))
	}
	if len(d.Recovered) > 0 {
		p.line("failed before and pass now: %s", strings.Join(d.Recovered, " "))
	}
}

// signed returns a difference of shares with its sign.
func signed(r ratio.Ratio) string {
	if r < 0 {
		return "−" + (-r).Short()
	}
	return "+" + r.Short()
}

// shownRefusals is how many probes are listed for a person if a compression is
// refused.
const shownRefusals = 10

// printProbes lists what was tried at a compression that is refused, and what
// the last attempt does not answer.
func (g *globals) printProbes(attempts []carrel.Attempt, failed []probe.Result) {
	w := g.env.Stderr
	for i := range attempts {
		fmt.Fprintf(w, "  try %d: %s\n", i+1, visible(attemptWords(&attempts[i])))
	}
	if len(failed) > 0 {
		fmt.Fprintln(w, "the last attempt does not answer:")
	}
	for i := range failed[:min(shownRefusals, len(failed))] {
		fmt.Fprintf(w, "  %s\n", missWords(&failed[i]))
	}
	if more := len(failed) - shownRefusals; more > 0 {
		fmt.Fprintf(w, "  … %d more\n", more)
	}
}
