package contract

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/limn"
	"github.com/carrel-dev/carrel/token"
)

// must returns a function that fails the test on an error.
func must(t testing.TB) func([]string, error) []string {
	return func(lines []string, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
}

// diffLines compares lines with a text.
func diffLines(t *testing.T, name, want string, lines []string) {
	t.Helper()
	var got string
	if len(lines) > 0 {
		got = strings.Join(lines, "\n") + "\n"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestWriters(t *testing.T) {
	s := new(Contract)
	write := must(t)
	for _, tt := range []struct {
		name  string
		write func() ([]string, error)
		want  string
	}{
		{
			"a decision, whose list is declared", func() ([]string, error) { return s.AddDecision("use-database-sqlite", Refuse) },
			"remember a list called tracked-decisions\nadd \"use-database-sqlite\" to tracked-decisions\nremember a number called decision-count with 1\n",
		},
		{"the same decision again", func() ([]string, error) { return s.AddDecision("use-database-sqlite", Refuse) }, ""},
		{
			"a decision about the same that is deferred", func() ([]string, error) { return s.AddDecision("use-database-postgres", Defer) },
			"remember a list called open-questions\nadd \"whether use-database-postgres takes the place of use-database-sqlite\" to open-questions\n",
		},
		{"one that is dropped", func() ([]string, error) { return s.AddDecision("use-database-postgres", Comply) }, ""},
		{
			"one that overrides", func() ([]string, error) { return s.AddDecision("use-database-postgres", Override) },
			`remove "use-database-sqlite" from tracked-decisions
remember a list called overridden-decisions
add "use-database-sqlite" to overridden-decisions
add "use-database-postgres" to tracked-decisions
remember a number called decision-count with 1
`,
		},
		{
			"a resolution without conflict", func() ([]string, error) { return s.AddDecision("be kind", Comply) },
			"add \"be kind\" to tracked-decisions\nremember a number called decision-count with 2\n",
		},
		{"a question", func() ([]string, error) { return s.AddQuestion("who?") }, "add \"who?\" to open-questions\n"},
		{"the same question again", func() ([]string, error) { return s.AddQuestion("who?") }, ""},
		{"a question that is answered", func() ([]string, error) { return s.ResolveQuestion("who?") }, "remove \"who?\" from open-questions\n"},
		{
			"a named correction", func() ([]string, error) { return s.AddCorrection("Answer first!") },
			"remember a list called session-corrections\nadd \"answer-first\" to session-corrections\n",
		},
		{
			"a correction with a block that records it", func() ([]string, error) { return s.AddCorrection("answer first", "block-3") },
			"remember a list called correction-blocks\nadd \"block-3\" to correction-blocks\n",
		},
		{"a state of sources", func() ([]string, error) { return s.SetSourceState(Scanned) }, "remember a string called source-state with \"scanned\"\n"},
		{"the same state again", func() ([]string, error) { return s.SetSourceState(Scanned) }, ""},
		{"a basis of claims", func() ([]string, error) { return s.SetClaimBasis(BasisNone) }, "remember a string called claim-basis with \"none\"\n"},
		{"where to resume", func() ([]string, error) { return s.SetResumeState("at step 3") }, "remember a string called resume-state with \"at step 3\"\n"},
		{"the same basis again", func() ([]string, error) { return s.SetClaimBasis(BasisNone) }, ""},
		{"the same place again", func() ([]string, error) { return s.SetResumeState("at step 3") }, ""},
		{
			"a source", func() ([]string, error) { return s.AddSource("Spec v2.md", "all of it") },
			"remember a source called spec-v2-md with \"all of it\"\n",
		},
		{"the same source again", func() ([]string, error) { return s.AddSource("spec-v2.md", "all of it") }, ""},
		{"a claim", func() ([]string, error) { return s.AddClaim("from", "it is") }, "remember a claim called source-from with \"it is\"\n"},
		{
			"a claim that stands in a source", func() ([]string, error) { return s.Verify("all of", "spec v2 md") },
			"cite \"all of\" from spec-v2-md\nremember a list called verified-claims\nadd \"all of\" to verified-claims\n",
		},
		{"a claim that was verified otherwise", func() ([]string, error) { return s.Verify("it compiles", "") }, "add \"it compiles\" to verified-claims\n"},
		{
			"a check before a commit", func() ([]string, error) { return s.VerifyCommit("staged a.go") },
			"remember a list called precommit-verified\nadd \"staged a.go\" to precommit-verified\n",
		},
		{
			"pins", func() ([]string, error) { return s.Pin([]string{"block-1", "block-2"}) },
			"remember a list called pinned-blocks\nadd \"block-1\" to pinned-blocks\nadd \"block-2\" to pinned-blocks\n",
		},
		{
			"other pins", func() ([]string, error) { return s.Pin([]string{"block-2", "block-4"}) },
			"remove \"block-1\" from pinned-blocks\nadd \"block-4\" to pinned-blocks\n",
		},
		{
			"a budget", func() ([]string, error) { return s.Budget(10, 20) },
			"remember a number called token-budget with 20\nremember a number called window-tokens with 10\n",
		},
		{
			"a summary", func() ([]string, error) { return s.Summarize("sum_1", 4) },
			"remember a string called session-summary with \"sum_1\"\nremember a number called summary-blocks with 4\n",
		},
		{"a summary of one block more", func() ([]string, error) { return s.Summarize("sum_1", 5) }, "remember a number called summary-blocks with 5\n"},
		{"back to fewer", func() ([]string, error) { return s.Summarize("sum_1", 4) }, "remember a number called summary-blocks with 4\n"},
		{"the same summary", func() ([]string, error) { return s.Summarize("sum_1", 4) }, ""},
		{
			"no summary any more", func() ([]string, error) { return s.Summarize("", 0) },
			"remember a string called session-summary with \"none\"\nremember a number called summary-blocks with 0\n",
		},
		{"none, of blocks", func() ([]string, error) { return s.Summarize("", 7) }, ""},
		{"none, as before", func() ([]string, error) { return s.Summarize("", 0) }, ""},
		{
			"what the gate holds", func() ([]string, error) { return s.Gate("m_1", GateHeld) },
			"remember a list called gate-held\nadd \"m_1\" to gate-held\n",
		},
		{
			"what a person lets through", func() ([]string, error) { return s.Gate("m_1", GateCommitted) },
			"remember a list called gate-committed\nadd \"m_1\" to gate-committed\nremove \"m_1\" from gate-held\n",
		},
		{
			"what a person rejects", func() ([]string, error) { return s.Gate("m_1", GateRejected) },
			"remove \"m_1\" from gate-committed\nremember a list called gate-rejected\nadd \"m_1\" to gate-rejected\n",
		},
		{"the same again", func() ([]string, error) { return s.Gate("m_1", GateRejected) }, ""},
		{"the end", s.Close, "remember a string called contract-state with \"closed\"\n"},
	} {
		diffLines(t, tt.name, tt.want, write(tt.write()))
	}
	if tokens, limit := s.WindowTokens(); tokens != 10 || limit != 20 || s.session.number(decisionCount) != 2 || !s.Closed() {
		t.Errorf("%d of %d tokens, %d decisions, closed %v, want 10 of 20, 2, true", tokens, limit, s.session.number(decisionCount), s.Closed())
	}
	effects := Effects{AlwaysRetain: []string{"block-3"}}
	if diff := cmp.Diff(effects, s.Effects()); diff != "" {
		t.Errorf("Effects (-want +got):\n%s", diff)
	}
}

// writers are all writers, with arguments that a fresh contract takes.
func writers(s *Contract) map[string]func() ([]string, error) {
	return map[string]func() ([]string, error){
		"Init":            func() ([]string, error) { return s.Init("id", nil) },
		"Inherit":         func() ([]string, error) { return s.Inherit(new(Contract)) },
		"Pass":            func() ([]string, error) { return s.Pass([]Move{{"block-1", Retained}}, at) },
		"Guard":           func() ([]string, error) { return s.Guard() },
		"AddDecision":     func() ([]string, error) { return s.AddDecision("use-x-1", Override) },
		"AddQuestion":     func() ([]string, error) { return s.AddQuestion("why?") },
		"ResolveQuestion": func() ([]string, error) { return s.ResolveQuestion("why?") },
		"AddCorrection":   func() ([]string, error) { return s.AddCorrection("answer-first", "block-1") },
		"SetSourceState":  func() ([]string, error) { return s.SetSourceState(Verified) },
		"SetClaimBasis":   func() ([]string, error) { return s.SetClaimBasis(BasisVerified) },
		"SetResumeState":  func() ([]string, error) { return s.SetResumeState("later") },
		"AddSource":       func() ([]string, error) { return s.AddSource("notes", "text") },
		"AddClaim":        func() ([]string, error) { return s.AddClaim("guess", "text") },
		"Verify":          func() ([]string, error) { return s.Verify("so", "") },
		"VerifyCommit":    func() ([]string, error) { return s.VerifyCommit("files") },
		"Pin":             func() ([]string, error) { return s.Pin([]string{"block-1"}) },
		"Budget":          func() ([]string, error) { return s.Budget(1, 2) },
		"Close":           func() ([]string, error) { return s.Close() },
	}
}

func TestNothingCanBeWrittenToAClosedContract(t *testing.T) {
	s := new(Contract)
	write := must(t)
	write(s.AddQuestion("why?"))
	write(s.Guard())
	write(s.Close())
	before := describe(s)
	for name, f := range writers(s) {
		if name == "Init" {
			continue // says that the contract is initialized, below
		}
		if lines, err := f(); !errors.Is(err, ErrClosed) || lines != nil {
			t.Errorf("%s = %q, %v, want %v", name, lines, err, ErrClosed)
		}
	}
	if _, err := s.Init("", nil); !errors.Is(err, ErrInitialized) {
		t.Errorf("Init: %v, want %v", err, ErrInitialized)
	}
	if diff := cmp.Diff(before, describe(s)); diff != "" {
		t.Errorf("the state has changed:\n%s", diff)
	}
}

// What cannot be written is an error that says so, and nothing is half written.
// A date has four digits for the year.
func TestYearsOfAPass(t *testing.T) {
	for year, want := range map[int]bool{0: true, 9999: true, 10000: false, -1: false} {
		s := new(Contract)
		_, err := s.Pass([]Move{{"block-1", Paged}}, time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))
		if (err == nil) != want {
			t.Errorf("a pass in the year %d: %v", year, err)
		}
	}
}

func TestWriterErrors(t *testing.T) {
	s := new(Contract)
	write := must(t)
	write(s.Pass([]Move{{"block-1", Retained}, {"block-2", Evicted}}, at))
	write(s.Pin([]string{"block-1"}))
	write(s.AddDecision("pin-version-0.9", Refuse))
	write(s.AddSource("notes", "The gate is closed."))
	write(s.AddClaim("guess", "open"))
	before := describe(s)
	long := strings.Repeat("9", 99)
	for _, tt := range []struct {
		name  string
		write func() ([]string, error)
		want  string
	}{
		{
			"a pinned block is evicted", func() ([]string, error) { return s.Pass([]Move{{"block-3", Paged}, {"block-1", Evicted}}, at) },
			`block "block-1" is pinned and cannot be evicted`,
		},
		{
			"an evicted block is pinned", func() ([]string, error) { return s.Pin([]string{"block-1", "block-2"}) },
			`block "block-2" is evicted and cannot be pinned`,
		},
		{
			"an evicted block records a correction", func() ([]string, error) { return s.AddCorrection("answer-first", "block-2") },
			`block "block-2" is evicted and cannot be pinned`,
		},
		{"a pin cannot be written", func() ([]string, error) { return s.Pin([]string{`"`}) }, `block id "\"" has a quotation mark at byte 0`},
		{"too many tokens", func() ([]string, error) { return s.Budget(21, 20) }, "a window of 21 tokens is over the budget of 20"},
		{
			"a decision conflicts", func() ([]string, error) { return s.AddDecision("use-version-0.10", Refuse) },
			`decision "use-version-0.10" conflicts with "pin-version-0.9" of tracked-decisions`,
		},
		{
			"an unknown resolution", func() ([]string, error) { return s.AddDecision("use-version-0.10", "win") },
			`resolution "win" is not override, defer or comply`,
		},
		{
			"an unknown resolution without a conflict", func() ([]string, error) { return s.AddDecision("anything", "win") },
			`resolution "win" is not override, defer or comply`,
		},
		{"an unknown list of the gate", func() ([]string, error) { return s.Gate("m_1", PinnedBlocks) }, `list "pinned-blocks" is not a list of the gate`},
		{"an empty decision", func() ([]string, error) { return s.AddDecision("", Refuse) }, `decision "" is empty`},
		{
			"a question with a line break", func() ([]string, error) { return s.AddQuestion("a\u2028b") },
			`question "a\u2028b" has the line-breaking character U+2028 at byte 1`,
		},
		{
			"a question that is the word for an empty list", func() ([]string, error) { return s.AddQuestion("none") },
			`question "none" is the language's word for an empty list`,
		},
		{"a question that is not open", func() ([]string, error) { return s.ResolveQuestion("what?") }, `question "what?" is not open`},
		{"a correction without letters", func() ([]string, error) { return s.AddCorrection("!?") }, `correction "" is empty`},
		{
			"an unknown state", func() ([]string, error) { return s.SetSourceState("read") },
			`source-state "read" cannot be: it is one of unscanned, scanned and verified`,
		},
		{
			"an unknown basis", func() ([]string, error) { return s.SetClaimBasis("faith") },
			`claim-basis "faith" cannot be: it is one of none, inference, document and verified`,
		},
		{
			"a source with two texts", func() ([]string, error) { return s.AddSource("Notes", "another") },
			`source "notes" is remembered already, with another text`,
		},
		{
			"a claim with the name of a source", func() ([]string, error) { return s.AddClaim("notes", "The gate is closed.") },
			`claim "notes" is remembered already, with another text`,
		},
		{"a source without name", func() ([]string, error) { return s.AddSource("--", "text") }, `name "--" has no letter and no digit`},
		{"a source without text", func() ([]string, error) { return s.AddSource("x", "") }, `text of source "" is empty`},
		{"a claim that is empty", func() ([]string, error) { return s.Verify("", "") }, `claim "" is empty`},
		{"a claim in another case", func() ([]string, error) { return s.Verify("the gate", "notes") }, `claim "the gate" is not a part of the text of source "notes"`},
		{"a claim from a claim", func() ([]string, error) { return s.Verify("open", "guess") }, `source "guess" is not remembered`},
		{"a claim from nowhere", func() ([]string, error) { return s.Verify("open", long) }, `source "source-` + long + `" is not remembered`},
		{"a claim from a source without name", func() ([]string, error) { return s.Verify("open", "?") }, `name "?" has no letter and no digit`},
	} {
		lines, err := tt.write()
		if err == nil || err.Error() != tt.want || lines != nil {
			t.Errorf("%s: got  %q, %v\nwant %s", tt.name, lines, err, tt.want)
		}
	}
	if diff := cmp.Diff(before, describe(s)); diff != "" {
		t.Errorf("the state has changed:\n%s", diff)
	}
	var pin *PinError
	if _, err := s.Pass([]Move{{"block-1", Evicted}}, at); !errors.As(err, &pin) || pin.Block != "block-1" {
		t.Errorf("Pass: %v, want a PinError", err)
	}
}

func TestStem(t *testing.T) {
	for _, tt := range []struct {
		decision, stem, value string
	}{
		{"pin-version-0.10", "version", "0.10"},
		{"Use-Version-0.9", "version", "0.9"},
		{"use-database-sqlite", "database", "sqlite"},
		{"pin-python-3.12-slim", "python", "3.12-slim"},
		{"set-api-v2-beta", "api", "v2-beta"},
		{"choose-http2-client-go", "http2-client", "go"},
		{"set-log-level=debug-all", "log-level", "debug-all"},
		{"prefer-indent:tabs", "indent", "tabs"},
		{"select-max-retries-5", "max-retries", "5"},
		{"use-größe-xl", "größe", "xl"},
		{"pin-go-9-slim", "go", "9-slim"},
		{"pin-api-v0-beta", "api", "v0-beta"},
		{"use-foo--bar", "foo-", "bar"},
		{"use-a-.5-b", "a-.5", "b"},
		{"use-a-v-b", "a-v", "b"},
		{"use-a-v", "a", "v"},
		{"use-a-5-6", "a", "5-6"},
		{"choose-a-b=c-1", "a-b", "c-1"},
		{" Prefer-Tabs-Wide ", "tabs", "wide"},
		{"use-sqlite", "", ""},      // says nothing of anything
		{"use-3", "", ""},           // nothing that it is about
		{"use-database-", "", ""},   // no value
		{"use-=x", "", ""},          // nothing that it is about
		{"adopt-version-3", "", ""}, // none of the verbs
		{"use database sqlite", "", ""},
		{"use-the good-one", "", ""},
		{"", "", ""},
	} {
		stem, value, ok := stemOf(tt.decision)
		if stem != tt.stem || value != tt.value || ok != (tt.stem != "") {
			t.Errorf("Stem(%q) = %q, %q, %v, want %q, %q", tt.decision, stem, value, ok, tt.stem, tt.value)
		}
	}
}

func TestConflicts(t *testing.T) {
	parent, s := new(Contract), new(Contract)
	write := must(t)
	write(parent.AddDecision("pin-version-0.9", Refuse))
	write(s.Inherit(parent))
	write(s.AddDecision("use-database-sqlite", Refuse))
	for _, tt := range []struct {
		decision string
		want     []Conflict
	}{
		{"pin-version-0.10", []Conflict{{"pin-version-0.9", InheritedDecisions, "version", "0.9"}}},
		{"set-version-0.9", nil}, // says the same
		{"prefer-database-postgres", []Conflict{{"use-database-sqlite", TrackedDecisions, "database", "sqlite"}}},
		{"use-databases-postgres", nil},
		{"anything else", nil},
	} {
		if diff := cmp.Diff(tt.want, s.conflicts(tt.decision)); diff != "" {
			t.Errorf("Conflicts(%q) (-want +got):\n%s", tt.decision, diff)
		}
	}
	var conflict *ConflictError
	if _, err := s.AddDecision("pin-version-0.10", Refuse); !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 {
		t.Errorf("AddDecision: %v, want a conflict", err)
	}
	rival := new(Contract)
	write(rival.AddDecision("pin-version-1.0", Refuse))
	if lines, err := rival.Inherit(parent); !errors.As(err, &conflict) || lines != nil {
		t.Errorf("Inherit = %q, %v, want a conflict", lines, err)
	}
}

func TestInherit(t *testing.T) {
	write := must(t)
	parent := new(Contract)
	write(parent.AddDecision("pin-version-0.9", Refuse))
	write(parent.AddDecision("pin-version-0.10", Override))
	write(parent.AddCorrection("consult prior context", "block-1"))
	write(parent.AddQuestion("who?"))
	write(parent.Verify("it compiles", ""))
	write(parent.AddSource("notes", "text"))
	write(parent.Close())
	child := new(Contract)
	lines := write(child.Inherit(parent))
	diffLines(t, "inherited", `remember a list called inherited-decisions
add "pin-version-0.10" to inherited-decisions
require inherited-decisions includes "pin-version-0.10" because "an earlier session left it"
remember a list called active-corrections
add "consult-prior-context" to active-corrections
require active-corrections includes "consult-prior-context" because "an earlier session left it"
remember a list called unresolved-questions
add "who?" to unresolved-questions
require unresolved-questions includes "who?" because "an earlier session left it"
remember a list called verified-claims
add "it compiles" to verified-claims
require verified-claims includes "it compiles" because "an earlier session left it"
`, lines)
	if !child.Effects().PriorContext || child.Effects().SourcesFirst || child.Effects().AlwaysRetain != nil {
		t.Errorf("effects %+v, want only that prior context is consulted", child.Effects())
	}
	diffLines(t, "a question that is asked again", "", write(child.AddQuestion("who?")))
	diffLines(t, "a correction that is said again", "", write(child.AddCorrection("consult-prior-context")))
	diffLines(t, "an answer", "remove \"who?\" from unresolved-questions\n", write(child.ResolveQuestion("who?")))
	write(child.AddCorrection("keep it short"))
	grandchild := new(Contract)
	write(grandchild.Inherit(child))
	want := []string{"consult-prior-context", "keep-it-short"}
	if diff := cmp.Diff(want, grandchild.Texts(ActiveCorrections)); diff != "" {
		t.Errorf("corrections of all sessions before (-want +got):\n%s", diff)
	}
}

func TestCorrections(t *testing.T) {
	categories := make(map[Category]bool)
	names := make(map[string]bool)
	for _, c := range Corrections() {
		if c.Name != slug(c.Name) || names[c.Name] || c.Category == "" || !strings.HasSuffix(c.Meaning, ".") {
			t.Errorf("%+v is not a proper entry, or is there twice", c)
		}
		if got := LookUpCorrection(strings.ToUpper(strings.ReplaceAll(c.Name, "-", " "))); got != c {
			t.Errorf("%q is looked up as %+v", c.Name, got)
		}
		categories[c.Category], names[c.Name] = true, true
	}
	if len(names) != 24 || len(categories) != 14 {
		t.Errorf("%d corrections in %d categories, want 24 in 14", len(names), len(categories))
	}
	want := Correction{Name: "mind-the-gap", Meaning: "Mind the 'gap'"}
	if diff := cmp.Diff(want, LookUpCorrection("Mind the \"gap\"\n")); diff != "" {
		t.Errorf("a correction without a name (-want +got):\n%s", diff)
	}
	s := new(Contract)
	for _, text := range []string{"Never use C++ here", "Never use C# here", "don't touch \"a_b.go\"", "never use C# here\n", "Never use C# here"} {
		must(t)(s.AddCorrection(text))
	}
	words := []string{"Never use C++ here", "Never use C# here", "don't touch 'a_b.go'", "never use C# here"}
	if diff := cmp.Diff(words, s.Texts(sessionCorrections)); diff != "" {
		t.Errorf("corrections in the user's words (-want +got):\n%s", diff)
	}
	s = new(Contract)
	must(t)(s.AddCorrection(sourcesFirst))
	if !s.Effects().SourcesFirst || s.Corrections()[0].Category != "verification" {
		t.Errorf("effects %+v, corrections %+v, want sources first", s.Effects(), s.Corrections())
	}
	must(t)(s.AddCorrection(priorContext, "block-1"))
	heir := new(Contract)
	must(t)(heir.Inherit(s))
	if diff := cmp.Diff(Effects{PriorContext: true, SourcesFirst: true}, heir.Effects()); diff != "" {
		t.Errorf("effects of corrections of an earlier session (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("", strings.Join(must(t)(heir.AddCorrection(priorContext)), "\n")); diff != "" {
		t.Errorf("an inherited correction is given again:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"Read Me.md":       "read-me-md",
		"  a -- b  ":       "a-b",
		"Größe":            "größe",
		"日本 語":             "日本-語",
		"from":             "source-from",
		"Source":           "source-source",
		"open questions":   "source-open-questions",
		"Retained count":   "source-retained-count",
		"42":               "source-42",
		"2026-05-17":       "source-2026-05-17",
		"9999-99-99":       "source-9999-99-99",
		"v2":               "v2",
		"last-pager-pass":  "source-last-pager-pass",
		"bad \xff utf8":    "bad-utf8",
		"decision count":   "source-decision-count",
		"retained--blocks": "source-retained-blocks",
	} {
		if got, err := sourceName(text); got != want || err != nil {
			t.Errorf("SourceName(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		" a\r\nb ":          "a  b",
		`say "x"`:           "say 'x'",
		"tab\tand\u2028end": "tab and end",
		"\xff":              "\uFFFD",
		"\x00":              "",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
	newest, err := limn.ReleaseNamed("61")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range append(newest.Words(), "combine") {
		if name, err := sourceName(w); err != nil || name == w {
			t.Errorf("SourceName(%q) = %q, %v, want another name", w, name, err)
		}
	}
}

func TestInit(t *testing.T) {
	p, err := ParsePayload([]byte(`{
		"sources": [{"name": "Read Me", "text": " one\r\ntwo \"three\" "}, {"text": "x", "name": "list"}],
		"decisions": ["use-database-sqlite"], "open_questions": ["who?"], "resume_state": "step 2"}`))
	if err != nil {
		t.Fatal(err)
	}
	write := must(t)
	s := new(Contract)
	write(s.Pass(nil, at)) // a contract need not be empty
	early := s.Clone()
	write(early.SetResumeState("step 1"))
	if write(early.Init("", new(Payload))); early.ResumeState() != "step 1" {
		t.Errorf("a payload without a state resumes at %q", early.ResumeState())
	}
	lines := write(s.Init("s-1", p))
	template := write(new(Contract).Init("s-1", nil))
	if diff := cmp.Diff(template, lines[:len(template)]); diff != "" {
		t.Errorf("the contract does not begin with the template (-want +got):\n%s", diff)
	}
	diffLines(t, "what the payload says", `remember a source called read-me with "one  two 'three'"
remember a source called list with "x"
add "use-database-sqlite" to tracked-decisions
remember a number called decision-count with 1
add "who?" to open-questions
remember a string called resume-state with "step 2"
`, lines[len(template):])
	if s.session.value(sessionID) != "s-1" || s.ResumeState() != "step 2" || s.SourceState() != Unscanned || s.ClaimBasis() != BasisNone {
		t.Errorf("state is\n%s", describe(s))
	}
	if source, ok := s.source("read-me"); !ok || source.Claim || source.Text != "one  two 'three'" {
		t.Errorf("Source = %+v, %v", source, ok)
	}
}

func TestInitErrors(t *testing.T) {
	for _, tt := range []struct {
		payload, want string
	}{
		{
			`{"sources": [{"name": "b", "text": "x"}, {"name": "B", "text": "y"}]}`,
			`payload: sources.1: source "b" is remembered already, with another text`,
		},
		{`{"sources": [{"name": "?", "text": "x"}]}`, `payload: sources.0: name "?" has no letter and no digit`},
		{`{"sources": [{"name": "a", "text": " "}]}`, `payload: sources.0: text of source "" is empty`},
		{`{"decisions": ["a", "none"]}`, `payload: decisions.1: decision "none" is the language's word for an empty list`},
		{`{"open_questions": ["\n"]}`, `payload: open_questions.0: question "" is empty`},
		{`{"resume_state": " "}`, `payload: resume_state: resume-state "" is empty`},
		{`{"decisions": ["use-a-1", "use-a-2"]}`, `decision "use-a-2" conflicts with "use-a-1" of tracked-decisions`},
	} {
		p, err := ParsePayload([]byte(tt.payload))
		if err != nil {
			t.Fatal(err)
		}
		s := new(Contract)
		lines, err := s.Init("", p)
		if err == nil || err.Error() != tt.want || lines != nil {
			t.Errorf("%s: got  %q, %v\nwant %s", tt.payload, lines, err, tt.want)
		}
		if got := describe(s); got != "" {
			t.Errorf("%s: the state has changed:\n%s", tt.payload, got)
		}
	}
}

func TestParsePayloadErrors(t *testing.T) {
	for payload, field := range map[string]string{
		`{"source": []}`:                         "source",
		`{"Sources": []}`:                        "Sources",
		`{"sources": {}}`:                        "sources",
		`{"sources": [{"name": "a"}]}`:           "sources.0",
		`{"sources": [{"text": "a"}]}`:           "sources.0",
		`{"sources": [{"name": 1, "text": ""}]}`: "sources.0.name",
		`{"sources": [{"uri": ""}]}`:             "sources.0.uri",
		`{"decisions": ["a", null]}`:             "decisions.1",
		`{"open_questions": "a"}`:                "open_questions",
		`{"resume_state": null}`:                 "resume_state",
		`{"decisions": [], "decisions": []}`:     "",
		`[]`:                                     "",
		`{} {}`:                                  "",
		``:                                       "",
	} {
		var e *PayloadError
		if p, err := ParsePayload([]byte(payload)); !errors.As(err, &e) || e.Field != field || e.Text == "" || p != nil {
			t.Errorf("%s: got %v, want an error about %q", payload, err, field)
		}
	}
}

func TestReplaySessionErrors(t *testing.T) {
	for _, tt := range []struct {
		line, want string
	}{
		{`remember a list called open-questions`, "column 24: open-questions is declared already, and a second declaration would empty it"},
		{`add "x" to verified-claims`, "column 12: no line before declares verified-claims"},
		{`remove "x" from open-questions`, `column 17: "x" is not in open-questions`},
		{`add "none" to open-questions`, `column 5: block id "none" is the language's word for an empty list`},
		{`add 5 to open-questions`, "column 10: open-questions is changed in another way"},
		{`remember a string called source-state with "read"`, `column 26: source-state cannot be "read": it is one of unscanned, scanned and verified`},
		{`remember a number called source-state with 5`, "column 26: source-state is changed in another way"},
		{`remember a string called session-id with other`, "column 26: session-id is changed in another way"},
		{`remember a number called decision-count with 1.5`, `column 26: decision-count cannot be "1.5": it is a whole number that is not negative`},
		{`remember a number called window-tokens with -1`, `column 26: window-tokens cannot be "-1": it is a whole number that is not negative`},
		{`remember a number called decision-count from count the tracked-decisions`, "column 26: tracked-decisions is counted before it is declared"},
		{`remember a number called block-count from count the paged-blocks`, "column 26: block-count is changed in another way"},
		{`assign window-tokens to "5"`, "column 8: window-tokens is changed in another way"},
		{`remember a list called tracked-decisions from count the open-questions`, "column 24: tracked-decisions is changed in another way"},
		{`remember a list called tracked-decisions with 5`, "column 24: tracked-decisions is changed in another way"},
		{`assign open-questions to "a"`, "column 8: open-questions is changed in another way"},
		{`remember a list called tracked-decisions from open-questions`, "column 24: tracked-decisions is changed in another way"},
		{`remember a list called tracked-decisions with f as "x"`, "column 24: tracked-decisions is changed in another way"},
		{`remember a string called tracked-decisions with "x"`, "column 26: tracked-decisions is changed in another way"},
		{`remember a list called tracked-decisions with "x" and "none"`, `column 55: block id "none" is the language's word for an empty list`},
		{`remember a number called window-tokens with 007`, `column 26: window-tokens cannot be "007": it is a whole number that is not negative`},
		{`remember a number called window-tokens with -0`, `column 26: window-tokens cannot be "-0": it is a whole number that is not negative`},
		{`remember a number called window-tokens with 9223372036854775808`, `column 26: window-tokens cannot be "9223372036854775808": it is a whole number that is not negative`},
		{`remember a string called claim-basis with faith`, "column 26: claim-basis is changed in another way"},
		{`remember a number called summary-blocks from count the open-questions`, "column 26: summary-blocks is changed in another way"},
		{`remember a number called decision-count from sum the open-questions`, "column 26: decision-count is changed in another way"},
		{`remember a number called decision-count from count the xs`, "column 26: decision-count is changed in another way"},
		{`remember a list called tracked-decisions with 1 and 2`, "column 24: tracked-decisions is changed in another way"},
		{`assign notes to "other"`, "column 8: notes is changed in another way"},
		{`remember a string called notes with "other"`, "column 26: notes is changed in another way"},
		{`inherited remember a string called claim-basis with "verified"`, "column 36: claim-basis is changed in another way"},
		{`overwrite Open-Questions "x" with y`, "column 11: open-questions is changed in another way"},
		{`remember how to tidy from open-questions: show open-questions`, "column 27: open-questions is changed in another way"},
		{`each the open-questions add each to open-questions`, "column 37: open-questions is changed in another way"},
		{`choose if n is 1: show "x" otherwise add "x" to open-questions`, "column 49: open-questions is changed in another way"},
		{`gather the open-questions from 1 to 3`, "column 12: open-questions is changed in another way"},
		{`weakens window-tokens over 3`, "column 9: window-tokens is changed in another way"},
		{`remember a list called mine from filter the open-questions where each is "x"`, "column 45: open-questions is changed in another way"},
	} {
		text := "remember a list called open-questions\nremember a source called notes with \"text\"\n" + tt.line
		var e *SyntaxError
		if _, err := Replay(Lines(text)); !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a syntax error", tt.line, err)
			continue
		}
		if got, want := e.Error(), "line 3, "+tt.want+", in the statement: "+tt.line; got != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}

func TestFindSensitive(t *testing.T) {
	text := `remember a source called notes with "the password is on the wall"
remember a claim called a with "classname and secretary"
remember a string called b with "SSNs, and the API_KEY"
-- my credit-card
add "use-bearer-token" to tracked-decisions
add "forbearers of the ssnow" to open-questions
add "x" to paged-blocks
remember a source called dbPassword with "x"
`
	want := []sensitive{{1, "password"}, {2, "secret"}, {3, "api key"}, {4, "credit card"}, {5, "bearer"}, {8, "password"}}
	if diff := cmp.Diff(want, FindSensitive(Lines(text))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sensitive{{1, "ssn"}}, FindSensitive(Lines("the ssn, and ssnow"))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for text, want := range map[string]int{"ssn": 1, "xssn yssn and ssn": 1, "ssnssn ssn": 1, "xssn and yssn": 0, "ssnow": 0} {
		if got := FindSensitive(Lines(text)); len(got) != want {
			t.Errorf("findings in %q: %v, want %d", text, got, want)
		}
	}
	if got := FindSensitive(slices.Values(must(t)(new(Contract).Init("id", nil)))); got != nil {
		t.Errorf("findings in the template: %v", got)
	}
}

// Guards may come at any time: they judge what is there at the end.
func TestGuard(t *testing.T) {
	s := new(Contract)
	write := must(t)
	lines := write(s.Pin([]string{"block-1"}))
	lines = append(lines, write(s.Guard())...)
	diffLines(t, "guards again", "", write(s.Guard()))
	passed := write(s.Pass([]Move{{"block-1", Retained}, {"block-2", Evicted}}, at))
	diffLines(t, "a pass that is guarded", `add "block-1" to retained-blocks
add "block-2" to evicted-blocks
remember a number called block-count with 2
remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
`, passed)
	lines = append(lines, passed...)
	lines = append(lines, write(s.Budget(5, 5))...)
	if r, err := Run(slices.Values(lines), nil); err != nil || r.Err() != nil {
		t.Fatalf("got %v, %+v, want no failure", err, r)
	}
	doctored := append(slices.Clone(lines), `add "block-2" to pinned-blocks`, "remember a number called window-tokens with 6")
	r, err := Run(slices.Values(doctored), nil)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []FailureKind
	for _, f := range r.Failures {
		kinds = append(kinds, f.Kind)
	}
	if diff := cmp.Diff([]FailureKind{FailedGuard, FailedGuard, FailedPin, FailedBudget}, kinds); diff != "" {
		t.Errorf("failures (-want +got):\n%s\n%v", diff, r.Failures)
	}
	var failed *RunError
	if err := r.Err(); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "the contract does not hold in line ") || !strings.HasSuffix(err.Error(), "(and 3 more)") {
		t.Errorf("Err() = %v, want an error with the first failure", err)
	}
}

// Old readers know what doc/spec/contract.md says they know: the release of 53 words
// all but what a pack adds, and the first one, of 35, what has no require and no
// remove.
func TestOldReaders(t *testing.T) {
	write := must(t)
	parent := new(Contract)
	write(parent.AddDecision("use-database-sqlite", Refuse))
	s := new(Contract)
	old := write(s.Init("s", &Payload{Sources: []PayloadSource{{"notes", "text"}}, OpenQuestions: []string{"who?"}}))
	old = append(old, write(s.Pass([]Move{{"block-1", Retained}}, at))...)
	old = append(old, write(s.Budget(1, 2))...)
	moved := write(s.Pass([]Move{{"block-1", Paged}}, at))
	guards := write(s.Guard())
	guards = append(guards, write(s.Pin([]string{"block-1"}))...)
	inherited := write(s.Inherit(parent))
	closed := write(s.Close())
	for _, tt := range []struct {
		name    string
		release string
		lines   []string
		reads   bool
	}{
		{"the template, a first pass, a budget", "35", old, true},
		{"a move", "35", moved, false},
		{"guards", "35", guards, false},
		{"what is inherited", "35", inherited, false},
		{"the end", "35", closed, true},
		{"all of it", "53", slices.Concat(old, moved, guards, inherited, closed), true},
	} {
		release, err := limn.ReleaseNamed(tt.release)
		if err != nil {
			t.Fatal(err)
		}
		unknown := release.Check(limn.Parse("", strings.Join(tt.lines, "\n"), nil))
		if (len(unknown) == 0) != tt.reads {
			t.Errorf("%s: %v is unknown to the release of %s words, want that it reads it: %v", tt.name, unknown, tt.release, tt.reads)
		}
	}
}

// The page that describes contracts has the statements that are written.
func TestTheSpecificationHasTheStatements(t *testing.T) {
	page, err := os.ReadFile("../doc/spec/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]string{templateRest[:], guardLines[:]} {
		if want := "\n" + strings.Join(part, "\n") + "\n"; !strings.Contains(string(page), want) {
			t.Errorf("the page lacks%s", want)
		}
	}
	for _, l := range lists {
		if !strings.Contains(string(page), "| `"+string(l)+"` |") {
			t.Errorf("the page lacks the list %s", l)
		}
	}
}

// Lists may be declared with what is in them, and what is counted may be said as a count.
func TestReplayReadsOtherForms(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`remember a list called open-questions with "who?" and "why?"`, "open-questions [who?|why?]\n"},
		{`remember a list called open-questions with "who?"`, "open-questions [who?]\n"},
		{`remember a list called open-questions with "none"`, "open-questions []\n"},
		{"remember a list called tracked-decisions with \"a\" and \"b\"\nremember a number called decision-count from count the tracked-decisions", "decision-count 2\ntracked-decisions [a|b]\n"},
		{`assign claim-basis to document`, "claim-basis document\n"},
		{`assign claim-basis to "none"`, "claim-basis none\n"},
		{`remember a string called source-state with scanned`, "source-state scanned\n"},
		{`assign window-tokens to 5`, "window-tokens 5\n"},
		{`remember a source called notes with "a"` + "\n" + `remember a claim called guess with "b" because "c"`, "source notes: a\nclaim guess: b\n"},
		{`remember a source called notes with "a"` + "\n" + `remember a claim called notes with "b"`, "claim notes: b\n"},
		{`remember a list called open-questions` + "\n" + `add "who?" to open-questions because "asked"` + "\n" + `add "who?" to open-questions` + "\n" + `remove "who?" from open-questions`, "open-questions [who?]\n"},
		{`remember an idea called notes with "a"`, ""},
		{`remember a source called notes with "a" and "b"`, ""},
		{`remember a source called notes from "a"`, ""},
		{`remember a source called notes with 5`, ""},
		{`remember a good source called notes with "a"`, ""},
	} {
		s, err := Replay(Lines(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, describe(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Behind the end of a contract stands only what changes nothing.
func TestNothingThatChangesFollowsTheEnd(t *testing.T) {
	for line, want := range map[string]bool{
		"":                                    true,
		"-- a comment":                        true,
		"show claim-basis":                    true,
		`require claim-basis is "none"`:       true,
		"count":                               true,
		"inherited count":                     true,
		"keep the xs where each is 1":         true,
		"compare xs to ys":                    true,
		"show x and count the xs":             true,
		"each the xs show":                    true,
		"about this":                          true,
		"add 1 to xs":                         false,
		"show x and add 1 to xs":              false,
		"each the xs add each to ys":          false,
		"choose if x is 1: add 1 to xs":       false,
		"remember a value called x with":      false,
		`remember a value called x with "a"`:  false,
		`remember a source called x with "a"`: false,
		"remember how to go: show x":          false,
		"gather the ns from 1 to 2":           false,
		"filter the xs where each is 1":       false,
		"sort the xs by f":                    false,
		"transform xs by each":                false,
		"weakens x over 5":                    false,
		"assign x to 1":                       false,
		"define big: is 1":                    false,
		"when x is 1:":                        true,
		"\ufeff":                              false,
		"disclose":                            true, // it names what it does, which was read before
		"add":                                 false,
		"inherited add":                       false,
		"inherited":                           false,
		"overwrite the xs now":                false,
		`overwrite "x"`:                       false,
		`"x"`:                                 true,
		`remember a string called claim-basis with "none"`: false,
	} {
		text := `remember a string called contract-state with "closed"` + "\n" + line
		if _, err := Replay(Lines(text)); (err == nil) != want {
			t.Errorf("%s: %v, want that it may follow: %v", line, err, want)
		}
	}
	text := `remember a string called contract-state with "closed"` + "\nwhen x is 1\n  show x"
	if _, err := Replay(Lines(text)); err != nil {
		t.Error(err)
	}
}

// A failure is in the last line that adds what causes it, and not in one that removes the same text.
func TestLinesOfFailures(t *testing.T) {
	text := "remember a list called tracked-decisions\n" + strings.Repeat("add \"use-a-1\" to tracked-decisions\n", 2) + strings.Repeat("add \"use-a-2\" to tracked-decisions\n", 2) + `remove "use-a-2" from tracked-decisions`
	r, err := Run(Lines(text), nil)
	if err != nil || len(r.Failures) != 1 || r.Failures[0].Kind != FailedDecision || r.Failures[0].Line != 5 || r.State.Texts("other") != nil {
		t.Errorf("got %+v, %v, want a failure in line 5", r, err)
	}
	for text, want := range map[string]string{
		"remember a number called token-budget with 5\nremember a number called window-tokens with 6\nremember a number called window-tokens with 7\nremember a number called token-budget with 4":          "line 3: a window of 7 tokens is over the budget of 4",
		"remember a number called window-tokens with 0\nremember a number called token-budget with 0":                                                                                                       "",
		declarations + "remember a list called correction-blocks\nadd \"b\" to evicted-blocks\nadd \"b\" to correction-blocks\nsort notes by name\nremember a source called notes with \"x\"":               "line 5: block \"b\" is in correction-blocks and is evicted",
		"remember a list called inherited-decisions with \"use-a-1\" and \"use-b-1\"\nremember a list called tracked-decisions\nadd \"use-b-1\" to tracked-decisions\nadd \"use-a-2\" to tracked-decisions": "line 4: decision \"use-a-2\" contradicts \"use-a-1\"",
	} {
		r, err := Run(Lines(text), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for _, f := range r.Failures {
			if f.Kind != FailedStatement {
				got = append(got, f.String())
			}
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s\nfails in %s, want %s", text, got, want)
		}
	}
}

// An error about a run says how many failures there are besides the first.
func TestRunErrorCounts(t *testing.T) {
	failures := []Failure{{3, FailedBudget, "too much"}, {4, FailedGuard, "not met"}, {5, FailedPin, "out"}}
	for n, want := range map[int]string{1: "", 2: " (and 1 more)", 3: " (and 2 more)"} {
		if got := (&RunError{failures[:n]}).Error(); got != "the contract does not hold in line 3: too much"+want {
			t.Errorf("%d failures: %s", n, got)
		}
	}
}

// A contract begins with all that its reader may rely on, and what is there already is
// not said again.
func TestTemplate(t *testing.T) {
	lines := must(t)(new(Contract).Init("s-1", nil))
	diffLines(t, "the beginning", `remember a string called session-id with "s-1"
remember a string called contract-state with "open"
remember a string called source-state with "unscanned"
remember a string called claim-basis with "none"
remember a list called tracked-decisions
remember a list called overridden-decisions
remember a list called open-questions
remember a list called session-corrections
remember a list called verified-claims
remember a list called precommit-verified
remember a number called decision-count with 0
`, lines[:len(lines)-len(templateRest)])
	s := new(Contract)
	write := must(t)
	write(s.AddDecision("use-x-1", Refuse))
	write(s.SetSourceState(Scanned))
	write(s.SetClaimBasis(BasisInference))
	lines = write(s.Init("", nil))
	diffLines(t, "the rest of a beginning", `remember a string called contract-state with "open"
remember a list called overridden-decisions
remember a list called open-questions
remember a list called session-corrections
remember a list called verified-claims
remember a list called precommit-verified
remember a number called decision-count with 1
`, lines[:len(lines)-len(templateRest)])
}

// What records a correction stays in the window, also where nothing is pinned.
func TestCorrectionsKeepTheirBlocks(t *testing.T) {
	s := new(Contract)
	write := must(t)
	write(s.AddCorrection("answer-first", "block-1"))
	var pin *PinError
	if _, err := s.Pass([]Move{{"block-2", Evicted}, {"block-1", Evicted}}, at); !errors.As(err, &pin) || pin.Block != "block-1" {
		t.Errorf("Pass: %v, want a PinError", err)
	}
	if s.declared[Retained.index()] || s.Count("other") != 0 || s.Pinned("block-2") || !s.Pinned("block-1") {
		t.Error("a pass that was refused left something")
	}
	write(s.Pass([]Move{{"block-2", Evicted}, {"block-1", Paged}}, at))
	if !s.declared[Retained.index()] || !s.declared[Evicted.index()] {
		t.Error("a pass declares the lists")
	}
}

// What was decided in an earlier session needs no statement in this one.
func TestInheritedDecisionsAreNotRepeated(t *testing.T) {
	parent, s := new(Contract), new(Contract)
	write := must(t)
	write(parent.AddDecision("use-x-1", Refuse))
	write(s.Inherit(parent))
	diffLines(t, "the same decision", "", write(s.AddDecision("use-x-1", Refuse)))
	diffLines(t, "no budget", "remember a number called token-budget with 0\nremember a number called window-tokens with 0\n", write(s.Budget(0, 0)))
	var budget *BudgetError
	if _, err := s.Budget(-1, 5); !errors.As(err, &budget) || budget.Tokens != -1 || budget.Limit != 5 {
		t.Errorf("Budget: %v", err)
	}
}

// A list may have a text several times; each removal takes the first of them.
func TestListsWithEqualTexts(t *testing.T) {
	text := "remember a list called open-questions\n" + strings.Repeat("add \"a\" to open-questions\nadd \"b\" to open-questions\n", 3)
	for n, want := range []string{"[a|b|a|b|a|b]", "[b|a|b|a|b]", "[b|b|a|b]", "[b|b|b]"} {
		s, err := Replay(Lines(text + strings.Repeat("remove \"a\" from open-questions\n", n)))
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(s); got != "open-questions "+want+"\n" {
			t.Errorf("without %d: %s, want %s", n, got, want)
		}
	}
	if _, err := Replay(Lines(text + strings.Repeat("remove \"a\" from open-questions\n", 4))); err == nil {
		t.Error("a text that is not there is removed")
	}
}

// The pack of an option is there, and so is its date.
func TestRunOptions(t *testing.T) {
	research, err := limn.BuiltinPack("research")
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"require today is 2026-01-31"}
	r, err := Run(slices.Values(lines), &RunOptions{Today: "2026-01-31", Packs: []*limn.Pack{research}})
	if err != nil || r.Err() != nil || r.Statements != 1 {
		t.Errorf("got %v, %+v, want one statement and no failure", err, r)
	}
	if r, err := Run(slices.Values(lines), nil); err != nil || r.Err() == nil {
		t.Errorf("without a date: %v, %+v, want a failure", err, r)
	}
}

// text draws a text that passes Quote.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"a", "pin-version-0.9", "pin-version-0.10", "use-database-sqlite", "use-database-postgres", "to paged-blocks", "--", "a b"}),
		rapid.String(),
	).Filter(func(s string) bool { return checkID(s) == nil })
}

// Whatever is written, in whatever order, replays to the same state and holds.
func TestWritersReplayAndRun(t *testing.T) {
	blocks := rapid.SampledFrom([]string{"block-1", "block-2", "block-3", "block-é", "x y"})
	rapid.Check(t, func(rt *rapid.T) {
		s := new(Contract)
		parent := new(Contract)
		var all []string
		for i := range rapid.IntRange(0, 25).Draw(rt, "steps") {
			before, inherited := describe(s), describe(parent)
			lines, err := randomStep(rt, s, parent, text(), blocks, i)
			if got := describe(parent); got != inherited {
				rt.Fatalf("the contract to inherit from was\n%s\nand is\n%s", inherited, got)
			}
			if err != nil && (lines != nil || describe(s) != before) {
				rt.Fatalf("%v, with %q written", err, lines)
			}
			if len(all) > 0 && rapid.IntRange(0, 9).Draw(rt, "inherit") == 0 {
				parent = s.Clone()
			}
			all = append(all, lines...)
		}
		replayed, err := Replay(Lines(strings.Join(all, "\n")))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(describe(s), describe(replayed)); diff != "" {
			rt.Fatalf("replayed to another state (-want +got):\n%s", diff)
		}
		r, err := Run(slices.Values(all), nil)
		if err != nil {
			rt.Fatal(err)
		}
		if err := r.Err(); err != nil {
			rt.Fatalf("%v\n%s", err, strings.Join(all, "\n"))
		}
	})
}

// randomStep writes something.
func randomStep(rt *rapid.T, s, parent *Contract, text, block *rapid.Generator[string], i int) ([]string, error) {
	word := text.Draw(rt, "text")
	id := block.Draw(rt, "block")
	switch rapid.IntRange(0, 16).Draw(rt, "writer") {
	case 0:
		return s.Init(word, &Payload{Decisions: []string{word}, ResumeState: word})
	case 1:
		return s.Inherit(parent)
	case 2, 3, 4:
		to := rapid.SampledFrom(buckets[:]).Draw(rt, "bucket")
		return s.Pass([]Move{{id, to}, {word, to}}, at.AddDate(0, i, 0))
	case 5:
		return s.Guard()
	case 6, 7:
		return s.AddDecision(word, rapid.SampledFrom([]Resolution{Refuse, Override, Defer, Comply}).Draw(rt, "resolution"))
	case 8:
		return s.AddQuestion(word)
	case 9:
		return s.ResolveQuestion(word)
	case 10:
		return s.AddCorrection(word, id)
	case 11:
		return s.AddSource(id, word)
	case 12:
		return s.Verify(word, id)
	case 13:
		return s.Pin(rapid.SliceOfNDistinct(block, 0, 3, rapid.ID[string]).Draw(rt, "pins"))
	case 14:
		limit := rapid.IntRange(0, 9).Draw(rt, "limit")
		return s.Budget(token.Count(i), token.Count(limit))
	case 15:
		return s.SetClaimBasis(rapid.SampledFrom([]ClaimBasis{BasisNone, BasisInference, BasisVerified}).Draw(rt, "basis"))
	default:
		if i > 20 {
			return s.Close()
		}
		return s.VerifyCommit(word)
	}
}

// A payload survives whole, or nothing is written.
func TestPayloadsSurvive(t *testing.T) {
	draw := rapid.OneOf(text(), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		p := &Payload{
			Sources:   []PayloadSource{{draw.Draw(rt, "name"), draw.Draw(rt, "text")}, {draw.Draw(rt, "other name"), draw.Draw(rt, "other text")}},
			Decisions: []string{draw.Draw(rt, "decision")}, OpenQuestions: []string{draw.Draw(rt, "question")}, ResumeState: draw.Draw(rt, "resume"),
		}
		s := new(Contract)
		lines, err := s.Init("", p)
		if err != nil {
			if lines != nil || describe(s) != "" {
				rt.Fatalf("%v, with %q written", err, lines)
			}
			if writable(p) {
				rt.Fatalf("%v, although all of %+v can be written", err, p)
			}
			return
		}
		r, err := Run(slices.Values(lines), nil)
		if err != nil || r.Err() != nil {
			rt.Fatalf("%v, %v", err, r)
		}
		if err := p.missing(r.State); err != nil {
			rt.Fatal(err)
		}
	})
}

// writable reports whether the items of a payload have texts and names that a contract
// can have, once they are clean.
func writable(p *Payload) bool {
	texts := slices.Concat(p.Decisions, p.OpenQuestions)
	if p.ResumeState != "" {
		texts = append(texts, p.ResumeState)
	}
	said := make(map[string]string) // by source
	for _, source := range p.Sources {
		name, err := sourceName(source.Name)
		before, twice := said[name]
		if err != nil || twice && before != Clean(source.Text) {
			return false
		}
		said[name] = Clean(source.Text)
		texts = append(texts, source.Text)
	}
	return !slices.ContainsFunc(texts, func(text string) bool { return checkID(Clean(text)) != nil })
}

// No contract makes Run panic, and what it accepts can be continued.
func FuzzRun(f *testing.F) {
	f.Add(strings.Join(slices.Concat(templateRest[:], guardLines[:]), "\n"))
	f.Add("remember a list called pinned-blocks with \"none\"\nadd \"a\" to pinned-blocks because \"b\"\n")
	f.Add("remember a source called x with \"y\"\ncite \"y\" from x\nassign claim-basis to document\n")
	f.Add("when session-id is \"x\":\n  remember a string called x with \"y\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Run(Lines(text), nil)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Column > len(e.Statement)+1 {
				t.Fatalf("error %v, want a syntax error with line and column", err)
			}
			return
		}
		for _, f := range r.Failures {
			if f.Line < 1 || f.Text == "" {
				t.Fatalf("%+v has no line or text", f)
			}
		}
		for name := range writers(nil) {
			lines, err := writers(r.State.Clone())[name]()
			if err != nil {
				continue
			}
			if _, err := Replay(Lines(text + "\n" + strings.Join(lines, "\n"))); err != nil {
				t.Fatalf("%q cannot be continued by %s: %v", text, name, err)
			}
		}
	})
}

// benchmarkContract returns a guarded contract of n blocks, with pins, that a pass
// has moved.
func benchmarkContract(tb testing.TB, n int) []string {
	s := new(Contract)
	write := must(tb)
	lines := write(s.Init("s", nil))
	lines = append(lines, write(s.Guard())...)
	decisions := benchmarkDecisions(n)
	var pins []string
	for i := range decisions {
		if i%100 == 0 {
			decisions[i].Bucket = Retained
			pins = append(pins, decisions[i].Block)
		}
	}
	lines = append(lines, write(s.Pin(pins))...)
	lines = append(lines, write(s.Pass(decisions, at))...)
	for i := range decisions {
		if decisions[i].Bucket == Retained && !s.Pinned(decisions[i].Block) {
			decisions[i].Bucket = Paged
		}
	}
	lines = append(lines, write(s.Pass(decisions, at))...)
	return append(lines, write(s.Budget(1, 2))...)
}

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 60_000} {
		lines := benchmarkContract(b, n)
		b.Run(fmt.Sprintf("%d blocks, %d lines", n, len(lines)), func(b *testing.B) {
			for b.Loop() {
				if r, err := Run(slices.Values(lines), nil); err != nil || r.Err() != nil {
					b.Fatal(err, r.Err())
				}
			}
		})
	}
}

// A source cannot have the name of a number of the guards, and no summary covers no block.
func TestSourcesBesideGuards(t *testing.T) {
	s := new(Contract)
	write := must(t)
	for _, name := range []string{"Retained count", "paged-count", "evicted count"} {
		write(s.AddSource(name, "12"))
	}
	write(s.Guard())
	write(s.Summarize("", 5))
	if id, blocks := s.Summary(); id != "" || blocks != 0 {
		t.Errorf("summary %q of %d blocks", id, blocks)
	}
}

// Many decisions are added, and inherited, in linear time: quadratic time would be minutes.
func TestManyDecisions(t *testing.T) {
	const n = 30_000
	s, child := new(Contract), new(Contract)
	write := must(t)
	for i := range n {
		write(s.AddDecision(fmt.Sprintf("use-part%d-x", i), Refuse))
	}
	if _, err := s.AddDecision("use-part7-y", Refuse); err == nil {
		t.Error("a decision that contradicts another is added")
	}
	write(child.Inherit(s))
	if got := child.Texts(InheritedDecisions); len(got) != n {
		t.Errorf("%d decisions are inherited, want %d", len(got), n)
	}
}

// An edit that fails leaves the lists as they were, also for the edits after it.
func TestFailedEditsChangeNoList(t *testing.T) {
	s := new(Contract)
	write := must(t)
	for _, d := range []string{"pin-go-1", "pin-go-2", "pin-go-1", "pin-py-3"} {
		write(s.AddDecision(d, Override))
	}
	write(s.AddQuestion("how?"))
	want := []string{"pin-go-1", "pin-py-3"}
	_, err := s.edit(func(d *draft) {
		d.remove(TrackedDecisions, "pin-go-1")
		d.add(TrackedDecisions, "decision", "pin-go-3")
		d.add(TrackedDecisions, "decision", "pin-py-4")
		d.remove(TrackedDecisions, "pin-go-3")
		d.remove(OpenQuestions, "how?")
		d.add(OpenQuestions, "question", "why?")
		d.remove(OpenQuestions, "who?")
	})
	if err == nil {
		t.Fatal("the edit succeeds")
	}
	if diff := cmp.Diff(want, s.Texts(TrackedDecisions)); diff != "" || !slices.Equal(s.Texts(OpenQuestions), []string{"how?"}) {
		t.Errorf("decisions (-want +got):\n%s\nquestions: %v", diff, s.Texts(OpenQuestions))
	}
	for decision, want := range map[string][]Conflict{
		"pin-go-4": {{"pin-go-1", TrackedDecisions, "go", "1"}},
		"pin-py-5": {{"pin-py-3", TrackedDecisions, "py", "3"}},
	} {
		if diff := cmp.Diff(want, s.conflicts(decision)); diff != "" {
			t.Errorf("conflicts of %s (-want +got):\n%s", decision, diff)
		}
	}
	if lines := write(s.AddDecision("pin-go-1", Refuse)); len(lines) > 0 {
		t.Errorf("a decision that is tracked is added again: %q", lines)
	}
	write(s.AddDecision("pin-go-4", Override))
	if diff := cmp.Diff([]string{"pin-py-3", "pin-go-4"}, s.Texts(TrackedDecisions)); diff != "" {
		t.Errorf("decisions after an override (-want +got):\n%s", diff)
	}
}
