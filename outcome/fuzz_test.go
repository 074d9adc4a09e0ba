package outcome

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/carrel-dev/carrel/transcript"
)

// Whatever a result is: an outcome is one short line, what it says stands in the lines
// that it names, and a call with an error flag has not passed.
func FuzzOf(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files[:4] {
			f.Add("Bash", strings.SplitN(part.Name, " ", 3)[2]+" 2>&1 | tail -20; echo $?", string(part.Data), part.Name[3] != '0')
		}
	}
	for _, s := range []string{
		"Exit code 1", "<tool_use_error>", `{"output":"x","metadata":{"exit_code":1}}`, "Chunk ID: 1\nOutput:", "<retrieval_status>success</retrieval_status>\n<output>\nx\n</output>",
		"[a 1234567] ", "\x1b[31", "==", "━", "[] x", "The user doesn't want to proceed. the user said:", "<system-reminder>", "a\rb", "Exit Code: -9",
	} {
		f.Add("Bash", "git commit -m x && git push | cat", s, true)
		f.Add("shell", "make; ./x", s, false)
		f.Add("AskUserQuestion", "", s, false)
	}
	f.Fuzz(func(t *testing.T, name, line, text string, failed bool) {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Skip()
		}
		r := result(text, failed)
		o := Builtin().Of(transcript.ToolCall{Name: name, Input: input}, r)
		if failed && o.Verdict == Passed {
			t.Errorf("%q %q with an error flag passed: %+v", line, text, o)
		}
		if len(o.Text) > maxText || strings.ContainsAny(o.Text, "\r\n") || !utf8.ValidString(o.Text) {
			t.Errorf("%q %q: the text is no short line: %q", line, text, o.Text)
		}
		if !slices.IsSorted(o.Lines) || (o.Lines == nil) != (o.Text == "") && !strings.HasPrefix(text, "{") {
			t.Errorf("%q %q: text %q has lines %v", line, text, o.Text, o.Lines)
		}
		lines := strings.Split(text, "\n")
		for _, n := range o.Lines {
			if n >= len(lines) {
				t.Fatalf("%q %q has no line %d", line, text, n)
			}
			first, _, _ := strings.Cut(plain(lines[n]), " ")
			if !strings.Contains(o.Text, first[:min(len(first), 8)]) && utf8.ValidString(lines[n]) && !strings.Contains(lines[n], "<tool_use_error>") && !strings.Contains(lines[n], "said:") && !strings.HasPrefix(lines[n], "[") && name == "Bash" {
				t.Errorf("%q %q: line %d, %q, is not in %q", line, text, n, lines[n], o.Text)
			}
		}
	})
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := new(Table).extend(programs(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	log := strings.Repeat("[EvaluationRoutes] POST /api/evaluate: error 17 at file.ts:12:3, 5 of 12 done\n", 1600)
	for name, line := range map[string]string{"named": "go test ./...", "any": "make test"} {
		b.Run(name, func(b *testing.B) {
			c, r := bash(line), result(log, false)
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				Builtin().Of(c, r)
			}
		})
	}
}
