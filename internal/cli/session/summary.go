package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func newSummary(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summary show|check|merge|accept",
		Short: "Show, check and merge summaries of conversations",
		Long: `Summary shows the summary in a conversation's window, and works on summaries in
files, in JSON or Markdown, from any author. "carrel help summaries" lists the parts of a summary.`,
		Example: `  carrel summary show
  carrel summary check draft.md --session @last
  carrel summary merge old.json new.json -o merged.json
  carrel summary accept draft.md --session @last`,
		RunE: job.Group("summary", "show, check, merge, accept"),
	}
	cmd.AddCommand(newSummaryShow(j), newSummaryCheck(j), newSummaryMerge(j), newSummaryAccept(j))
	return cmd
}

// isSummary reports whether an id is the id of a summary.
func isSummary(id string) bool { return strings.HasPrefix(id, "sum_") }

func newSummaryShow(j *job.Job) *cobra.Command {
	var whole, window bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "show [SESSION] [--whole | --window]",
		Short: "Print the summary of a conversation",
		Long: `Show prints the whole summary of a conversation as Markdown, or with --window the
part in the window, as it is sent. IDs in brackets name the blocks that an entry comes from:
"carrel recall ID".`,
		Example:           `  carrel summary show --window`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if whole && window {
				return out.Usagef("--whole and --window: use only one")
			}
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				res, err := a.Summary(ctx, a.Scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				text := res.Summary.Markdown()
				if window {
					text = res.Text
				}
				return j.Result("summary", res, func(p *out.Page) { p.Text(text) })
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().BoolVar(&whole, "whole", false, "all of it; this is the default")
	cmd.Flags().BoolVar(&window, "window", false, "print the part in the window")
	return cmd
}

func newSummaryCheck(j *job.Job) *cobra.Command {
	var of summaryOf
	cmd := &cobra.Command{
		Use:   "check FILE|- [--session S | --source FILE]",
		Short: "Check whether a summary is complete and true",
		Long: `Check looks for problems of a summary, in JSON or Markdown: a section that is
missing, empty, vague or a placeholder, a refusal or an error text in its place, repetitions. With
a conversation, stored or in a file, it also finds statements that the conversation does not
support: invented paths, commands, numbers and names, reversed decisions, and missing changed
files. If there are problems, the exit code is 1. "carrel summary accept" also asks the probes.`,
		Example: `  carrel summary check draft.md
  carrel compress --in h.json --target 50% --summary |
    carrel summary check - --source h.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			value := checkedSummary{File: args[0]}
			if of.named() {
				err = of.check(cmd.Context(), j, data, func(res *carrel.CheckSummaryResult) error {
					value.CheckSummaryResult, value.Problems = res, res.Problems
					return nil
				})
				if err != nil {
					return err
				}
			} else {
				if of.blocks != 0 {
					return out.Usagef("--blocks: needs --session or --source with the conversation")
				}
				_, problems := summary.Examine(data, nil)
				value.Problems = problems
			}
			value.OK = len(value.Problems) == 0
			if err := j.Result("summary-check", value, value.print); err != nil {
				return err
			}
			if !value.OK {
				return out.ErrNo
			}
			return nil
		},
	}
	of.register(cmd, j)
	return cmd
}

// A checkedSummary is the result of checking a summary.
type checkedSummary struct {
	*carrel.CheckSummaryResult                   // nil if no conversation is named
	File                       string            `json:"file"`
	OK                         bool              `json:"ok"`       // there is no problem
	Problems                   []summary.Problem `json:"problems"` // problems of the result, if there is one
}

func (c *checkedSummary) print(p *out.Page) {
	switch {
	case !c.OK:
		printProblems(p, c.Problems)
	case c.CheckSummaryResult != nil:
		p.Line("ok: form, and the statements of session %s", out.Short(c.Session))
	default:
		p.Line("ok: form; give --session or --source to compare")
	}
}

// printProblems lists the problems of a summary.
func printProblems(p *out.Page, problems []summary.Problem) {
	t := &out.Table{Head: []string{"section", "rule", "entry", "problem"}, Whole: true}
	for _, q := range problems {
		entry := q.Entry
		if p.TTY {
			entry = out.Cut(out.Visible(entry), max(p.Width/3, 20))
		}
		t.Add(string(q.Section), string(q.Rule), entry, q.Text)
	}
	p.Table(t)
}

// A summaryOf has the flags that name the source of a summary.
type summaryOf struct {
	session, source, least string
	blocks                 int

	minimum *ratio.Ratio // the share in the flag least or, without it, in the settings
}

func (of *summaryOf) named() bool { return of.session != "" || of.source != "" }

func (of *summaryOf) register(cmd *cobra.Command, j *job.Job) {
	f := cmd.Flags()
	f.StringVar(&of.session, "session", "", "`session` of the summary")
	f.StringVar(&of.source, "source", "", "conversation `file` of the summary")
	f.IntVar(&of.blocks, "blocks", 0, "it is of the first `n` blocks only; by default as many as it says, or all")
	j.OfferSessions(cmd, "session")
}

// check lets the engine check a summary against the source that the flags name.
func (of *summaryOf) check(ctx context.Context, j *job.Job, data []byte, do func(*carrel.CheckSummaryResult) error) error {
	least, err := parseLeast("--probe-min", of.least)
	if err != nil {
		return err
	}
	if of.session != "" && of.source != "" {
		return out.Usagef("--session and --source: use only one")
	}
	if of.blocks < 0 {
		return out.Usagef("--blocks: %d is below 0", of.blocks)
	}
	s := &job.SessionArg{Word: of.session}
	return s.On(ctx, j, of.source, nil, func(a *job.Access, id transcript.SessionID) error {
		of.minimum = cmp.Or(least, a.Settings.ProbeMin())
		res, err := a.CheckSummary(ctx, a.Scope, &carrel.CheckSummaryRequest{Session: id, Data: data, Blocks: of.blocks, ProbeMin: of.minimum})
		if err != nil {
			return err
		}
		return do(res)
	})
}

func newSummaryMerge(j *job.Job) *cobra.Command {
	var compat bool
	var format, section string
	var to job.Output
	cmd := &cobra.Command{
		Use:   "merge OLD NEW [--compat] [--format json|markdown] [-o FILE]",
		Short: "Merge two summaries without losing entries of the older one",
		Long: `Merge prints the union of two summaries: files with their changes, decisions,
errors, context and artifacts, each once. The intent is kept; state, blockers and steps are those
of the newer summary, unless it has none. --compat merges like the published skill, which loses
changes, repeats decisions and overwrites with empty values.

--count prints the number of entries of a section of the result, such as decisions or files.
--json also prints the origin and the fate of each entry.`,
		Example: `  carrel summary merge old.json new.md > merged.json
  carrel summary merge a.json b.json --count decisions`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.OneOf("--format", format, "json", "markdown"); err != nil {
				return err
			}
			if section != "" && (to.File != "" || cmd.Flags().Changed("format")) {
				return out.Usagef("--count prints a number and no summary: leave out -o and --format")
			}
			if j.JSON != "" && to.File == "-" {
				return out.Usagef("-o - and --json: only one can go to standard output")
			}
			var both [2]*summary.Summary
			for i, file := range args {
				var err error
				if both[i], err = readSummary(j, file); err != nil {
					return err
				}
			}
			value := struct {
				Summary *summary.Summary `json:"summary"`
				Edits   []summary.Edit   `json:"edits"`
			}{Edits: []summary.Edit{}}
			if compat {
				value.Summary = summary.Compat(both[0], both[1])
			} else {
				merged, edits := both[0].Merge(both[1])
				value.Summary, value.Edits = merged, append(value.Edits, edits...)
			}
			if section != "" {
				n, err := entriesOf(value.Summary, section)
				if err != nil {
					return err
				}
				return j.Result("summary-count", map[string]int{"entries": n}, func(p *out.Page) { p.Line("%d", n) })
			}
			text, err := written(value.Summary, format)
			if err != nil {
				return err
			}
			if to.File != "" {
				if err := j.Write(to, text); err != nil || j.JSON == "" {
					return err
				}
			}
			return j.Result("summary-merge", value, func(p *out.Page) { p.Text(string(text)) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&compat, "compat", false, "merge as version 1.0.0 of the skill does, with its losses")
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	f.StringVar(&format, "format", "json", "`form` of the result: json or markdown")
	f.StringVar(&section, "count", "", "print how many entries a `section` has")
	job.Offer(cmd, "format", "json", "markdown")
	job.Offer(cmd, "count", sectionWords()...)
	return cmd
}

// readSummary reads a summary from a file.
func readSummary(j *job.Job, file string) (*summary.Summary, error) {
	data, err := j.Read(file)
	if err != nil {
		return nil, err
	}
	s, err := summary.Parse(data)
	if err != nil {
		return nil, out.InFile(file, err)
	}
	return s, nil
}

// written returns a summary in Markdown or JSON.
func written(s *summary.Summary, format string) ([]byte, error) {
	if format == "markdown" {
		return []byte(out.Printable(s.Markdown(), false)), nil
	}
	return out.JSONText(s, true)
}

// sectionWords returns a short name for each section, in the order of the document.
func sectionWords() []string {
	words := make([]string, 0, len(summary.Sections()))
	for _, s := range summary.Sections() {
		words = append(words, sectionWord(s))
	}
	return words
}

// sectionWord returns the word of a section's name that no other section has.
func sectionWord(s summary.Section) string {
	first, second, two := strings.Cut(string(s), "_")
	switch s { //nolint:exhaustive // for the others the first word is unique
	case summary.SectionIntent, summary.SectionState, summary.SectionNext, summary.SectionContext, summary.SectionArtifacts:
		if two {
			return second
		}
	}
	return first
}

// entriesOf returns the number of entries in the section of a summary that the argument word names.
// For the section of files it returns the number of files.
func entriesOf(s *summary.Summary, word string) (int, error) {
	i := slices.IndexFunc(summary.Sections(), func(sec summary.Section) bool { return string(sec) == word || sectionWord(sec) == word })
	if i < 0 {
		return 0, out.Usagef("--count: %q is none of %s", word, strings.Join(sectionWords(), ", "))
	}
	if summary.Sections()[i] == summary.SectionFiles {
		return len(s.Files), nil
	}
	n := 0
	for _, e := range s.Entries() {
		if e.Section == summary.Sections()[i] {
			n++
		}
	}
	return n, nil
}
