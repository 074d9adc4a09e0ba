package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// The consoles in documents are true: each command works and prints the lines below it. A line of
// dots stands for any lines, and a command with no lines below it may print anything.
func TestConsolesInDocuments(t *testing.T) {
	names, err := filepath.Glob("../../doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("../../doc/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	consoles := 0
	for _, name := range append(append(names, guides...), "../../README.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if blocks := console.FindAllStringSubmatch(string(data), -1); blocks != nil {
			consoles += len(blocks)
			t.Run(filepath.Base(name), func(t *testing.T) {
				c := newConsole(t)
				for _, f := range example.FindAllStringSubmatch(string(data), -1) {
					if err := os.WriteFile(filepath.Join(c.dir, f[1]), []byte(f[2]), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for _, b := range blocks {
					c.play(b[1])
				}
			})
		}
	}
	if consoles == 0 {
		t.Error("no document has a console")
	}
}

var (
	// A file is a block of JSON below a paragraph that begins with its name.
	example = regexp.MustCompile("(?ms)^`([a-z]+\\.json)`[^\n]*\n\n^```json\n(.*?)^```$")
	console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	words   = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)
)

// A consoleOf runs the commands of one document.
type consoleOf struct {
	t   *testing.T
	dir string
	set map[string]string // variables
}

func newConsole(t *testing.T) *consoleOf {
	dir := t.TempDir()
	return &consoleOf{t, dir, map[string]string{"HOME": dir, "NO_COLOR": "1"}}
}

// play runs the commands of a block and compares their output.
func (c *consoleOf) play(block string) {
	c.t.Helper()
	for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		command, _, _ = strings.Cut(command, " # ")
		want = strings.TrimSpace(want)
		var got string
		for one := range strings.SplitSeq(command, " && ") {
			got += c.do(strings.TrimSpace(one), strings.HasPrefix(want, "carrel: "))
		}
		if want != "" && !matches(strings.Split(got, "\n"), strings.Split(want, "\n")) {
			c.t.Errorf("$ %s\nprints\n%s\nnot\n%s", command, got, want)
		}
	}
}

// do runs a command or sets a variable, and returns the output; for a command that must fail, the
// error.
func (c *consoleOf) do(command string, fails bool) string {
	c.t.Helper()
	if name, value, ok := strings.Cut(strings.TrimPrefix(command, "export "), "="); ok && strings.HasPrefix(command, "export ") {
		c.set[name] = value
		return ""
	}
	var args []string
	for _, w := range words.FindAllStringSubmatch(command, -1) {
		args = append(args, w[1]+w[2]+w[3])
	}
	if len(args) == 0 || args[0] != "carrel" {
		c.t.Fatalf("%q is no command of carrel", command)
	}
	env, stdout, stderr := clitest.Env(c.t)
	env.Dir, env.Getenv = c.dir, func(name string) string { return c.set[name] }
	env.StdoutTerminal, env.StderrTerminal = true, true
	env.Width = func() int { return 90 }
	if got := Main(c.t.Context(), env, args[1:]); (got != 0) != fails {
		c.t.Errorf("$ %s: status %d: %s", command, got, stderr)
	}
	return stdout.String() + stderr.String()
}

// matches reports whether lines equal those of a document, in which a line of dots stands for any
// number of lines.
func matches(got, want []string) bool {
	switch {
	case len(want) == 0:
		return strings.TrimSpace(strings.Join(got, "")) == ""
	case want[0] == "…":
		for i := range len(got) + 1 {
			if matches(got[i:], want[1:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && strings.TrimRight(got[0], " ") == want[0] && matches(got[1:], want[1:])
}

// A document that differs from the output is noticed.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		is        bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\nb\nc\n", "a\n…\nc", true},
		{"a\nc\n", "a\n…\nc", true},
		{"a\nb\n", "a\n…", true},
		{"a\nb\n", "a", false},
		{"a\n", "a\nb", false},
		{"a\nb\nd\n", "a\n…\nc", false},
	} {
		if matches(strings.Split(tt.got, "\n"), strings.Split(tt.want, "\n")) != tt.is {
			t.Errorf("%q and %q: not %t", tt.got, tt.want, tt.is)
		}
	}
}
