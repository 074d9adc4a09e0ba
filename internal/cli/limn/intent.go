package limn

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newIntent(j *job.Job) *cobra.Command {
	var file, score, before string
	var keywords, compat bool
	var least float64
	cmd := &cobra.Command{
		Use:   "intent TEXT...|FILE|- [--keywords | --diff BEFORE | --compat | --score CASES]",
		Short: "Show the intent of a prompt",
		Long: `Intent compiles a prompt: it finds one of seven verbs (explain, create, transform,
analyze, decide, plan, fix), fills the slots of the verb with words of the prompt, and prints
which slots are empty, which words contradict each other, and what the words tell about the
person. It makes nothing up, and asks no model.

TEXT is the prompt; a single argument that names a file is read instead. JSON that is an intent
already, or a history of the context pager with an "intent_ir", is taken unchanged.

--json prints Intent IR v0 in the form that other programs read, without a key for the schema;
"carrel debug schema intent" describes it. --keywords prints the words that the strategy pager
looks for, one per line. --diff lists the changes since the intent in a file, and exits with 1 if
there are any.

--compat prints Intent IR v0 with the types of the published packets: each slot is one text, flags
are names, further requests are verbs. It is always JSON.

--score compiles the prompts of a file of cases, and prints which share is as expected, and each
difference. It also reads the published test files. If a share is below --min, the exit code is 1.`,
		Example: `  carrel intent "fix the login test that hangs on mac"
  carrel intent -f prompt.txt --json | carrel debug schema check intent -
  carrel intent --keywords "plan the move of the billing tables"
  carrel intent --score cases.json --min 90`,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if score != "" {
				if len(args) > 0 || file != "" || keywords || compat || before != "" {
					return out.Usagef("--score: the prompts are in the file; give no other arguments")
				}
				return scoreIntents(j, score, least)
			}
			if cmd.Flags().Changed("min") {
				return out.Usagef("--min: needs --score")
			}
			if given := out.Given(cmd, "keywords", "diff", "compat"); len(given) > 1 {
				return out.Usagef("%s: use only one", out.WordList(given))
			}
			text, err := promptOf(j, args, file)
			if err != nil {
				return err
			}
			in := intent.Read(text, nil)
			switch {
			case keywords:
				return j.Result("intent-keywords", map[string][]string{"keywords": append([]string{}, in.Keywords()...)}, func(p *out.Page) {
					for _, w := range in.Keywords() {
						p.Line("%s", w)
					}
				})
			case before != "":
				return diffIntents(j, before, in)
			case compat:
				j.JSON = cmp.Or(j.JSON, out.AllFields)
				return j.Result("", in.Published(), nil)
			}
			return printIntent(j, text, in)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "read the prompt from `file`; - is standard input")
	f.BoolVar(&keywords, "keywords", false, "print the words that the pager looks for")
	f.StringVar(&before, "diff", "", "list the changes since the intent in `file`, which is JSON")
	f.BoolVar(&compat, "compat", false, "print the intent in the types of the published packets")
	f.StringVar(&score, "score", "", "compile the prompts of a `file` of cases and compare")
	f.Float64Var(&least, "min", 100, "`percent` that every share of --score must reach")
	return cmd
}

// promptOf returns the prompt that arguments or a file give.
func promptOf(j *job.Job, args []string, file string) (string, error) {
	switch {
	case file != "" && len(args) > 0:
		return "", out.Usagef("-f %s: the command line has a prompt, too: give only one", file)
	case file == "" && len(args) == 0:
		return "", out.Usagef("intent: name a prompt, a file with -f, or -")
	case file == "" && len(args) == 1 && (args[0] == "-" || isRegular(j, args[0])):
		file = args[0]
	case file == "":
		return strings.Join(args, " "), nil
	}
	data, err := j.Read(file)
	return string(data), err
}

// isRegular reports whether name is a regular file.
func isRegular(j *job.Job, name string) bool {
	fi, err := os.Stat(j.Path(name))
	return err == nil && fi.Mode().IsRegular()
}

// An intentDocument has the fields of Intent IR v0, so that --json can select them.
type intentDocument struct {
	Schema     string          `json:"schema"`
	Verb       json.RawMessage `json:"verb"`
	Slots      json.RawMessage `json:"slots"`
	Gaps       json.RawMessage `json:"gaps"`
	Amber      json.RawMessage `json:"amber_flags"`
	Human      json.RawMessage `json:"human_context"`
	Assumed    json.RawMessage `json:"assumptions"`
	Secondary  json.RawMessage `json:"secondary_intents"`
	Confidence json.RawMessage `json:"confidence"`
	Form       json.RawMessage `json:"form,omitempty"`
	Pass       json.RawMessage `json:"pass_through,omitempty"`
	Words      json.RawMessage `json:"intent_ir,omitempty"`
}

func printIntent(j *job.Job, text string, in *intent.Intent) error {
	if j.JSON == "" {
		return j.Result("", nil, func(p *out.Page) { printSlots(p, text, in) })
	}
	raw, err := out.JSONText(in, false)
	if err != nil {
		return err
	}
	value := &intentDocument{}
	if err := json.Unmarshal(raw, value); err != nil {
		return err
	}
	return j.Result("", value, nil)
}

// printSlots prints an intent for people. A terminal also gets the prompt, with marks below the
// words that fill slots.
func printSlots(p *out.Page, text string, in *intent.Intent) {
	if p.TTY {
		printSpans(p, text, in)
	}
	t := &out.Table{Whole: true}
	if in.Verb == "" {
		t.Add("verb", "none", "it passes through: "+string(in.Pass))
	} else {
		t.Add("verb", string(in.Verb), fmt.Sprintf("%s confidence, %s", in.Confidence, in.Form))
	}
	for _, s := range in.Verb.Slots() {
		for _, v := range in.Slots[s] {
			t.Add("slot", string(s), v.Text)
		}
	}
	for _, s := range in.Gaps {
		t.Add("gap", string(s), "the prompt does not say")
	}
	for _, f := range in.Amber {
		t.Add("amber", f.Name, wordsOf(f))
	}
	for _, f := range in.Human {
		t.Add("human", f.Name, wordsOf(f))
	}
	for _, s := range in.Assumed {
		t.Add("assumed", "", s)
	}
	for _, part := range in.Secondary {
		t.Add("then", string(part.Verb), partOf(part))
	}
	if words := in.Keywords(); len(words) > 0 {
		t.Add("keywords", "", strings.Join(words, " "))
	}
	p.Table(t)
}

// wordsOf returns the words that a flag is about.
func wordsOf(f intent.Flag) string {
	words := make([]string, len(f.Words))
	for i, w := range f.Words {
		words[i] = w.Text
	}
	return strings.Join(words, " | ")
}

// partOf returns in words the slots and gaps of a further request in the same prompt.
func partOf(part intent.FurtherRequest) string {
	var all []string
	for _, s := range part.Verb.Slots() {
		for _, v := range part.Slots[s] {
			all = append(all, string(s)+": "+v.Text)
		}
	}
	for _, s := range part.Gaps {
		all = append(all, string(s)+" is open")
	}
	return strings.Join(all, "; ")
}

// A label is the name of a slot, printed below the words that fill the slot.
type label struct {
	column int
	name   string
}

// printSpans prints a prompt of one line, with carets below the words that fill slots and the
// names of the slots below the carets.
func printSpans(p *out.Page, text string, in *intent.Intent) {
	text = strings.TrimRight(text, "\r\n")
	if out.Columns(text) > p.Width || out.Visible(text) != text || len(in.Slots) == 0 {
		return
	}
	marks := []byte(strings.Repeat(" ", out.Columns(text)))
	var labels []label
	for _, s := range in.Verb.Slots() {
		for _, v := range in.Slots[s] {
			if v.End <= v.Start || v.End > len(text) {
				continue
			}
			from, to := out.Columns(text[:v.Start]), out.Columns(text[:v.End])
			for i := from; i < to; i++ {
				marks[i] = '^'
			}
			labels = append(labels, label{from, string(s)})
		}
	}
	slices.SortStableFunc(labels, func(a, b label) int { return a.column - b.column })
	p.Line("%s", text)
	p.Line("%s", p.Paint(out.Green, strings.TrimRight(string(marks), " ")))
	for len(labels) > 0 {
		labels = printLabels(p, labels)
	}
	p.Line("")
}

// printLabels prints a line of labels and returns those that do not fit it.
func printLabels(p *out.Page, labels []label) (left []label) {
	line := ""
	for _, l := range labels {
		if line != "" && l.column <= len(line) {
			left = append(left, l)
			continue
		}
		line += strings.Repeat(" ", l.column-len(line)) + l.name
	}
	p.Line("%s", p.Paint(out.Dim, line))
	return left
}

// A changedIntent lists the differences between two intents.
type changedIntent struct {
	Same    bool           `json:"same"`
	Changes []intentChange `json:"changes"`
}

// An intentChange is an [intent.Difference].
type intentChange struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// diffIntents prints the differences to the intent in a file.
func diffIntents(j *job.Job, file string, now *intent.Intent) error {
	data, err := j.Read(file)
	if err != nil {
		return err
	}
	before, err := intent.Parse(data)
	if err != nil {
		return noIntent(file, data, err)
	}
	changes := intent.Diff(before, now)
	value := changedIntent{Same: len(changes) == 0, Changes: []intentChange{}}
	for _, c := range changes {
		value.Changes = append(value.Changes, intentChange(c))
	}
	err = j.List("intent-diff", value, "changes", func(p *out.Page) {
		for _, c := range changes {
			p.Line("%s", out.Visible(c.String()))
		}
		if value.Same {
			p.Line("same intent")
		}
	})
	if err == nil && !value.Same {
		return out.ErrNo
	}
	return err
}

// noIntent returns the error that a file contains no valid intent or cases.
func noIntent(file string, data []byte, err error) error {
	bad := &transcript.SyntaxError{Name: file, Text: err.Error(), Hint: "carrel help intent; carrel debug schema intent"}
	if e, ok := errors.AsType[*intent.ParseError](err); ok {
		bad.Line = 1 + bytes.Count(data[:min(max(e.Offset, 0), len(data))], []byte("\n"))
		bad.Field, bad.Text = e.Path, e.Problem
	}
	return bad
}

// An intentScore is an [intent.Report] with percentages.
type intentScore struct {
	OK        bool         `json:"ok"`
	File      string       `json:"file"`
	Cases     int          `json:"cases"`
	Lowest    float64      `json:"lowest"`
	Verb      float64      `json:"verb"`
	Exact     float64      `json:"exact"`
	Overlap   float64      `json:"overlap"`
	Slots     intentShare  `json:"slots"`
	Gaps      intentShare  `json:"gaps"`
	Flags     intentShare  `json:"flags"`
	Secondary intentShare  `json:"secondary"`
	Misses    []intentMiss `json:"misses"`
}

// An intentShare is an [intent.Hits] with percentages.
type intentShare struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

func newIntentShare(f intent.Hits) intentShare {
	return intentShare{percent(f.Precision()), percent(f.Recall())}
}

// percent returns a share as a percentage with at most 9 decimals, so that 29 of 100 is exactly 29.
func percent(share float64) float64 { return math.Round(share*1e11) / 1e9 }

// An intentMiss is an [intent.Miss] with the prompt.
type intentMiss struct {
	Case   int    `json:"case"` // from 1
	Prompt string `json:"prompt"`
	Field  string `json:"field"`
	Want   string `json:"want"`
	Got    string `json:"got"`
}

// scoreIntents prints the share of cases that compile as expected. It returns an error if the share
// is below the percentage in least.
func scoreIntents(j *job.Job, file string, least float64) error {
	if least < 0 || least > 100 {
		return out.Usagef("--min: %g is not a percentage from 0 to 100", least)
	}
	data, err := j.Read(file)
	if err != nil {
		return err
	}
	cases, err := intent.ParseCases(data)
	if err != nil {
		return noIntent(file, data, err)
	}
	r := intent.Score(cases)
	value := intentScore{
		OK: percent(r.Lowest()) >= least, File: file, Cases: r.Cases, Lowest: percent(r.Lowest()),
		Verb: percent(r.VerbShare()), Exact: percent(r.ExactShare()), Overlap: percent(r.OverlapShare()),
		Slots: newIntentShare(r.Slots), Gaps: newIntentShare(r.Gaps), Flags: newIntentShare(r.Flags), Secondary: newIntentShare(r.Secondary),
		Misses: []intentMiss{},
	}
	for _, m := range r.Misses {
		value.Misses = append(value.Misses, intentMiss{m.Case + 1, cases[m.Case].Prompt, m.Field, m.Want, m.Got})
	}
	err = j.List("intent-score", value, "misses", func(p *out.Page) {
		p.Text(r.String())
		t := &out.Table{Head: []string{"case", "field", "expected", "found", "prompt"}}
		for _, m := range value.Misses {
			t.Add(m.Case, m.Field, m.Want, m.Got, m.Prompt)
		}
		if len(value.Misses) > 0 {
			p.Table(t)
		}
	})
	if err == nil && !value.OK {
		return out.ErrNo
	}
	return err
}
