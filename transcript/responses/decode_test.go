package responses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

func decode(t *testing.T, data string) *transcript.Session {
	t.Helper()
	return formattest.Decode(t, format{}, data)
}

func TestDecode(t *testing.T) {
	s := decode(t, `{"model":"gpt-6","instructions":"S","input":[{"role":"developer","content":"D"},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_file","file_url":"https://x"},{"type":"odd"}]},
		{"summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"e","id":"rs_1","type":"reasoning"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"on it"},{"type":"refusal","refusal":"no"}]},
		{"type":"web_search_call","id":"ws_1"} , {"type":"function_call","call_id":"a","name":"run","arguments":"{\"n\": 9007199254740993, \"s\": \"\\u00e9\"}"},
		{"type":"custom_tool_call","call_id":"b","name":"exec","input":"ls"},
		{"type":"local_shell_call","call_id":"c","action":{"command":["ls"]}},
		{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"ok"}]},
		{"type":"apply_patch_call_output","call_id":"d","status":"failed","output":"bad"},
		{"type":"compaction_summary","encrypted_content":"before"},
		{"type":"additional_tools","tools":[]}],"tools":[]}`)
	text := func(s string) transcript.Part { return transcript.Text(s) }
	opaque := func(kind, raw string) transcript.Part {
		return transcript.Opaque{Type: kind, Raw: []byte(raw)}
	}
	want := []transcript.Message{
		{Role: transcript.RoleSystem, Parts: []transcript.Part{text("S")}, Items: []int{1}},
		{Role: transcript.RoleSystem, Parts: []transcript.Part{text("D")}, Items: []int{3}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{
			text("look"),
			transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA", Raw: []byte(`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`)},
			transcript.Media{Kind: "document", URL: "https://x", Raw: []byte(`{"type":"input_file","file_url":"https://x"}`)},
			opaque("odd", `{"type":"odd"}`),
		}, Items: []int{5}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm\nso", Signature: "e", Redacted: true},
			text("on it"), text("no"),
			opaque("web_search_call", `{"type":"web_search_call","id":"ws_1"}`),
			transcript.ToolCall{ID: "a", Name: "run", Input: []byte(`{"n": 9007199254740993, "s": "\u00e9"}`)},
			transcript.ToolCall{ID: "b", Name: "exec", Input: []byte(`ls`)},
			transcript.ToolCall{ID: "c", Name: "local_shell", Input: []byte(`{"command":["ls"]}`)},
		}, Items: []int{7}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "a", Content: []transcript.Part{text("ok")}}}, Items: []int{9}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "d", Content: []transcript.Part{text("bad")}, Error: true}}, Items: []int{11}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{opaque("compaction", `{"type":"compaction_summary","encrypted_content":"before"}`)}, Items: []int{13}},
		{Role: transcript.RoleSystem, Parts: []transcript.Part{opaque("additional_tools", `{"type":"additional_tools","tools":[]}`)}, Items: []int{15}},
	}
	if diff := cmp.Diff(want, s.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if s.Model != "gpt-6" || s.Title != "look" || string(s.Tools) != "[]" || !strings.HasPrefix(string(s.ID), "re-") || s.Elsewhere != "" || len(s.Warnings) > 0 {
		t.Errorf("model %q, title %q, tools %s, id %q, elsewhere %q, warnings %v", s.Model, s.Title, s.Tools, s.ID, s.Elsewhere, s.Warnings)
	}
}

// Calls that the server runs or approves are no calls of the client. Calls and outputs that
// share another id than call_id are matched by that id.
func TestCallsByTheirForm(t *testing.T) {
	for _, tt := range []struct {
		name, list string
		calls      int
		orphan     bool
	}{
		{"a search of the web", `{"type":"web_search_call","id":"ws_1"}`, 0, false},
		{"a call that was approved", `{"type":"mcp_call","id":"mcp_1","approval_request_id":"mcpr_1","arguments":"{}","output":"x"}`, 0, false},
		{"a search for tools at the server", `{"type":"tool_search_call","call_id":null},{"type":"tool_search_output","call_id":null}`, 0, false},
		{"a search for tools", `{"type":"tool_search_call","call_id":"a"},{"type":"tool_search_output","call_id":"a","tools":[]}`, 1, false},
		{"an approval", `{"type":"mcp_approval_request","id":"mcpr_1"},{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}`, 1, false},
		{"a shell known by its item", `{"type":"local_shell_call","call_id":"a"},{"type":"local_shell_call_output","id":"a","output":"x"}`, 1, false},
		{"a call of tomorrow", `{"type":"dream_call","call_id":"a"},{"type":"dream_call_output","call_id":"a","output":{"n":1}}`, 1, false},
		{"an output alone", `{"type":"function_call_output","call_id":"a","output":"x"}`, 0, true},
		{"an output without an id", `{"type":"function_call_output","output":"x"}`, 0, true},
	} {
		s := decode(t, `{"input":[`+tt.list+`]}`)
		blocks := transcript.Group(s.ID, 0, s.Messages)
		if n := len(s.Messages[0].Calls()); n != tt.calls || len(blocks) != 1 || (blocks[0].Kind == transcript.KindOrphan) != tt.orphan {
			t.Errorf("%s: %d calls in blocks %v", tt.name, n, blocks)
		}
	}
}

func TestItemsByTheirForm(t *testing.T) {
	const shell, computer, summary = `"type":"shell_call_output","call_id":"a"`, `"type":"computer_call_output","call_id":"a"`, `"type":"reasoning","summary":[{"type":"summary_text","text":"S"}]`
	for item, want := range map[string]string{
		shell + `,"output":[7,{"stdout":"o","stderr":"","x":"y"},{"stderr":"e","stdout":7}]`: "tool {a [o e] false false}", shell + `,"output":"o"`: "tool {a [o] false false}",
		computer + `,"output":"o"`: "tool {a [o] false false}", computer + `,"output":null`: "tool {a [{computer_call_output [110 117 108 108]}] false false}",
		`"type":"apply_patch_call_output","call_id":"a","output":"o","status":"failed"`: "tool {a [o] true false}", `"type":"apply_patch_call_output","call_id":"a","output":"o","status":"completed"`: "tool {a [o] false false}",
		`"type":"function_call_output","call_id":"a","output":"o","status":"failed"`: "tool {a [o] false false}", summary: "assistant {S  false}", summary + `,"content":[{"type":"reasoning_text","text":"R"}]`: "assistant {R  false}", summary + `,"content":"R","encrypted_content":"e"`: "assistant {S e true}",
		`"type":"reasoning"`: "assistant {  true}", `"type":"reasoning","summary":7`: "assistant {  true}", `"type":"function_call","call_id":"a"`: "assistant {a  []}", `"type":"custom_tool_call","call_id":"a"`: "assistant {a  []}", `"type":"computer_call","call_id":"a","action":"x"`: "assistant {a computer [120]}", `"type":"computer_call","call_id":"a","name":"n"`: "assistant {a n []}",
	} {
		for _, list := range []string{"[{" + item + "}]", `{"input":[{` + item + "}]}"} {
			m := decode(t, list).Messages[0]
			if got := fmt.Sprint(m.Role, " ", m.Parts[0]); got != want || len(m.Parts) != 1 {
				t.Errorf("%s is %s, want %s", list, got, want)
			}
		}
	}
}

// Decode names the field by which a part of the history is at the server, and then reports
// no missing calls or outputs.
func TestElsewhere(t *testing.T) {
	output := `{"type":"function_call_output","call_id":"a","output":"x"}`
	for body, want := range map[string]string{
		`{"previous_response_id":"resp_1","input":[` + output + `]}`:                    "previous_response_id",
		`{"previous_response_id":null,"input":[` + output + `]}`:                        "",
		`{"input":[` + output + `],"conversation":{"id":"conv_1"}}`:                     "conversation",
		`{"input":[{"type":"item_reference","id":"fc_1"},` + output + `]}`:              "item_reference",
		`[{"type":"item_reference","id":"fc_1"},` + output + `]`:                        "item_reference",
		`{"input":[` + output + `],"store":true,"metadata":{"previous_response_id":1}}`: "",
	} {
		s := decode(t, body)
		found, err := format{}.Validate([]byte(body))
		if s.Elsewhere != want || len(s.Warnings) > 0 != (want != "") || err != nil || len(found) == 0 != (want != "") {
			t.Errorf("%s: elsewhere %q, want %q; warnings %v, violations %v, %v", body, s.Elsewhere, want, s.Warnings, found, err)
		}
		w := transcript.Whole(s)
		w.Entries = append(w.Entries, transcript.Stub("", "more"))
		if enc := formattest.Encode(t, format{}, w); want != "" && (!strings.Contains(string(enc.Data), output) || len(enc.Repairs) > 0) {
			t.Errorf("%s: written as %s, repairs %v", body, enc.Data, enc.Repairs)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "no input", In: `{"messages":[]}`, Says: "x.json:1: no list of messages"},
		{Name: "an unknown role", In: "{\"input\":[\n\n{\"role\":\"robot\"}]}", Says: `x.json:3: input.0.role: unknown role "robot"`},
		{Name: "a role that is no string", In: `[{"role":null}]`, Says: `x.json:1: 0.role: found 'n', and a string is expected`},
		{Name: "a message without a role", In: `[{"type":"message","content":"x"}]`, Says: `0: a message needs a role`},
		{Name: "neither a type nor a role", In: `[{"content":"x"}]`, Says: `0: an item needs a type, or a role`},
		{Name: "a type twice", In: `[{"type":"x","ty\u0070e":"y"}]`, Says: `0: key "type" comes twice`},
		{Name: "an item that is none", In: `{"input":["x"]}`, Says: `input.0: a message must be an object`},
		{Name: "content of another kind", In: `[{"content":{},"role":"user"}]`, Says: `0.content: '{' where an array is expected`},
		{Name: "an output of another kind", In: `[{"type":"function_call_output","output":7}]`, Says: `0.output: '7' where an array is expected`},
	})
}
