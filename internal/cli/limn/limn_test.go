package limn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
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
	for left := []label{{0, "target"}, {3, "context"}, {7, "depth"}, {9, "style"}}; len(left) > 0; {
		left = printLabels(p, left)
	}
	const want = "target depth\n   context\n         style\n"
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("labels (-want +got)\n%s", diff)
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
		printSpans(p, tt.prompt, intent.Compile(tt.prompt, nil))
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
