package limn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/limn"
	"github.com/carrel-dev/carrel/limn/adapter"
	"github.com/carrel-dev/carrel/transcript"
)

func newLimn(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limn run|check|fmt|repl|conform",
		Short: "Run, check and format programs of the contract language",
		Long:  topicLimn,
		Example: `  carrel limn run rules.limn
  carrel limn check rules.limn --profile 35
  carrel contract | carrel limn run - --quiet`,
		Annotations: job.WithoutFiles(),
		RunE:        job.Group("limn", "run, check, fmt, repl, conform"),
	}
	for _, sub := range []*cobra.Command{newLimnRun(j), newLimnCheck(j), newLimnFormat(j), newLimnREPL(j), newLimnConform(j)} {
		sub.Annotations = job.WithoutFiles()
		sub.DisableFlagsInUseLine = true
		cmd.AddCommand(sub)
	}
	return cmd
}

// takesPacks adds the flag --pack to a command.
func takesPacks(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "pack", nil, "load a `pack`: "+strings.Join(limn.BuiltinPacks(), ", ")+", or a JSON file; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("pack", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return limn.BuiltinPacks(), cobra.ShellCompDirectiveDefault
	}) // fails only for an unknown flag
}

// readPacks returns the packs with the given names, which are built-in packs or files.
func readPacks(j *job.Job, names []string) ([]*limn.Pack, error) {
	var packs []*limn.Pack
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, out.Usagef("--pack: %q is given twice: give it once", name)
		}
		p, err := readPack(j, name)
		if err != nil {
			return nil, out.Hinted(out.Usagef("--pack: %w", err), "carrel help limn")
		}
		packs = append(packs, p)
	}
	if err := limn.CheckPacks(packs); err != nil {
		return nil, out.Usagef("--pack: %w", err)
	}
	return packs, nil
}

func readPack(j *job.Job, name string) (*limn.Pack, error) {
	built, err := limn.BuiltinPack(name)
	if err == nil {
		return built, nil
	}
	if name == "-" {
		return nil, errors.New("a pack cannot be read from standard input: name a pack, or a file")
	}
	data, ioErr := j.Read(name)
	if errors.Is(ioErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is neither a file nor a built-in pack (%s)", name, strings.Join(limn.BuiltinPacks(), ", "))
	}
	if ioErr != nil {
		return nil, ioErr
	}
	p, err := limn.LoadPack(data)
	if err != nil {
		return nil, out.InFile(name, err)
	}
	if p.Path != "" {
		p.Path = j.Path(p.Path)
	}
	return p, nil
}

// faulty returns the error that a program cannot be parsed.
func faulty(file string, err error) error {
	if e, ok := errors.AsType[*limn.Error](err); ok {
		return &transcript.SyntaxError{Name: file, Line: e.Pos.Line, Text: fmt.Sprintf("column %d: %s", e.Pos.Column, e.Text), Hint: e.Hint}
	}
	return out.InFile(file, err)
}

func newLimnRun(j *job.Job) *cobra.Command {
	r := &limnRun{j: j}
	var names []string
	cmd := &cobra.Command{
		Use:   "run FILE|- [--pack session|research|FILE]... [--strict] [--test]",
		Short: "Run a program",
		Long: `Run executes a program, a line after the other. It says how it understands each
statement, unless --quiet, and what the statement shows. A line that fails does not stop the lines
after it: errors are results, and go to standard output.

The exit code is 1 if there was an error; with --strict also if a requirement was not met, a
prohibition was violated, or a statement was not executed because nobody confirmed it. A condition
that mixes "and" with "or" is asked about on a terminal, and otherwise its statement is not
executed; --test takes all of them as they are read, and prints how.

If there are handlers ("when") and nothing was refused, the program then listens to the sources of
its packs until all of them are complete, a handler finishes, or you interrupt it. The first line
that a handler shows begins with what made it fire, such as [level → 55]. --verbose writes a line
of JSON to standard error for each result, with the time it took.`,
		Example: `  carrel limn run rules.limn --strict --quiet
  carrel limn run claims.limn --pack session --json
  tail -f app.log | carrel limn run alarm.limn --pack stdin.json --quiet`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			packs, err := readPacks(j, names)
			if err != nil {
				return err
			}
			return r.file(cmd.Context(), args[0], packs)
		},
	}
	takesPacks(cmd, &names)
	f := cmd.Flags()
	f.BoolVar(&r.strict, "strict", false, "a requirement that is not met, a prohibition that is violated, or a statement that nobody confirmed is an error")
	f.BoolVar(&r.test, "test", false, `take conditions that mix "and" with "or" as they are read`)
	return cmd
}

// A limnRun executes statements and prints their results.
type limnRun struct {
	j            *job.Job
	strict, test bool

	in      *input
	packs   []*limn.Pack
	machine *limn.Machine
	results []limnResult
	failed  bool
	prefix  string // printed before the next line that a handler shows
	began   time.Time
	typed   bool // statements come from a terminal, so errors omit the position
}

// start creates the machine. If ask is true, a person confirms ambiguous statements.
func (r *limnRun) start(ctx context.Context, packs []*limn.Pack, ask bool) *limn.Options {
	r.in = newInput(r.j.Stdin)
	r.packs = packs
	opts := &limn.Options{Packs: packs, Today: r.j.Clock()().UTC().Format(time.DateOnly)}
	switch {
	case r.test:
		opts.Confirm = func(string) bool { return true }
	case ask && r.j.StdinTerminal:
		opts.Confirm = func(amber string) bool { return r.ask(ctx, amber) }
	}
	r.machine = limn.NewMachine(opts)
	return opts
}

// ask asks a person whether the reading of an ambiguous statement is right.
func (r *limnRun) ask(ctx context.Context, amber string) bool {
	fmt.Fprintf(r.j.Stderr, "This reads as: %s\nIs it meant so? [y/N] ", out.Visible(amber))
	answer, err := r.in.line(ctx)
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "y" || answer == "yes")
}

// reads reports whether one of the packs reads standard input.
func reads(packs []*limn.Pack) bool {
	for _, p := range packs {
		if p.Type == limn.PackStdin {
			return true
		}
	}
	return false
}

// file runs the program in a file.
func (r *limnRun) file(ctx context.Context, name string, packs []*limn.Pack) error {
	if name == "-" && reads(packs) {
		return out.Usagef("- and --pack: a pack of type stdin reads standard input: give the program as a file")
	}
	text, err := r.j.Read(name)
	if err != nil {
		return err
	}
	opts := r.start(ctx, packs, name != "-" && !reads(packs))
	r.began = r.j.Now()
	for res := range r.machine.Run(limn.Parse(name, string(text), opts)) {
		if err := r.take(ctx, &res); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := r.listen(ctx, name == "-"); err != nil {
		return err
	}
	if r.j.JSON != "" {
		value := limnRunResult{File: name, OK: !r.failed, Results: append([]limnResult{}, r.results...)}
		if err := r.j.List("limn-run", value, "results", nil); err != nil {
			return err
		}
	}
	if r.failed {
		return out.ErrNo
	}
	return nil
}

// listen runs the handlers of the program on values from the sources of the packs, until a source
// ends or ctx is done. An interrupt ends it without an error. If spent is true, the program has
// already read standard input to its end.
func (r *limnRun) listen(ctx context.Context, spent bool) error {
	opts := &adapter.Options{Input: r.in.r}
	if spent {
		opts = nil
	}
	for res := range r.machine.Listen(r.timed(adapter.Sources(ctx, r.packs, opts))) {
		if err := r.take(ctx, &res); err != nil {
			return err
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return nil
}

// timed yields the given updates. Before each it sets r.began, so that the duration of a result is
// measured from the arrival of its update.
func (r *limnRun) timed(updates iter.Seq[limn.LiveValue]) iter.Seq[limn.LiveValue] {
	if updates == nil {
		return nil
	}
	return func(yield func(limn.LiveValue) bool) {
		for u := range updates {
			if r.began = r.j.Now(); !yield(u) {
				return
			}
		}
	}
}

// take records and prints a result.
func (r *limnRun) take(ctx context.Context, res *limn.Result) error {
	r.failed = r.failed || res.Status.Failed(r.strict)
	if r.j.Verbose > 0 {
		if err := r.log(res); err != nil {
			return err
		}
	}
	if r.j.JSON != "" {
		r.results = append(r.results, newLimnResult(res))
		return nil
	}
	var b strings.Builder
	for _, line := range r.lines(ctx, res) {
		if r.j.StdoutTerminal {
			line = out.Visible(line)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(r.j.Stdout, b.String())
	return err
}

// lines returns the lines to print for a result.
func (r *limnRun) lines(ctx context.Context, res *limn.Result) []string {
	var lines []string
	fires := res.Metadata["trigger"] != nil
	if fires {
		r.firing(res.Metadata)
	}
	if l := res.Line; l != nil && l.Err == nil && !fires {
		if !r.j.Quiet {
			lines = strings.Split("I understand this as: "+l.String(), "\n")
		}
		if r.test {
			lines = append(lines, readings(l)...)
		}
	}
	for _, out := range res.Output {
		if fires {
			out, r.prefix = r.prefix+out, ""
		}
		if res.Line == nil {
			out = "Warning: " + out
		}
		lines = append(lines, out)
	}
	return append(lines, r.remarks(ctx, res)...)
}

// readings explains how Limn understood conditions that mix "and" with "or".
func readings(l *limn.Line) []string {
	var lines []string
	if l.Amber != "" {
		lines = append(lines, "This reads as: "+l.Amber)
	}
	for _, inner := range l.Body() {
		lines = append(lines, readings(inner)...)
	}
	return lines
}

// remarks returns messages about a result, apart from its output.
func (r *limnRun) remarks(ctx context.Context, res *limn.Result) []string {
	switch res.Status {
	case limn.StatusParseError, limn.StatusSemanticError, limn.StatusRuntimeError, limn.StatusPackFailure:
		return r.fault(res)
	case limn.StatusNotMet, limn.StatusViolated:
		return []string{res.Message}
	case limn.StatusAmber:
		return []string{"Not executed: " + res.Message, "Hint: write two statements, or take it as it is read with --test"}
	case limn.StatusListening:
		return []string{"L" + strings.TrimPrefix(res.Message, "l")}
	case limn.StatusShutdown:
		return []string{"Listener stopped: " + ending(ctx, res.Metadata)}
	case limn.StatusSuccess, limn.StatusFired:
	}
	return nil
}

// fault returns the lines that report an error.
func (r *limnRun) fault(res *limn.Result) []string {
	text := res.Message
	if res.Line != nil && !r.typed {
		text = fmt.Sprintf("line %d: %s", res.Line.Pos.Line, text)
	}
	lines := []string{"Error: " + text}
	if e := res.Err; e != nil {
		if e.Pos.Line > 0 && res.Line != nil && !r.typed {
			lines[0] = fmt.Sprintf("Error: line %d, column %d: %s", e.Pos.Line, e.Pos.Column, res.Message)
		}
		if e.Hint != "" {
			lines = append(lines, "Hint: "+e.Hint)
		}
	}
	return lines
}

// ending returns in words why a program stopped listening.
func ending(ctx context.Context, metadata map[string]any) string {
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case metadata["reason"] == "finish":
		return "a handler has finished"
	case metadata["reason"] == "no_adapters":
		return "no pack gives values that could change"
	}
	return "no source gives values any more"
}

// firing sets the prefix of the first line that a handler shows. The prefix says why the handler
// runs.
func (r *limnRun) firing(metadata map[string]any) {
	if n, ok := metadata["statement"].(int); !ok || n > 0 {
		return
	}
	trigger, _ := metadata["trigger"].(map[string]any)
	names, _ := trigger["values_changed"].([]string)
	values, _ := trigger["new_values"].(map[string]any)
	var changes []string
	for _, name := range names {
		changes = append(changes, name+" → "+displayed(values[name]))
	}
	switch trigger["source"] {
	case "initial":
		r.prefix = "[initial] "
	case "cascade":
		r.prefix = "[cascade: " + strings.Join(names, ", ") + " changed] "
	default:
		r.prefix = "[" + strings.Join(changes, ", ") + "] "
	}
}

// maxDisplayed is the most characters of a value in the prefix of a line.
const maxDisplayed = 200

// displayed returns a value of the metadata as the language displays it, on one line.
func displayed(value any) string {
	v, err := limn.FromJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	s := v.String()
	if _, ok := value.([]any); ok {
		s = strings.ReplaceAll(s, "\n", "; ") // a list of records has a line for each
	}
	return text.Line(s, maxDisplayed)
}

// A limnRunResult is a run as JSON.
type limnRunResult struct {
	File    string       `json:"file"`
	OK      bool         `json:"ok"` // the exit code is 0
	Results []limnResult `json:"results"`
}

// A limnResult is the result of a statement.
type limnResult struct {
	Line      int            `json:"line"` // 0 if the result belongs to no line
	Source    string         `json:"source"`
	Status    limn.Status    `json:"status"`
	Canonical string         `json:"canonical"`
	Output    []string       `json:"output"`
	Message   string         `json:"message,omitempty"`
	Hint      string         `json:"hint,omitempty"`
	Executed  bool           `json:"executed"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

func newLimnResult(r *limn.Result) limnResult {
	out := limnResult{
		Status: r.Status, Output: append([]string{}, r.Output...), Message: r.Message, Executed: r.Executed, Metadata: r.Metadata,
	}
	if r.Line != nil {
		out.Line, out.Source, out.Canonical = r.Line.Pos.Line, r.Line.Source, r.Line.String()
	}
	if r.Err != nil {
		out.Hint = r.Err.Hint
	}
	return out
}

// log writes a log line about a result to standard error.
func (r *limnRun) log(res *limn.Result) error {
	now := r.j.Now()
	entry := struct {
		Line      *int      `json:"line"` // null if the result belongs to no line
		Timestamp time.Time `json:"timestamp"`
		Millis    float64   `json:"duration_ms"`
		Pack      string    `json:"pack,omitempty"`
	}{Timestamp: r.j.Clock()().UTC(), Millis: float64(now.Sub(r.began).Microseconds()) / 1000}
	r.began = now
	if res.Line != nil {
		entry.Line, entry.Pack = &res.Line.Pos.Line, res.Line.Pack()
	}
	text, err := out.JSONText(entry, false)
	if err != nil {
		return err
	}
	_, err = r.j.Stderr.Write(text)
	return err
}
