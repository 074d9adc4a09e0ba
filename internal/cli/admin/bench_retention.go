package admin

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/retention"
)

// A retentionBench cuts conversations, lets strategies shorten the part before the cut, and
// measures how much of the text that is needed after the cut remains.
type retentionBench struct {
	j *job.Job

	budgets, strategies, svg string
	force                    bool
	baselines                bool
	max, least               int // the flags --max and --min
}

func newBenchRetention(j *job.Job) *cobra.Command {
	b := &retentionBench{j: j}
	cmd := &cobra.Command{
		Use:   "retention [PATH...] [--budgets L] [--strategy L] [--baselines] [--max N] [--svg FILE]",
		Short: "Measure how much of the text needed later is kept",
		Long: `Retention measures on recorded sessions how much of the text that an agent needed
later is still in the window after a compression. It cuts each conversation at about 35, 60 and 85
percent of its tokens, compresses the part before the cut to each budget by each strategy, and
looks in the window for the text that the agent used in its next 20 steps: names and whole lines
in the arguments of its calls that the agent had seen before the cut and that no user and no tool
repeated since. It asks no model, stores nothing, and sends nothing.

PATH is a file, or a folder of *.json and *.jsonl files, in any format that import reads; without
it the sessions of Claude Code on this machine are measured. If there are more than --max
sessions, a hash of the file names chooses some, the same ones each time. Every session counts the
same. Names that several projects share count like others; the figures in doc/results.md leave
such names out, and so differ.

All figures are shares from 0 to 1:

  ground    needed names that are in the window beside a word that was beside
            them before the cut; the beginning and the end of a line count as
            words, too. So a list of names on one line scores low, but a list
            with one name on each line does not
  line      needed lines that are in the window
  stub      needed names that are in the window, or can be recalled by a stub
            that mentions a current subject of the agent
  complete  steps of the agent whose needed names are all in the window
  valid     windows in which each call has its result, and each result its call
  used      tokens of the window as a share of the budget, at four bytes a token
  over      windows above the budget, because rules keep more than it holds;
            "carrel compress" refuses such a budget

Ground and line come with the interval that holds 95% of 1,000 random draws of sessions.
--baselines adds simple methods for comparison, and oracles, which know the next steps.`,
		Example: `  carrel bench retention
  carrel bench retention ~/.claude/projects/-home-ada-lantern --budgets 10%,25%
  carrel bench retention session.jsonl --strategy importance,window --min 1000
  carrel bench retention sessions/ --baselines --svg recall.svg \
    --json=budget,method,scores`,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.budgets, "budgets", "5%,10%,25%", "`list` of budgets: percent of the text before the cut, or tokens such as 4k")
	f.StringVar(&b.strategies, "strategy", "account,importance,anchored,pager,window", "`list` of strategies: "+strings.Join(config.StrategyWords(), ", "))
	f.BoolVar(&b.baselines, "baselines", false, "also measure simple methods, and oracles, which know the next steps")
	f.IntVar(&b.max, "max", 20, "measure at most `n` sessions")
	f.IntVar(&b.least, "min", 4000, "least `tokens` before a cut")
	f.StringVar(&b.svg, "svg", "", "draw ground and line over the budget in `file`; - is standard output")
	job.WritesFiles(cmd, &b.force, "svg")
	job.Offer(cmd, "strategy", config.StrategyWords()...)
	return cmd
}

func (b *retentionBench) run(ctx context.Context, paths []string) error {
	opts, err := b.options()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		if paths, err = b.ownSessions(); err != nil {
			return err
		}
	}
	b.j.Reporter = b.j.NewProgress()
	defer b.j.Reporter.End()
	found, err := b.read(ctx, paths)
	if err != nil {
		return err
	}
	opts.Max, opts.MinPrefix = len(found.all), map[string]int{"": b.least}
	methods, err := b.methods(ctx, found.cases, len(opts.Budgets))
	if err != nil {
		return err
	}
	opts.Methods = methods
	report := retention.Measure(found.all, opts)
	if err := ctx.Err(); err != nil {
		return err
	}
	res := b.result(found, report)
	return b.print(report, res)
}

// print prints a result, and draws it if --svg is given.
func (b *retentionBench) print(report *retention.Report, res *retentionResult) error {
	if b.svg != "" {
		var drawing bytes.Buffer
		if err := report.SVG(&drawing); err != nil {
			return err
		}
		if err := b.j.Write(job.Output{File: b.svg, Force: b.force}, drawing.Bytes()); err != nil {
			return err
		}
		if b.svg == "-" {
			b.j.NoteFunc(res.print)
			return nil
		}
		b.j.Note("wrote %s: %s bytes", b.svg, out.Thousands(drawing.Len()))
	}
	return b.j.List("bench-retention", res, "rows", res.print)
}

// options returns the options that the flags set.
func (b *retentionBench) options() (*retention.Options, error) {
	opts := &retention.Options{NoStable: true}
	for s := range strings.SplitSeq(b.budgets, ",") {
		budget, err := retention.ParseBudget(strings.TrimSpace(s))
		if err != nil {
			return nil, out.Usagef("--budgets: %w", err)
		}
		if !slices.Contains(opts.Budgets, budget) {
			opts.Budgets = append(opts.Budgets, budget)
		}
	}
	switch {
	case b.max < 1:
		return nil, out.Usagef("--max: %d is below 1", b.max)
	case b.least < 1:
		return nil, out.Usagef("--min: %d is below 1", b.least)
	case b.svg == "-" && b.j.JSON != "":
		return nil, out.Usagef("--svg - and --json: only one can go to standard output")
	}
	_, err := b.chosen()
	return opts, err
}

// chosen returns the strategies that the flags name, each once.
func (b *retentionBench) chosen() ([]carrel.Strategy, error) {
	var list []carrel.Strategy
	for s := range strings.SplitSeq(b.strategies, ",") {
		s = strings.TrimSpace(s)
		if err := out.OneOf("--strategy", s, config.StrategyWords()...); err != nil {
			return nil, err
		}
		if !slices.Contains(list, carrel.Strategy(s)) {
			list = append(list, carrel.Strategy(s))
		}
	}
	return list, nil
}

// ownSessions returns a list with one folder: that in which Claude Code stores its sessions.
func (b *retentionBench) ownSessions() ([]string, error) {
	dir, err := agents.ClaudeProjects(b.j.Getenv)
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return nil, out.Usagef("bench retention: there are no sessions of Claude Code on this machine: name files or folders of conversations")
	}
	return []string{dir}, nil
}

// The kinds of methods. The names of methods that are no strategies contain the kind.
const (
	kindStrategy = "strategy"
	kindSimple   = "simple"
	kindOracle   = "oracle"
)

// methods returns the methods to measure. Except the oracles, they report progress over the given
// number of cases and budgets, and do nothing after ctx is done.
func (b *retentionBench) methods(ctx context.Context, cases, budgets int) ([]retention.Method, error) {
	chosen, err := b.chosen()
	if err != nil {
		return nil, err
	}
	var list, oracles []retention.Method
	for i, m := range retention.Strategies(nil, chosen...) {
		list = append(list, retention.Method{Name: string(chosen[i]), Pack: m.Pack})
	}
	if b.baselines {
		list = append(list, retention.Simple()...)
		for _, m := range retention.Baselines() {
			if m.Oracle() {
				oracles = append(oracles, m)
			}
		}
	}
	var packed atomic.Int64
	each := budgets * len(list) // budgets and methods of one case
	for i := range list {
		pack := list[i].Pack
		list[i].Pack = func(prefix []retention.Message, budget int) []retention.Message {
			if ctx.Err() != nil {
				return nil
			}
			out := pack(prefix, budget)
			b.j.Reporter.Step("measure case", int(packed.Add(1))/each, cases)
			return out
		}
	}
	return append(list, oracles...), nil
}

// A retentionResult is the result of a measurement.
type retentionResult struct {
	Paths     []string       `json:"paths"`
	Sessions  int            `json:"sessions"`
	Cases     int            `json:"cases"`
	LineCases int            `json:"line_cases"` // with copied lines
	Tokens    int            `json:"tokens"`     // mean tokens before the cut
	Needs     float64        `json:"needs"`      // mean number of names needed later
	Min       int            `json:"min"`        // least tokens before a cut
	Short     int            `json:"short"`      // sessions with fewer tokens
	Idle      int            `json:"idle"`       // sessions that reuse too little of their text
	Skipped   int            `json:"skipped"`    // files that contain no conversation
	Left      int            `json:"left"`       // files not read, because enough conversations were read
	Rows      []retentionRow `json:"rows"`
}

// A retentionRow is the result of one method with one budget.
type retentionRow struct {
	Budget string                                 `json:"budget"`
	Method string                                 `json:"method"`
	Kind   string                                 `json:"kind"` // "strategy", "simple" or "oracle"
	Scores map[retention.Score]retention.Estimate `json:"scores"`
}

func (b *retentionBench) result(found *recording, report *retention.Report) *retentionResult {
	f := &report.Families[0] // all sessions form one family
	res := &retentionResult{
		Paths: found.paths, Sessions: f.Groups, Cases: f.Cases, LineCases: f.LineCases, Tokens: int(f.Tokens), Needs: math.Round(f.Needs*10) / 10,
		Min: b.least, Short: found.short, Idle: found.idle, Skipped: found.skipped, Left: found.left,
	}
	for i := range report.Rows {
		row := &report.Rows[i]
		kind := kindStrategy
		switch {
		case row.Oracle:
			kind = kindOracle
		case retention.IsSimple(row.Method):
			kind = kindSimple
		}
		for name, e := range row.Scores {
			row.Scores[name] = retention.Estimate{Mean: millionths(e.Mean), Low: millionths(e.Low), High: millionths(e.High)}
		}
		res.Rows = append(res.Rows, retentionRow{Budget: row.Budget, Method: row.Method, Kind: kind, Scores: row.Scores})
	}
	return res
}

// millionths rounds a share to millionths, like all printed shares.
func millionths(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// print prints a result: a table for each budget on a terminal, rows in a pipe.
func (r *retentionResult) print(p *out.Page) {
	if !p.TTY {
		p.Fields([]any{"sessions", r.Sessions}, []any{"cases", r.Cases}, []any{"short", r.Short}, []any{"idle", r.Idle}, []any{"skipped", r.Skipped}, []any{"left", r.Left})
		t := &out.Table{}
		for i := range r.Rows {
			row := &r.Rows[i]
			t.Add(append([]any{row.Budget, row.Method}, row.cells(false)...)...)
		}
		p.Table(t)
		return
	}
	p.Line("%s", r.counts())
	for from := 0; from < len(r.Rows); {
		budget := r.Rows[from].Budget
		t := &out.Table{Head: []string{"at " + budget, "ground", "", "line", "", "stub", "complete", "valid", "used", "over"}, Whole: true}
		for ; from < len(r.Rows) && r.Rows[from].Budget == budget; from++ {
			t.Add(append([]any{r.Rows[from].Method}, r.Rows[from].cells(true)...)...)
		}
		p.Line("")
		p.Table(t)
	}
	p.Line("")
	p.Line("ground, line: of the names used and the lines copied later, those in the window [95%%];")
	p.Line("stub: or one recall away; complete: steps with all their names; used: of the budget")
	if slices.ContainsFunc(r.Rows, func(row retentionRow) bool { return row.Scores[retention.ScoreOver].Mean > 0 }) {
		p.Line("%s", p.Paint(out.Red, "over: of the windows, those above the budget, as rules held more; compress refuses such"))
	}
}

// counts returns a sentence with the numbers of sessions and files that were measured or left out.
func (r *retentionResult) counts() string {
	words := []string{fmt.Sprintf("%s, %s, on average of %s tokens and %.1f names that were needed", out.Count(r.Sessions, "session"), out.Count(r.Cases, "case"), out.Thousands(r.Tokens), r.Needs)}
	if r.Short > 0 {
		words = append(words, fmt.Sprintf("%s too short (--min %d)", out.Thousands(r.Short), r.Min))
	}
	if r.Idle > 0 {
		words = append(words, out.Thousands(r.Idle)+" with too little that is used again")
	}
	if r.Skipped > 0 {
		words = append(words, out.Count(r.Skipped, "file")+" without a conversation")
	}
	if r.Left > 0 {
		words = append(words, out.Count(r.Left, "file")+" left (--max)")
	}
	return strings.Join(words, " · ")
}

// cells returns the figures of a row. For a person an interval is one cell in brackets; for a
// program each end of the interval is a cell.
func (r *retentionRow) cells(person bool) []any {
	var cells []any
	for _, name := range [...]retention.Score{
		retention.ScoreGround, retention.ScoreLine, retention.ScoreStub, retention.ScoreComplete, retention.ScoreValid, retention.ScoreUsed, retention.ScoreOver,
	} {
		e, ok := r.Scores[name]
		if !ok {
			e = retention.Estimate{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
		}
		interval := name == retention.ScoreGround || name == retention.ScoreLine
		switch {
		case !interval:
			cells = append(cells, figure(e.Mean, person))
		case person && ok:
			cells = append(cells, figure(e.Mean, person), "["+figure(e.Low, person)+"–"+figure(e.High, person)+"]")
		case person:
			cells = append(cells, figure(e.Mean, person), "")
		default:
			cells = append(cells, figure(e.Mean, person), figure(e.Low, person), figure(e.High, person))
		}
	}
	return cells
}

// figure formats a score with two decimals for a person, and with three for a program. A score
// without cases is NaN; figure returns a dash for a person, and "" for a program.
func figure(f float64, person bool) string {
	switch {
	case math.IsNaN(f) && person:
		return "–"
	case math.IsNaN(f):
		return ""
	case person:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3f", f)
}
