package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// Values of unexpected types are ignored, and keep their bytes.
func TestDecodeOddValues(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		want          []transcript.Part
	}{
		{"calls that are null", `{"role":"assistant","content":"a","tool_calls":null}`, []transcript.Part{transcript.Text("a")}},
		{"calls that are an object", `{"role":"assistant","content":"a","tool_calls":{"id":"x"}}`, []transcript.Part{transcript.Text("a")}},
		{"a list that is none of calls", `{"role":"assistant","content":"a","others":[1]}`, []transcript.Part{transcript.Text("a")}},
		{"calls of the user's", `{"role":"user","content":"a","tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}],"reasoning":"b"}`, []transcript.Part{transcript.Text("a")}},
		{"a call that is null", `{"role":"assistant","content":"a","function_call":null}`, []transcript.Part{transcript.Text("a")}},
		{"an object that is no call", `{"role":"assistant","content":"a","other":{"name":"f"}}`, []transcript.Part{transcript.Text("a")}},
		{"names that are numbers", `{"role":"assistant","content":"a","name":1,"refusal":2,"tool_call_id":3}`, []transcript.Part{transcript.Text("a")}},
		{"a call with an id that is a number", `{"role":"assistant","tool_calls":[{"id":1,"function":{"name":2,"arguments":"{}"}}]}`, []transcript.Part{transcript.ToolCall{Input: []byte("{}")}}},
		{"a call of what is no object", `{"role":"assistant","tool_calls":[{"id":"x","function":1,"custom":null,"other":{"name":"f"}}]}`, []transcript.Part{transcript.ToolCall{ID: "x"}}},
		{"arguments under another name", `{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","parameters":"1"}}]}`, []transcript.Part{transcript.ToolCall{ID: "x", Name: "f"}}},
		{"reasoning that is null, and another that is empty", `{"role":"assistant","content":"a","reasoning":null,"reasoning_content":""}`, []transcript.Part{transcript.Text("a")}},
		{"reasoning that is no text", `{"role":"assistant","content":"a","thinking_blocks":[{}]}`, []transcript.Part{transcript.Thinking{Redacted: true}, transcript.Text("a")}},
		{"several reasonings", `{"role":"assistant","content":"a","reasoning_details":[1],"reasoning":"b","reasoning_content":"c"}`, []transcript.Part{transcript.Thinking{Text: "b"}, transcript.Text("a")}},
		{"a picture by its address alone", `{"role":"user","content":[{"type":"image_url","image_url":"https://x"}]}`, []transcript.Part{
			transcript.Media{Kind: "image", URL: "https://x", Raw: []byte(`{"type":"image_url","image_url":"https://x"}`)},
		}},
		{"a picture with other fields", `{"role":"user","content":[{"type":"image_url","detail":{"url":"y"},"image_url":{"detail":1,"url":"https://x","more":{"url":"z"}}}]}`, []transcript.Part{
			transcript.Media{Kind: "image", URL: "https://x", Raw: []byte(`{"type":"image_url","detail":{"url":"y"},"image_url":{"detail":1,"url":"https://x","more":{"url":"z"}}}`)},
		}},
		{"a file", `{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}}]}`, []transcript.Part{
			transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AA", Raw: []byte(`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}}`)},
		}},
		{"a sound of no format", `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA"}}]}`, []transcript.Part{
			transcript.Media{Kind: "audio", Data: "AA", Raw: []byte(`{"type":"input_audio","input_audio":{"data":"AA"}}`)},
		}},
		{"an address with data that is not in base64", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:text/plain,x"}}]}`, []transcript.Part{
			transcript.Media{Kind: "image", URL: "data:text/plain,x", Raw: []byte(`{"type":"image_url","image_url":{"url":"data:text/plain,x"}}`)},
		}},
		{"a text that is a number", `{"role":"user","content":[{"type":"text","text":1}]}`, []transcript.Part{transcript.Text("")}},
		{"a refusal among parts", `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, []transcript.Part{transcript.Text("no")}},
		{"content that is null", `{"role":"user","content":null}`, nil},
	} {
		s := decode(t, `{"model":5,"messages":[`+tt.message+`]}`)
		if diff := cmp.Diff(tt.want, s.Messages[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if s.Model != "" {
			t.Errorf("%s: model %q", tt.name, s.Model)
		}
	}
}

// The warning about invalid Unicode gives the line of the first such text.
func TestDecodeWarnsOfTexts(t *testing.T) {
	bad := `{"role":"user","content":"\ud800"}`
	for _, tt := range []struct {
		data string
		line int // of the warning; 0 if there is none
	}{
		{`{"messages":[` + "\n" + `{"role":"user","content":"é"}]}`, 0},
		{`{"messages":[` + "\n" + bad + `]}`, 2},
		{`{"messages":[` + "\n" + `{"role":"user","content":"a"},` + "\n" + bad + ",\n\n" + bad + `]}`, 3},
	} {
		var got []int
		for _, w := range decode(t, tt.data).Warnings {
			got = append(got, w.Line)
		}
		if (tt.line == 0) != (len(got) == 0) || len(got) > 1 || len(got) == 1 && got[0] != tt.line {
			t.Errorf("%s: warnings in lines %d, want %d", tt.data, got, tt.line)
		}
	}
}

// A result of the older form answers the newest call with its name that has no result,
// among the last eight.
func TestLegacyResultsFindTheirCalls(t *testing.T) {
	ask := func(name string) string {
		return `{"role":"assistant","content":null,"function_call":{"name":"` + name + `","arguments":"1"}}`
	}
	answer := func(name string) string { return `{"role":"function","name":"` + name + `","content":"x"}` }
	var nine []string
	for i := range 9 {
		nine = append(nine, ask(fmt.Sprint("f", i)))
	}
	for _, tt := range []struct {
		name string
		list []string
		want string // id of the call that the last message answers
	}{
		{"its call", []string{ask("f"), answer("f")}, "function_call_0"},
		{"the newest of two", []string{ask("f"), ask("f"), answer("f")}, "function_call_1"},
		{"the one that is left", []string{ask("f"), ask("f"), answer("f"), answer("f")}, "function_call_0"},
		{"another name", []string{ask("f"), ask("g"), answer("f")}, "function_call_0"},
		{"no call", []string{ask("f"), answer("g")}, ""},
		{"the eighth from the end", append(nine[:9:9], answer("f1")), "function_call_1"},
		{"the ninth from the end", append(nine[:9:9], answer("f0")), ""},
		{"a call beside others", []string{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}}],"function_call":{"name":"g","arguments":"1"}}`, answer("g")}, "function_call_0"},
	} {
		s := decode(t, `{"messages":[`+strings.Join(tt.list, ",")+`]}`)
		if got := s.Messages[len(s.Messages)-1].Results()[0].CallID; got != tt.want {
			t.Errorf("%s: the result is for %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Messages that are encoded again keep as much as possible, and each repair is listed with
// its place.
func TestEncodeOwnOddMessages(t *testing.T) {
	next := `{"role":"user","content":"go on"}`
	for _, tt := range []struct {
		name  string
		list  []string
		want  []string
		fixes []string
	}{
		{
			"an empty message",
			[]string{next, `{"role":"assistant","content":null}`, next},
			[]string{next, next},
			[]string{"1 empty message left out"},
		},
		{
			"a call whose arguments are an object",
			[]string{next, `{"role":"assistant","reasoning":"hm","content":"a","tool_calls":[{"id":"x","function":{"name":"f","arguments":{"a":1}}}]}`, `{"role":"tool","tool_call_id":"x","content":"b"}`},
			[]string{next, `{"role": "assistant", "content": "a", "reasoning_content": "hm", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}`, `{"role":"tool","tool_call_id":"x","content":"b"}`},
			[]string{"1 tool call written anew"},
		},
		{
			"two calls without a name",
			[]string{`{"role":"assistant","tool_calls":[{"id":"x","function":{"arguments":"1"}},{"id":"y","function":{"arguments":"2"}}]}`},
			[]string{`{"role": "assistant", "content": null, "tool_calls": [{"id": "x", "type": "function", "function": {"name": "unknown", "arguments": "1"}}, {"id": "y", "type": "function", "function": {"name": "unknown", "arguments": "2"}}]}`},
			[]string{"0 tool call written anew"},
		},
		{
			"a result without content",
			[]string{`{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}]}`, `{"tool_call_id":"x","role":"tool"}`, next},
			[]string{`{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}]}`, `{"tool_call_id":"x","role":"tool", "content": ""}`, next},
			[]string{"1 missing content written as an empty text"},
		},
		{
			"a call that was never answered",
			[]string{`{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}]}`, next},
			[]string{`{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}]}`, `{"role": "tool", "tool_call_id": "x", "content": "` + transcript.Interrupted + `"}`, next},
			[]string{"1 made up a result for an unanswered call"},
		},
	} {
		s := decode(t, `{"messages":[`+strings.Join(tt.list, ",")+`]}`)
		w := transcript.Whole(s)
		w.As = "other" // a new id, so that Encode does not return the input
		enc := formattest.Encode(t, format{}, w)
		if got, want := string(enc.Data), `{"messages":[`+strings.Join(tt.want, ",")+`]}`; strings.ReplaceAll(got, "}, {\"role\"", "},{\"role\"") != want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, want)
		}
		if diff := cmp.Diff(tt.fixes, formattest.Fixes(enc)); diff != "" {
			t.Errorf("%s: repairs (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A call without an id, or from another format with one of more than 64 bytes, gets an id
// derived from the call or its id.
func TestCallIDs(t *testing.T) {
	long := strings.Repeat("x", 65)
	for id, kept := range map[string]bool{"a": true, long[:64]: true, long: false, "": false} {
		got := chat.CallID(false, id)
		if (got == id) != kept || len(got) > 64 || got == "" {
			t.Errorf("the id %q becomes %q", id, got)
		}
		if got := chat.CallID(true, id); (got == id) != (id != "") {
			t.Errorf("the own id %q becomes %q", id, got)
		}
	}
	if got := chat.CallID(false, long); !strings.HasPrefix(got, "call_"+long[:16]) || len(got) != len("call_")+16+16 {
		t.Errorf("a long id becomes %q", got)
	}
	if a, b := chat.CallID(false, long), chat.CallID(false, long+"y"); a == b {
		t.Errorf("two ids become %q", a)
	}
	if got := chat.CallID(false, strings.Repeat("語", 30)); !strings.HasPrefix(got, "call_"+strings.Repeat("語", 5)) || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("an id of long letters becomes %q", got)
	}
}

// In another format, parts after the results become a user's message, and their losses are
// reported; a document that can be written is no loss.
func TestLossesByRole(t *testing.T) {
	pdf := transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AA", Raw: []byte("123")}
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "AA", Raw: []byte("12345")}
	s := &transcript.Session{Format: "other", Messages: []transcript.Message{
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{ID: "a", Name: "f"}, image}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{
			image, transcript.ToolResult{CallID: "a", Content: []transcript.Part{image, pdf}}, pdf, transcript.Thinking{Text: "hm"},
		}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{pdf, transcript.Media{Kind: "document", MIME: "application/pdf", URL: "https://x", Raw: []byte("1")}}},
		{Role: transcript.RoleSystem, Parts: []transcript.Part{image}},
	}}
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	want := []transcript.Loss{
		{Message: 0, What: "image", Count: 1, Bytes: 5},
		{Message: 1, What: "image", Count: 1, Bytes: 5},
		{Message: 1, What: "document", Count: 1, Bytes: 3},
		{Message: 1, What: "thinking", Count: 1, Bytes: 2},
		{Message: 2, What: "document", Count: 1, Bytes: 1},
		{Message: 3, What: "image", Count: 1, Bytes: 5},
	}
	if diff := cmp.Diff(want, enc.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if n := strings.Count(string(enc.Data), `"file_data": "data:application/pdf;base64,AA"`); n != 2 {
		t.Errorf("%d documents in %s", n, enc.Data)
	}
}

// A violation names its message; one about the whole body names none.
func TestViolationsSayWhere(t *testing.T) {
	found, err := format{}.Validate([]byte(`{"messages":[{"role":"user","content":[]},{"role":"function","name":"f","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Violation{
		{Rule: "X0", Message: 0, Field: "messages.0", Text: "the message has no content"},
		{Rule: "X1", Message: 1, Field: "messages.1", Text: `no open call "" before the result`},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	found, err = format{}.Validate([]byte(`{"messages":[]}`))
	if diff := cmp.Diff([]transcript.Violation{{Rule: "X0", Message: -1, Text: "there are no messages"}}, found); err != nil || diff != "" {
		t.Errorf("%v, violations (-want +got):\n%s", err, diff)
	}
}
