package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bash returns the input of an event for the result of a command.
func bash(t *testing.T, tool string, response any, input ...string) []byte {
	t.Helper()
	in := map[string]any{"session_id": "s", "transcript_path": "/t/s.jsonl", "tool_name": tool, "tool_response": response}
	if len(input) > 0 {
		in["tool_input"] = json.RawMessage(input[0])
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A result is looked at if the event is larger than the bound, and a text of it is taken
// if that is larger.
func TestLargeIsAboveTheBound(t *testing.T) {
	input := bash(t, "Bash", map[string]any{"stdout": strings.Repeat("x", 300), "stderr": strings.Repeat("y", 200)})
	for _, tt := range []struct {
		large int
		want  []string
	}{
		{len(input), nil},
		{300, nil},
		{299, []string{"stdout"}},
		{200, []string{"stdout"}},
		{199, []string{"stdout", "stderr"}},
	} {
		e, err := (claude{}).read("PostToolUse", input, tt.large)
		if err != nil || len(e.outputs) != len(tt.want) || (e.kind == kindResult) != (tt.want != nil) || e.Session != "s" {
			t.Errorf("above %d: %+v, %v, want %q", tt.large, e, err, tt.want)
		}
	}
	if _, err := (claude{}).read("PostToolUse", append(input, '}'), 1); err == nil {
		t.Error("what is no JSON is read")
	}
	for _, tt := range []struct {
		d     Dialect
		event string
	}{{claude{}, "PostToolUse"}, {codex{}, "PostToolUse"}, {geminiCLI{}, "AfterTool"}} {
		e, err := tt.d.read(tt.event, append(input, '}'), len(input)+1)
		if err != nil || e.kind != kindNone {
			t.Errorf("what is small is looked at: %+v, %v", e, err)
		}
	}
}

func TestKindsOfEvents(t *testing.T) {
	for _, tt := range []struct {
		event, source string
		kind          kind
		waited, holds bool
	}{
		{"SessionStart", "startup", kindBegun, false, true},
		{"SessionStart", "compact", kindCompacted, false, true},
		{"PreCompact", "compact", kindCompacting, false, true},
		{"PostCompact", "compact", kindGrown, false, false},
		{"Stop", "", kindGrown, true, false},
		{"SessionEnd", "", kindGrown, false, false},
		{"UserPromptSubmit", "compact", kindGrown, false, true},
		{"Notification", "", kindNone, false, true},
	} {
		input := fmt.Appendf(nil, `{"session_id":"s","transcript_path":"/t/s.jsonl","source":%q}`, tt.source)
		e, err := (claude{}).read(tt.event, input, 0)
		if err != nil || e.kind != tt.kind || e.waited != tt.waited || (e.Session == "s") != tt.holds {
			t.Errorf("%s of %q: %+v, %v", tt.event, tt.source, e, err)
		}
	}
}

// A pointer takes the place of the text that it is of, and of nothing else.
func TestPointersTakeThePlaceOfTexts(t *testing.T) {
	for _, tt := range []struct {
		name, tool, response string
		old, texts           []string
		want                 string
	}{
		{"the only one", "Bash", `{"stdout":"abc","stderr":"<b>"}`, []string{"abc"}, []string{"[1]"}, `{"stderr":"<b>","stdout":"[1]"}`},
		{"the second one", "Bash", `{"stdout":"abc","stderr":"def"}`, []string{"def"}, []string{"[1]"}, `{"stderr":"[1]","stdout":"abc"}`},
		{"one of two could not be kept", "Bash", `{"stdout":"abc","stderr":"def"}`, []string{"abc", "def"}, []string{"", "[2]"}, `{"stderr":"[2]","stdout":"abc"}`},
		{"the first of two could", "Bash", `{"stdout":"abc","stderr":"def"}`, []string{"abc", "def"}, []string{"[1]", ""}, `{"stderr":"def","stdout":"[1]"}`},
		{"none could be kept", "Bash", `{"stdout":"abc"}`, []string{"abc"}, []string{""}, ""},
		{"it is not there", "Bash", `{"stdout":"abc"}`, []string{"xyz"}, []string{"[1]"}, ""},
		{"a picture", "Bash", `{"stdout":"abc","isImage":true}`, []string{"abc"}, []string{"[1]"}, ""},
		{"a structure", "Bash", `{"stdout":"abc","structuredContent":{}}`, []string{"abc"}, []string{"[1]"}, ""},
		{"a list of texts", "mcp__desk__x", `[{"type":"text","text":"abc"},{"type":"image"}]`, []string{"abc"}, []string{"[1]"}, `[{"text":"[1]","type":"text"},{"type":"image"}]`},
		{"a member without a name", "mcp__desk__x", `{"":"abc"}`, []string{"abc"}, []string{"[1]"}, ""},
		{"a text alone", "mcp__desk__x", `"abc"`, []string{"abc"}, []string{"[<1>]"}, `"[<1>]"`},
		{"a file that the client made", "Bash", `{"stdout":"abc","persistedOutputPath":"/t/s/out.txt","persistedOutputSize":9}`, []string{"abc"}, []string{"[1]"}, `{"stdout":"[1]"}`},
		{"a file whose text stays", "Bash", `{"stdout":"abc","stderr":"def","persistedOutputPath":"/t/s/out.txt","persistedOutputSize":9}`, []string{"abc", "def"}, []string{"", "[1]"}, `{"persistedOutputPath":"/t/s/out.txt","persistedOutputSize":9,"stderr":"[1]","stdout":"abc"}`},
		{"a file of another session", "Bash", `{"stdout":"abc","persistedOutputPath":"/t/other/out.txt","persistedOutputSize":9}`, []string{"abc"}, []string{"[1]"}, `{"persistedOutputPath":"/t/other/out.txt","persistedOutputSize":9,"stdout":"[1]"}`},
	} {
		in := &claudeEvent{Transcript: "/t/s.jsonl", Tool: tt.tool, Response: json.RawMessage(tt.response)}
		var old []output
		for _, text := range tt.old {
			old = append(old, output{text: text})
		}
		got, err := in.with(old, tt.texts)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	lossy := &claudeEvent{Tool: "Bash", Response: json.RawMessage(`{"stdout":"abc","stderr":"\ud800"}`)}
	if got, err := lossy.with([]output{{text: "abc"}}, []string{"[1]"}); !errors.Is(err, errLossy) {
		t.Errorf("beside a text that is no Unicode: %s, %v", got, err)
	}
	for response, want := range map[string]file{
		`{"persistedOutputPath":"/t/s/out.txt","persistedOutputSize":1}`:      {"/t/s/out.txt", 1},
		`{"persistedOutputPath":"/t/s/out.txt","persistedOutputSize":0}`:      {},
		`{"persistedOutputPath":"/t/s/out.txt","persistedOutputSize":-1}`:     {},
		`{"persistedOutputPath":"/t/s/../x/out.txt","persistedOutputSize":1}`: {},
		`{"persistedOutputPath":"","persistedOutputSize":1}`:                  {},
		`{}`: {},
	} {
		if got := (&claudeEvent{Transcript: "/t/s.jsonl", Response: json.RawMessage(response)}).persisted(); got != want {
			t.Errorf("%s: %+v, want %+v", response, got, want)
		}
	}
}

func TestAnswersAreWritten(t *testing.T) {
	e, err := (claude{}).read("PostToolUse", bash(t, "Bash", map[string]any{"stdout": "abc"}), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		a    answer
		want string
	}{
		{"to keep", answer{keep: "Keep <this>", context: "x"}, "Keep <this>"},
		{"a context", answer{context: "a & b"}, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"a & b"}}`},
		{"an output", answer{outputs: []string{"[1]"}}, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"[1]"}}}`},
		{"an output that stays", answer{outputs: []string{""}}, ""},
		{"nothing", answer{}, ""},
	} {
		got, err := (claude{}).write("PostToolUse", e, &tt.a)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// A text is taken if it is known byte for byte.
func TestTextsAreKnown(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `"\ud83d\ude00"`: "😀", `"` + "\uFFFD" + `"`: "\uFFFD", `"\ufffd\uFFFD"`: "\uFFFD\uFFFD",
	} {
		if got, err := (&claudeEvent{}).textOf(json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{`"\ud800"`, `"\ufffd\ud800"`, "\"\uFFFD\\ud800\"", "\"\xff\""} {
		if got, err := (&claudeEvent{}).textOf(json.RawMessage(raw)); !errors.Is(err, errLossy) {
			t.Errorf("%s: %q, %v, want that it is no Unicode", raw, got, err)
		}
	}
	for raw, path := range map[string]string{`{"a":"\ud800"}`: "a", `{"a":["x","\ud800"]}`: "a.*"} {
		if got, err := (&claudeEvent{}).replaceAt(json.RawMessage(raw), path, func(s string) (string, bool) { return s + s, true }); !errors.Is(err, errLossy) {
			t.Errorf("%s at %q: %s, %v, want that it is no Unicode", raw, path, got, err)
		}
	}
	// What is at no such place is left alone.
	for _, tt := range []struct{ raw, path, want string }{
		{`{"a":"x"}`, "a", `{"a":"X"}`},
		{`{"a":"x"}`, "b", `{"a":"x"}`},
		{`{"a":1}`, "a", `{"a":1}`},
		{`{"a":"x"}`, "*", `{"a":"x"}`},
		{`{"a":"x"}`, "", `{"a":"x"}`},
		{`["x",1,"y"]`, "*", `["X",1,"Y"]`},
		{`[1, 2]`, "*", `[1, 2]`},
		{`["x"]`, "a", `["x"]`},
		{`"x"`, "a", `"x"`},
		{`{"":"x"}`, "", `{"":"x"}`},
		{``, "a", ``},
	} {
		got, err := (&claudeEvent{}).replaceAt(json.RawMessage(tt.raw), tt.path, func(s string) (string, bool) { return strings.ToUpper(s), true })
		if diff := cmp.Diff(tt.want, string(got)); err != nil || diff != "" {
			t.Errorf("%s at %q: %v (-want +got):\n%s", tt.raw, tt.path, err, diff)
		}
	}
}

// Nothing that a client sends makes the dialect panic or print what is no JSON.
func FuzzClaude(f *testing.F) {
	f.Add("PostToolUse", `{"tool_name":"Bash","tool_response":{"stdout":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}`)
	f.Add("PostToolUse", `{"tool_name":"mcp__a__b","tool_response":[{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]}`)
	f.Add("SessionStart", `{"source":"compact"}`)
	f.Fuzz(func(t *testing.T, event, input string) {
		e, err := Claude.read(event, []byte(input), 32)
		if err != nil {
			return
		}
		a := &answer{context: "context", outputs: make([]string, len(e.outputs))}
		for i := range a.outputs {
			a.outputs[i] = "pointer"
		}
		if out, err := Claude.write(event, e, a); e.kind != kindNone && (err != nil || !json.Valid(out)) {
			t.Errorf("printed %s, %v", out, err)
		}
	})
}
