package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/ratio"
)

// An examBench measures what windows still tell of conversations that were cut.
type examBench struct {
	g *globals

	data, methods, windows, out string
	share                       int
	each, force                 bool
	flags                       *pflag.FlagSet
}

// ownExams is where a checkout of Carrel has exams.
const ownExams = "bench/exam/testdata"

// examMethods are those that are measured if none are named.
const examMethods = "account,importance,anchored,pager,window,simple-mask-fit,simple-recency,simple-names"

func newBenchExam(g *globals) *cobra.Command {
	b := &examBench{g: g}
	cmd := &cobra.Command{
		Use:   "exam [EXAM.json...] [--data DIR] [--methods L] [--windows DIR] [--share N] [--each] [--out DIR]",
		Short: "Measure what windows still tell of conversations that were cut",
		Long: `Exam asks questions whose answers the work that follows needs. An exam is a file of
JSON with sessions: the path of a conversation, how many of its lines the agent had
seen, and questions, each with its answer and the strings without which it cannot be
given. Each method makes a window of what the agent had seen, and the strings are
looked up in it. No model takes part, nothing is stored, and nothing leaves the
machine. Without an argument the exams of a checkout of Carrel are taken, those in
bench/exam/testdata.

A conversation is a session of Claude Code, cut behind so many "lines", or a request
of Chat Completions or Messages, whole, with 0 lines. A question whose strings do not
stand in what the agent had seen is an error.

All windows are compared as text, without the system text, and may have the same
share of the bytes of the whole; each method is tried until it fills them. Methods
are those of "carrel bench retention": strategies by their names, and simple methods
as simple-NAME, such as simple-recency (the newest messages that fit),
simple-mask-fit (old results of tools masked) and simple-names (a bag of names). In
a list, carrel is all strategies, baselines all simple methods, and whole the
conversation as it is. With --windows the texts of a folder are judged: SESSION.txt,
or SESSION.json with a request, in a folder for each method.

The figures go from 0 to 1, with the interval that holds 95% of 1,000 draws of
questions:

  strings    of the strings, those in one line of the window or in two that follow
             each other; lists of single words have none
  questions  of the questions, those with all of their strings
  used       of the bytes that the windows may have, those that they have
  over       windows with more than that: they count for nothing

Strings say nothing of order, roles or what is false. To have a model read the
windows and answer, see "carrel bench exam prepare", and doc/guide/exam.md for all
of it.`,
		Example: `  carrel bench exam my-exam.json --data ~/.claude/projects
  carrel bench exam my-exam.json --methods account,simple-mask-fit,whole --share 20
  carrel bench exam my-exam.json --methods all --out windows
  carrel bench exam my-exam.json --windows windows --each`,
		Args:              cobra.ArbitraryArgs,
		Annotations:       withoutFiles(),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return b.measure(cmd.Context(), args) },
	}
	b.takes(cmd)
	cmd.Flags().BoolVar(&b.each, "each", false, "print a line for each session, too")
	cmd.Flags().StringVar(&b.out, "out", "", "write the windows to a `folder`, as --windows reads them")
	writesFiles(cmd, &b.force, "out")
	cmd.AddCommand(newExamPrepare(g), newExamAsk(g), newExamGrade(g))
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// takes gives a command the flags that say which windows there are.
func (b *examBench) takes(cmd *cobra.Command) {
	f := cmd.Flags()
	b.flags = f
	f.StringVar(&b.data, "data", "", "`folder` that the paths of conversations are below; that of the exam if not given")
	f.StringVar(&b.methods, "methods", examMethods, "`list` of methods, or carrel, baselines, all; with --windows none are made unless named")
	f.StringVar(&b.windows, "windows", "", "judge the windows in a `folder`")
	f.IntVar(&b.share, "share", 10, "`percent` of the bytes of a conversation that its window may have")
	offer(cmd, "methods", append(exam.MethodNames(nil), "carrel", "baselines", "all")...)
	for _, flag := range []string{"data", "windows"} {
		_ = cmd.MarkFlagDirname(flag) // it fails only for a flag that is not there
	}
}

// sit opens the sessions of exams and finds the methods.
func (b *examBench) sit(ctx context.Context, files []string) ([]*exam.Sitting, []exam.Method, error) {
	if b.share < 1 || b.share > 100 {
		return nil, nil, usagef("--share: %d is not from 1 to 100", b.share)
	}
	var methods []exam.Method
	if b.windows == "" || b.flags.Changed("methods") {
		var err error
		if methods, err = exam.Methods(b.methods, nil); err != nil {
			return nil, nil, usagef("--methods: %w", err)
		}
	}
	if b.windows != "" {
		more, err := exam.Folder(b.g.path(b.windows))
		if err != nil {
			return nil, nil, err
		}
		for _, m := range more {
			for _, o := range methods {
				if o.Name == m.Name {
					return nil, nil, usagef("--windows: %s has a folder %s, and --methods a method of this name: rename the folder", b.windows, m.Name)
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
		data = b.g.path(data)
	}
	sittings := make([]*exam.Sitting, len(sessions))
	for i, s := range sessions {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		b.g.reporter.step("read session", i, len(sessions))
		if sittings[i], err = s.Open(data, nil, nil); err != nil {
			return nil, nil, err
		}
	}
	return sittings, methods, nil
}

// exams returns the paths of exams: those that are named, or those of a checkout.
func (b *examBench) exams(files []string) ([]string, error) {
	var paths []string
	for _, f := range files {
		paths = append(paths, b.g.path(f))
	}
	if len(files) > 0 {
		return paths, nil
	}
	found, err := filepath.Glob(filepath.Join(b.g.path(filepath.FromSlash(ownExams)), "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var e struct{ Sessions []json.RawMessage }
		if json.Unmarshal(data, &e) == nil && e.Sessions != nil { // others are conversations
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, usagef("bench exam: name an exam: there is none in %s here, where a checkout of Carrel may have some", ownExams)
	}
	return paths, nil
}

func (b *examBench) measure(ctx context.Context, files []string) error {
	b.g.reporter = newProgress(b.g)
	defer b.g.reporter.end()
	if err := b.g.empty("--out", b.out, b.force); err != nil {
		return err
	}
	sittings, methods, err := b.sit(ctx, files)
	if err != nil {
		return err
	}
	done, put := 0, b.g.below(b.out)
	report, err := exam.Measure(ctx, sittings, methods, b.share, func(w *exam.Window) error {
		done++
		b.g.reporter.step("make window", done, len(sittings)*len(methods))
		if b.out == "" {
			return nil
		}
		return put(w.File(), []byte(w.Text))
	})
	b.g.reporter.end()
	if err != nil {
		return err
	}
	if b.out != "" {
		b.g.note("wrote %s to %s", count(done, "window"), b.out)
	}
	return b.g.result(document{"bench-exam", report, "rows"}, func(p *page) { b.print(p, report) })
}

// print prints a report: a table, or rows for a pipe.
func (b *examBench) print(p *page, r *exam.Report) {
	t := &table{head: []string{fmt.Sprintf("at %d%%", r.Share), "strings", "", "questions", "", "used", "over"}, whole: true}
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []any{row.Method}
		for _, e := range []exam.Estimate{row.Strings, row.Questions} {
			cells = append(cells, estimateCells(e, p.tty)...)
		}
		t.add(append(cells, ratioCell(row.Used, p.tty), row.Over)...)
		for k := range row.Sessions {
			s := &row.Sessions[k]
			if b.each && p.tty {
				t.add("  "+s.Session, fmt.Sprintf("%d/%d", s.Strings, s.AllStrings), "", fmt.Sprintf("%d/%d", s.Questions, s.AllQuestions), "", fmt.Sprintf("%d/%d", s.Bytes, s.Limit), "")
			} else if b.each {
				t.add(row.Method, s.Session, s.Strings, s.AllStrings, s.Questions, s.AllQuestions, s.Bytes, s.Limit)
			}
		}
	}
	if !p.tty {
		p.fields([]any{"sessions", r.Sessions}, []any{"questions", r.Questions}, []any{"strings", r.Strings})
		p.table(t)
		return
	}
	p.line("%s, %s, %s, of %s bytes", count(r.Sessions, "session"), count(r.Questions, "question"), count(r.Strings, "string"), thousands(int64(r.Bytes)))
	p.line("")
	p.table(t)
	p.line("")
	p.line("strings: of those that answers need, those in the window [95%%];")
	p.line("questions: those with all of their strings; used: of the bytes")
}

// estimateCells returns an estimate with its interval as a person reads it, or as three
// figures.
func estimateCells(e exam.Estimate, person bool) []any {
	if person {
		return []any{ratioCell(e.Mean, true), "[" + ratioCell(e.Low, true) + "–" + ratioCell(e.High, true) + "]"}
	}
	return []any{ratioCell(e.Mean, false), ratioCell(e.Low, false), ratioCell(e.High, false)}
}

// ratioCell returns a figure with two digits for a person, else three.
func ratioCell(r ratio.Ratio, person bool) string {
	return figure(float64(r)/float64(ratio.One), person)
}

// empty fails if there is something in a folder that a flag names.
func (g *globals) empty(flag, folder string, force bool) error {
	if folder == "" || force {
		return nil
	}
	if err := g.foreign(filepath.Join(folder, "x")); err != nil {
		return err
	}
	entries, err := os.ReadDir(g.path(folder))
	if err == nil && len(entries) > 0 {
		return &hintedError{fmt.Errorf("%s %s: there are files in it: %w", flag, folder, fs.ErrExist), "name a folder that is new or empty; --force replaces files in this one"}
	}
	return nil
}

// below returns what writes files below a folder.
func (g *globals) below(folder string) func(path string, data []byte) error {
	return func(path string, data []byte) error {
		name := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(g.path(name)), 0o700); err != nil {
			return err
		}
		return g.place(name, data, true)
	}
}

// run returns the run in a folder.
func (g *globals) run(folder, job string) *exam.Run {
	return &exam.Run{Folder: g.path(folder), Put: g.below(folder), Step: func(done, total int) { g.reporter.step(job, done, total) }}
}

func newExamPrepare(g *globals) *cobra.Command {
	b := &examBench{g: g}
	cmd := &cobra.Command{
		Use:   "prepare [EXAM.json...] --out DIR [--data DIR] [--methods L] [--windows DIR] [--share N]",
		Short: "Write windows and questions for readers",
		Long: `Prepare writes what readers need into a folder: for each method and session a paper,
papers/METHOD/SESSION.json, with the window and the questions without their answers,
and key.json with the answers. "carrel bench exam ask" has a model answer the
papers; any other way to fill answers/METHOD/SESSION.json will do.
doc/guide/exam.md has the form of these files.

A window with more bytes than it may have is refused.`,
		Example: `  carrel bench exam prepare my-exam.json --out run
  carrel bench exam prepare my-exam.json --methods account,simple-mask-fit --share 5 --out run`,
		Annotations: withoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.out == "" {
				return usagef("bench exam prepare: name a folder with --out")
			}
			g.reporter = newProgress(g)
			defer g.reporter.end()
			if err := g.empty("--out", b.out, b.force); err != nil {
				return err
			}
			sittings, methods, err := b.sit(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := g.run(b.out, "make window").Prepare(cmd.Context(), sittings, methods, b.share); err != nil {
				return err
			}
			g.reporter.end()
			res := &preparedExam{Folder: b.out, Methods: len(methods), Sessions: len(sittings), Papers: len(methods) * len(sittings)}
			return g.result(document{name: "bench-exam-prepare", value: res}, func(p *page) {
				p.line("wrote %s of %s to %s", count(res.Papers, "paper"), count(res.Sessions, "session"), res.Folder)
			})
		},
	}
	b.takes(cmd)
	cmd.Flags().StringVar(&b.out, "out", "", "write to a `folder`, which is new or empty")
	writesFiles(cmd, &b.force, "out")
	return cmd
}

// A preparedExam is what was written for readers.
type preparedExam struct {
	Folder   string `json:"folder"`
	Methods  int    `json:"methods"`
	Sessions int    `json:"sessions"`
	Papers   int    `json:"papers"`
}

// An askedExam is what a model was asked.
type askedExam struct {
	Folder string `json:"folder"`
	exam.Tally

	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// model returns the model of the settings, which is made once.
func (g *globals) model() exam.Model {
	var made llm.Generator
	return func() (llm.Generator, error) {
		if made != nil {
			return made, nil
		}
		var err error
		made, err = g.settings.Generator()
		if is[*config.Error](err) {
			err = &hintedError{err, "the table [generate] of your settings: carrel config --help"}
		}
		return made, err
	}
}

// completeFiles offers files beside the commands below one.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFolder offers folders for the only argument there is.
func completeFolder(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func newExamAsk(g *globals) *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "ask DIR [--force]",
		Short: "Have a model answer the papers of an exam",
		Long: `Ask sends each paper in the folder that "carrel bench exam prepare" wrote to the
model of the settings (generate.*), which sees one window and nothing else, and
keeps what it says in answers/METHOD/SESSION.json. Papers with answers are not sent
again, so what breaks off goes on where it was; a reply that cannot be read is kept
with the reason, and asked for again the next time. The exit code is 3 if there is
one.

What is in the windows leaves the machine if the model is elsewhere.`,
		Example: `  carrel bench exam ask run
  carrel bench exam ask run --profile reader`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.reporter = newProgress(g)
			defer g.reporter.end()
			t, err := g.run(args[0], "ask about paper").Ask(cmd.Context(), g.model(), again)
			if err != nil {
				return err
			}
			g.reporter.end()
			res := &askedExam{Folder: args[0], Tally: *t, Input: t.Usage.Input, Output: t.Usage.Output}
			err = g.result(document{name: "bench-exam-ask", value: res}, func(p *page) {
				p.line("%s asked about, %s that had answers: %s tokens read, %s written", count(res.Asked, "paper"), thousands(int64(res.Kept)), thousands(res.Input), thousands(res.Output))
			})
			return cmp.Or(err, g.unread(t))
		},
	}
	cmd.Flags().BoolVar(&again, "force", false, "ask about all papers, and replace the answers that are there")
	return cmd
}

// unread says which replies cannot be read, and fails if there is one.
func (g *globals) unread(t *exam.Tally) error {
	for _, path := range t.Unread {
		g.note("%s: the reply cannot be read; the file says why", path)
	}
	if len(t.Unread) > 0 {
		return &hintedError{&someFailed{failed: len(t.Unread), all: t.Asked + t.Kept}, "run the command again"}
	}
	return nil
}

func newExamGrade(g *globals) *cobra.Command {
	var seed int
	var sheets, again bool
	cmd := &cobra.Command{
		Use:   "grade DIR [--seed N] [--sheets] [--force]",
		Short: "Have a model grade the answers of an exam, and add the grades up",
		Long: `Grade lays all answers to a question side by side, sheets/SESSION.json, under letters
that are shuffled for each question, so that nobody sees whose they are. A second
model, that of the settings (generate.*), grades each answer: 1 right and complete,
0.5 right in part, 0 unknown, -0.5 wrong; and the next steps from 0 to 3. What it
says is kept in grades/SESSION.json, and sheets with grades are not sent again; with
grades for all of them, your own too, no model is asked. Of an answer the first 30
words count, and "unknown" is 0 without a grader.

The table has the mean grade with the interval that holds 95% of 1,000 draws of
questions, how many answers are right, right in part, unknown and wrong, the mean
grade of the next steps, and the mean rating that readers gave, 1 to 5.`,
		Example: `  carrel bench exam grade run --profile grader
  carrel bench exam grade run --sheets
  carrel bench exam grade run --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.reporter = newProgress(g)
			defer g.reporter.end()
			r := g.run(args[0], "grade sheet")
			// What is not there are answers, which the step before makes.
			hinted := func(err error) error {
				if errors.Is(err, fs.ErrNotExist) {
					return &hintedError{err, "carrel bench exam ask " + args[0]}
				}
				return err
			}
			if sheets {
				n, graded, err := r.Sheets(seed, again)
				if err != nil {
					return hinted(err)
				}
				res := &sheetsOfExam{Folder: args[0], Sheets: n, Graded: graded}
				return g.result(document{name: "bench-exam-sheets", value: res}, func(p *page) {
					p.line("%s in %s, %s with grades", count(n, "sheet"), filepath.Join(args[0], "sheets"), thousands(int64(graded)))
				})
			}
			t, err := r.Grade(cmd.Context(), g.model(), seed, again)
			if err == nil {
				err = g.unread(t)
			}
			if err != nil {
				return hinted(err)
			}
			scores, err := r.Scores(seed)
			if err != nil {
				return err
			}
			g.reporter.end()
			return g.result(document{"bench-exam-grade", scores, "rows"}, func(p *page) { printScores(p, scores) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&seed, "seed", 1, "`number` that the letters are shuffled by")
	f.BoolVar(&sheets, "sheets", false, "make the sheets, and ask nobody")
	f.BoolVar(&again, "force", false, "have all sheets graded, and replace the grades that are there")
	return cmd
}

// A sheetsOfExam is what is there for graders.
type sheetsOfExam struct {
	Folder string `json:"folder"`
	Sheets int    `json:"sheets"`
	Graded int    `json:"graded"`
}

func printScores(p *page, s *exam.Scores) {
	t := &table{head: []string{fmt.Sprintf("at %d%%", s.Share), "score", "", "right", "part", "unknown", "wrong", "next", "rating"}, whole: true}
	for i := range s.Rows {
		row := &s.Rows[i]
		cells := append([]any{row.Method}, estimateCells(row.Score, p.tty)...)
		t.add(append(cells, row.Right, row.Part, row.Unknown, row.Wrong, maybeCell(row.Next, p.tty), maybeCell(row.Rating, p.tty))...)
	}
	if !p.tty {
		p.fields([]any{"sessions", s.Sessions}, []any{"questions", s.Questions}, []any{"seed", s.Seed})
		p.table(t)
		return
	}
	p.line("%s, %s", count(s.Sessions, "session"), count(s.Questions, "question"))
	p.line("")
	p.table(t)
	p.line("")
	p.line("score: mean grade of an answer, −0.5 to 1 [95%%]; next: of the next steps, 0 to 3;")
	p.line("rating: by the readers, 1 to 5")
}

// maybeCell returns a figure that there may not be.
func maybeCell(r *ratio.Ratio, person bool) string {
	switch {
	case r != nil:
		return ratioCell(*r, person)
	case person:
		return "–"
	}
	return ""
}
