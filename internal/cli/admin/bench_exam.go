package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/ratio"
)

// An examBench runs exams: it makes windows of conversations that are cut, and measures how many
// questions about a conversation its window can answer.
type examBench struct {
	j *job.Job

	// The values of the flags with these names.
	data, methods, windows, out string
	share                       int // limit of a window, in percent of the bytes of the conversation
	each, force                 bool
	flags                       *pflag.FlagSet
}

// ownExams is the folder of the exams in a checkout of Carrel.
const ownExams = "bench/exam/testdata"

// examMethods are the methods that are measured by default.
const examMethods = "account,importance,anchored,pager,window,simple-mask-fit,simple-recency,simple-names"

func newBenchExam(j *job.Job) *cobra.Command {
	b := &examBench{j: j}
	cmd := &cobra.Command{
		Use:   "exam [EXAM.json...] [--data DIR] [--methods L] [--windows DIR] [--share N] [--each] [--out DIR]",
		Short: "Measure how many questions about a conversation its window answers",
		Long: `Exam measures how many questions about a session a window still answers. An exam is
a JSON file that lists sessions: the path of each conversation, how many of its lines the agent
had seen, and questions. Each question has its answer and the strings without which nobody can
give the answer. Each method makes a window from the seen part, and exam looks for the strings in
the window. It asks no model, stores nothing, and sends nothing. Without an argument it takes the
exams in bench/exam/testdata of a checkout of Carrel.

A conversation is a session of Claude Code, with the number of its first "lines" that the agent had
seen, or a whole request of Chat Completions or Messages, with 0 lines. A question whose strings are not in
the seen part is an error.

Windows are compared as text, without the system text. Each may have the same share of the bytes
of the conversation (--share), and each method makes its window as large as fits. Methods are the
strategies of "carrel compress" by their names, and simple methods for comparison as simple-NAME,
such as simple-recency (the newest messages that fit), simple-mask-fit (old results of tools
replaced by a mark) and simple-names (a list of names). In --methods, carrel means all strategies,
baselines all simple methods, and whole the conversation unchanged. --windows judges windows of
other programs instead: in a folder for each method, SESSION.txt, or SESSION.json with a request.

All figures are shares from 0 to 1. Strings and questions come with the interval that holds 95% of
1,000 random draws of questions:

  strings    strings that are in one line of the window, or in two adjacent
             lines; lists of single words do not count
  questions  questions whose strings are all there
  used       bytes of the windows as a share of the bytes that they may have
  over       windows that are larger than that, which score nothing

Strings do not show whether the window keeps order and roles, or says something false. "carrel
bench exam prepare" lets a model read the windows and answer. doc/guide/exam.md is the guide to
exams.`,
		Example: `  carrel bench exam my-exam.json --data ~/.claude/projects
  carrel bench exam my-exam.json --share 20 \
    --methods account,simple-mask-fit,whole
  carrel bench exam my-exam.json --methods all --out windows
  carrel bench exam my-exam.json --windows windows --each`,
		Args:              cobra.ArbitraryArgs,
		Annotations:       job.WithoutFiles(),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return b.measure(cmd.Context(), args) },
	}
	b.takes(cmd)
	cmd.Flags().BoolVar(&b.each, "each", false, "print a line for each session, too")
	cmd.Flags().StringVar(&b.out, "out", "", "write the windows to a `folder`, as --windows reads them")
	job.WritesFiles(cmd, &b.force, "out")
	cmd.AddCommand(newExamPrepare(j), newExamAsk(j), newExamGrade(j))
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// takes adds the flags that choose the windows to a command.
func (b *examBench) takes(cmd *cobra.Command) {
	f := cmd.Flags()
	b.flags = f
	f.StringVar(&b.data, "data", "", "base `folder` of the conversations' paths; by default the exam's folder")
	f.StringVar(&b.methods, "methods", examMethods, "`list` of methods, or carrel, baselines, all; with --windows only those that are named")
	f.Lookup("methods").DefValue = "" // too long for the flag's line; the text above lists them
	f.StringVar(&b.windows, "windows", "", "judge the windows in a `folder`")
	f.IntVar(&b.share, "share", 10, "most bytes of a window, in `percent` of the conversation")
	job.Offer(cmd, "methods", append(exam.MethodNames(nil), "carrel", "baselines", "all")...)
	for _, flag := range []string{"data", "windows"} {
		_ = cmd.MarkFlagDirname(flag) // fails only for an unknown flag
	}
}

// openExams opens the sessions of exams and returns them with the methods to measure.
func (b *examBench) openExams(ctx context.Context, files []string) ([]*exam.OpenSession, []exam.Method, error) {
	if b.share < 1 || b.share > 100 {
		return nil, nil, out.Usagef("--share: %d is not from 1 to 100", b.share)
	}
	var methods []exam.Method
	if b.windows == "" || b.flags.Changed("methods") {
		var err error
		if methods, err = exam.Methods(b.methods, nil); err != nil {
			return nil, nil, out.Usagef("--methods: %w", err)
		}
	}
	if b.windows != "" {
		more, err := exam.Folder(b.j.Path(b.windows))
		if err != nil {
			return nil, nil, err
		}
		for _, m := range more {
			for _, o := range methods {
				if o.Name == m.Name {
					return nil, nil, out.Usagef("--windows and --methods: the folder %s of %s has the name of a method: rename the folder, or leave the method out", m.Name, b.windows)
				}
			}
		}
		methods = append(methods, more...)
	}
	paths, err := b.exams(files)
	if err != nil {
		return nil, nil, err
	}
	sessions, err := exam.ReadAll(paths)
	if err != nil {
		return nil, nil, err
	}
	data := b.data
	if data != "" {
		data = b.j.Path(data)
	}
	sittings := make([]*exam.OpenSession, len(sessions))
	for i, s := range sessions {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		b.j.Reporter.Step("read session", i, len(sessions))
		if sittings[i], err = s.Open(data, nil, nil); err != nil {
			return nil, nil, err
		}
	}
	return sittings, methods, nil
}

// exams returns the paths of the exams in files. If files is empty, it returns the paths of the
// exams in a checkout of Carrel.
func (b *examBench) exams(files []string) ([]string, error) {
	var paths []string
	for _, f := range files {
		paths = append(paths, b.j.Path(f))
	}
	if len(files) > 0 {
		return paths, nil
	}
	found, err := filepath.Glob(filepath.Join(b.j.Path(filepath.FromSlash(ownExams)), "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var e struct{ Sessions []json.RawMessage }
		if json.Unmarshal(data, &e) == nil && e.Sessions != nil { // other JSON files are conversations
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, out.Usagef("bench exam: name the file of an exam: there is none in %s, where a checkout of Carrel has its own", ownExams)
	}
	return paths, nil
}

func (b *examBench) measure(ctx context.Context, files []string) error {
	b.j.Reporter = b.j.NewProgress()
	defer b.j.Reporter.End()
	if err := mustBeEmpty(b.j, "--out", b.out, b.force); err != nil {
		return err
	}
	sittings, methods, err := b.openExams(ctx, files)
	if err != nil {
		return err
	}
	done, put := 0, writerBelow(b.j, b.out)
	none := make(map[string]int) // sessions without a window, by method
	report, err := exam.Measure(ctx, sittings, methods, b.share, func(w *exam.Window) error {
		done++
		b.j.Reporter.Step("make window", done, len(sittings)*len(methods))
		if w.Text == "" && w.Method.Kind != exam.KindWindows {
			none[w.Method.Name]++
		}
		if b.out == "" {
			return nil
		}
		return put(w.File(), []byte(w.Text))
	})
	if err != nil {
		return err
	}
	for _, m := range methods {
		if n := none[m.Name]; n > 0 {
			b.j.Note("%s makes no window within %d%% of %s, so nothing counts there: raise --share", m.Name, b.share, out.Count(n, "session"))
		}
	}
	if b.out != "" {
		b.j.Note("wrote %s to %s", out.Count(done, "window"), b.out)
	}
	return b.j.List("bench-exam", report, "rows", func(p *out.Page) { b.print(p, report) })
}

// print prints a report: a table on a terminal, rows in a pipe.
func (b *examBench) print(p *out.Page, r *exam.Report) {
	t := &out.Table{Head: []string{fmt.Sprintf("at %d%%", r.Share), "strings", "", "questions", "", "used", "over"}, Whole: true}
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []any{row.Method}
		for _, e := range []exam.Estimate{row.Strings, row.Questions} {
			cells = append(cells, estimateCells(e, p.TTY)...)
		}
		t.Add(append(cells, ratioCell(row.Used, p.TTY), row.Over)...)
		for k := range row.Sessions {
			s := &row.Sessions[k]
			if b.each && p.TTY {
				t.Add("  "+s.Session, fmt.Sprintf("%d/%d", s.Strings, s.AllStrings), "", fmt.Sprintf("%d/%d", s.Questions, s.AllQuestions), "", fmt.Sprintf("%d/%d", s.Bytes, s.Limit), "")
			} else if b.each {
				t.Add(row.Method, s.Session, s.Strings, s.AllStrings, s.Questions, s.AllQuestions, s.Bytes, s.Limit)
			}
		}
	}
	if !p.TTY {
		p.Fields([]any{"sessions", r.Sessions}, []any{"questions", r.Questions}, []any{"strings", r.Strings})
		p.Table(t)
		return
	}
	p.Line("%s, %s, %s, of %s bytes", out.Count(r.Sessions, "session"), out.Count(r.Questions, "question"), out.Count(r.Strings, "string"), out.Thousands(r.Bytes))
	p.Line("")
	p.Table(t)
	p.Line("")
	p.Line("strings: of those that answers need, those in the window [95%%];")
	p.Line("questions: those with all of their strings; used: of the bytes")
}

// estimateCells returns the cells of an estimate. A person gets the mean with its interval in one
// cell; a program gets the mean and both ends of the interval in three.
func estimateCells(e exam.Estimate, person bool) []any {
	if person {
		return []any{ratioCell(e.Mean, true), "[" + ratioCell(e.Low, true) + "–" + ratioCell(e.High, true) + "]"}
	}
	return []any{ratioCell(e.Mean, false), ratioCell(e.Low, false), ratioCell(e.High, false)}
}

// ratioCell formats a figure with two decimals for a person, and with three for a program.
func ratioCell(r ratio.Ratio, person bool) string {
	return figure(float64(r)/float64(ratio.One), person)
}

// mustBeEmpty fails if the folder that a flag names contains files, or is an agent's folder for
// sessions. If force is true, it checks nothing.
func mustBeEmpty(j *job.Job, flag, folder string, force bool) error {
	if folder == "" || force {
		return nil
	}
	if err := j.Foreign(filepath.Join(folder, "x")); err != nil {
		return err
	}
	entries, err := os.ReadDir(j.Path(folder))
	if err == nil && len(entries) > 0 {
		return out.Hinted(fmt.Errorf("%s %s: there are files in it: %w", flag, folder, fs.ErrExist), "name a folder that is new or empty; --force replaces files in this one")
	}
	return nil
}

// writerBelow returns a function that writes files below a folder.
func writerBelow(j *job.Job, folder string) func(path string, data []byte) error {
	return func(path string, data []byte) error {
		name := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(j.Path(name)), 0o700); err != nil {
			return err
		}
		return j.Place(name, data, true)
	}
}

// completeFiles lets the shell offer files for an argument. The shell offers the subcommands as
// well.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
