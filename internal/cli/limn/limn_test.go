package limn

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/limn"
)

// A file watcher of a pack looks in the folder that -C names.
func TestLimnWatchesBelowDirectory(t *testing.T) {
	env, _, _ := clitest.Env(t)
	clitest.WriteFile(t, env, "w.json", `{"name": "w", "type": "file-watcher", "path": "notes"}`)
	p, err := readPack(job.New(env), "w.json")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(env.Dir, "notes"); p.Path != want {
		t.Errorf("watches %s, want %s", p.Path, want)
	}
}

func TestLabelsDoNotTouch(t *testing.T) {
	p := out.NewPage(false, 80)
	for left := []label{{0, "target"}, {3, "context"}, {7, "depth"}, {9, "style"}, {10, "goal"}}; len(left) > 0; {
		left = printLabels(p, left)
	}
	const want = "target depth\n   context\n         style\n          goal\n"
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("labels (-want +got)\n%s", diff)
	}
}

// A fault in a file has its line and column, as far as they are known; one in typed text has none.
func TestFaultsHavePlaces(t *testing.T) {
	line := &limn.Line{Pos: limn.Pos{Line: 2, Column: 1}}
	for _, tt := range []struct {
		line  *limn.Line
		at    limn.Pos
		typed bool
		want  string
	}{
		{line, limn.Pos{Line: 1, Column: 5}, false, "Error: line 1, column 5: m"},
		{line, limn.Pos{}, false, "Error: line 2: m"},
		{line, limn.Pos{Line: 3, Column: 5}, true, "Error: m"},
		{nil, limn.Pos{Line: 3, Column: 5}, false, "Error: m"},
	} {
		r := &limnRun{typed: tt.typed}
		if got := r.fault(&limn.Result{Message: "m", Line: tt.line, Err: &limn.Error{Pos: tt.at, Hint: "h"}}); !slices.Equal(got, []string{tt.want, "Hint: h"}) {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	r := new(limnRun)
	for _, metadata := range []map[string]any{nil, {"statement": 1}, {"statement": "0"}} {
		if r.firing(metadata); r.prefix != "" {
			t.Errorf("%v: the prefix is %q", metadata, r.prefix)
		}
	}
}

// A quiet run prompts for nothing, and neither does one without a terminal.
func TestPrompts(t *testing.T) {
	for _, tt := range []struct {
		terminal, quiet bool
		want            string
	}{{true, false, "> "}, {true, true, ""}, {false, false, ""}} {
		env, _, stderr := clitest.Env(t)
		env.StdinTerminal = tt.terminal
		j := job.New(env)
		j.Quiet = tt.quiet
		if (&limnRun{j: j}).prompt("> "); stderr.String() != tt.want {
			t.Errorf("%+v: %q", tt, stderr)
		}
	}
}

// A difference may be in the last lines.
func TestDifferencesOfLines(t *testing.T) {
	if got, want := lineDiff("f", "a\nb\nc\n", "a\nB\nC\n"), "--- f\n+++ f\n@@ -2,2 +2,2 @@\n-b\n-c\n+B\n+C\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A folder whose name is a word of a prompt is no file with a prompt.
func TestFilesWithPrompts(t *testing.T) {
	env, _, _ := clitest.Env(t)
	clitest.WriteFile(t, env, "fix/prompt", "x")
	for name, want := range map[string]bool{"fix": false, "fix/prompt": true, "gone": false} {
		if got := isRegular(job.New(env), name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestSharesOfAHundredAreWholePercentages(t *testing.T) {
	for n := range 101 {
		if got := percent(float64(n) / 100); got != float64(n) {
			t.Errorf("%d of 100 is %v percent", n, got)
		}
	}
}

// The words that fill slots are marked if the prompt fits on a line, prints as it is, and fills one.
func TestMarksBelowAPrompt(t *testing.T) {
	const prompt = "fix the lamp in the hall"
	for _, tt := range []struct {
		name, prompt, want string
		width              int
	}{
		{"as wide as the page", prompt, "fix the lamp in the hall\n    ^^^^^^^^^^^^^^^^^^^^\n    target\n\n", len(prompt)},
		{"wider than the page", prompt, "", len(prompt) - 1},
		{"with a tab", "fix\tthe lamp in the hall", "", 80},
		{"that fills nothing", "hello", "", 80},
	} {
		p := out.NewPage(true, tt.width)
		p.Width = tt.width
		in := intent.Compile(tt.prompt, nil)
		for s, phrases := range in.Slots { // what is not in the prompt has no marks
			in.Slots[s] = append([]intent.Phrase{{Text: "assumed"}, {Start: 1, End: 99}}, phrases...)
		}
		printSpans(p, tt.prompt, in)
		var lines []string
		for line := range strings.Lines(p.String()) {
			lines = append(lines, strings.TrimRight(line, " \n")+"\n")
		}
		if got := strings.Join(lines, ""); got != tt.want {
			t.Errorf("a prompt %s: got\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}

func TestIntentsArePrinted(t *testing.T) {
	in := &intent.Intent{
		Verb: intent.Fix, Confidence: "high", Form: "verb-first", Human: []intent.Flag{{Name: "EXPERT_USER", Words: []intent.Phrase{{Text: "a"}, {Text: "b"}}}},
		Assumed: []string{"it is new"}, Secondary: []intent.FurtherRequest{{Verb: intent.Analyze, Gaps: []intent.Slot{"target", "format"}}},
	}
	(&clitest.Printing{
		Name: "rare parts", Print: func(p *out.Page) { printSlots(p, "", in) },
		Pipe: "verb\tfix\thigh confidence, verb-first\nhuman\tEXPERT_USER\ta | b\nassumed\t\tit is new\nthen\tanalyze\ttarget is open; format is open\nkeywords\t\tfix analyze\n",
	}).Test(t)
}
