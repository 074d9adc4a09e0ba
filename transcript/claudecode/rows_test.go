package claudecode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// Without its thinking, a row with other parts stays, and a row without other parts is dropped.
func TestReduceThinking(t *testing.T) {
	const thought = `{"type":"thinking","thinking":"hm","signature":"c2ln"}`
	const hidden = `{"type":"redacted_thinking","data":"eA=="}`
	const text = `{"type":"text","text":"said"}`
	for _, tt := range []struct{ content, want string }{
		{thought + "," + text, text},
		{text + "," + thought, text},
		{thought + "," + text + "," + hidden, text},
		{text + "," + thought + "," + text, text + "," + text},
		{text, text},
		{"", ""},
		{text + "," + thought + "," + thought, text},
		{text + "," + hidden + "," + thought + "," + hidden, text},
		{thought, "gone"},
		{thought + "," + hidden, "gone"},
	} {
		raw := []byte(`{"type":"assistant","message":{"content":[` + tt.content + `]}}`)
		want := `{"type":"assistant","message":{"content":[` + tt.want + `]}}`
		if tt.want == "gone" {
			want = ""
		}
		if got := string(reduce(raw, &transcript.Entry{Bare: true})); got != want {
			t.Errorf("%s becomes %s, want %s", tt.content, got, want)
		}
		if got := string(reduce(raw, &transcript.Entry{})); got != string(raw) {
			t.Errorf("%s becomes %s, though its thinking stays", tt.content, got)
		}
	}
}

// The new text of a result replaces its old content, and no other result's. The copy of the
// result in toolUseResult becomes null.
func TestReduceResults(t *testing.T) {
	en := &transcript.Entry{Replaced: map[string]string{"t1": "<new>", "t3": "<more>"}}
	for _, tt := range []struct{ raw, want string }{
		{`{"message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"old"}]},"toolUseResult":{"a":1}}`, `{"message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"<new>"}]},"toolUseResult":null}`},
		{`{"message":{"content":[{"tool_use_id":"t1","type":"tool_result"}]}}`, `{"message":{"content":[{"content":"<new>","tool_use_id":"t1","type":"tool_result"}]}}`},
		{`{"message":{"content":[{"tool_use_id":"t2","type":"tool_result","content":"old"}]},"toolUseResult":{"a":1}}`, `{"message":{"content":[{"tool_use_id":"t2","type":"tool_result","content":"old"}]},"toolUseResult":{"a":1}}`},
		{`{"message":{"content":[{"tool_use_id":"t1","type":"tool_result"},{"tool_use_id":"t3","type":"tool_result","content":"old"}]}}`, `{"message":{"content":[{"content":"<new>","tool_use_id":"t1","type":"tool_result"},{"tool_use_id":"t3","type":"tool_result","content":"<more>"}]}}`},
		{`{"message":{"content":"t1"}}`, `{"message":{"content":"t1"}}`},
	} {
		if got := string(reduce([]byte(tt.raw), en)); got != tt.want {
			t.Errorf("%s becomes\n%s, want\n%s", tt.raw, got, tt.want)
		}
	}
}

// Times rise: a row's time before that of the preceding row is raised to it; other times
// stay.
func TestTimesRise(t *testing.T) {
	row := func(id, parent, stamp, text string) string {
		p := "null"
		if parent != "" {
			p = `"` + parent + `"`
		}
		return `{"type":"user","uuid":"` + id + `","parentUuid":` + p + `,"sessionId":"s","timestamp":"2026-01-01T00:00:` + stamp + `.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	s, err := format{}.Decode("x.jsonl", []byte(row("a", "", "10", "one")+row("b", "a", "30", "two")+row("c", "b", "20", "three")+row("d", "c", "40", "four")))
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.Entries = append(w.Entries[:1:1], append([]transcript.Entry{transcript.Stub("x", "a stub")}, w.Entries[1:]...)...)
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out.Data)) {
		var r struct{ Timestamp string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Timestamp[17:19])
	}
	if diff := cmp.Diff([]string{"10", "10", "30", "30", "40"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each part that the format cannot hold is reported once, with its message and size.
func TestLossesAreReported(t *testing.T) {
	s := &transcript.Session{Format: "openai", Messages: []transcript.Message{
		{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("be kind")}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("go"), transcript.Media{Kind: "image", Raw: []byte(`{"x":1}`)}}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hmm"},
			transcript.Opaque{Type: "odd", Raw: []byte(`{}`)},
			transcript.ToolCall{ID: "t1", Name: "f", Input: []byte(`[1]`)},
		}},
	}}
	out, err := format{}.Encode(transcript.Whole(s))
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Loss{
		{Message: 0, What: "system text (the agent has its own)", Count: 1, Bytes: 7},
		{Message: 1, What: "image", Count: 1, Bytes: 7},
		{Message: 2, What: "thinking", Count: 1, Bytes: 3},
		{Message: 2, What: "odd", Count: 1, Bytes: 2},
		{Message: 2, What: "arguments that are not an object (wrapped)", Count: 1, Bytes: 3},
	}
	if diff := cmp.Diff(want, out.Losses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Messages = s.Messages[:1]
	alone, err := format{}.Encode(transcript.Whole(s))
	if err != nil || len(alone.Data) > 0 || len(alone.Losses) != 1 {
		t.Errorf("system text alone becomes %q, losses %v, %v", alone.Data, alone.Losses, err)
	}
	if !strings.Contains(string(out.Data), `"input":{"_raw":"[1]"}`) {
		t.Errorf("the arguments are not wrapped:\n%s", out.Data)
	}
}
