package pager

import (
	"fmt"
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
		{"what a person said without words", view([]transcript.Message{say(transcript.RoleUser, "")}), []string{"user message"}, "recall by id"},
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
		{"a report behind spaces", "one\n  \tpanic: boom  \r\n", false, "panic: boom"},
		{"the first that speaks of it", "one\nit Failed\nan ERROR\n", true, "error: it Failed"},
		{"a success of a shell is none", "Exit code 0\nok", false, ""},
		{"a failure behind a success", "Exit code 0\nFAILED: 0, passed 12\nerror: 0\nExit code 01\npanic: boom", false, "Exit code 01"},
		{"a code that begins with 0", "error: 0x80070005", false, "error: 0x80070005"},
		{"the first report", "FAIL one\npanic: two", true, "FAIL one"},
	} {
		if got := failure(transcript.ToolResult{Error: tt.failed}, tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// An entry is a message in the form that its block has: without thinking where bytes before
// it have changed, with lines in place of results, and not there at all where nothing of it
// is left.
func TestEntries(t *testing.T) {
	thinking := transcript.Thinking{}
	msgs := []transcript.Message{
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{thinking, transcript.ToolCall{ID: "1", Name: "Bash"}}},
		answer("1", "long", false),
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{thinking}},
	}
	b := &transcript.Block{ID: "b1", Messages: []int{0, 1, 2}}
	lines := Stub{Results: map[string]string{"1": "short"}}
	for agent, role := range map[bool]transcript.Role{true: transcript.RoleAssistant, false: transcript.RoleUser} {
		if e := Entries(msgs, b, Line, Stub{Text: "in place", Agent: agent}); len(e) != 1 || e[0].Role != role {
			t.Errorf("the stub of a block that the agent wrote (%v) is %+v, want the role %s", agent, e, role)
		}
	}
	for _, tt := range []struct {
		form Form
		stub Stub
		want string // parts, text and new result of each
	}{
		{Whole, Stub{}, "2: 1: 1:"},
		{Bare, Stub{}, "1: 1:"},
		{Calls, lines, "1: 1:short"},
		{Lines, Stub{Text: "in place"}, "1:in place"},
		{Line, Stub{Text: "in place"}, "1:in place"},
		{Gone, Stub{}, ""},
	} {
		var got []string
		for _, e := range Entries(msgs, b, tt.form, tt.stub) {
			got = append(got, fmt.Sprintf("%d:%s%s", len(e.Parts), e.Text(), e.Replaced["1"]))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: entries %q, want %q", tt.form, got, tt.want)
		}
	}
}

// The most informative argument of a call is the first non-empty one of a fixed list of keys.
func TestDescribeCalls(t *testing.T) {
	for _, tt := range []struct {
		name, input, what, excerpt string
	}{
		{"a command", `{"path":"a","command":"ls"}`, "Bash", "ls"},
		{"an empty command", `{"command":"","path":"a.go"}`, "Bash", "a.go"},
		{"a command that is no text", `{"command":5,"file_path":"a.go","path":"b"}`, "Bash", "a.go"},
		{"nothing of these", `{"x":  5}`, "Bash", `{"x": 5}`},
		{"control characters, and the mark of a character that was lost", `{"command":"a\u0007\u001b b \n\t c\ufffd d"}`, "Bash", "a b c\ufffd d"},
		{"a text of a hundred characters", `{"command":"` + strings.Repeat("é", 100) + `  "}`, "Bash", strings.Repeat("é", 100)},
		{"a longer one", `{"command":"` + strings.Repeat("é", 101) + `"}`, "Bash", strings.Repeat("é", 100) + "…"},
	} {
		msgs := []transcript.Message{call("1", "Bash", tt.input), answer("1", "ok", false)}
		what, excerpt := Describe(msgs, view(msgs).Block)
		if what != tt.what || excerpt != tt.excerpt {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, what, excerpt, tt.what, tt.excerpt)
		}
	}
	calls := func(names ...string) string {
		m := transcript.Message{Role: transcript.RoleAssistant}
		for i, n := range names {
			m.Parts = append(m.Parts, transcript.ToolCall{ID: string(rune('a' + i)), Name: n, Input: []byte(`{"path":"p` + n + `"}`)})
		}
		msgs := []transcript.Message{m}
		what, excerpt := Describe(msgs, &transcript.Block{Kind: transcript.KindTool, Messages: []int{0}})
		return what + " " + excerpt
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"A", "B", "A"}, "A+B pA; pB; pA"},
		{[]string{"A", "B", "C"}, "A+B+C pA; pB; pC"},
		{[]string{"A", "B", "C", "D"}, "A+B+C+… pA; pB; pC; pD"},
	} {
		if got := calls(tt.names...); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.names, got, tt.want)
		}
	}
}

// A head names two calls with the ends of their paths, a tool once for calls in a row, and
// how many calls there are besides.
func TestHeadOfSeveralCalls(t *testing.T) {
	for _, tt := range []struct {
		calls []string // name and path
		want  string
	}{
		{[]string{"Read a/b/c.go"}, "Read b/c.go"},
		{[]string{"Read /c.go"}, "Read /c.go"},
		{[]string{"Read c.go", "Read d/e.go"}, "Read c.go d/e.go"},
		{[]string{"Read a.go", "Edit b.go"}, "Read a.go Edit b.go"},
		{[]string{"Read a.go", "Edit b.go", "Read c.go"}, "Read a.go Edit b.go +1"},
		{[]string{"Read a.go", "Edit b.go", "Read c.go", "Read d.go"}, "Read a.go Edit b.go +2"},
	} {
		m := transcript.Message{Role: transcript.RoleAssistant}
		for i, c := range tt.calls {
			name, path, _ := strings.Cut(c, " ")
			m.Parts = append(m.Parts, transcript.ToolCall{ID: string(rune('a' + i)), Name: name, Input: []byte(`{"file_path":"` + path + `"}`)})
		}
		v := view([]transcript.Message{m, {Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "a"}}}})
		if got, want := v.Head(), "[carrel "+v.Block.ID.Short()+" "+tt.want+"]"; got != want {
			t.Errorf("%q: head %q, want %q", tt.calls, got, want)
		}
	}
}

// A block cut to lines has those with the most names, of equal ones the first, and in the
// order of the text, as far as a fourth of its bytes goes.
func TestLinesWithTheMostNames(t *testing.T) {
	pad := strings.Repeat("nothing here\n", 10)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"the one with two names", "a.go\nsome of b.go c.go  \n" + pad, []string{"a.go", "some of b.go c.go"}},
		{"as far as there is room", "some words of a.go\nother words of b.go c.go\n" + strings.Repeat("nothing\n", 9), []string{"other words of b.go c.go"}},
		{"the first of equal ones", "one line with a.go\ntwo lines with b.go\n" + strings.Repeat("x\n", 30), []string{"one line with a.go"}},
		{"a line of 400 bytes", "b.go\na.go" + strings.Repeat("x", 396) + "\n" + strings.Repeat(pad, 20), []string{"b.go", "a.go" + strings.Repeat("x", 396)}},
		{"but none that is longer", "b.go\na.go" + strings.Repeat("x", 397) + "\n" + strings.Repeat(pad, 20), []string{"b.go"}},
		{"exactly a fourth", "a.go\n" + strings.Repeat("x", 14), []string{"a.go"}},
		{"no room", "a.go\n" + strings.Repeat("x", 13), nil},
	} {
		v := view([]transcript.Message{say(transcript.RoleUser, tt.text)})
		_, kept, _ := strings.Cut(v.Stub(Lines).Text, "\n")
		if want := strings.Join(tt.want, "\n"); kept != want {
			t.Errorf("%s: %q, want %q", tt.name, kept, want)
		}
	}
}

// An identifier that one part of a block names is not named again for the next part.
func TestResultsNameTheirOwn(t *testing.T) {
	long := strings.Repeat("x", 200)
	msgs := []transcript.Message{
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Text("a.b"), transcript.ToolCall{ID: "1", Name: "R", Input: []byte("{}")}, transcript.ToolCall{ID: "2", Name: "R", Input: []byte("{}")},
		}},
		answer("1", "c.d "+long, false), answer("2", "e.f "+long, false),
	}
	got := view(msgs).Stub(Calls).Results
	for id, name := range map[string]string{"1": "c.d", "2": "e.f"} {
		if !strings.HasSuffix(got[id], "; recall by id] "+name) {
			t.Errorf("the line of result %s is %q, want it to name %s alone", id, got[id], name)
		}
	}
}

// A result that is shorter than its line stays.
func TestShortResultsStay(t *testing.T) {
	v := view([]transcript.Message{call("1", "Bash", `{}`), answer("1", "ok", false)})
	if got := v.Stub(Calls); len(got.Results) != 0 {
		t.Errorf("stub is %+v, want none", got)
	}
	for n := range 200 {
		v := view([]transcript.Message{call("1", "Bash", `{}`), answer("1", strings.Repeat("x", n), false)})
		if line, ok := v.Stub(Calls).Results["1"]; ok && len(line) != n-1 {
			t.Errorf("the line of a result of %d bytes has %d: the first to leave has one byte more than its line", n, len(line))
		} else if ok {
			break
		}
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

// Two stubs are the same if they say the same in the same voice, with the same results.
func TestSameStub(t *testing.T) {
	a := Stub{Text: "a", Agent: true, Results: map[string]string{"1": "short"}}
	for name, tt := range map[string]struct {
		b    Stub
		want bool
	}{
		"the same":       {Stub{Text: "a", Agent: true, Results: map[string]string{"1": "short"}}, true},
		"another text":   {Stub{Text: "b", Agent: true, Results: map[string]string{"1": "short"}}, false},
		"another voice":  {Stub{Text: "a", Results: map[string]string{"1": "short"}}, false},
		"another result": {Stub{Text: "a", Agent: true, Results: map[string]string{"1": "long"}}, false},
	} {
		if got := a.Same(&tt.b); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// The size of a result is the sum of the sizes of its parts.
func TestSizeOfAResult(t *testing.T) {
	r := transcript.ToolResult{Content: []transcript.Part{transcript.Text("abc"), transcript.Media{Raw: []byte("1234")}, transcript.Opaque{Raw: []byte("12345")}}}
	if got := size(r); got != 12 {
		t.Errorf("got %d, want 12", got)
	}
}
