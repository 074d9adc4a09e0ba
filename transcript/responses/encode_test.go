package responses

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

const talk = `{"instructions" : "S","input":[
  {"role":"user","content":"go"},
  {"type":"reasoning","id":"rs_1" , "summary":[],"encrypted_content":"<e>"},
  {"id":"fc_1", "type":"function_call","call_id":"a","name":"run","arguments":"{ \"x\":1.0 }"},
  {"type":"custom_tool_call","call_id":"b","name":"exec","id":"ctc_1","input":"ls"},
  {"type":"custom_tool_call_output","call_id":"b","output":"two"},
  {"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"long"}],"x":1},
  {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"done","annotations":[]}]}
 ],"seed":9007199254740993}`

// cut returns a function that removes pieces from a text.
func cut(pieces ...string) func(string) string {
	return func(s string) string {
		for _, p := range pieces {
			s = strings.Replace(s, p, "", 1)
		}
		return s
	}
}

func TestEncodeOwn(t *testing.T) {
	const (
		reasoning = `{"type":"reasoning","id":"rs_1" , "summary":[],"encrypted_content":"<e>"},` + "\n  "
		message   = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"done","annotations":[]}]}`
	)
	formattest.Edits(t, format{}, talk, []formattest.Edit{
		{
			Name:   "reasoning goes, and the ids of what it led to",
			Change: func(w *transcript.Window) { w.Entries[2] = w.Entries[2].WithoutThinking() },
			Want:   cut(reasoning, `"id":"fc_1", `, `,"id":"ctc_1"`, `"id":"msg_1",`),
			Fixes:  1, // for the message after the outputs
		},
		{
			Name: "outputs get other texts and nothing else",
			Change: func(w *transcript.Window) {
				w.Entries[3] = w.Entries[3].WithResult("b", "<cut>")
				w.Entries[4] = w.Entries[4].WithResult("a", "& \"paged\"\n")
			},
			Want: func(s string) string {
				s = strings.Replace(s, `"two"`, `"<cut>"`, 1)
				return strings.Replace(s, `[{"type":"input_text","text":"long"}]`, `"& \"paged\"\n"`, 1)
			},
		},
		{
			Name:   "a message is added in the style of the file",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries, transcript.Stub("", "<next>")) },
			Want: func(s string) string {
				return strings.Replace(s, message, message+",\n  "+`{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<next>"}]}`, 1)
			},
		},
		{
			Name:   "the instructions go",
			Change: func(w *transcript.Window) { w.Entries = w.Entries[1:] },
			Want:   func(s string) string { return strings.Replace(s, `"S"`, "null", 1) },
		},
		{
			Name:   "a turn goes",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries[:2:2], w.Entries[5]) },
			Want: func(s string) string {
				from, to := strings.Index(s, reasoning), strings.Index(s, message)
				return cut(`"id":"msg_1",`)(s[:from] + s[to:])
			},
			Fixes: 1,
		},
		{
			Name:   "everything goes",
			Change: func(w *transcript.Window) { w.Entries = w.Entries[:1] },
			Want:   func(s string) string { return s[:strings.Index(s, "[")+1] + s[strings.Index(s, "],\"seed\""):] },
		},
		{
			Name:   "an interrupted call gets an output of its kind",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries[:3:3], w.Entries[4:]...) },
			Want: func(s string) string {
				old := `{"type":"custom_tool_call_output","call_id":"b","output":"two"},` + "\n  "
				s = strings.Replace(s, old, "", 1)
				made := `{"type": "custom_tool_call_output", "call_id": "b", "output": "` + transcript.Interrupted + `"}`
				return strings.Replace(s, ",\n  "+message, ",\n  "+made+",\n  "+message, 1)
			},
			Fixes: 1,
		},
	})
}

// A text in place of the list becomes an element of a list when other items are added.
func TestEncodeText(t *testing.T) {
	formattest.Edits(t, format{}, `{"model":"m", "input" : "go \"on\"\u0020", "x":1}`, []formattest.Edit{
		{
			Name:   "a message is added",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries, transcript.Stub("", "next")) },
			Want: func(string) string {
				return `{"model":"m", "input" : [{"type": "message", "role": "user", "content": "go \"on\"\u0020"}, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "next"}]}], "x":1}`
			},
		},
		{
			Name:   "it goes",
			Change: func(w *transcript.Window) { w.Entries = nil },
			Want:   func(string) string { return `{"model":"m", "input" : [], "x":1}` },
		},
	})
}

// Items that are encoded again keep as much as possible, and each repair is listed with its place.
func TestEncodeMends(t *testing.T) {
	const (
		next = `{"role":"user","content":"go on"}`
		call = `{"type":"function_call","call_id":"a","name":"f","arguments":"1"}`
		made = `{"type": "function_call", "call_id": "a", "name": "f", "arguments": "1"}`
		said = `{"type":"function_call_output","call_id":"a","output":"x"}`
	)
	computer := `{"type":"computer_call","call_id":"a","action":{"n":1}}`
	for _, tt := range []struct {
		name       string
		list, want []string
		fixes      []string
	}{
		{"an empty message", []string{next, `{"role":"assistant","content":[]}`, next}, []string{next, next}, []string{"1 empty message left out"}},
		{
			"reasoning that led to nothing",
			[]string{`{"type":"reasoning","id":"rs_1","summary":[]}`, next},
			[]string{next},
			[]string{"0 reasoning that led to nothing left out"},
		},
		{"reasoning that no server knows", []string{`{"type":"reasoning","summary":[]}`, next}, []string{`{"type":"reasoning","summary":[]}`, next}, nil},
		{"an id of somebody else's", []string{`{"type":"message","role":"user","content":"x","id":"1"}`, next}, []string{`{"type":"message","role":"user","content":"x"}`, next}, []string{"0 id of an item left out"}},
		{"an id twice", []string{`{"id":"msg_1","role":"user","content":"x"}`, `{"id":"msg_1","role":"user","content":"y"}`}, []string{`{"id":"msg_1","role":"user","content":"x"}`, `{"role":"user","content":"y"}`}, []string{"1 id of an item left out"}},
		{"arguments that are an object", []string{strings.Replace(call, `"1"`, `{"n":1}`, 1), said}, []string{strings.Replace(made, `"1"`, `"{\"n\":1}"`, 1), said}, []string{"0 tool call written anew"}},
		{"an output apart from its call", []string{call, next, said}, []string{call, said, next}, []string{"1 result moved behind its call"}},
		{"an output of another kind", []string{call, strings.Replace(said, "function", "custom_tool", 1)}, []string{call, `{"type": "function_call_output", "call_id": "a", "output": "x"}`}, []string{"1 output written in the form of its call"}},
		{"an image of another kind", []string{strings.Replace(strings.Replace(call, "function", "custom_tool", 1), "arguments", "input", 1), strings.Replace(said, `"x"`, `[{"type":"input_image","image_url":"u"}]`, 1)}, []string{
			strings.Replace(strings.Replace(call, "function", "custom_tool", 1), "arguments", "input", 1), `{"type": "custom_tool_call_output", "call_id": "a", "output": [{"type":"input_image","image_url":"u"}]}`,
		}, []string{"1 output written in the form of its call"}},
		{"a missing output", []string{call, `{"type":"function_call_output","call_id":"a"}`}, []string{call, `{"type":"function_call_output","call_id":"a", "output": ""}`}, []string{"1 missing output written as an empty text"}},
		{"an output with the id of its call", []string{strings.Replace(call, `"call_id"`, `"id":"fc_1","call_id"`, 1), strings.Replace(said, `"x"`, `"x","id":"fc_1"`, 1)}, []string{strings.Replace(call, `"call_id"`, `"id":"fc_1","call_id"`, 1), said}, []string{"1 id of an item left out"}},
		{"a computer that nobody looked at", []string{computer, next}, []string{
			`{"type": "function_call", "call_id": "a", "name": "computer", "arguments": "{\"n\":1}"}`,
			`{"type": "function_call_output", "call_id": "a", "output": "` + transcript.Interrupted + `"}`, next,
		}, []string{"1 made up a result for an unanswered call", "0 tool call written anew"}},
		{"a computer that was looked at", []string{computer, `{"type":"computer_call_output","call_id":"a","output":{}}`, next}, []string{computer, `{"type":"computer_call_output","call_id":"a","output":{}}`, next}, nil},
		{"a computer that waits", []string{next, computer}, []string{next, computer}, nil},
		{"a call that waits", []string{next, call}, []string{next, call}, nil},
	} {
		w := transcript.Whole(decode(t, `{"input":[`+strings.Join(tt.list, ",")+`]}`))
		w.As = "other" // a new id, so that Encode does not return the input
		enc := formattest.Encode(t, format{}, w)
		got := strings.NewReplacer("}, {\"role", "},{\"role", "}, {\"type", "},{\"type").Replace(string(enc.Data))
		if want := `{"input":[` + strings.Join(tt.want, ",") + `]}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, want)
		}
		if diff := cmp.Diff(tt.fixes, formattest.Fixes(enc)); diff != "" {
			t.Errorf("%s: repairs (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A window may have an item twice. The provider refuses the same id twice, so only the first has it.
func TestEncodeAnItemTwice(t *testing.T) {
	const first, next = `{"id":"msg_1","role":"user","content":"x"}`, `{"role":"user","content":"y"}`
	w := transcript.Whole(decode(t, `{"input":[`+first+`,`+next+`]}`))
	w.Entries = append(w.Entries, w.Entries[0])
	enc := formattest.Encode(t, format{}, w)
	if want := `{"input":[` + first + `,` + next + `,{"role":"user","content":"x"}]}`; string(enc.Data) != want {
		t.Errorf("%s, want\n%s", enc.Data, want)
	}
	if diff := cmp.Diff([]string{"2 id of an item left out"}, formattest.Fixes(enc)); diff != "" {
		t.Errorf("repairs (-want +got):\n%s", diff)
	}
}

// The shortened output of a shell or of a patch keeps the structure of its type.
func TestEncodeOutputsOfTheirOwnForm(t *testing.T) {
	for kind, want := range map[string]string{
		"shell_call":       `[{"stdout": "<short>", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]`,
		"apply_patch_call": `"<short>"`,
	} {
		for _, output := range []string{`"output":[{"stdout":"long","stderr":"and longer"}]`, `"output":"long"`} {
			s := decode(t, fmt.Sprintf(`{"input":[{"type":%q,"call_id":"a","action":{}},{"type":"%s_output","call_id":"a",%s}]}`, kind, kind, output))
			w := transcript.Whole(s)
			w.Entries[1] = w.Entries[1].WithResult("a", "<short>")
			enc := formattest.Encode(t, format{}, w)
			if !strings.Contains(string(enc.Data), fmt.Sprintf(`{"type":"%s_output","call_id":"a","output":%s}`, kind, want)) {
				t.Errorf("%s: %s", kind, enc.Data)
			}
		}
	}
}

// A session of another format is written from its parts.
func TestEncodeOther(t *testing.T) {
	enc := formattest.Encode(t, format{}, transcript.Whole(formattest.ForeignSession()))
	id := chat.CallID(false, formattest.LongID)
	want := `{"input": [` + strings.Join([]string{
		`{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "S"}]}`,
		`{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look <here>"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}, {"type": "input_text", "text": "[document text/plain]"}]}`,
		`{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "one\ntwo"}]}`,
		`{"type": "function_call", "call_id": "` + id + `", "name": "run", "arguments": "{\"n\": 1e400, \"t\": \"<\"}"}`,
		`{"type": "function_call", "call_id": "b", "name": "unknown", "arguments": "oops"}`,
		`{"type": "function_call_output", "call_id": "` + id + `", "output": [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}`,
		`{"type": "function_call_output", "call_id": "b", "output": ""}`,
		`{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and?"}]}`,
		`{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "[image image/png]"}]}`,
	}, ", ") + `]}`
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
	lost := `[{-1 tools 1 3} {1 document 1 2} {2 thinking 1 5} {5 "odd" 1 2} {6 image 1 5}]` // message, kind, count, bytes
	if got := fmt.Sprint(enc.Losses); got != lost {
		t.Errorf("losses %s, want %s", got, lost)
	}
}

// A call without arguments gets an empty object, since servers read the arguments as JSON.
func TestCallsWithoutArguments(t *testing.T) {
	call := transcript.ToolCall{ID: "c", Name: "f"}
	s := &transcript.Session{Format: "gemini", Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("go")}}, {Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Thinking{Text: "hm"}, call}},
	}}
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	if got := gjson.GetBytes(enc.Data, "input.1.arguments"); got.Str != "{}" {
		t.Errorf("the arguments are %q in %s", got.Str, enc.Data)
	}
}

// An output that is no text cannot be replaced by one.
func TestEncodeKeepsOutputsThatAreNoText(t *testing.T) {
	const data = `{"previous_response_id":"r","input":[{"type":"computer_call_output","call_id":"a","output":{}},{"role":"user","content":"go"}]}`
	w := transcript.Whole(decode(t, data))
	w.Entries[0] = w.Entries[0].WithResult("a", "short")
	enc := formattest.Encode(t, format{}, w)
	if diff := cmp.Diff([]string{"0 output that is no text left as it is"}, formattest.Fixes(enc)); diff != "" || string(enc.Data) != data {
		t.Errorf("%s\n(-want +got):\n%s", enc.Data, diff)
	}
}

// A result has the form that its call requires, and media the form that the API has for them.
func TestPartsThatAreMade(t *testing.T) {
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "AA"}
	for _, tt := range []struct {
		call string
		r    transcript.ToolResult
		want string
	}{
		{"apply_patch_call", transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("x")}}, `{"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "x"}`},
		{"apply_patch_call", transcript.ToolResult{CallID: "c", Error: true}, `{"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": ""}`},
		{"apply_patch_call", transcript.ToolResult{CallID: "c", Content: []transcript.Part{image}}, `{"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "[image image/png]"}`},
		{"custom_tool_call", transcript.ToolResult{CallID: "c", Content: []transcript.Part{image}}, `{"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]}`},
	} {
		e := &encoder{wants: map[string]string{"c": tt.call}}
		if got := string(e.result(tt.r)); got != tt.want {
			t.Errorf("a result of %s is\n%s, want\n%s", tt.call, got, tt.want)
		}
	}
	for _, tt := range []struct {
		role string
		m    transcript.Media
		want string
	}{
		{"user", transcript.Media{Kind: "image"}, ""},
		{"assistant", image, ""},
		{"user", transcript.Media{Kind: "audio", MIME: "audio/wav", Data: "AA"}, `{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}`},
		{"tool", transcript.Media{Kind: "audio", MIME: "audio/wav", Data: "AA"}, ""},
		{"user", transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AA"}, `{"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,AA"}`},
		{"user", transcript.Media{Kind: "document", MIME: "text/plain", Data: "AA"}, ""},
		{"user", transcript.Media{Kind: "document", MIME: "text/plain", Data: "AA", URL: "u"}, ""},
		{"user", transcript.Media{Kind: "document", MIME: "application/pdf", URL: "u"}, `{"type": "input_file", "file_url": "u"}`},
		{"user", transcript.Media{Kind: "document", MIME: "application/pdf"}, ""},
		{"user", transcript.Media{Kind: "video", MIME: "application/pdf", Data: "AA", URL: "u"}, ""},
		{"user", transcript.Media{Kind: "video", URL: "u"}, ""},
	} {
		if got := string((&encoder{}).media(tt.role, tt.m)); got != tt.want {
			t.Errorf("%+v of the %s is written %s, want %s", tt.m, tt.role, got, tt.want)
		}
	}
	for _, kind := range []string{"compaction", "compaction_summary", "context_compaction"} {
		it := item{kind: kind}
		if it.sort(values{}); it.class != compacted {
			t.Errorf("%s is of class %s", kind, it.class)
		}
	}
}
