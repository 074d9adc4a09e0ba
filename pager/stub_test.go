package pager

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// view returns a view of the first block, whose names are the words of a text
// that have a dot.
func view(msgs []transcript.Message) *View {
	blocks := transcript.Group("s", 0, msgs)
	return &View{
		Block: &blocks[0], Messages: msgs, Tokens: 1234,
		Names: func(from, to, n int) []string {
			var names []string
			text := blocks[0].Text(msgs)
			for w := range strings.FieldsSeq(text[from:min(to, len(text))]) {
				if strings.Contains(w, ".") && len(names) < n {
					names = append(names, w)
				}
			}
			return names
		},
	}
}

func TestStub(t *testing.T) {
	long := strings.Repeat("ok  pkg/one 0.1s\n", 20) + "FAIL pkg/two.go\n"
	tool := []transcript.Message{call("1", "Bash", `{"command":"go test ./...\n"}`), answer("1", long, true)}
	user := []transcript.Message{say(transcript.RoleUser, "look at\x1b[31m a.go\nand b.go, please")}
	id := view(tool).Block.ID.Short()
	for _, tt := range []struct {
		name string
		view *View
		form Form
		want Stub
	}{
		{"a call in one line", view(tool), Line, Stub{Text: "[carrel " + id + ": paged Bash, 1234 tokens; recall by id] go test ./... · ./...\\n\"}, 0.1s, 0.1s, 0.1s, 0.1s, 0.1s, 0.1s, 0.1s"}},
		{"a result in one line", view(tool), Calls, Stub{Results: map[string]string{
			"1": "[carrel " + id + ": paged result, 356 bytes; recall by id] FAIL pkg/two.go · 0.1s, 0.1s, 0.1s, 0.1s, 0.1s, 0.1s",
		}}},
		{"words without control characters", view(user), Line, Stub{Text: "[carrel " + id + ": paged user message, 1234 tokens; recall by id] look at a.go and b.go, please"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.view.Stub(tt.form)); diff != "" {
				t.Errorf("stub (-want +got):\n%s", diff)
			}
		})
	}
}

// The head of passages says what stands behind it in one line: the tools with what they
// work on, the failure, the words of a person. A short head has the id alone.
func TestHead(t *testing.T) {
	long := strings.Repeat("ok  pkg/one 0.1s\n", 20) + "FAIL pkg/two.go\n"
	failed := view([]transcript.Message{call("1", "Bash", `{"command":"go test ./..."}`), answer("1", long, true)})
	read := view([]transcript.Message{call("1", "Read", `{"file_path":"a/b.go"}`), answer("1", long[:40], false)})
	asked := view([]transcript.Message{say(transcript.RoleUser, "look at a.go\nand b.go")})
	for _, tt := range []struct {
		name string
		view *View
		has  []string
		not  string
	}{
		{"a call that failed", failed, []string{"Bash", "go test", "FAIL pkg/two.go"}, "ok  pkg"},
		{"a call that did not", read, []string{"Read", "b.go"}, "error"},
		{"what a person said", asked, []string{"user: look at a.go", "recall by id"}, "error"},
	} {
		head := tt.view.Head()
		id := "[carrel " + tt.view.Block.ID.Short()
		if !strings.HasPrefix(head, id+" ") || !strings.HasSuffix(head, "]") || strings.Contains(head, "\n") || strings.Contains(head, tt.not) {
			t.Errorf("%s: the head is %q", tt.name, head)
		}
		for _, word := range tt.has {
			if !strings.Contains(head, word) {
				t.Errorf("%s: the head does not say %q: %q", tt.name, word, head)
			}
		}
		if short := tt.view.ShortHead(); short != id+"]" {
			t.Errorf("%s: the short head is %q", tt.name, short)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		failed     bool
		want       string
	}{
		{"a line that reports it", "ok one\n--- FAIL: TestX (0.1s)\nmore", false, "--- FAIL: TestX (0.1s)"},
		{"before one that only speaks of it", "an error is near\npanic: boom", true, "panic: boom"},
		{"of a marked result one that speaks of it", "hello\nthe request failed with 502\n", true, "error: the request failed with 502"},
		{"or the first", "\n  no such thing\nbye", true, "error: no such thing"},
		{"code that handles errors is none", "if err != nil {\n\treturn error\n}", false, ""},
		{"nothing at all", "", true, "error: "},
	} {
		if got := failure(transcript.ToolResult{Error: tt.failed}, tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A result that is shorter than its line stays.
func TestShortResultsStay(t *testing.T) {
	v := view([]transcript.Message{call("1", "Bash", `{}`), answer("1", "ok", false)})
	if got := v.Stub(Calls); len(got.Results) != 0 {
		t.Errorf("stub is %+v, want none", got)
	}
}

// A block cut to lines has its marker, then some of its own lines in order, a
// fourth of its bytes at most.
func TestLinesAreTheBlocksOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z.]{0,12}( [a-z.]{1,9}){0,4}`), 1, 40).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		v := view([]transcript.Message{say(transcript.RoleUser, text)})
		head, kept, _ := strings.Cut(v.Stub(Lines).Text, "\n")
		if !strings.HasPrefix(head, "[carrel "+v.Block.ID.Short()+": paged ") {
			t.Fatalf("head is %q", head)
		}
		if len(kept) > len(text)/linesShare+1 {
			t.Fatalf("%d bytes of %d are kept", len(kept), len(text))
		}
		at := 0
		for l := range strings.SplitSeq(kept, "\n") {
			if l == "" {
				continue
			}
			i := strings.Index(text[at:], l)
			if i < 0 {
				t.Fatalf("line %q is not in the block, or out of order", l)
			}
			at += i
		}
	})
}

// A stub that stands for a block is one line, whatever is in the block.
func TestLineIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := view([]transcript.Message{say(transcript.RoleUser, rapid.String().Draw(t, "text"))})
		v.Names = func(int, int, int) []string { return nil }
		s := v.Stub(Line).Text
		if strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029\x00\x1b") {
			t.Fatalf("stub is %q", s)
		}
	})
}
