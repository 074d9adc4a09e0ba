package chat

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

func TestSniff(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Dialect
	}{
		{"plain messages", `{"messages":[{"role":"user","content":"x"}]}`, OpenAI},
		{"a list of plain messages", ` [{"role":"user","content":"x"}]`, OpenAI},
		{"no messages yet", `{"messages":[]}`, OpenAI},
		{"a system field", `{"messages":[{"role":"user","content":"x"}],"system":"s"}`, Anthropic},
		{"a system message", `{"messages":[{"role":"system","content":"x"}]}`, OpenAI},
		{"a developer message", `[{"role":"developer","content":"x"}]`, OpenAI},
		{"tool calls", `[{"role":"assistant","tool_calls":[]}]`, OpenAI},
		{"tool use", `[{"role":"assistant","content":[{"type":"tool_use"}]}]`, Anthropic},
		{"tool use and a system message", `[{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"system","content":"x"}]`, Anthropic},
		{"thinking", `[{"role":"assistant","content":[{"type":"thinking"}]}]`, Anthropic},
		{"tools with a schema", `{"tools":[{"input_schema":{}}],"messages":[{"role":"user","content":"x"}]}`, Anthropic},
		{"a model of Anthropic's", `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]}`, Anthropic},
		{"a model of Anthropic's at a gateway", `{"model":"claude-opus-5-5","messages":[{"role":"system","content":"x"},{"role":"user","content":"y"}]}`, OpenAI},
		{"a tool of Anthropic's", `{"tools":[{"type":"bash_20250124"}],"messages":[{"role":"user","content":"x"}]}`, Anthropic},
		{"a tool with a number", `{"tools":[{"type":"custom_2025"}],"messages":[{"role":"user","content":"x"}]}`, OpenAI},
		{"a compaction", `[{"role":"assistant","content":[{"content":"c","type":"compaction"}]}]`, Anthropic},
		{"a compaction in a gateway's message", `[{"role":"assistant","content":[{"type":"compaction"}],"tool_calls":[]}]`, OpenAI},
		{"settings for what follows", `[{"role":"user","content":"x"},{"role":"system","content":[],"output_config":{}}]`, Anthropic},
		{"tools with a function", `{"tools":[{"function":{}}],"messages":[{"role":"user","content":"x"}]}`, OpenAI},
		{"the beginning of a file", `{"system":"s","messages":[{"role":"user","content":"x`, Anthropic},
		{"the beginning of a message", `[{"role":"user","con`, OpenAI},
		{"a byte order mark", "\ufeff" + `[{"role":"user","content":"x"}]`, OpenAI},
		{"a log of Claude Code", `{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}` + "\n" + `{"type":"x"}`, Neither},
		{"a log of bodies", `{"messages":[{"role":"user"}]}` + "\n" + `{"messages":[{"role":"user"}]}`, Neither},
		{"a pager's history", `[{"intent_ir":{"role":"user"},"blocks":[{"role":"user","content":"x"}]}]`, Neither},
		{"a body of another API", `{"contents":[{"role":"user","parts":[]}]}`, Neither},
		{"a text for a model", `{"model":"gpt-5","input":"x"}`, Responses},
		{"items", `{"input":[{"role":"user","content":"x"}],"model":"gpt-5"}`, Responses},
		{"items alone", `[{"type":"message","role":"user","content":"x"},{"type":"function_call"}]`, Responses},
		{"items whose contents alone tell it", `[{"role":"user","content":[{"type":"input_text","text":"x"}]}]`, Responses},
		{"no items yet", `{"model":"gpt-5","input":[]}`, Responses},
		{"the beginning of items", `{"model":"gpt-5","input":[{"type":"reasoning","encrypted_con`, Responses},
		{"messages and an input", `{"input":[{"type":"reasoning"}],"messages":[{"role":"user","content":"x"}]}`, OpenAI},
		{"parts of items in messages", `{"messages":[{"role":"user","content":[{"type":"input_text","text":"x"}]}]}`, OpenAI},
		{"texts for vectors", `{"model":"text-embedding-3-small","input":["x","y"]}`, Neither},
		{"a text for a vector", `{"input":"x","model":"text-embedding-3-small"}`, Neither},
		{"a text for a vector of another model", `{"input":"x","model":"m","encoding_format":"float"}`, Neither},
		{"a text to be spoken", `{"model":"tts-1","input":"x","voice":"alloy"}`, Neither},
		{"an input of something", `{"input":"x"}`, Neither},
		{"an input that is none", `{"model":"gpt-5","input":7}`, Neither},
		{"a field that both have, of one only", `{"max_completion_tokens":1,"system":"s","messages":[{"role":"user"}]}`, OpenAI},
		{"a result of a tool and a block of the other", `[{"role":"tool"},{"role":"assistant","content":[{"type":"tool_use"}]}]`, OpenAI},
		{"a call and a block of the other", `[{"role":"assistant","tool_call_id":"c","content":[{"type":"thinking"}]}]`, OpenAI},
		{"an image in the one form and a block of the other", `[{"role":"user","content":[{"type":"image_url"},{"type":"image"}]}]`, OpenAI},
		{"a function and a schema", `{"tools":[{"function":{},"input_schema":{}}],"messages":[{"role":"user"}]}`, OpenAI},
		{"a result of a tool alone", `[{"role":"tool"}]`, OpenAI},
		{"a set of tools", `{"tools":[{"type":"mcp_toolset"}],"messages":[{"role":"user"}]}`, Anthropic},
		{"a tool with eight signs", `{"tools":[{"type":"custom_2025012a"}],"messages":[{"role":"user"}]}`, OpenAI},
		{"a tool with a date and another", `{"tools":[{"type":"bash_20250124"},{"type":"custom"}],"messages":[{"role":"user"}]}`, Anthropic},
		{"tools, a model and types that are none", `{"tools":7,"model":7,"messages":[7,{"role":"user","type":7,"content":[7,{"type":7}]}]}`, OpenAI},
		{"a role that is none", `[{"role":7}]`, Neither},
		{"a tool of the server", `[{"role":"assistant","content":[{"type":"server_tool_use"}]}]`, Anthropic},
		{"a new tool of the server", `[{"role":"user","content":[{"type":"new_tool_result"}]}]`, Anthropic},
		{"a block of one and then of both", `[{"role":"user","content":[{"type":"tool_use"},{"type":"text"}]}]`, Anthropic},
		{"a call of a new tool", `[{"type":"new_call"}]`, Responses},
		{"a result of a new tool", `[{"type":"new_call_output"},{"type":"text"}]`, Responses},
		{"items without a model", `{"input":[{"type":"reasoning"}]}`, Responses},
		{"a message without a model", `{"input":[{"role":"user"}]}`, Responses},
		{"no items, and no model", `{"input":[]}`, Neither},
		{"texts of an unknown form", `{"model":"m","input":[{"x":1}]}`, Neither},
		{"a text to be judged", `{"model":"omni-moderation-latest","input":"x"}`, Neither},
		{"a text for a vector of a model behind it", `{"encoding_format":"float","model":"m","input":"x"}`, Neither},
		{"messages of unknown roles", `{"messages":[{"role":"robot"}]}`, Neither},
		{"the beginning of messages", `{"messages":[`, Neither},
		{"messages, and a text for them", `{"model":"m","input":"x","messages":[{"role":"user"}]}`, OpenAI},
		{"an empty list", `[]`, Neither},
		{"messages that are none", `{"messages":7}`, Neither},
		{"unknown roles", `[{"role":"robot"}]`, Neither},
		{"text", `role: user`, Neither},
		{"nothing", ``, Neither},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sniff([]byte(tt.in)); got != tt.want {
				t.Errorf("Sniff(%s) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func skip(r *rawjson.Reader, _ string) error { _, err := r.Skip(); return err }

func skipMessage(r *rawjson.Reader, _ int) error { _, err := r.Skip(); return err }

func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		pieces   []Piece
		want     string
	}{
		{"neighbors keep their gap", `{"a":1, "messages": [ {} ,  {},{} ] }`, []Piece{{Raw: []byte("A"), Index: 1}, {Raw: []byte("B"), Index: 2}}, `{"a":1, "messages": [ A,B ] }`},
		{"others get that of the first", `[ {} ,  {},{} ]`, []Piece{{Raw: []byte("A"), Index: 1}, {Raw: []byte("B"), Index: -1}, {Raw: []byte("C"), Index: 0}}, `[ A ,  B ,  C ]`},
		{"one message on a line of its own", "[\n\t{}\n]", []Piece{{Raw: []byte("A"), Index: 0}, {Raw: []byte("B"), Index: -1}}, "[\n\tA,\n\tB\n]"},
		{"one message", "[{}]", []Piece{{Raw: []byte("A"), Index: 0}, {Raw: []byte("B"), Index: -1}}, "[A, B]"},
		{"no message", `{"messages":[ ]}`, []Piece{{Raw: []byte("A"), Index: -1}, {Raw: []byte("B"), Index: -1}}, `{"messages":[A, B]}`},
		{"nothing is left", `{"messages":[ {} ], "x": 1}`, nil, `{"messages":[], "x": 1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Messages.Read("", []byte(tt.in), skip, skipMessage)
			if err != nil {
				t.Fatal(err)
			}
			got, spans := f.Join(tt.pieces)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for i, s := range spans {
				if raw := string(got[s.Start:s.End]); raw != string(tt.pieces[i].Raw) {
					t.Errorf("span %d is %q, want %q", i, raw, tt.pieces[i].Raw)
				}
			}
		})
	}
}

// A document with earlier windows is decoded as its bodies are decoded alone.
func TestWindows(t *testing.T) {
	body := func(_ string, data []byte) (*transcript.Session, error) {
		f, err := Messages.Read("", data, skip, skipMessage)
		if err != nil {
			return nil, err
		}
		s := &transcript.Session{Title: string(data)}
		items, at := f.Cut(f.Messages)
		s.Items = items
		for _, i := range at {
			s.Messages = append(s.Messages, transcript.Message{Items: []int{i}})
		}
		return s, nil
	}
	now := []byte(` {"x":1,"messages":[{"c":3}, {"d":4}]} `)
	earlier := [][]byte{[]byte(`{"messages":[{"a":1}]}`), []byte(`{"messages":[{"b":2}]}`)}
	if got := Windows(nil, now); string(got) != string(now) {
		t.Errorf("without earlier windows it is %s", got)
	}
	data := Windows(earlier, now)
	if got := strings.TrimSpace(string(Now(data))); got != strings.TrimSpace(string(now)) {
		t.Errorf("the present body is %s", got)
	}
	if marked := Windows(earlier, append([]byte("\ufeff"), now...)); string(marked) != string(data) {
		t.Errorf("with a byte order mark it is %q", marked)
	}
	s, err := Decode("", data, body)
	if err != nil || string(s.Bytes()) != string(data) || s.Title != string(earlier[0]) {
		t.Fatalf("%v: %q of\n%s", err, s.Title, s.Bytes())
	}
	var got []string
	for _, window := range append(s.Earlier, s.Messages) {
		for i := range window {
			got = append(got, string(s.Raw(&window[i])))
		}
		got = append(got, "|")
	}
	if want := `{"a":1} | {"b":2} | {"c":3} {"d":4} |`; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for n := range 3 {
		data := Windows(earlier[:n], now)
		s, err := Decode("", data, body)
		if err != nil {
			t.Fatal(err)
		}
		w := &transcript.Window{Session: s, Entries: []transcript.Entry{{}, {Message: s.Messages[1]}}}
		if spans := Spans(w); len(spans) != 1 || string(Now(data)[spans[0].Start:spans[0].End]) != `{"d":4}` {
			t.Errorf("with %d earlier windows the last message is at %+v", n, spans)
		}
	}
	if _, err := Decode("", Windows([][]byte{[]byte(`{}`)}, now), body); err == nil {
		t.Error("a window that is no body is read")
	}
}

func TestDescribeTitle(t *testing.T) {
	long := "äöü and a title that goes on and on, past all that a list of sessions could show of it in one line"
	for in, want := range map[string]string{
		"":                    "",
		" \n\tfirst \nsecond": "first",
		long:                  string([]rune(long)[:79]) + "…",
	} {
		s := &transcript.Session{Messages: []transcript.Message{
			{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("s")}},
			{Role: transcript.RoleUser},
			{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text(in)}},
		}}
		if Describe(s, "x-", "name"); s.Title != want {
			t.Errorf("title of %q is %q, want %q", in, s.Title, want)
		}
	}
}

// A file that is no request body, or that has no messages, is refused with what is expected.
func TestBodiesThatAreNone(t *testing.T) {
	for in, want := range map[string]string{"3": "no request body: neither an object nor a list of messages", "": "no request body: neither an object nor a list of messages", `{"model":"m"}`: "no list of messages"} {
		_, err := Messages.Read("x.json", []byte(in), skip, skipMessage)
		if e, ok := errors.AsType[*transcript.SyntaxError](err); !ok || e.Text != want || e.Hint != Messages.Hint {
			t.Errorf("%q: %v, want %s; %s", in, err, want, Messages.Hint)
		}
	}
}

// A role that is not a string has its own error; the error about an unknown role lists the
// known roles.
func TestRoles(t *testing.T) {
	roles := Roles{Names: []string{"user", "assistant"}, Hint: "use user or assistant"}
	for in, want := range map[string]string{`"user"`: "", `"robot"`: "unknown role", `7`: "string", `"us`: ""} {
		role, err := roles.Read(rawjson.NewReader([]byte(in)))
		if in == `"user"` {
			if role != "user" || err != nil {
				t.Errorf("%s: %q, %v", in, role, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || in != `"robot"` && strings.Contains(err.Error(), "unknown role") {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// Set replaces a member or appends one, also to an object without members.
func TestSet(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`: `{"k": 1}`, ` { } `: `{"k": 1}`, `{"a":2}`: `{"a":2, "k": 1}`, `{"k":0,"a":2}`: `{"k":1,"a":2}`,
	} {
		if got := string(Set([]byte(raw), "k", []byte("1"))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
}
