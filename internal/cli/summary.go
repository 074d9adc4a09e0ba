package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func newSummary(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summary show|check|merge|accept",
		Short: "Show, check and merge summaries of conversations",
		Long: `Summary shows what stands in the window of a conversation for its older blocks,
and works on summaries that are files, in JSON or Markdown: yours, another
program's, a model's. "carrel help summaries" says what makes one.`,
		Example: `  carrel summary show
  carrel summary check draft.md --session @last
  carrel summary merge old.json new.json -o merged.json
  carrel summary accept draft.md --session @last`,
		RunE: group("summary", "show, check, merge, accept"),
	}
	cmd.AddCommand(newSummaryShow(g), newSummaryCheck(g), newSummaryMerge(g), newSummaryAccept(g))
	return cmd
}

// isSummary reports whether an id is that of a session's summary.
func isSummary(id string) bool { return strings.HasPrefix(id, "sum_") }

func newSummaryShow(g *globals) *cobra.Command {
	var whole, window bool
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "show [SESSION] [--whole | --window]",
		Short: "Print the summary of a conversation",
		Long: `Show prints the summary of a conversation as Markdown: the whole of it, or with
--window what of it is in the window, as it is sent. Ids in brackets are those
of the blocks that an entry is from: "carrel recall ID".`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if whole && window {
				return usagef("--whole and --window: give one of them")
			}
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				res, err := a.Summary(ctx, a.scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				text := res.Summary.Markdown()
				if window {
					text = res.Text
				}
				return g.result(document{name: "summary", value: res}, func(p *page) { p.text(text) })
			})
		},
	}
	s = takesSession(cmd)
	cmd.Flags().BoolVar(&whole, "whole", false, "all of it; this is the default")
	cmd.Flags().BoolVar(&window, "window", false, "what of it is in the window")
	return cmd
}

// printable returns text with a line end, and for a terminal without what could
// command it.
func printable(text string, tty bool) string {
	text = strings.TrimSuffix(text, "\n")
	if tty {
		text = readable(text)
	}
	return text + "\n"
}

func newSummaryCheck(g *globals) *cobra.Command {
	var of summaryOf
	cmd := &cobra.Command{
		Use:   "check FILE|- [--session S | --source FILE]",
		Short: "Tell whether a summary is whole, and says only what is so",
		Long: `Check looks for what is wrong with a summary, in JSON or Markdown: a section that
is missing, empty, vague or a placeholder, a refusal or an error text in its
place, what is there twice. With a conversation, stored or in a file, it also
looks for what that does not say: paths, commands, numbers and names that were
made up, decisions turned round, changed files that are left out. If there is
anything, the exit code is 1. "carrel summary accept" asks the probes, too.`,
		Example: `  carrel summary check draft.md
  carrel compress --in h.json --target 50% --summary | carrel summary check - --source h.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := g.read(args[0])
			if err != nil {
				return err
			}
			value := checkedSummary{File: args[0], Problems: []summary.Problem{}}
			if of.named() {
				err = of.check(cmd.Context(), g, data, func(res *carrel.CheckSummaryResult) error {
					value.Session, value.Problems = res.Session, res.Problems
					return nil
				})
				if err != nil {
					return err
				}
			} else {
				_, problems := summary.Examine(data, nil)
				value.Problems = append(value.Problems, problems...)
			}
			value.OK = len(value.Problems) == 0
			if err := g.result(document{name: "summary-check", value: value}, value.print); err != nil {
				return err
			}
			if !value.OK {
				return errNo
			}
			return nil
		},
	}
	of.register(cmd, g)
	return cmd
}

// A checkedSummary says what is wrong with a summary.
type checkedSummary struct {
	File     string               `json:"file"`
	Session  transcript.SessionID `json:"session,omitempty"` // that it is of
	OK       bool                 `json:"ok"`
	Problems []summary.Problem    `json:"problems"`
}

func (c *checkedSummary) print(p *page) {
	switch {
	case !c.OK:
		p.problems(c.Problems)
	case c.Session != "":
		p.line("ok: form, and what session %s says", short(c.Session))
	default:
		p.line("ok: form; name what it is of with --session or --source to compare")
	}
}

// problems lists what is wrong with a summary.
func (p *page) problems(problems []summary.Problem) {
	t := &table{head: []string{"section", "rule", "entry", "what is wrong"}, whole: true}
	for _, q := range problems {
		entry := q.Entry
		if p.tty {
			entry = cut(visible(entry), max(p.width/3, 20))
		}
		t.add(string(q.Section), string(q.Rule), entry, q.Text)
	}
	p.table(t)
}

// A summaryOf has the flags that say what a summary is of.
type summaryOf struct {
	session, source, least string
	blocks                 int

	minimum *ratio.Ratio // least, or that of the settings
}

func (of *summaryOf) named() bool { return of.session != "" || of.source != "" }

func (of *summaryOf) register(cmd *cobra.Command, g *globals) {
	f := cmd.Flags()
	f.StringVar(&of.session, "session", "", "`session` that it is of")
	f.StringVar(&of.source, "source", "", "conversation `file` that it is of")
	f.IntVar(&of.blocks, "blocks", 0, "it is of the first `n` blocks only; by default as many as it says, or all")
	g.offerSession(cmd)
}

// check lets the engine check a summary of what the flags name.
func (of *summaryOf) check(ctx context.Context, g *globals, data []byte, do func(*carrel.CheckSummaryResult) error) error {
	least, err := parseLeast("--probe-min", of.least)
	if err != nil {
		return err
	}
	if of.session != "" && of.source != "" {
		return usagef("--session and --source: give one of them")
	}
	if of.blocks < 0 {
		return usagef("--blocks: %d is below 0", of.blocks)
	}
	s := &sessionArg{word: of.session}
	return s.on(ctx, g, of.source, nil, func(a *access, id transcript.SessionID) error {
		of.minimum = cmp.Or(least, a.settings.ProbeMin())
		res, err := a.CheckSummary(ctx, a.scope, &carrel.CheckSummaryRequest{Session: id, Data: data, Blocks: of.blocks, ProbeMin: of.minimum})
		if err != nil {
			return err
		}
		return do(res)
	})
}

func newSummaryMerge(g *globals) *cobra.Command {
	var compat bool
	var format, section string
	var out output
	cmd := &cobra.Command{
		Use:   "merge OLD NEW [--compat] [--format json|markdown] [-o FILE]",
		Short: "Merge two summaries without losing what the older one says",
		Long: `Merge prints the union of two summaries: of files with their changes, decisions,
errors, context and artifacts, each once. The intent stays; state, blockers and
steps are those of the newer one, unless it says nothing of them. With --compat
it does as the skill was published, which loses changes, repeats decisions and
lets what is empty overwrite.

--count prints how many entries a section of the result has, such as decisions
or files. With --json it prints what became of each entry as well.`,
		Example: `  carrel summary merge old.json new.md > merged.json
  carrel summary merge a.json b.json --count decisions`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("--format", format, "json", "markdown"); err != nil {
				return err
			}
			if g.json != "" && out.file == "-" {
				return usagef("-o - and --json: standard output holds one of them")
			}
			var both [2]*summary.Summary
			for i, file := range args {
				var err error
				if both[i], err = g.readSummary(file); err != nil {
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
				return g.result(document{name: "summary-count", value: map[string]int{"entries": n}}, func(p *page) { p.line("%d", n) })
			}
			text, err := written(value.Summary, format)
			if err != nil {
				return err
			}
			if out.file != "" {
				if err := g.write(out, text); err != nil || g.json == "" {
					return err
				}
			}
			return g.result(document{name: "summary-merge", value: value}, func(p *page) { p.text(string(text)) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&compat, "compat", false, "merge as version 1.0.0 of the skill does, with what it loses")
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	f.StringVar(&format, "format", "json", "`form` of the result: json or markdown")
	f.StringVar(&section, "count", "", "print how many entries a `section` has")
	offer(cmd, "format", "json", "markdown")
	offer(cmd, "count", sectionWords()...)
	return cmd
}

// readSummary reads a summary from a file.
func (g *globals) readSummary(file string) (*summary.Summary, error) {
	data, err := g.read(file)
	if err != nil {
		return nil, err
	}
	s, err := summary.Parse(data)
	if err != nil {
		return nil, inFile(file, err)
	}
	return s, nil
}

// written returns a summary in one of its written forms.
func written(s *summary.Summary, format string) ([]byte, error) {
	if format == "markdown" {
		return []byte(printable(s.Markdown(), false)), nil
	}
	return jsonText(s, true)
}

// sectionWords returns short names of the sections, in the order of the
// document.
func sectionWords() []string {
	words := make([]string, 0, len(summary.Sections()))
	for _, s := range summary.Sections() {
		words = append(words, sectionWord(s))
	}
	return words
}

// sectionWord returns the word of a section's name that tells it from others.
func sectionWord(s summary.Section) string {
	first, second, two := strings.Cut(string(s), "_")
	switch s { //nolint:exhaustive // of the others, the first word tells
	case summary.SectionIntent, summary.SectionState, summary.SectionNext, summary.SectionContext, summary.SectionArtifacts:
		if two {
			return second
		}
	}
	return first
}

// entriesOf returns how many entries a section of a summary has. Of files it is
// how many files.
func entriesOf(s *summary.Summary, word string) (int, error) {
	i := slices.IndexFunc(summary.Sections(), func(sec summary.Section) bool { return string(sec) == word || sectionWord(sec) == word })
	if i < 0 {
		return 0, usagef("--count: %q is none of %s", word, strings.Join(sectionWords(), ", "))
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

func newSummaryAccept(g *globals) *cobra.Command {
	var of summaryOf
	var fig figures
	cmd := &cobra.Command{
		Use:   "accept FILE|- --session S | --source FILE; or --ratio R [--score R] [--critical R]",
		Short: "Tell whether a summary can stand for a conversation",
		Long: `Accept says whether a summary could stand for a conversation: it must be whole,
say nothing that the conversation does not say, and answer 90% of the probes
that any summary must answer, and all critical ones. That more than 95% of the
tokens are gone is a red flag, but no reason to refuse it. The exit code is 0 if
it is accepted, and 1 if not. It changes nothing. "carrel compress" and "carrel
probe run --text" judge a summary in the same way.

Without a file it calculates: --ratio is the share of the tokens that are gone,
--score that of the probes, and --critical that of the critical probes that are
answered.`,
		Example: `  carrel summary accept draft.md --session @last
  carrel summary accept --ratio 0.72 --score 0.93 --critical 1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if of.named() {
					return usagef("accept: name the file with the summary")
				}
				return g.judge(&fig, of.least)
			}
			if !of.named() || fig.given() {
				return usagef("accept: name what the summary is of with --session or --source, and no figures")
			}
			data, err := g.read(args[0])
			if err != nil {
				return err
			}
			return of.check(cmd.Context(), g, data, func(res *carrel.CheckSummaryResult) error {
				if err := g.result(document{name: "summary-accept", value: res}, func(p *page) { printAccept(p, res, of.minimum) }); err != nil {
					return err
				}
				if !res.Accepted {
					return errNo
				}
				return nil
			})
		},
	}
	of.register(cmd, g)
	f := cmd.Flags()
	f.StringVar(&of.least, "probe-min", "", "`share` of the probes that must be answered; of the settings, or else 0.9, by default")
	f.StringVar(&fig.ratio, "ratio", "", "`share` of the tokens that are gone, such as 0.72")
	f.StringVar(&fig.score, "score", "", "`share` of the probes that are answered")
	f.StringVar(&fig.critical, "critical", "", "`share` of the critical probes that are answered")
	return cmd
}

// figures are what can be judged without a summary.
type figures struct{ ratio, score, critical string }

func (fig *figures) given() bool { return *fig != figures{} }

// judge says whether figures are acceptable.
func (g *globals) judge(fig *figures, least string) error {
	if !fig.given() {
		return usagef("accept: name a summary, or figures such as --ratio and --score")
	}
	settings, err := g.loaded()
	if err != nil {
		return err
	}
	given, err := parseLeast("--probe-min", least)
	if err != nil {
		return err
	}
	policy := probe.DefaultPolicy()
	if given = cmp.Or(given, settings.ProbeMin()); given != nil {
		policy.Overall = *given
	}
	if policy.Overall == 0 {
		policy.Overall = -1 // 0 is the default there
	}
	const all = int(ratio.One)
	report := &probe.Report{}
	var before, after token.Count
	for _, n := range []struct {
		flag, text string
		set        func(ratio.Ratio)
	}{
		{"--ratio", fig.ratio, func(r ratio.Ratio) { before, after = token.Count(all), token.Count(all)-token.Count(r) }},
		{"--score", fig.score, func(r ratio.Ratio) { report.Total, report.Passed, report.Score = all, int(r), r }},
		{"--critical", fig.critical, func(r ratio.Ratio) { report.Critical = probe.Tally{Total: all, Passed: int(r)} }},
	} {
		if n.text == "" {
			continue
		}
		r, err := parseLeast(n.flag, n.text)
		if err != nil {
			return err
		}
		n.set(*r)
	}
	v := report.Judge(&policy, before, after)
	v.Accepted = v.Accepted && len(v.RedFlags) == 0
	for _, list := range [...][]string{v.Reasons, v.Warnings, v.RedFlags} {
		for i := range list {
			for _, t := range [...]probe.Tally{report.Tally, report.Critical} { // they stand for shares
				list[i] = strings.TrimPrefix(list[i], fmt.Sprintf("%d of %d ", t.Passed, t.Total))
			}
		}
	}
	if err := g.result(document{name: "summary-judge", value: v}, func(p *page) { p.verdict(v) }); err != nil {
		return err
	}
	if !v.Accepted {
		return errNo
	}
	return nil
}

func printAccept(p *page, r *carrel.CheckSummaryResult, least *ratio.Ratio) {
	if len(r.Problems) > 0 {
		p.problems(r.Problems)
	}
	gone := ratio.Of(r.Before-r.After, r.Before)
	if !p.tty {
		p.fields([]any{"session", r.Session}, []any{"blocks", r.Blocks}, []any{"before", r.Before}, []any{"after", r.After},
			[]any{"ratio", gone}, []any{"problems", len(r.Problems)})
	} else {
		p.line("check   %s", count(len(r.Problems), "problem"))
		p.line("size    %s → %s tokens of %s, %s gone", thousands(int64(r.Before)), thousands(int64(r.After)), count(r.Blocks, "block"), gone.Percent())
	}
	if r.Probes != nil {
		if p.tty {
			p.line("probes  %s", probeWords(r.Probes, least))
		} else {
			p.fields([]any{"probes", r.Probes.Passed, r.Probes.Total}, []any{"critical", r.Probes.Critical.Passed, r.Probes.Critical.Total})
		}
		p.missed(r.Probes, 0)
	}
	p.verdict(r.Verdict)
}
