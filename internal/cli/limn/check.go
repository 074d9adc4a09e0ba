package limn

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/limn"
	"github.com/carrel-dev/carrel/limn/conform"
	"github.com/carrel-dev/carrel/transcript"
)

func newLimnCheck(j *job.Job) *cobra.Command {
	var names []string
	var profile string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check FILE|-... [--pack P]... [--profile 35|53|61] [--strict]",
		Short: "Check programs without running them",
		Long: `Check reads programs and lists their errors: lines that are no statements, names
that are used before they have a meaning, and, with --profile, statements that a reader with an
older vocabulary cannot read: 35 is that of release 0.2.0, 53 the first that has
"because", and 61 is today's. Then the exit code is 1.

It also warns of rules that contradict one another, such as a requirement that no value can meet
beside a prohibition, and of conditions that a run asks about. With --strict the exit code is 1
then, too. Only a run can check the kinds of values.`,
		Example: `  carrel limn check rules.limn more.limn
  carrel contract | carrel limn check - --profile 35`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			release, err := releaseOf(profile)
			if err != nil {
				return err
			}
			packs, err := readPacks(j, names)
			if err != nil {
				return err
			}
			c := limnCheck{Files: []string{}, Findings: []limnFinding{}, strict: strict}
			programs := make([]*limn.Program, len(args))
			for i, file := range args {
				text, err := j.Read(file)
				if err != nil {
					return err
				}
				programs[i] = limn.Parse(file, string(text), &limn.Options{Packs: packs})
			}
			for _, p := range programs {
				c.add(p, limn.Check(p, packs, release))
			}
			return c.report(j)
		},
	}
	takesPacks(cmd, &names)
	f := cmd.Flags()
	f.StringVar(&profile, "profile", "", "`words` that the reader knows: 35, 53 or 61")
	job.Offer(cmd, "profile", "35", "53", "61")
	f.BoolVar(&strict, "strict", false, "count warnings as errors")
	return cmd
}

// releaseOf returns the release of the language that --profile names, or nil if profile is "".
func releaseOf(profile string) (*limn.Release, error) {
	if profile == "" {
		return nil, nil //nolint:nilnil // nil means: check against no release
	}
	release, err := limn.ReleaseNamed(profile)
	if err != nil {
		return nil, out.Usagef("--profile: %w", err)
	}
	return release, nil
}

// A limnCheck is the result of checking programs.
type limnCheck struct {
	OK         bool          `json:"ok"`
	Files      []string      `json:"files"`
	Statements int           `json:"statements"`
	Errors     int           `json:"errors"`
	Warnings   int           `json:"warnings"`
	Findings   []limnFinding `json:"findings"`

	strict bool
}

// A limnFinding is a [limn.Finding] with its file.
type limnFinding struct {
	File     string           `json:"file"`
	Line     int              `json:"line"`
	Column   int              `json:"column"`
	Kind     limn.FindingKind `json:"kind"`
	Severity string           `json:"severity"` // error or warning
	Text     string           `json:"text"`
	Hint     string           `json:"hint,omitempty"`
}

func (c *limnCheck) add(p *limn.Program, found []limn.Finding) {
	c.Files = append(c.Files, p.Name)
	c.Statements += len(p.Lines)
	for _, f := range found {
		severity := "error"
		if f.Kind.Warns() {
			severity = "warning"
			c.Warnings++
		} else {
			c.Errors++
		}
		c.Findings = append(c.Findings, limnFinding{p.Name, f.Pos.Line, f.Pos.Column, f.Kind, severity, f.Text, f.Hint})
	}
}

// report prints the findings.
func (c *limnCheck) report(j *job.Job) error {
	c.OK = c.Errors == 0 && (c.Warnings == 0 || !c.strict)
	err := j.List("limn-check", c, "findings", func(p *out.Page) {
		for _, f := range c.Findings {
			color := out.Red
			if f.Severity == "warning" {
				color = out.Yellow
			}
			p.Line("%s:%d:%d: %s: %s%s", out.Visible(f.File), f.Line, f.Column, p.Paint(color, f.Severity), out.Visible(f.Text), inParens(f.Hint))
		}
		if c.OK {
			p.Line("ok: %s in %s%s", out.Count(c.Statements, "statement"), out.Count(len(c.Files), "file"), but(c.Warnings))
		}
	})
	if err == nil && !c.OK {
		return out.ErrNo
	}
	return err
}

// inParens returns a hint in parentheses, or "".
func inParens(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + out.Visible(hint) + ")"
}

func but(warnings int) string {
	if warnings == 0 {
		return ""
	}
	return ", with " + out.Count(warnings, "warning")
}

func newLimnConform(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "conform FILE|-",
		Short: "Hold this implementation of the language against cases",
		Long: `Conform runs the programs of a file of cases and lists the differences from the
expected results: "-" precedes the expected result, "+" the actual one. If there is a difference,
the exit code is 1. The file is JSON:

  {"cases": [{"name": "a list counts its items",
              "program": "remember a list called xs with 4 and 5\ncount the xs",
              "results": [{"line": 1, "status": "success"},
                          {"line": 2, "status": "success", "output": ["2"]}],
              "exit": 0}]}

A case may also have "packs" (names of packs, or packs), "confirm": true for conditions that mix
"and" with "or", "strict": true for the exit code of run --strict, and "today". Handlers run on
the sequences of packs of type "test". What messages say is not compared.`,
		Example: `  carrel limn conform cases.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			cases, err := conform.Parse(data)
			if err != nil {
				return &transcript.SyntaxError{Name: args[0], Text: err.Error(), Hint: "carrel help limn conform"}
			}
			res := conformResult{File: args[0], Cases: len(cases), Differences: []conformDifference{}}
			for i := range cases {
				if diff := cases[i].Check(); len(diff) > 0 {
					res.Differences = append(res.Differences, conformDifference{cases[i].Name, diff})
				}
			}
			res.OK = len(res.Differences) == 0
			if err := j.List("limn-conform", res, "differences", res.print); err != nil {
				return err
			}
			if !res.OK {
				return out.ErrNo
			}
			return nil
		},
	}
}

// A conformResult lists the cases with a different result.
type conformResult struct {
	OK          bool                `json:"ok"`
	File        string              `json:"file"`
	Cases       int                 `json:"cases"`
	Differences []conformDifference `json:"differences"`
}

// A conformDifference is a case with a different result.
type conformDifference struct {
	Case string   `json:"case"`
	Diff []string `json:"diff"`
}

func (r *conformResult) print(p *out.Page) {
	for _, d := range r.Differences {
		p.Line("%s", out.Visible(d.Case))
		for _, line := range d.Diff {
			color := out.Green
			if line[0] == '-' {
				color = out.Red
			}
			p.Line("  %s", p.Paint(color, out.Visible(line)))
		}
	}
	p.Line("%s", fmt.Sprintf("%s of %s as expected", p.Number(int64(r.Cases-len(r.Differences))), out.Count(r.Cases, "case")))
}
