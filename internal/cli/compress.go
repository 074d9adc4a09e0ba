package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// compressFlags are the flags of compress that are no fields of its request.
type compressFlags struct {
	target, strategy, least string
	window                  int

	in, to                 string
	out                    output
	todos, todosOut, state string
	summary                bool
}

func newCompress(_ *Env, g *globals) *cobra.Command {
	req := &carrel.CompressRequest{}
	var fl compressFlags
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "compress [SESSION] [--target N|50% | --smallest] [--strategy S] [--probe-min R] [-o FILE]",
		Short: "Cut the window to a budget, and keep what the agent needs to go on",
		Long: `Compress cuts what is in the window of a conversation until it fits a budget. What
it takes out it accounts for: the words of the user, what the agent said, calls with
how they ended, changes, the parts of files that matter, and the state at the end.
The newest messages stay as they are. What was cut has an id, by which it can be
recalled; what rules hold never leaves: "carrel help budget". Every byte stays in the
store.

--strategy is another way: "carrel help summaries". With some a summary is made of
older blocks, beside an account or in their place; it is accepted only if the window then answers the probes
that the originals give. --summary and --todos are about one, so they take
anchored where neither --strategy nor the settings name such a strategy.

The budget is --target in tokens, or in percent of the conversation as it was
imported: system text and tool definitions cannot leave and stay beside it. Without
it, it is that of the settings ("carrel help config"), or half of what of the
context window is of use: "carrel help level". --smallest asks for the smallest
window that the strategy can make, which the error of a smaller target names.

The result is checked by the rules of the conversation's provider before
anything is written. If it does not answer the probes, the exit code is 1; if
what rules hold does not fit, it is 5; and nothing is changed. "carrel undo"
takes a compression back.

--in compresses the conversation of a file, without any store: what comes of it
goes to -o or standard output, and what is to be known of it to standard error.
--todos reads a list of things to do, such as an agent keeps in JSON, and ticks
off what the new summary says is done.`,
		Example: `  carrel compress --target 50%
  carrel compress @prev --target 40000 -o next.jsonl
  carrel compress --strategy anchored --probe-min 0.95
  carrel compress -n --strategy pager --intent "flaky login test"
  carrel compress --in h.json --target 50% --summary | carrel summary check -
  carrel compress --todos todo.json --todos-out todo.json --state state.json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fl.fill(g, req); err != nil {
				return err
			}
			if err := g.readTodos(fl.todos, req); err != nil {
				return err
			}
			ctx := cmd.Context()
			return s.on(ctx, g, fl.in, args, func(a *access, id transcript.SessionID) error {
				req.Session = id
				if fl.summary || fl.todos != "" {
					a.settings.Summarize(req)
				}
				a.settings.Request(req)
				res, err := a.Compress(ctx, a.scope, req)
				if err != nil {
					return err
				}
				out := &compressed{CompressResult: res, least: req.ProbeMin, dry: req.DryRun, kept: fl.in == ""}
				if !req.DryRun {
					if err := fl.finish(ctx, g, a, out); err != nil {
						return err
					}
				}
				if fl.piped() && !req.DryRun {
					g.aside(out.print)
					return nil
				}
				out.TodoList = nil // written where --todos-out says
				return g.result(document{name: "compress", value: out}, out.page)
			})
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&fl.target, "target", "", "`budget` in tokens, or such as 50%")
	f.BoolVar(&req.Smallest, "smallest", false, "make the window as small as the strategy can")
	f.StringVar(&fl.strategy, "strategy", "", "`how`: "+strings.Join(config.StrategyWords(), ", ")+"; that of the settings by default, or else account")
	f.StringVar(&fl.least, "probe-min", "", "`share` of the probes that must be answered, 0 for whatever comes; of the settings, or else 0.9, by default")
	f.IntVar(&fl.window, "window", 0, "context window in `tokens`; of the settings, or else the model's, by default")
	f.StringArrayVar(&req.Intent, "intent", nil, "`words` for what comes next, which pager goes by; of the last messages by default")
	f.IntVar(&req.KeepLast, "keep-last", 0, "keep the last `n` blocks from leaving; of the settings, or else 5, by default, -1 for none")
	f.StringVar(&fl.in, "in", "", "compress the conversation of a `file`, and store nothing")
	f.StringVarP(&fl.out.file, "output", "o", "", "export to `file` as well; - is standard output")
	f.StringVar(&fl.to, "to", "", "`format` of the export; the conversation's own by default")
	f.BoolVar(&fl.summary, "summary", false, "print the whole summary as Markdown")
	f.StringVar(&fl.todos, "todos", "", "tick off things to do that are done; a `file` with a list in JSON")
	f.StringVar(&fl.todosOut, "todos-out", "", "write that list to `file` as it is then")
	f.StringVar(&fl.state, "state", "", "write the state of compression to `file`: carrel help state")
	writesFiles(cmd, &fl.out.force, "output", "todos-out", "state")
	offerFormats(cmd, "to")
	offer(cmd, "strategy", config.StrategyWords()...)
	writes(cmd, &req.DryRun)
	return cmd
}

// fill puts what the flags say into a request.
func (fl *compressFlags) fill(g *globals, req *carrel.CompressRequest) (err error) {
	if req.Target, req.Share, err = parseTarget(fl.target); err != nil {
		return err
	}
	if req.Smallest && fl.target != "" {
		return usagef("--smallest and --target: give one of them")
	}
	if fl.window < 0 {
		return usagef("--window: %d is below 0", fl.window)
	}
	req.Window = token.Count(fl.window)
	if fl.strategy != "" {
		if err := oneOf("--strategy", fl.strategy, config.StrategyWords()...); err != nil {
			return err
		}
		req.Strategy = carrel.Strategy(fl.strategy)
	}
	if req.ProbeMin, err = parseLeast("--probe-min", fl.least); err != nil {
		return err
	}
	if fl.todosOut != "" && fl.todos == "" {
		return usagef("--todos-out: name the list with --todos")
	}
	if fl.summary && req.DryRun {
		return usagef("--summary: a dry run keeps none")
	}
	if fl.in == "-" && fl.todos == "-" {
		return usagef("--in - and --todos -: standard input holds one of them")
	}
	if fl.in != "" && fl.out.file == "" && fl.state != "-" && fl.todosOut != "-" && !fl.summary && g.json == "" {
		fl.out.file = "-"
	}
	if n := fl.toStdout(); n > 1 || n > 0 && g.json != "" && !req.DryRun {
		return usagef("standard output holds one thing: of -o -, --summary, --state -, --todos-out - and --json give one")
	}
	return nil
}

// toStdout returns how many flags want standard output.
func (fl *compressFlags) toStdout() int {
	n := 0
	for _, wants := range [...]bool{fl.out.file == "-", fl.summary, fl.state == "-", fl.todosOut == "-"} {
		if wants {
			n++
		}
	}
	return n
}

// piped reports whether standard output has something else than the report.
func (fl *compressFlags) piped() bool { return fl.toStdout() > 0 }

// finish writes what is to be had of a session after a compression.
func (fl *compressFlags) finish(ctx context.Context, g *globals, a *access, c *compressed) error {
	if fl.out.file != "" {
		out, err := a.Export(ctx, a.scope, &carrel.ExportRequest{Session: c.Session, To: fl.to})
		if err != nil {
			return err
		}
		if err := g.save(out, fl.out); err != nil {
			return err
		}
	}
	if fl.state != "" {
		if err := g.writeState(ctx, a, c.Session, output{file: fl.state, force: fl.out.force}); err != nil {
			return err
		}
	}
	if fl.summary {
		sum, err := a.Summary(ctx, a.scope, &carrel.SessionRequest{Session: c.Session})
		if err != nil {
			return err
		}
		if err := g.write(output{}, []byte(printable(sum.Summary.Markdown(), false))); err != nil {
			return err
		}
	}
	if fl.todosOut != "" {
		return g.write(output{file: fl.todosOut, force: fl.out.force}, c.TodoList)
	}
	return nil
}

// readTodos reads a list of things to do into a request, if one is named.
func (g *globals) readTodos(file string, req *carrel.CompressRequest) error {
	if file == "" {
		return nil
	}
	data, err := g.read(file)
	if err != nil {
		return err
	}
	if _, err := summary.ParseTodos(data); err != nil {
		return inFile(file, err)
	}
	req.Todos = data
	return nil
}

// parseLeast reads the share of probes that must be answered; nil if it is not
// given.
func parseLeast(flag, s string) (*ratio.Ratio, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // documented
	}
	r, err := parseShare(flag, s)
	if err == nil && r > ratio.One {
		err = usagef("%s: %q is above 1", flag, s)
	}
	return &r, err
}

// parseTarget reads a budget: tokens, or a share.
func parseTarget(s string) (token.Count, ratio.Ratio, error) {
	switch {
	case s == "":
		return 0, 0, nil
	case strings.HasSuffix(s, "%"):
		share, err := ratio.Parse(s)
		if err != nil || share <= 0 || share > ratio.One {
			return 0, 0, usagef("--target: %q is no share from 0%% to 100%%", s)
		}
		return 0, share, nil
	}
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(s))
	if err != nil || n <= 0 {
		return 0, 0, usagef("--target: %q is no number of tokens and no share such as 50%%", s)
	}
	return token.Count(n), 0, nil
}

// A compressed is what a compression did, as it is printed.
type compressed struct {
	*carrel.CompressResult

	least *ratio.Ratio // of the probes
	dry   bool
	kept  bool // in a store
}

// page prints a result: for people on a terminal, and otherwise as fields.
func (c *compressed) page(p *page) {
	if p.tty {
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
	p.fields(rows...)
	if c.Probes != nil {
		p.missed(c.Probes, 0)
	}
}

// shownMisses is how many probes that were missed are listed for a person.
const shownMisses = 5

// budgetWords says what a budget is a share of.
func budgetWords(c *carrel.CompressResult) string {
	budget := thousands(int64(c.Budget))
	if c.Share > 0 {
		return fmt.Sprintf("%s = %s of %s tokens of conversation + %s fixed", budget, c.Share.Percent(), thousands(int64(c.Leaves)), thousands(int64(c.Stays)))
	}
	return measureWords(c.Budget, &c.Figures)
}

// print prints a result for people.
func (c *compressed) print(p *page) {
	if len(c.Attempts) == 0 {
		p.line("fits    %s tokens are within the budget: nothing to do", thousands(int64(c.Before)))
		p.line("budget  %s", budgetWords(c.CompressResult))
		c.printTodos(p)
		return
	}
	p.line("plan    %s · %s · %s · %s · %s change", c.Strategy, p.paint(green, count64(c.Blocks.Live, "live")),
		p.paint(yellow, count64(c.Blocks.Stub, "stub")), p.paint(dim, count64(c.Blocks.Cold, "cold")),
		thousands(int64(c.Changed)))
	p.line("budget  %s", budgetWords(c.CompressResult))
	if len(c.Attempts) > 1 {
		label := "tries"
		for i := range c.Attempts {
			p.line("%-7s %d %s", label, i+1, visible(attemptWords(&c.Attempts[i])))
			label = ""
		}
	}
	if s := c.Summary; s != nil {
		p.line("summary %s", summaryWords(s))
	}
	if c.Probes != nil {
		p.line("probes  %s", probeWords(c.Probes, c.least))
		p.missed(c.Probes, shownMisses)
	}
	for _, w := range c.Warnings {
		p.line("warning %s", visible(w))
	}
	done := "apply"
	if c.dry {
		done = "would"
	}
	p.line("%-7s %s → %s tokens (%s)", done, thousands(int64(c.Before)), thousands(int64(c.After)), change(c.Before, c.After))
	p.line("check   %s ok", c.Provider)
	c.printTodos(p)
	switch {
	case c.dry:
		p.line("dry run: nothing was written")
	case c.kept:
		p.line("undo    carrel undo %s --session %s", c.Op, short(c.Session))
	}
}

// printTodos tells of the things to do, if a list was given.
func (c *compressed) printTodos(p *page) {
	if c.Todos == nil {
		return
	}
	done := 0
	for _, t := range c.Todos {
		if t.Completed {
			done++
		}
	}
	p.line("todos   %d of %s done now", done, thousands(int64(len(c.Todos))))
	for _, t := range c.Todos {
		if t.Completed {
			p.line("        [x] %s", cut(visible(t.Content), max(p.width-12, 20)))
		}
	}
}

// summaryWords says what stands for older blocks.
func summaryWords(s *carrel.SummaryInfo) string {
	words := []string{fmt.Sprintf("of %s, %s tokens", count(s.Covers, "block"), thousands(int64(s.Tokens)))}
	if s.Covers > 1 {
		words[0] = fmt.Sprintf("of blocks 1–%d, %s tokens", s.Covers, thousands(int64(s.Tokens)))
	}
	switch {
	case s.Fresh == 0:
		words = append(words, "nothing new")
	case s.Merged:
		words = append(words, "merged", fmt.Sprintf("%s new", thousands(int64(s.Fresh))))
	}
	if s.Model != "" {
		words = append(words, "by "+visible(s.Model))
	}
	left := 0
	for _, e := range s.Left {
		left += e.Count
	}
	if left > 0 {
		words = append(words, fmt.Sprintf("%s %s only by recall", thousands(int64(left)), plural(left, "entry", "entries")))
	}
	return strings.Join(words, ", ") + " · " + string(s.ID)
}

// attemptWords says what an attempt was and what came of it.
func attemptWords(a *carrel.Attempt) string {
	words := string(a.Strategy)
	if a.Model != "" {
		words += " by " + a.Model
	}
	switch {
	case a.Account && a.Detail == 0:
		words += ", an account"
	case a.Account:
		words += ", an account with a summary"
	}
	if a.Detail > 0 {
		words += fmt.Sprintf(", summary up to %s of the budget", strings.Replace(a.Detail.Percent(), ".0%", "%", 1))
	}
	words += fmt.Sprintf(", last %d as they are", a.KeepLast)
	if a.Probes > 0 {
		words += fmt.Sprintf(": %d/%d", a.Passed, a.Probes)
	}
	switch {
	case a.Accepted:
		return words + ", accepted"
	case len(a.Reasons)+len(a.RedFlags) == 0:
		return words + ", not accepted"
	}
	return words + ", not accepted: " + cmp.Or(strings.Join(a.Reasons, "; "), strings.Join(a.RedFlags, "; "))
}

func count64(n int64, word string) string { return word + " " + thousands(n) }

// change returns by how many percent a figure changed.
func change(before, after token.Count) string {
	r := ratio.Of(after-before, before)
	if r < 0 {
		return "−" + (-r).Percent()
	}
	return fmt.Sprintf("+%s", r.Percent())
}
