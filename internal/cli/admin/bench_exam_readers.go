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
		Long: `Prepare writes the papers for readers of an exam into a folder: for each method and
session papers/METHOD/SESSION.json, with the window and the questions without their answers, and
key.json with the answers. "carrel bench exam ask" has a model answer the papers; you may also
fill answers/METHOD/SESSION.json in any other way. doc/guide/exam.md describes these files.

A window that is larger than --share permits is refused, and so is a method that makes no window
within it. With --force the folder may have an earlier exam: the answers to each paper that changes
are removed.`,
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
			sittings, methods, err := b.openExams(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := runOf(j, b.out, "make window").Prepare(cmd.Context(), sittings, methods, b.share); err != nil {
				return err
			}
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

// A preparedExam is the result of bench exam prepare.
type preparedExam struct {
	Folder   string `json:"folder"`
	Methods  int    `json:"methods"`
	Sessions int    `json:"sessions"`
	Papers   int    `json:"papers"`
}

// An askedExam is the result of bench exam ask.
type askedExam struct {
	Folder string `json:"folder"`
	exam.Tally

	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// modelOf returns a function that returns the model of the settings. It creates the model once.
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

// completeFolder lets the shell offer folders for an argument.
func completeFolder(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func newExamAsk(j *job.Job) *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "ask DIR [--force]",
		Short: "Have a model answer the papers of an exam",
		Long: `Ask sends each paper in the folder that "carrel bench exam prepare" wrote to the
model in the settings (generate.*). The model sees one window and nothing else. Its replies go to
answers/METHOD/SESSION.json.

A paper that has an answer is not sent again, so that an interrupted run continues where it
stopped. A reply that cannot be read is kept with the reason, and the next run asks again; the
exit code is 3 if there is one.

The windows leave this machine if the model is elsewhere.`,
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

// unreadError prints which replies of readers or graders cannot be read, and returns an error if there
// are any.
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
		Long: `Grade has a second model compare the answers of all methods. It writes the answers
to each question side by side into sheets/SESSION.json, under letters that are shuffled for each
question, so that the grader does not know the methods. The model in the settings (generate.*)
then grades each answer: 1 right and complete, 0.5 right in part, 0 unknown, -0.5 wrong; and the
next steps from 0 to 3. Only the first 30 words of an answer count. The answer "unknown" gets 0
without the grader.

The grades go to grades/SESSION.json. A sheet that has grades is not sent again, and you may write
grades yourself: if all sheets have grades, no model is asked.

The table has for each method the mean grade with the interval that holds 95% of 1,000 random
draws of questions, the numbers of right, partly right, unknown and wrong answers, the mean grade
of the next steps, and the mean rating by the readers, from 1 to 5.`,
		Example: `  carrel bench exam grade run --profile grader
  carrel bench exam grade run --sheets
  carrel bench exam grade run --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, completeFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			j.Reporter = j.NewProgress()
			defer j.Reporter.End()
			r := runOf(j, args[0], "grade sheet")
			// If answers are missing, the hint is the step that makes them.
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
			return j.List("bench-exam-grade", scores, "rows", func(p *out.Page) { printScores(p, scores) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&seed, "seed", 1, "`number` that determines how letters are shuffled")
	f.BoolVar(&sheets, "sheets", false, "only write the sheets, and ask no model")
	f.BoolVar(&again, "force", false, "grade all sheets again, and replace their grades")
	return cmd
}

// A sheetsOfExam counts the sheets for graders.
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

// maybeCell formats a figure that may be missing.
func maybeCell(r *ratio.Ratio, person bool) string {
	switch {
	case r != nil:
		return ratioCell(*r, person)
	case person:
		return "–"
	}
	return ""
}

// runOf returns the run of an exam whose files are in a folder. Reports of progress show the text
// in what as the name of the step.
func runOf(j *job.Job, folder, what string) *exam.Run {
	return &exam.Run{Folder: j.Path(folder), Put: writerBelow(j, folder), Step: func(done, total int) { j.Reporter.Step(what, done, total) }}
}
