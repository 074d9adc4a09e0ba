package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/ratio"
)

func newExamPrepare(j *job.Job) *cobra.Command {
	b := &examBench{j: j}
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
  carrel bench exam prepare my-exam.json --share 5 --out run \
    --methods account,simple-mask-fit`,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.out == "" {
				return out.Usagef("bench exam prepare: name a folder with --out")
			}
			j.Reporter = j.NewProgress()
			defer j.Reporter.End()
			if err := mustBeEmpty(j, "--out", b.out, b.force); err != nil {
				return err
			}
			sittings, methods, err := b.sit(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := runOf(j, b.out, "make window").Prepare(cmd.Context(), sittings, methods, b.share); err != nil {
				return err
			}
			j.Reporter.End()
			res := &preparedExam{Folder: b.out, Methods: len(methods), Sessions: len(sittings), Papers: len(methods) * len(sittings)}
			return j.Result("bench-exam-prepare", res, func(p *out.Page) {
				p.Line("wrote %s of %s to %s", out.Count(res.Papers, "paper"), out.Count(res.Sessions, "session"), res.Folder)
			})
		},
	}
	b.takes(cmd)
	cmd.Flags().StringVar(&b.out, "out", "", "write to a `folder`, which is new or empty")
	job.WritesFiles(cmd, &b.force, "out")
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

// modelOf returns the model of the settings, which is made once.
func modelOf(j *job.Job) exam.Model {
	var made llm.Generator
	return func() (llm.Generator, error) {
		if made != nil {
			return made, nil
		}
		settings, err := j.Settings()
		if err != nil {
			return nil, err
		}
		made, err = settings.Generator()
		if job.Is[*config.Error](err) {
			err = out.Hinted(err, "the table [generate] of your settings: carrel config --help")
		}
		return made, err
	}
}

// completeFolder offers folders.
func completeFolder(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func newExamAsk(j *job.Job) *cobra.Command {
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
		ValidArgsFunction: job.AtMost(1, completeFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			j.Reporter = j.NewProgress()
			defer j.Reporter.End()
			t, err := runOf(j, args[0], "ask about paper").Ask(cmd.Context(), modelOf(j), again)
			if err != nil {
				return err
			}
			j.Reporter.End()
			res := &askedExam{Folder: args[0], Tally: *t, Input: t.Usage.Input, Output: t.Usage.Output}
			err = j.Result("bench-exam-ask", res, func(p *out.Page) {
				p.Line("%s asked about, %s that had answers: %s tokens read, %s written", out.Count(res.Asked, "paper"), out.Thousands(res.Kept), out.Thousands(res.Input), out.Thousands(res.Output))
			})
			return cmp.Or(err, unreadError(j, t))
		},
	}
	cmd.Flags().BoolVar(&again, "force", false, "ask about all papers, and replace the answers that are there")
	return cmd
}

// unreadError says which replies cannot be read, and fails if there is one.
func unreadError(j *job.Job, t *exam.Tally) error {
	for _, path := range t.Unread {
		j.Note("%s: the reply cannot be read; the file says why", path)
	}
	if len(t.Unread) > 0 {
		return out.Hinted(out.SomeFailed(len(t.Unread), t.Asked+t.Kept, nil), "run the command again")
	}
	return nil
}

func newExamGrade(j *job.Job) *cobra.Command {
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
		ValidArgsFunction: job.AtMost(1, completeFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			j.Reporter = j.NewProgress()
			defer j.Reporter.End()
			r := runOf(j, args[0], "grade sheet")
			// What is not there are answers, which the step before makes.
			hinted := func(err error) error {
				if errors.Is(err, fs.ErrNotExist) {
					return out.Hinted(err, "carrel bench exam ask "+args[0])
				}
				return err
			}
			if sheets {
				n, graded, err := r.Sheets(seed, again)
				if err != nil {
					return hinted(err)
				}
				res := &sheetsOfExam{Folder: args[0], Sheets: n, Graded: graded}
				return j.Result("bench-exam-sheets", res, func(p *out.Page) {
					p.Line("%s in %s, %s with grades", out.Count(n, "sheet"), filepath.Join(args[0], "sheets"), out.Thousands(graded))
				})
			}
			t, err := r.Grade(cmd.Context(), modelOf(j), seed, again)
			if err == nil {
				err = unreadError(j, t)
			}
			if err != nil {
				return hinted(err)
			}
			scores, err := r.Scores(seed)
			if err != nil {
				return err
			}
			j.Reporter.End()
			return j.List("bench-exam-grade", scores, "rows", func(p *out.Page) { printScores(p, scores) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&seed, "seed", 1, "`number` that the letters are shuffled by")
	f.BoolVar(&sheets, "sheets", false, "make the sheets without asking a model")
	f.BoolVar(&again, "force", false, "have all sheets graded, and replace the grades that are there")
	return cmd
}

// A sheetsOfExam is what is there for graders.
type sheetsOfExam struct {
	Folder string `json:"folder"`
	Sheets int    `json:"sheets"`
	Graded int    `json:"graded"`
}

func printScores(p *out.Page, s *exam.Scores) {
	t := &out.Table{Head: []string{fmt.Sprintf("at %d%%", s.Share), "score", "", "right", "part", "unknown", "wrong", "next", "rating"}, Whole: true}
	for i := range s.Rows {
		row := &s.Rows[i]
		cells := append([]any{row.Method}, estimateCells(row.Score, p.TTY)...)
		t.Add(append(cells, row.Right, row.Part, row.Unknown, row.Wrong, maybeCell(row.Next, p.TTY), maybeCell(row.Rating, p.TTY))...)
	}
	if !p.TTY {
		p.Fields([]any{"sessions", s.Sessions}, []any{"questions", s.Questions}, []any{"seed", s.Seed})
		p.Table(t)
		return
	}
	p.Line("%s, %s", out.Count(s.Sessions, "session"), out.Count(s.Questions, "question"))
	p.Line("")
	p.Table(t)
	p.Line("")
	p.Line("score: mean grade of an answer, −0.5 to 1 [95%%]; next: of the next steps, 0 to 3;")
	p.Line("rating: by the readers, 1 to 5")
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

// runOf returns the run in a folder.
func runOf(j *job.Job, folder, what string) *exam.Run {
	return &exam.Run{Folder: j.Path(folder), Put: writerBelow(j, folder), Step: func(done, total int) { j.Reporter.Step(what, done, total) }}
}
