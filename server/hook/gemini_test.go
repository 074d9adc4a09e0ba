package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// geminiInput returns the input of an event for the result of a tool.
func geminiInput(t *testing.T, tool string, content any) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": "/t/s.jsonl", "tool_name": tool, "tool_input": map[string]any{"command": "cat log"},
		"tool_response": map[string]any{"llmContent": content, "returnDisplay": "shown"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A result that is text alone, and larger than the bound, is taken.
func TestGeminiTakesLargeTexts(t *testing.T) {
	long := strings.Repeat("long ", 100)
	part := func(text string) map[string]any { return map[string]any{"text": text} }
	for _, tt := range []struct {
		name, tool string
		content    any
		want       string
	}{
		{"a text", "run_shell_command", long, long},
		{"a part", "read_file", part(long), long},
		{"parts", "mcp_desk_look", []any{part(long), part("more")}, long + "\nmore"},
		{"a short text", "run_shell_command", "short", ""},
		{"a text of the bound", "run_shell_command", long[:300], ""},
		{"a text above the bound", "run_shell_command", long[:301], long[:301]},
		{"a part with more than a text", "read_file", map[string]any{"text": long, "thought": true}, ""},
		{"parts that are no Unicode", "read_file", []any{part(long), part("\uFFFD")}, ""},
		{"a list with a number", "read_file", []any{part(long), 7}, ""},
		{"a long number", "read_file", json.RawMessage(strings.Repeat("7", 400)), ""},
		{"a picture", "read_file", map[string]any{"inlineData": map[string]any{"data": long}}, ""},
		{"a picture beside a text", "read_file", []any{part(long), map[string]any{"inlineData": map[string]any{"data": "x"}}}, ""},
		{"what is no Unicode", "run_shell_command", long + "\uFFFD", ""},
		{"nothing", "run_shell_command", nil, ""},
		{"what was recalled", "mcp_carrel_recall", long, ""},
	} {
		e, err := (geminiCLI{}).read("AfterTool", geminiInput(t, tt.tool, tt.content), 300)
		if err != nil || e.Session != "s" || e.Format != "geminicli" || (e.kind == kindResult) != (tt.want != "") {
			t.Errorf("%s: %+v, %v", tt.name, e, err)
			continue
		}
		if tt.want != "" && (len(e.outputs) != 1 || e.outputs[0].text != tt.want || !e.waited || !strings.HasPrefix(e.title, tt.tool+" cat log")) {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
	if _, err := (geminiCLI{}).read("AfterTool", append(geminiInput(t, "x", long), '}'), 1); err == nil {
		t.Error("what is no JSON is read")
	}
}

// The greeting is said once, and again with what must survive once the client has compacted.
func TestGeminiIsGreetedOnce(t *testing.T) {
	const begun = `{"sessionId":"s"}` + "\n" + `{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>"}]}]}}` + "\n"
	said := `{"id":"u","type":"user","content":[{"text":"go"},{"text":"<hook_context>` + strings.ReplaceAll(greeting, `"`, `\"`) + `</hook_context>"}]}` + "\n"
	const compacted = `{"$set":{"messages":[{"id":"z","type":"user","content":[{"text":"<state_snapshot>\n"}]}]}}` + "\n"
	for _, tt := range []struct {
		name, event, file string
		kind              kind
		waited            bool
	}{
		{"the first prompt", "BeforeAgent", begun, kindBegun, false},
		{"another prompt", "BeforeAgent", begun + said, kindNone, false},
		{"the first behind a compaction", "BeforeAgent", begun + said + compacted, kindCompacted, false},
		{"the next one", "BeforeAgent", begun + said + compacted + said, kindNone, false},
		{"a long conversation", "BeforeAgent", begun + said + strings.Repeat("x", 2<<20), kindNone, false},
		{"a long conversation behind a compaction", "BeforeAgent", begun + said + compacted + strings.Repeat("x", 2<<20), kindCompacted, false},
		{"a greeting and nothing before it", "BeforeAgent", greeting, kindNone, false},
		{"a prompt without a file", "BeforeAgent", "", kindBegun, false},
		{"an answer", "AfterAgent", begun, kindGrown, true},
		{"the end", "SessionEnd", begun, kindGrown, false},
		{"the start", "SessionStart", begun, kindNone, false},
		{"a call of a model", "PreCompress", begun, kindNone, false},
		{"anything else", "Notification", begun, kindNone, false},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if tt.file != "" {
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e, err := (geminiCLI{}).read(tt.event, fmt.Appendf(nil, `{"session_id":"s","transcript_path":%q,"source":"startup"}`, path), 1000)
		named := tt.event == "BeforeAgent" || tt.event == "AfterAgent" || tt.event == "SessionStart"
		if err != nil || e.kind != tt.kind || e.kind != kindNone && e.waited != tt.waited || (e.Session == "s") != named {
			t.Errorf("%s: %+v, %v", tt.name, e, err)
		}
	}
}

func TestGeminiAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind kind
		a    answer
		want string
	}{
		{"a context", kindBegun, answer{context: "a & b"}, `{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a & b"}}`},
		{"an output", kindResult, answer{outputs: []string{"[carrel: stashed]\n"}}, `{"decision":"deny","reason":"[carrel: stashed]\n(The tool has run. This is no error: the text above replaces the tool's result.)"}`},
		{"an output that stays", kindResult, answer{outputs: []string{""}}, ""},
		{"nothing", kindCompacted, answer{}, ""},
	} {
		got, err := (geminiCLI{}).write("E", &Event{kind: tt.kind}, &tt.a)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	got, err := (geminiCLI{}).write("BeforeAgent", &Event{kind: kindCompacted}, &answer{context: "the rest"})
	var out struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err != nil || json.Unmarshal(got, &out) != nil || out.Specific.Context != greeting+"\n\nthe rest" {
		t.Errorf("%s, %v", got, err)
	}
}
