package anthropic

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// A date at the end of a model's name is a hyphen and eight digits.
func TestUndated(t *testing.T) {
	for name, want := range map[string]string{
		"claude-opus-4-5-20251101": "claude-opus-4-5", "a-20251101": "a", "-20251101": "", "20251101": "20251101", "": "",
		"a_20251101": "a_20251101", "a-2025110": "a-2025110", "a-202511012": "a-202511012", "a-2025110x": "a-2025110x", "a-2025/101": "a-2025/101", "a-:0251101": "a-:0251101",
		"a-09999999": "a",
	} {
		if got := undated(name); got != want {
			t.Errorf("undated(%q) = %q, want %q", name, got, want)
		}
	}
}

// An id of allowed letters only stays. Of any other id, at most 32 allowed letters are kept,
// followed by a hash.
func TestCleanIDs(t *testing.T) {
	long := strings.Repeat("a", 40)
	for id, prefix := range map[string]string{"": "_", "a b": "ab_", "é": "_", long + "é": long[:32] + "_", "a@[`{/:": "a_"} {
		got := chat.CleanID(id)
		if !strings.HasPrefix(got, prefix) || len(got) != len(prefix)+12 || chat.CleanID(got) != got {
			t.Errorf("chat.CleanID(%q) = %q, want %s and a hash", id, got, prefix)
		}
	}
	for _, id := range []string{"toolu_01-AZaz09", "A", "Z", "a", "z", "0", "9", "_", "-", long} {
		if got := chat.CleanID(id); got != id {
			t.Errorf("chat.CleanID(%q) = %q", id, got)
		}
	}
	if chat.CleanID("a b") == chat.CleanID("a  b") {
		t.Error("two ids become one")
	}
}

// Fields with values of an unexpected type are ignored, and a nested content is read whether
// it comes before or after the type.
func TestDecodeOddBlocks(t *testing.T) {
	result := func(parts ...transcript.Part) []transcript.Part {
		return []transcript.Part{transcript.ToolResult{CallID: "a", Content: parts}}
	}
	for _, tt := range []struct {
		name, block string
		want        []transcript.Part
	}{
		{"a result with its type last", `{"content":[{"type":"text","text":"x"}],"tool_use_id":"a","type":"tool_result"}`, result(transcript.Text("x"))},
		{"a result with a text", `{"tool_use_id":"a","type":"tool_result","content":"x"}`, result(transcript.Text("x"))},
		{"a result with null", `{"tool_use_id":"a","type":"tool_result","content":null}`, result()},
		{"one with null before its type", `{"tool_use_id":"a","content":null,"type":"tool_result"}`, result()},
		{"a result that is no failure", `{"type":"tool_result","tool_use_id":"a","is_error":"true","content":"x"}`, result(transcript.Text("x"))},
		{"a result within a result", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}`, result(transcript.ToolResult{})},
		{"one with its type last", `{"type":"tool_result","tool_use_id":"a","content":[{"content":[{"type":"text","text":"x"}],"type":"tool_result"}]}`, result(transcript.ToolResult{})},
		{"a text with content", `{"content":[{"type":"text","text":"x"}],"type":"text","text":"y"}`, []transcript.Part{transcript.Text("y")}},
		{"a call with input before its type", `{"input":{"b":1},"name":"n","id":"a","type":"tool_use"}`, []transcript.Part{transcript.ToolCall{ID: "a", Name: "n", Input: []byte(`{"b":1}`)}}},
		{"a call with numbers", `{"type":"tool_use","id":1,"name":2,"input":3}`, []transcript.Part{transcript.ToolCall{Input: []byte("3")}}},
	} {
		role := "user"
		if strings.Contains(tt.block, "tool_use\"") {
			role = "assistant"
		}
		s := decode(t, `{"messages":[{"role":"`+role+`","content":[`+tt.block+`]}]}`)
		if diff := cmp.Diff(tt.want, s.Messages[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Fields of a request that have an unexpected form are ignored.
func TestDecodeOddFields(t *testing.T) {
	for _, data := range []string{
		`{"tools":{"a":1},"cache_control":5,"thinking":"on","model":7,"messages":[{"role":"user","content":"x"}]}`,
		`{"system":null,"messages":[{"role":"user","content":"x"}]}`,
		`{"tools":["a",{"cache_control":1}],"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":"y"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":3600}}]}]}`,
	} {
		s := decode(t, data)
		if got := s.Messages[0].Text(); got != "x" || s.Model != "" {
			t.Errorf("%s: %q by %q", data, got, s.Model)
		}
		if found, err := (format{}).Validate([]byte(data)); len(found) > 0 || err != nil {
			t.Errorf("%s: %v, %v", data, found, err)
		}
	}
}

// The warning about invalid Unicode gives the line of the first such text, also in the
// system field.
func TestDecodeWarnsOnce(t *testing.T) {
	bad := `{"role":"user","content":"\ud800"}`
	for _, tt := range []struct {
		data string
		want []int
	}{
		{`{"messages":[` + "\n" + `{"role":"user","content":"é"}]}`, nil},
		{`{"messages":[` + "\n" + `{"role":"user","content":"a"},` + "\n" + bad + ",\n" + bad + `]}`, []int{3}},
		{"{\"system\":\n\"\\ud800\",\"messages\":[\n" + bad + `]}`, []int{2}},
		{"{\"messages\":[\n" + bad + "],\n\"system\":\"\\ud800\"}", []int{2}},
	} {
		var got []int
		for _, w := range decode(t, tt.data).Warnings {
			got = append(got, w.Line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.data, diff)
		}
	}
}

// The thinking and the results that a model accepts depend on its version and on the
// parameters of the request.
func TestThinkingBudgets(t *testing.T) {
	const (
		server = `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"x","input":{}},{"type":"web_tool_result","tool_use_id":"s"}]}`
		budget = `"thinking":{"type":"enabled","budget_tokens":5},`
	)
	for _, tt := range []struct {
		name, model, fields string
		list                []string
		want                string
	}{
		{"a budget, and a reply without thinking", "claude-opus-4-5", budget, []string{ask, call, answer}, "A8 1"},
		{"of another version", "claude-opus-4-6", budget, []string{ask, call, answer}, "A8 1"},
		{"a turn that began with thinking", "claude-opus-4-6", budget, []string{
			ask, strings.Replace(call, `[`, `[{"type":"thinking","thinking":"x","signature":"s"},`, 1), answer,
			strings.Replace(call, `"a"`, `"b"`, 1), strings.Replace(answer, `"a"`, `"b"`, 1),
		}, ""},
		{"of the next one", "claude-opus-4-7", budget, []string{ask, call, answer}, "A13 -1"},
		{"a budget that is not enabled", "claude-opus-4-5", `"thinking":{"type":"disabled","budget_tokens":5},`, []string{ask, call, answer}, ""},
		{"one that is adaptive", "claude-opus-4-5", `"thinking":{"type":"enabled"},`, []string{ask, call, answer}, ""},
		{"the other way round", "claude-opus-4-5", `"thinking":{"budget_tokens":5,"type":"enabled"},`, []string{ask, call, answer}, "A8 1"},
		{"an order behind it", "claude-opus-4-5", budget, []string{ask, call, answer, ask}, ""},
		{"a result alone", "claude-opus-4-5", budget, []string{answer}, "A3 0"},
		{"a reply with a server's tool at the end", "claude-opus-4-6", "", []string{ask, server}, ""},
		{"a pending call at the end", "claude-opus-4-6", "", []string{ask, call}, ""},
		{"a note behind a server's tool", "claude-haiku-5-5", "", []string{ask, server, `{"role":"system","content":"x"}`}, ""},
		{"a note behind an empty reply", "claude-haiku-5-5", "", []string{ask, `{"role":"assistant","content":[]}`, `{"role":"system","content":"x"}`}, "A10 1, A15 2"},
		{"a note behind a note", "claude-haiku-5-5", "", []string{ask, `{"role":"system","content":"x"}`, `{"role":"system","content":"y"}`}, ""},
		{"a budget before another field", "claude-opus-4-5", `"thinking":{"type":"enabled","budget_tokens":5,"display":"x"},`, []string{ask, call, answer}, "A8 1"},
		{"a budget, and a reply without calls", "claude-opus-4-5", budget, []string{ask, reply}, ""},
		{"a budget, and a call first", "claude-opus-4-5", budget, []string{call}, "A1 0, A8 0"},
		{"parameters of older models", "claude-opus-4-7", `"temperature":1,"top_p":1,"top_k":1,`, []string{ask}, "A13 -1, A13 -1, A13 -1"},
		{"parameters that are not set", "claude-opus-4-7", `"temperature":null,"top_p":null,"top_k":null,`, []string{ask}, ""},
		{"a result in a reply", "", "", []string{ask, call, strings.Replace(answer, "user", "assistant", 1)}, "A2 1, A3 2, A3 2"},
		{"system blocks that are no text", "", `"system":[{"type":"image"}],`, []string{ask}, ""},
		{"a call without input", "", "", []string{ask, strings.Replace(call, `,"input":{}`, "", 1)}, "A0 1"},
		{"a call in the first bytes", "", "", []string{strings.Replace(call, "assistant", "user", 1)}, "A0 0"},
	} {
		found, err := format{}.Validate([]byte(`{"model":"` + tt.model + `",` + tt.fields + `"messages":[` + strings.Join(tt.list, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			got = append(got, fmt.Sprint(v.Rule, " ", v.Message))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s: %v", tt.name, got, tt.want, found)
		}
	}
	found, err := format{}.Validate([]byte(`{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[` + ask + `]}`))
	want := []transcript.Violation{{Rule: "A11", Message: -1, Text: "a cache mark of one hour stands behind one of five minutes, in the system text"}}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Errorf("%v, violations (-want +got):\n%s", err, diff)
	}
}

// Each repair is listed with its place, and all else stays as it is.
func TestEncodeMends(t *testing.T) {
	for _, tt := range []struct {
		name       string
		list, want []string
		fixes      []string
		model      string
	}{
		{
			name: "thinking without a signature", list: []string{ask, `{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"}]}`, ask},
			want: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, ask}, fixes: []string{"1 thinking without a signature left out"},
		},
		{
			name: "an empty text", list: []string{ask, `{"role":"assistant","content":[{"type":"text","text":" "},{"type":"text","text":"a"}]}`, ask},
			want: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, ask}, fixes: []string{"1 empty text left out"},
		},
		{
			name: "nothing but an empty text", list: []string{ask, `{"role":"assistant","content":" "}`, ask}, want: []string{ask, ask}, fixes: []string{"1 empty text left out"},
		},
		{
			name: "an empty message", list: []string{ask, `{"role":"assistant","content":[]}`, ask}, want: []string{ask, ask}, fixes: []string{"1 empty message left out"},
		},
		{
			name: "a call in other letters", list: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"é","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"é","content":"x"}]}`},
			want: []string{
				ask, `{"role":"assistant","content":[{"type":"tool_use","id":"` + chat.CleanID("é") + `","name":"f","input":{}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + chat.CleanID("é") + `","content":"x"}]}`,
			},
			fixes: []string{"1 tool call id written in the provider's alphabet", "2 tool call id written in the provider's alphabet"},
		},
		{
			name: "a call whose input is a text", list: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]}`},
			want:  []string{ask, `{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"_raw": "\"x\""}}]}`},
			fixes: []string{"1 tool call written anew"},
		},
		{
			name: "settings where the model takes none", model: "claude-sonnet-4-6", list: []string{ask, `{"role":"system","content":[{"type":"tool_change"}]}`, ask},
			want: []string{ask, ask}, fixes: nil,
		},
	} {
		s := decode(t, `{"model":"`+tt.model+`","messages":[`+strings.Join(tt.list, ",")+`]}`)
		w := transcript.Whole(s)
		w.As = "other" // a new id, so that Encode does not return the input
		enc := formattest.Encode(t, format{}, w)
		var fixes []string
		for _, f := range enc.Repairs {
			fixes = append(fixes, fmt.Sprint(f.Message, " ", f.What))
		}
		if tt.fixes == nil {
			if found, err := (format{}).Validate(enc.Data); err != nil || len(found) > 0 {
				t.Errorf("%s: %v %v in %s", tt.name, err, found, enc.Data)
			}
			continue
		}
		if diff := cmp.Diff(tt.fixes, fixes); diff != "" {
			t.Errorf("%s: repairs (-want +got):\n%s", tt.name, diff)
		}
		got := strings.ReplaceAll(string(enc.Data), `}, {"role"`, `},{"role"`)
		if want := `{"model":"` + tt.model + `","messages":[` + strings.Join(tt.want, ",") + `]}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, want)
		}
	}
}

// System messages stay where the model allows them, and become user's messages elsewhere.
func TestNotesHaveTheirPlace(t *testing.T) {
	const (
		note   = `{"role":"system","content":"be brief"}`
		server = `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"x","input":{}},{"type":"web_tool_result","tool_use_id":"s"}]}`
	)
	for _, tt := range []struct {
		name, model string
		list        []string
		stays       bool
	}{
		{"behind an order, at the end", "claude-haiku-5-5", []string{ask, note}, true},
		{"before a reply", "claude-haiku-5-5", []string{ask, note, reply, ask}, true},
		{"behind a server's tool", "claude-haiku-5-5", []string{ask, server, note, reply, ask}, true},
		{"before a server's tool", "claude-haiku-5-5", []string{ask, note, server, ask}, true},
		{"behind a reply", "claude-haiku-5-5", []string{ask, reply, note}, false},
		{"before an order", "claude-haiku-5-5", []string{ask, note, ask}, false},
		{"of a model that takes none", "claude-sonnet-4-6", []string{ask, note}, false},
		{"of a model that is not known", "x", []string{ask, note, reply, ask}, true},
		{"where no model takes one", "x", []string{ask, note, ask}, false},
		{"two in a row", "claude-haiku-5-5", []string{ask, note, note, reply, ask}, true},
		{"two in a row before an order", "claude-haiku-5-5", []string{ask, note, note, ask}, false},
	} {
		w := transcript.Whole(decode(t, `{"model":"`+tt.model+`","messages":[`+strings.Join(tt.list, ",")+`]}`))
		w.As = "other"
		enc := formattest.Encode(t, format{}, w)
		if got := strings.Contains(string(enc.Data), note); got != tt.stays || got == (len(enc.Repairs) > 0) {
			t.Errorf("%s: it stays: %t, repairs %v", tt.name, got, enc.Repairs)
		}
		if !tt.stays {
			if f := enc.Repairs[0]; f.What != "system text became user text" || !strings.Contains(string(enc.Data), systemMark+"be brief") {
				t.Errorf("%s: %v in %s", tt.name, enc.Repairs, enc.Data)
			}
		}
	}
}

// The place of a system message is found in one pass: with a walk over its neighbors for each
// message, these would take minutes.
func TestManyNotesInARow(t *testing.T) {
	const note, settings = `{"role":"system","content":"s"}`, `{"role":"system","content":[{"type":"tool_change"}]}`
	for _, tt := range []struct {
		name, model, note    string
		rest                 []string
		violations, messages int
	}{
		{"before a reply", "claude-opus-4-8", note, []string{reply}, 1, 99_002},
		{"before an order", "claude-opus-4-8", note, []string{ask}, 99_000, 99_002},
		{"of settings", "claude-sonnet-4-6", settings, []string{ask}, 99_000, 2},
	} {
		list := slices.Concat([]string{ask}, slices.Repeat([]string{tt.note}, 99_000), tt.rest)
		data := []byte(`{"model":"` + tt.model + `","messages":[` + strings.Join(list, ",") + `]}`)
		found, err := (format{}).Validate(data)
		if err != nil || len(found) != tt.violations {
			t.Errorf("%s: %d violations, %v", tt.name, len(found), err)
		}
		w := transcript.Whole(decode(t, string(data)))
		w.As = "other"
		enc, err := (format{}).Encode(w)
		if err != nil || len(enc.Spans) != tt.messages {
			t.Errorf("%s: %d messages, %v", tt.name, len(enc.Spans), err)
		}
	}
}

// From another format, pictures and documents are written where the provider has a block for
// them. Blocks that only the provider understands are written if they came from there.
func TestMadeMedia(t *testing.T) {
	for _, tt := range []struct {
		name  string
		media transcript.Media
		want  string // source; empty for a loss
	}{
		{"an image", transcript.Media{Kind: "image", MIME: "image/png", Data: "AA"}, `{"type": "base64", "media_type": "image/png", "data": "AA"}`},
		{"by address", transcript.Media{Kind: "image", URL: "u"}, `{"type": "url", "url": "u"}`},
		{"both ways", transcript.Media{Kind: "image", MIME: "image/png", Data: "AA", URL: "u"}, `{"type": "base64", "media_type": "image/png", "data": "AA"}`},
		{"of no type", transcript.Media{Kind: "image", Data: "AA"}, ""},
		{"of nothing", transcript.Media{Kind: "image", MIME: "image/png"}, ""},
		{"a document", transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AA"}, `{"type": "base64", "media_type": "application/pdf", "data": "AA"}`},
		{"another one", transcript.Media{Kind: "document", MIME: "text/plain", Data: "AA"}, ""},
		{"a sound that says it is one", transcript.Media{Kind: "audio", MIME: "application/pdf", Data: "AA"}, ""},
	} {
		s := &transcript.Session{Format: "openai", Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("a"), tt.media}}}}
		enc := formattest.Encode(t, format{}, transcript.Whole(s))
		if got := string(enc.Data); tt.want == "" && len(enc.Losses) != 1 || tt.want != "" && (len(enc.Losses) > 0 || !strings.Contains(got, `{"type": "`+tt.media.Kind+`", "source": `+tt.want+`}`)) {
			t.Errorf("%s: losses %v in %s", tt.name, enc.Losses, got)
		}
	}
}

// Thinking and blocks that only the provider understands are written if they came from there.
func TestBlocksOfTheProvider(t *testing.T) {
	for _, tt := range []struct {
		provider bool
		p        transcript.Part
		want     string
	}{
		{true, transcript.Thinking{Text: "x", Signature: "s"}, `{"type": "thinking", "thinking": "x", "signature": "s"}`},
		{true, transcript.Thinking{Signature: "s", Redacted: true}, `{"type": "redacted_thinking", "data": "s"}`},
		{true, transcript.Thinking{Text: "x"}, ""},
		{false, transcript.Thinking{Text: "x", Signature: "s"}, ""},
		{true, transcript.Opaque{Type: "compaction", Raw: []byte("{}")}, "{}"},
		{true, transcript.Opaque{Type: "compaction", Raw: []byte("{")}, ""},
		{true, transcript.Opaque{Type: "x", Raw: []byte("{}")}, ""},
		{false, transcript.Opaque{Type: "compaction", Raw: []byte("{}")}, ""},
	} {
		if got := string((&encoder{provider: tt.provider}).block(tt.p)); got != tt.want {
			t.Errorf("%+v is written %s, want %s", tt.p, got, tt.want)
		}
	}
	e := &encoder{}
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "AA", Raw: []byte("{}")}
	if e.lose(0, transcript.RoleUser, image); len(e.losses.List) > 0 {
		t.Errorf("an image is lost: %v", e.losses.List)
	}
	if e.lose(0, transcript.RoleSystem, image); len(e.losses.List) != 1 {
		t.Errorf("the losses of an image in a system text are %v", e.losses.List)
	}
	for _, m := range []message{{role: "system", settings: true, content: content{list: true}}, {role: "user", settings: true, content: content{list: true}}, {role: "system", content: content{list: true}}, {role: "system", settings: true}, {role: "system", settings: true, content: content{list: true, blocks: make([]block, 1)}}} {
		if got, want := m.onlySettings(), m.role == "system" && m.settings && m.list && m.blocks == nil; got != want {
			t.Errorf("%+v has only settings: %v", m, got)
		}
	}
}

// A call has a name, and an object for its input.
func TestOddCalls(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        bool
	}{
		{"Bash", "{}", false}, {"", "{}", true}, {"Bash", "", true}, {"Bash", "[]", true}, {"Bash", "null", true},
	} {
		if got := hasOddCall([]transcript.Part{transcript.Text("x"), transcript.ToolCall{Name: tt.name, Input: []byte(tt.input)}}); got != tt.want {
			t.Errorf("a call of %q with %q is odd: %v, want %v", tt.name, tt.input, got, tt.want)
		}
	}
}
