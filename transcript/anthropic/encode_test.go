package anthropic

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

func decode(t *testing.T, data string) *transcript.Session {
	t.Helper()
	return formattest.Decode(t, format{}, data)
}

func TestDecode(t *testing.T) {
	s := decode(t, `{"model":"claude-opus-4-8","tools":[ {"name":"run"} ],"messages":[
		{"role":"user","content":[{"type":"text","text":"\n Fix\tthe <b>lock</b> \nplease"},{"type":"image","source":{"type":"url","url":"u"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"a","name":"run","input":{"n":9007199254740993}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"}]},{"type":"text","text":"and?"}]},
		{"role":"assistant","content":[{"type":"compaction","content":"c"}]}],"system":"S"}`)
	want := []transcript.Message{
		{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("S")}, Items: []int{9}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{
			transcript.Text("\n Fix\tthe <b>lock</b> \nplease"),
			transcript.Media{Kind: "image", URL: "u", Raw: []byte(`{"type":"image","source":{"type":"url","url":"u"}}`)},
		}, Items: []int{1}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm", Signature: "s"},
			transcript.Thinking{Signature: "d", Redacted: true},
			transcript.ToolCall{ID: "a", Name: "run", Input: []byte(`{"n":9007199254740993}`)},
		}, Items: []int{3}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: "a", Error: true, Content: []transcript.Part{transcript.Text("no")}},
			transcript.Text("and?"),
		}, Items: []int{5}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Opaque{Type: "compaction", Raw: []byte(`{"type":"compaction","content":"c"}`)},
		}, Items: []int{7}},
	}
	if diff := cmp.Diff(want, s.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if s.Model != "claude-opus-4-8" || s.Title != "Fix\tthe <b>lock</b>" || string(s.Tools) != `[ {"name":"run"} ]` {
		t.Errorf("model %q, title %q, tools %s", s.Model, s.Title, s.Tools)
	}
}

func TestDecodeRefuses(t *testing.T) {
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "nothing", In: "", Says: "no request body: neither an object nor a list of messages"},
		{Name: "no messages", In: `{"model":"x"}`, Says: "x.json:1: no list of messages"},
		{Name: "a role of another provider's", In: "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},\n{\"role\":\"tool\"}]}", Says: `x.json:2: messages.1.role: unknown role "tool"`},
		{Name: "no role", In: `[{"content":"x"}]`, Says: "x.json:1: 0: a message needs a role"},
		{Name: "a second list", In: `{"messages":[],"mess\u0061ges":[]}`, Says: `key "messages" comes twice`},
		{Name: "content of another kind", In: `{"messages":[{"role":"user","content":7}]}`, Says: `messages.0.content: '7' where an array is expected`},
		{Name: "a block that is none", In: `{"messages":[{"role":"user","content":["x"]}]}`, Says: `messages.0.content.0: '"' where an object is expected`},
		{Name: "a result's block that is none", In: `{"messages":[{"role":"user","content":[{"type":"tool_result","content":["x"]}]}]}`, Says: `messages.0.content.0.content.0: '"' where an object is expected`},
		{Name: "an id twice behind the content of a result", In: `{"messages":[{"role":"user","content":[{"content":"x","type":"tool_result","tool_use_id":"a","tool_use_id":"b"}]}]}`, Says: `messages.0.content.0: key "tool_use_id" comes twice`},
		{Name: "a cut file", In: `{"messages":[{"role":"user","content":"x`, Says: "messages.0.content: the text ends in the middle of a value"},
		{Name: "a bad escape", In: `{"messages":[{"role":"user","content":"\x"}]}`, Says: "messages.0.content: malformed escape in a string"},
		{Name: "a bad escape at the end", In: `{"messages":[{"role":"user","content":"\x`, Says: "messages.0.content: the text ends"},
		{Name: "a line feed in a string", In: "{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}", Says: "control character 0x0a in a string"},
		{Name: "deep nesting", In: `{"messages":[],"x":` + strings.Repeat("[", 600), Says: "nested more than 512 levels deep"},
		{Name: "two bodies", In: `{"messages":[]} {"messages":[]}`, Says: "more text behind the end of the value"},
	})
}

// The source of an image is read from its source field only. A source with a key twice is
// kept as an opaque part.
func TestDecodeMediaBySource(t *testing.T) {
	const note = `"note":{"media_type":"text/plain","data":"n","url":"n"}`
	const twice = `{"type":"image","source":{"type":"url","url":"u","url":"v"}}`
	for image, want := range map[string]transcript.Part{
		`{"type":"image",` + note + `,"source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`: transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA"},
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"},` + note + `}`: transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA"},
		`{"type":"image","source":{"type":"file","file_id":"f","data":["A"],"url":"u"}}`:                  transcript.Media{Kind: "image", URL: "u"},
		`{"type":"document","source":{"data":"plain words","type":"text","media_type":"text/plain"}}`:     transcript.Media{Kind: "document", MIME: "text/plain"},
		`{"type":"image","source":"u"}`: transcript.Media{Kind: "image"},
		twice:                           transcript.Opaque{Type: "image", Raw: []byte(twice)},
	} {
		if m, ok := want.(transcript.Media); ok {
			m.Raw = []byte(image)
			want = m
		}
		s := decode(t, `{"model":"claude-opus-4-8","messages":[{"role":"user","content":[`+image+`]}]}`)
		if diff := cmp.Diff([]transcript.Part{want}, s.Messages[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", image, diff)
		}
	}
}

func TestSessionID(t *testing.T) {
	id := func(name, data string) transcript.SessionID {
		s, err := format{}.Decode(name, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return s.ID
	}
	short := `{"system":"s","messages":[{"role":"user","content":"x"}]}`
	grown := `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"system":"s"}`
	first := id("a/talk.json", short)
	if !strings.HasPrefix(string(first), "an-") || len(first) != len("an-")+16 {
		t.Errorf("id is %q", first)
	}
	if got := id(`b\talk.txt`, grown); got != first {
		t.Errorf("the id changed from %q to %q when the conversation grew", first, got)
	}
	if got := id("other.json", short); got == first {
		t.Error("another file has the same id")
	}
	if got := id("talk.json", strings.ReplaceAll(short, `"s"`, `"t"`)); got == first {
		t.Error("another system text has the same id")
	}
}

// Invalid Unicode is kept, with a warning.
func TestDecodeWarns(t *testing.T) {
	for _, text := range []string{`\ud800`, "\xff"} {
		data := "{\"messages\":[\n{\"role\":\"user\",\"content\":\"a" + text + "b\"}]}"
		s := decode(t, data)
		if len(s.Warnings) != 1 || s.Warnings[0].Line != 2 || s.Messages[0].Text() != "a\ufffdb" || string(s.Bytes()) != data {
			t.Errorf("%q: warnings %v, text %q", text, s.Warnings, s.Messages[0].Text())
		}
	}
}

const talk = `{
  "max_tokens": 9007199254740993, "system": "Be brief.",
  "messages": [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [ {"type": "thinking", "thinking": "<hm>", "signature": "s"} , {"type": "text", "text": "a & b"} ,
      {"type": "tool_use", "id": "a", "name": "run", "input": {"x": 1.0}}], "x": 1},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "long"}], "cache_control": {"type": "ephemeral"}}]},
    {"role": "assistant", "content": "done"}
  ], "stream": true
}
`

func TestEncodeOwn(t *testing.T) {
	formattest.Edits(t, format{}, talk, []formattest.Edit{
		{
			Name:   "thinking is cut out and nothing else",
			Change: func(w *transcript.Window) { w.Entries[2] = w.Entries[2].WithoutThinking() },
			Want: func(s string) string {
				return strings.Replace(s, `{"type": "thinking", "thinking": "<hm>", "signature": "s"} , `, "", 1)
			},
		},
		{
			Name:   "a result gets another text and nothing else",
			Change: func(w *transcript.Window) { w.Entries[3] = w.Entries[3].WithResult("a", "<cut> & \"paged\"\n") },
			Want: func(s string) string {
				return strings.Replace(s, `[{"type": "text", "text": "long"}]`, `"<cut> & \"paged\"\n"`, 1)
			},
		},
		{
			Name:   "the last message goes",
			Change: func(w *transcript.Window) { w.Entries = w.Entries[:4] },
			Want: func(s string) string {
				return strings.Replace(s, ",\n    {\"role\": \"assistant\", \"content\": \"done\"}", "", 1)
			},
		},
		{
			Name: "a message is added in the style of the file",
			Change: func(w *transcript.Window) {
				w.Entries = append(w.Entries, transcript.Stub("", "<next> & last"))
			},
			Want: func(s string) string {
				last := `{"role": "assistant", "content": "done"}`
				return strings.Replace(s, last, last+",\n    "+`{"role": "user", "content": [{"type": "text", "text": "<next> & last"}]}`, 1)
			},
		},
		{
			Name:   "the system text goes",
			Change: func(w *transcript.Window) { w.Entries = w.Entries[1:] },
			Want:   func(s string) string { return strings.Replace(s, `"Be brief."`, "[]", 1) },
		},
		{
			Name: "a system text is added",
			Change: func(w *transcript.Window) {
				more := transcript.Entry{Message: transcript.Message{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("And kind.")}}}
				w.Entries = append([]transcript.Entry{w.Entries[0], more}, w.Entries[1:]...)
			},
			Want: func(s string) string {
				return strings.Replace(s, `"Be brief."`, `[{"type": "text", "text": "Be brief."}, {"type": "text", "text": "And kind."}]`, 1)
			},
		},
		{
			Name:   "a reply at the head gets a user before it",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries[:1:1], w.Entries[2:]...) },
			Want: func(s string) string {
				return strings.Replace(s, `{"role": "user", "content": "go"}`, `{"role": "user", "content": "`+transcript.Opening+`"}`, 1)
			},
		},
		{
			Name:   "an interrupted call gets a result",
			Change: func(w *transcript.Window) { w.Entries = append(w.Entries[:3:3], w.Entries[4]) },
			Want: func(s string) string {
				head, _, _ := strings.Cut(s, `{"role": "user", "content": [{"type": "tool_result"`)
				to := strings.Index(s, ",\n    "+`{"role": "assistant", "content": "done"}`)
				return head + `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "` + transcript.Interrupted + `", "is_error": true}]}` + s[to:]
			},
			Fixes: 1,
		},
	})
}

// A message with settings only is kept, unless the provider would refuse it in its new place.
func TestEncodeSettings(t *testing.T) {
	head := `{"model":"claude-opus-4-8","messages":[{"role":"user","content":"a"}`
	replies := `,{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}`
	talk := head + "," + settings + replies + "]}"
	for _, tt := range []struct {
		name     string
		from, to int // range of messages that are removed
		want     string
		repairs  []transcript.Fix
	}{
		{
			"the user message behind it goes", 3, 4,
			head + "," + settings + strings.Replace(replies, `,{"role":"user","content":"c"}`, "", 1) + "]}",
			nil,
		},
		{
			"the reply behind it goes", 2, 3,
			head + strings.TrimPrefix(replies, `,{"role":"assistant","content":"b"}`) + "]}",
			[]transcript.Fix{{Rule: "A15", Message: 1, What: "settings inside the conversation left out"}},
		},
	} {
		w := transcript.Whole(decode(t, talk))
		w.Entries = slices.Delete(w.Entries, tt.from, tt.to)
		enc := formattest.Encode(t, format{}, w)
		if diff := cmp.Diff(tt.want, string(enc.Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.repairs, enc.Repairs); diff != "" {
			t.Errorf("%s: repairs (-want +got):\n%s", tt.name, diff)
		}
		if found, err := (format{}).Validate(enc.Data); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", tt.name, found, err)
		}
	}
}

// A bare list has no place for a system text; a body without a system field gets one.
func TestEncodeSystemText(t *testing.T) {
	system := transcript.Entry{Message: transcript.Message{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("S"), transcript.Text(" ")}}}
	for in, want := range map[string]string{
		`[{"role":"user","content":"x"}]`:                           `[{"role": "user", "content": [{"type": "text", "text": "[system] S"}]}, {"role":"user","content":"x"}]`,
		`{"system":" ","messages":[{"role":"user","content":"x"}]}`: `{"system":[{"type": "text", "text": "S"}],"messages":[{"role":"user","content":"x"}]}`,
		`{"messages":[{"role":"user","content":"x"}]}`:              `{"system": [{"type": "text", "text": "S"}], "messages":[{"role":"user","content":"x"}]}`,
	} {
		w := transcript.Whole(decode(t, in))
		w.Entries = append([]transcript.Entry{system}, w.Entries...)
		if got := string(formattest.Encode(t, format{}, w).Data); got != want {
			t.Errorf("with a system text, %s is\n%s, want\n%s", in, got, want)
		}
	}
}

// A session of another format is written from its parts.
func TestEncodeOther(t *testing.T) {
	message := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	s := &transcript.Session{Format: "other", Messages: []transcript.Message{
		message(transcript.RoleSystem, transcript.Text("S")),
		message(transcript.RoleAssistant, transcript.Thinking{Text: "hm", Signature: "sig"}, transcript.Text(""),
			transcript.ToolCall{ID: "a.b", Name: "run", Input: []byte(`{"n": 1e400}`)},
			transcript.ToolCall{ID: "c", Name: "run", Input: []byte(`oops <`)}),
		message(transcript.RoleTool, transcript.ToolResult{CallID: "c", Error: true}),
		message(transcript.RoleTool, transcript.ToolResult{CallID: "a.b", Content: []transcript.Part{
			transcript.Text("one"), transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA"},
		}}),
		message(transcript.RoleSystem, transcript.Text("T")),
		message(transcript.RoleUser, transcript.Media{Kind: "audio", MIME: "audio/wav", Raw: []byte("123")}, transcript.Opaque{Type: "odd", Raw: []byte("{}")}),
	}}
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	id := chat.CleanID("a.b")
	want := `{"system": [{"type": "text", "text": "S"}], "messages": [` + strings.Join([]string{
		`{"role": "user", "content": "` + transcript.Opening + `"}`,
		`{"role": "assistant", "content": [{"type": "tool_use", "id": "` + id + `", "name": "run", "input": {"n": 1e400}}, {"type": "tool_use", "id": "c", "name": "run", "input": {"_raw": "oops <"}}]}`,
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "` + id + `", "content": [{"type": "text", "text": "one"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}, {"type": "tool_result", "tool_use_id": "c", "is_error": true}]}`,
		`{"role": "user", "content": [{"type": "text", "text": "[system] T"}]}`,
		`{"role": "user", "content": [{"type": "text", "text": "[audio audio/wav]"}]}`,
	}, ", ") + `]}`
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
	losses := []transcript.Loss{
		{Message: 1, What: "thinking", Count: 1, Bytes: 5},
		{Message: 1, What: "arguments", Count: 1, Bytes: 6},
		{Message: 5, What: "audio", Count: 1, Bytes: 3},
		{Message: 5, What: `"odd"`, Count: 1, Bytes: 2},
	}
	if diff := cmp.Diff(losses, enc.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// Signed thinking from Claude Code is kept, since the signature is the provider's own.
func TestEncodeClaudeCode(t *testing.T) {
	s := &transcript.Session{Format: "claudecode", Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("x")}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm", Signature: "s"},
			transcript.Thinking{Signature: "d", Redacted: true},
			transcript.Opaque{Type: "server_tool_use", Raw: []byte(`{"type":"server_tool_use","id":"s"}`)},
			transcript.Opaque{Type: "web_search_tool_result", Raw: []byte(`{"type":"web_search_tool_result","tool_use_id":"s"}`)},
			transcript.Text("y"),
		}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Thinking{Text: "unsigned"}, transcript.Thinking{Text: "hm", Signature: "s"}, transcript.Text("z")}},
	}}
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	want := `{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, ` +
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}, {"type":"server_tool_use","id":"s"}, {"type":"web_search_tool_result","tool_use_id":"s"}, {"type": "text", "text": "y"}]}, ` +
		`{"role": "assistant", "content": [{"type": "text", "text": "z"}]}]}`
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]transcript.Loss{{Message: 2, What: "thinking", Count: 2, Bytes: 11}}, enc.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
