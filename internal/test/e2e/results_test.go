package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// source returns the lines of a file: some are indented, and no two are alike.
func source(lines int) []string {
	list := make([]string, lines)
	for i := range list {
		list[i] = fmt.Sprintf("var v%d = %d", i, i*7919)
	}
	for i := 100; i < lines; i += 100 {
		list[i] = fmt.Sprintf("\tpanic(\"the symbol table %d is damaged\")", i)
	}
	return list
}

// Of a file that is too large, and of a part of one, the model sees each line that is
// left with its number in the file, and can then edit such a line.
func TestClaudeCodeReadsAFileWithItsOwnLineNumbers(t *testing.T) {
	const from = 1001
	lines := source(3479)
	var path string
	read := func(more map[string]any) upstream.Step {
		return upstream.Step{Name: "read", Make: func(*upstream.Request) upstream.Reply {
			more["file_path"] = path
			return upstream.Say(upstream.Call{Name: "Read", Input: more})
		}}
	}
	a := newAgent(
		t,
		read(map[string]any{"limit": len(lines)}),
		read(map[string]any{"offset": from, "limit": 1200}),
		upstream.Step{Name: "edit", Make: func(*upstream.Request) upstream.Reply {
			return upstream.Say(upstream.Call{Name: "Edit", Input: map[string]any{
				"file_path": path, "old_string": lines[len(lines)-1], "new_string": "// The end.",
			}})
		}},
		step("end", upstream.Text("It is done.")),
	)
	a.install()
	path = filepath.Join(a.work, "f.go")
	a.write(path, []byte(strings.Join(lines, "\n")+"\n"))
	a.claude("-p", "Read f.go and end it.", "--allowedTools", "Read,Edit")
	a.nothingRefused()

	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	checkNumbered(t, requests[1], lines, 0, len(lines)-1)
	checkNumbered(t, requests[2], lines, from-1, from-1+1199)
	if data, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(data), "\n// The end.\n") {
		t.Errorf("the file was not edited: %v, %+v", err, requests[3].Results())
	}
}

// checkNumbered checks that what a request brings of a file has been shortened, shows
// its first and its last line, and each line with its own number and nothing else.
func checkNumbered(t *testing.T, r *upstream.Request, lines []string, first, last int) {
	t.Helper()
	results := r.Results()
	if len(results) != 1 || len(results[0].Text) > 20_000 {
		t.Fatalf("the file was not shortened: %d results", len(results))
	}
	shown := make(map[int]bool)
	for line := range strings.Lines(results[0].Text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "[carrel: ") || regexp.MustCompile(`^</?cell id="carrel">$`).MatchString(line) {
			continue
		}
		digits, said, _ := strings.Cut(line, "\t")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > len(lines) || lines[n-1] != said {
			t.Fatalf("the model sees %q, which is no line of the file with its number", line)
		}
		shown[n-1] = true
	}
	if !shown[first] || !shown[last] || len(shown) > 500 {
		t.Errorf("the model sees %d lines, with the first %v, with the last %v", len(shown), shown[first], shown[last])
	}
}

// Claude Code lets no hook replace what a command printed that failed; the same command
// behind a pipe does not fail. What the model then sees is the example of doc/guide/claude-code.md.
func TestClaudeCodeKeepsTheResultOfACommandThatFails(t *testing.T) {
	const ending = "make: *** [Makefile:12: build] Error 1"
	a := newAgent(
		t,
		step("fails", bash("sh build.sh")),
		step("piped", bash("sh build.sh 2>&1 | tee build.out")),
		step("end", upstream.Text("It is the linker.")),
	)
	a.install()
	a.fails()
	a.write(filepath.Join(a.work, "build.sh"), []byte("cat build.log\necho '"+ending+"'\nexit 2\n"))
	a.ask("The build fails, run build.sh. Find out why.")
	a.nothingRefused()

	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	failed := requests[1].Results()
	if len(failed) != 1 || !failed[0].Failed || strings.Contains(failed[0].Text, "[carrel") || len(failed[0].Text) > 11_000 {
		t.Errorf("the result of the command that failed: %.300v", failed)
	}
	checkShrunk(t, a.fake)
	checkExample(t, requests[2].Results()[0].Text)
}

// checkExample checks that the example of doc/guide/claude-code.md is a result, cut short: each of its
// lines stands there, in order. The id is another one each time, and with the tokens
// that it takes, how much is left out differs a little.
func checkExample(t *testing.T, result string) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(root, "doc", "guide", "claude-code.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```\n(\\[carrel: stashed .*?)```\n").FindSubmatch(guide)
	if example == nil {
		t.Fatal("doc/guide/claude-code.md has no example")
	}
	varies := regexp.MustCompile(`\b[0-9a-f]{16}\b|\d+ bytes of lines \d+ to \d+`)
	seen := strings.Split(varies.ReplaceAllString(result, "*"), "\n")
	for line := range strings.Lines(varies.ReplaceAllString(string(example[1]), "*")) {
		if line == "…\n" {
			continue
		}
		at := slices.Index(seen, strings.TrimSuffix(line, "\n"))
		if at < 0 {
			t.Fatalf("doc/guide/claude-code.md has the line %q, which the model does not see", line)
		}
		seen = seen[at+1:]
	}
}
