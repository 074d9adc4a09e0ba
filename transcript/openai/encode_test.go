package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

func decode(t *testing.T, data string) *transcript.Session {
	t.Helper()
	return formattest.Decode(t, format{}, data)
}

func TestDecode(t *testing.T) {
	s := decode(t, `{"model":"gpt-5","messages":[{"role":"developer","content":"D"},
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"input_audio","input_audio":{"data":"BBBB","format":"mp3"}},{"type":"odd"}]},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"run","arguments":"{\"n\": 9007199254740993, \"s\": \"\\u00e9\"}"}}],"content":"on it","reasoning_content":"hm"},
		{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"ok"}]},
		{"role":"assistant","content":null,"refusal":"no"}],"tools":[]}`)
	want := []transcript.Message{
		{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("D")}, Items: []int{1}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{
			transcript.Text("look"),
			transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA", Raw: []byte(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`)},
			transcript.Media{Kind: "audio", MIME: "audio/mp3", Data: "BBBB", Raw: []byte(`{"type":"input_audio","input_audio":{"data":"BBBB","format":"mp3"}}`)},
			transcript.Opaque{Type: "odd", Raw: []byte(`{"type":"odd"}`)},
		}, Items: []int{3}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm"},
			transcript.Text("on it"),
			transcript.ToolCall{ID: "a", Name: "run", Input: []byte(`{"n": 9007199254740993, "s": "\u00e9"}`)},
		}, Items: []int{5}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: "a", Content: []transcript.Part{transcript.Text("ok")}},
		}, Items: []int{7}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("no")}, Items: []int{9}},
	}
	if diff := cmp.Diff(want, s.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if s.Model != "gpt-5" || s.Title != "look" || string(s.Tools) != "[]" || !strings.HasPrefix(string(s.ID), "oa-") {
		t.Errorf("model %q, title %q, tools %s, id %q", s.Model, s.Title, s.Tools, s.ID)
	}
}

// A function_call and the function message with its result are one block.
func TestDecodeLegacy(t *testing.T) {
	s := decode(t, `[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"1"}},
		{"role":"function","name":"f","content":"one"},{"role":"function","name":"f","content":"orphan"}]`)
	blocks := transcript.Group(s.ID, 0, s.Messages)
	if len(blocks) != 2 || !cmp.Equal(blocks[0].Messages, []int{0, 1}) || blocks[1].Kind != transcript.KindOrphan {
		t.Errorf("blocks are %v", blocks)
	}
}

func TestDecodeRefuses(t *testing.T) {
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "no messages", In: `{"input":"x"}`, Says: "x.json:1: no list of messages"},
		{Name: "an unknown role", In: "{\"messages\":[\n\n{\"role\":\"robot\"}]}", Says: `x.json:3: messages.0.role: unknown role "robot"`},
		{Name: "a role that is no string", In: `[{"role":null}]`, Says: `x.json:1: 0.role: found 'n', and a string is expected`},
		{Name: "a role twice", In: `[{"role":"user","ro\u006ce":"system"}]`, Says: `0: key "role" comes twice`},
		{Name: "a message that is none", In: `[7]`, Says: `0: a message must be an object`},
		{Name: "no message at all", In: `[}`, Says: `0: '}' where a value is expected`},
		{Name: "content of another kind", In: `[{"role":"user","content":{}}]`, Says: `0.content: '{' where an array is expected`},
		{Name: "a call that is none", In: `[{"role":"assistant","tool_calls":[1]}]`, Says: `0.tool_calls.0: '1' where an object is expected`},
	})
}

const talk = `{"messages":[
  {"role":"system","content":"S"},
  {"role":"user","content":"go"},
  {"content":null , "reasoning_content":"<hm>", "role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"run","arguments":"{ \"x\":1.0 }"}}],"reasoning_details":[]},
  {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"long"}],"x":1},
  {"role":"assistant","content":"done"}
 ],"seed":9007199254740993}`

func TestEncodeOwn(t *testing.T) {
	formattest.Edits(t, format{}, talk, []formattest.Edit{
		{
			Name:   "reasoning is cut out and nothing else",
			Change: func(w *transcript.Window) { w.Entries[2] = w.Entries[2].WithoutThinking() },
			Want: func(s string) string {
				s = strings.Replace(s, `"reasoning_content":"<hm>", `, "", 1)
				return strings.Replace(s, `,"reasoning_details":[]`, "", 1)
			},
		},
		{
			Name:   "a result gets another text and nothing else",
			Change: func(w *transcript.Window) { w.Entries[3] = w.Entries[3].WithResult("a", "<cut> & \"paged\"\n") },
			Want: func(s string) string {
				return strings.Replace(s, `[{"type":"text","text":"long"}]`, `"<cut> & \"paged\"\n"`, 1)
			},
		},
		{
			Name:   "a message is added in the style of the file",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries, transcript.Stub("", "<next>")) },
			Want: func(s string) string {
				last := `{"role":"assistant","content":"done"}`
				return strings.Replace(s, last, last+",\n  "+`{"role": "user", "content": "<next>"}`, 1)
			},
		},
		{
			Name:   "the first message goes",
			Change: func(w *transcript.Window) { w.Entries = w.Entries[1:] },
			Want: func(s string) string {
				return strings.Replace(s, `{"role":"system","content":"S"},`+"\n  ", "", 1)
			},
		},
		{
			Name:   "everything goes",
			Change: func(w *transcript.Window) { w.Entries = nil },
			Want: func(s string) string {
				return s[:strings.Index(s, "[")+1] + s[strings.Index(s, "],\"seed\""):]
			},
		},
		{
			Name:   "an interrupted call gets a result",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries[:3:3], w.Entries[4]) },
			Want: func(s string) string {
				old := `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"long"}],"x":1}`
				return strings.Replace(s, old, `{"role": "tool", "tool_call_id": "a", "content": "`+transcript.Interrupted+`"}`, 1)
			},
			Fixes: 1,
		},
	})
}

// A session of another format is written from its parts.
func TestEncodeOther(t *testing.T) {
	s := formattest.ForeignSession()
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	id := chat.CallID(false, formattest.LongID)
	want := `{"messages": [` + strings.Join([]string{
		`{"role": "system", "content": "S"}`,
		`{"role": "user", "content": [{"type": "text", "text": "look <here>"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, {"type": "text", "text": "[document text/plain]"}]}`,
		`{"role": "assistant", "content": "one\ntwo", "tool_calls": [{"id": "` + id + `", "type": "function", "function": {"name": "run", "arguments": "{\"n\": 1e400, \"t\": \"<\"}"}}, {"id": "b", "type": "function", "function": {"name": "unknown", "arguments": "oops"}}]}`,
		`{"role": "tool", "tool_call_id": "` + id + `", "content": "seen\n[image image/png]"}`,
		`{"role": "tool", "tool_call_id": "b", "content": ""}`,
		`{"role": "user", "content": "and?"}`,
		`{"role": "system", "content": [{"type": "text", "text": "[image image/png]"}]}`,
	}, ", ") + `]}`
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
	losses := []transcript.Loss{
		{Message: -1, What: "tools", Count: 1, Bytes: 3},
		{Message: 1, What: "document", Count: 1, Bytes: 2},
		{Message: 2, What: "thinking", Count: 1, Bytes: 5},
		{Message: 4, What: "image", Count: 1, Bytes: 5},
		{Message: 5, What: `"odd"`, Count: 1, Bytes: 2},
		{Message: 6, What: "image", Count: 1, Bytes: 5},
	}
	if diff := cmp.Diff(losses, enc.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	const (
		ask    = `{"role":"user","content":"go"}`
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"run","arguments":"{}"}}]}`
		answer = `{"role":"tool","tool_call_id":"a","content":"ok"}`
	)
	for _, tt := range []struct {
		name string
		list []string
		want []string // as "rule message"
	}{
		{"a sound conversation", []string{ask, call, answer, ask}, nil},
		{"a pending call", []string{ask, call}, nil},
		{"an id used again in another reply", []string{ask, call, answer, call, answer}, nil},
		{"no messages", nil, []string{"X0 -1"}},
		{"no content", []string{`{"role":"user"}`}, []string{"X0 0"}},
		{"an empty reply", []string{ask, `{"role":"assistant","content":null}`}, []string{"X0 1"}},
		{"a spoken reply", []string{ask, `{"role":"assistant","content":null,"audio":{"id":"x"}}`}, nil},
		{"an unanswered call", []string{ask, call, ask}, []string{"X1 1"}},
		{"an unanswered call, twice", []string{ask, call, ask, call, ask}, []string{"X1 1", "X1 3"}},
		{"a second result", []string{ask, call, answer, answer}, []string{"X1 3"}},
		{"a result without a call", []string{ask, answer}, []string{"X1 1"}},
		{"a late result", []string{ask, call, ask, answer}, []string{"X4 3"}},
		{"a result without an id", []string{ask, `{"role":"tool","content":"x"}`}, []string{"X8 1"}},
		{"a call without an id", []string{strings.Replace(call, `"id":"a",`, "", 1)}, []string{"X8 0"}},
		{"a call without a name", []string{strings.Replace(call, `"name":"run",`, "", 1)}, []string{"X8 0"}},
		{"arguments that are no string", []string{strings.Replace(call, `"{}"`, "{}", 1)}, []string{"X8 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := format{}.Validate([]byte(`{"messages":[` + strings.Join(tt.list, ",") + "]}"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprintf("%s %d", v.Rule, v.Message))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}

// A call without arguments gets an empty object, since servers read the arguments as JSON.
func TestCallsWithoutArguments(t *testing.T) {
	call := transcript.ToolCall{ID: "c", Name: "f"}
	s := &transcript.Session{Format: "gemini", Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("go")}}, {Role: transcript.RoleAssistant, Parts: []transcript.Part{call}},
	}}
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	if got := gjson.GetBytes(enc.Data, "messages.1.tool_calls.0.function.arguments"); got.Str != "{}" {
		t.Errorf("the arguments are %q in %s", got.Str, enc.Data)
	}
}
