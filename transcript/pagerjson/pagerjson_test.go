package pagerjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

const small = `{
  "note": {"kept": [1, 2.50, null]},
  "intent_ir": ["pager", "sc\u006fre"],
  "blocks": [
    {"id": "block-1", "turn": 1, "role": "user", "kind": "active", "text": "the \"pager\"\n\ud83d\ude00", "extra": 1e5},
    {"id": "block-2", "turn": 2.0, "role": "assistant", "kind": null, "text": "größe"},
    {"text": "output", "role": "tool", "turn": 3, "id": "block-3", "kind": "active"}
  ],
  "current_turn": 4
}
`

func TestParse(t *testing.T) {
	got, err := Parse("h.json", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	active, four := json.RawMessage(`"active"`), Int(4)
	want := &History{
		Intent:  []string{"pager", "score"},
		Current: &four,
		Blocks: []Block{
			{ID: "block-1", Turn: Int(1), Text: []byte("the \"pager\"\n😀"), Role: "user", Kind: active},
			{ID: "block-2", Turn: Number{Value: 2}, Text: []byte("größe"), Role: "assistant"},
			{ID: "block-3", Turn: Int(3), Text: []byte("output"), Role: "tool", Kind: active},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

// Values without an effect may have any type.
func TestParseOddValues(t *testing.T) {
	in := `{"intent_ir": null, "blocks": [
		{"id": "block-1", "turn": 1, "text": "", "role": 7, "kind": {"a": [1.50, "\ud800"]}},
		{"id": "block-2", "turn": 1, "text": "", "role": ["x"], "kind": false}]}`
	got, err := Parse("", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := &History{Blocks: []Block{
		{ID: "block-1", Turn: Int(1), Text: []byte{}, Kind: json.RawMessage(`{"a": [1.50, "\ud800"]}`)},
		{ID: "block-2", Turn: Int(1), Text: []byte{}, Kind: json.RawMessage("false")},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	if vs, err := (format{}).Validate([]byte(in)); err != nil || len(vs) > 0 {
		t.Errorf("Validate: %v, %v, want nothing", vs, err)
	}
}

func TestParseErrors(t *testing.T) {
	block := func(b string) string { return `{"intent_ir": [], "blocks": [` + b + `]}` }
	for _, tt := range []struct {
		name, in, want string
	}{
		{"nothing", "", "h.json:1: a history is an object, got the end of the file"},
		{"a byte order mark", "\ufeff{}", `h.json:1: a history is an object, got '\ufeff'`},
		{"a list", "[]", "h.json:1: a history is an object, got '['"},
		{"no keywords", `{"blocks": []}`, "h.json:1: intent_ir: the key is missing"},
		{"no list of blocks", `{"intent_ir": []}`, "h.json:1: blocks: the key is missing"},
		{"one keyword", "{\n\"intent_ir\": \"pager\"}", "h.json:2: intent_ir: is a text, want a list of texts"},
		{"a number as keyword", `{"intent_ir": ["a", 1]}`, "h.json:1: intent_ir.1: is a number, want a text"},
		{"an object of blocks", `{"blocks": {}}`, "h.json:1: blocks: is an object, want a list of objects"},
		{"a null turn", `{"current_turn": null}`, "h.json:1: current_turn: is null, want a number"},
		{"a block that is a text", block(`"x"`), "h.json:1: blocks.0: is a text, want an object"},
		{"no id", block("{}"), "h.json:1: blocks.0.id: the key is missing"},
		{"no turn", block(`{"id": "a"}`), "h.json:1: blocks.0.turn: the key is missing"},
		{"no text", block("\n" + `{"id": "a", "turn": 1}`), "h.json:2: blocks.0.text: the key is missing"},
		{"a truth as turn", block(`{"turn": true}`), "h.json:1: blocks.0.turn: is true, want a number"},
		{"a huge whole turn", block(`{"turn": 9007199254740993}`), "h.json:1: blocks.0.turn: 9007199254740993 is beyond ±2⁵²"},
		{"a huge turn", block(`{"turn": 1e400}`), "h.json:1: blocks.0.turn: 1e400 is too large"},
		{"a kind that is no value", block(`{"kind": x}`), "h.json:1: want a value, got 'x'"},
		{"a kind twice", block(`{"kind": 1, "kind": [2]}`), "h.json:1: blocks.0.kind: the key occurs twice"},
		{"half a pair in an id", block(`{"id": "\ud800x"}`), "h.json:1: blocks.0.id: has half of a surrogate pair"},
		{"a key twice", block(`{"id": "a", "id": "b"}`), "h.json:1: blocks.0.id: the key occurs twice"},
		{"a list twice", `{"blocks": [], "blocks": []}`, "h.json:1: blocks: the key occurs twice"},
		{"something behind", `{"intent_ir": [], "blocks": []} x`, "h.json:1: the history ends here, but the file goes on: 'x'"},
		{"a comma too many", `{"intent_ir": ["a", ]}`, "h.json:1: there is nothing after the comma"},
		{"no comma", `{"intent_ir": ["a" "b"]}`, `h.json:1: want ',' or ']', got '"'`},
		{"no colon", `{"intent_ir" []}`, `h.json:1: want ':' after the key "intent_ir", got '['`},
		{"a key that is none", `{intent_ir: []}`, "h.json:1: want a key in quotation marks, got 'i'"},
		{"a text without end", "{\"intent_ir\": [\n\"pager", "h.json:2: the text that begins here has no closing quotation mark"},
		{"a line feed in a text", "{\"intent_ir\": [\"pager\n\"]}", "h.json:1: a text has the control character U+000A"},
		{"an unknown escape", `{"a\x": 1}`, "h.json:1: a text has an escape that JSON does not know"},
		{"a backslash at the end", `{"a\`, "h.json:1: a text has an escape that JSON does not know"},
		{"an escape at the end", `{"a\u0041`, "h.json:1: the text that begins here has no closing quotation mark"},
		{"half a pair and a broken escape", `{"a\ud83d\u00g0": 1}`, "h.json:1: a text has an escape that JSON does not know"},
		{"a cut-off escape", `{"a\u12"`, "h.json:1: a text has an escape that JSON does not know"},
		{"Latin-1", "{\"gr\xf6\xdfe\": 1}", "h.json:1: a text is not UTF-8: convert the file"},
		{"a word", `{"a": NaN}`, "h.json:1: want a value, got 'N'"},
		{"a bad number", `{"a": 1.}`, "h.json:1: a number is not written as in JSON, such as 12 or 0.5"},
		{"a number with a zero in front", `{"a": 01}`, `h.json:1: want ',' or '}', got '1'`},
		{"a deep value", `{"a": ` + strings.Repeat("[", 2000), "h.json:1: values are nested more than 1000 deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Parse("h.json", []byte(tt.in))
			var e *transcript.SyntaxError
			if !errors.As(err, &e) || err.Error() != tt.want || h != nil {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestNumbersAreWrittenAsTheOriginalDoes(t *testing.T) {
	for _, tt := range []struct {
		n    Number
		want string
	}{
		{Int(0), "0"},
		{Int(-3), "-3"},
		{Number{Value: 2}, "2.0"},
		{Number{Value: 0.5}, "0.5"},
		{Number{Value: 0.0001}, "0.0001"},
		{Number{Value: 0.00001}, "1e-05"},
		{Number{Value: 1e15}, "1000000000000000.0"},
		{Number{Value: 1e16}, "1e+16"},
		{Number{Value: 1.5e300}, "1.5e+300"},
		{Number{Value: math.Copysign(0, -1)}, "-0.0"},
		{Int(5).Sub(Int(2)), "3"},
		{Int(5).Sub(Number{Value: 2}), "3.0"},
	} {
		if got := tt.n.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func decode(t testing.TB, data string) *transcript.Session {
	t.Helper()
	s, err := format{}.Decode("dir/small.json", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecode(t *testing.T) {
	s := decode(t, small)
	if s.ID != "small" || s.Format != "pager" {
		t.Errorf("session %q of format %q, want small of pager", s.ID, s.Format)
	}
	if got := string(s.Bytes()); got != small {
		t.Errorf("the items are\n%s\nwant the input", got)
	}
	want := []transcript.Message{
		{ID: "block-1", Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("the \"pager\"\n😀")}, Items: []int{1}},
		{ID: "block-2", Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("größe")}, Items: []int{3}},
		{
			ID: "block-3", Role: transcript.RoleTool, Items: []int{5},
			Parts: []transcript.Part{transcript.ToolResult{CallID: "block-3", Content: []transcript.Part{transcript.Text("output")}}},
		},
	}
	if diff := cmp.Diff(want, s.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got, want := string(s.Raw(&s.Messages[1])), `{"id": "block-2", "turn": 2.0, "role": "assistant", "kind": null, "text": "größe"}`; got != want {
		t.Errorf("Raw = %s, want %s", got, want)
	}
}

func TestDecodeNamesSessionsWithoutFile(t *testing.T) {
	a, err := format{}.Decode("", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(a.ID), "pager-") || len(a.ID) != len("pager-")+16 {
		t.Errorf("session id %q, want pager- and 16 digits", a.ID)
	}
}

func TestDecodeWarnsOfHalfPairs(t *testing.T) {
	s := decode(t, "{\"intent_ir\": [],\n\"blocks\": [{\"id\": \"a\", \"turn\": 1, \"text\": \"x\\ud83dy\"}]}")
	want := []transcript.Warning{{Line: 2, Text: "blocks.0.text has half of a surrogate pair, shown as U+FFFD"}}
	if diff := cmp.Diff(want, s.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := s.Messages[0].Text(); got != "x\uFFFDy" {
		t.Errorf("text %q, want x\uFFFDy", got)
	}
}

func TestSniff(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want bool
	}{
		{small, true},
		{small[:40], false},
		{small[:100], true},
		{`  {"blocks": [{"id": "b`, true},
		{`{"blocks": [], "intent_ir": []}`, true},
		{`{"blocks": []}`, false},
		{`{"intent_ir": []}`, false},
		{`{"messages": [{"role": "user", "content": "blocks and intent_ir"}]}`, false},
		{`{"contents": [`, false},
		{`["intent_ir", "blocks"]`, false},
		{"", false},
	} {
		if got := (format{}).Sniff([]byte(tt.in)); got != tt.want {
			t.Errorf("Sniff(%.30q) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func encode(t testing.TB, w *transcript.Window) *transcript.Encoded {
	t.Helper()
	e, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEncodeIntact(t *testing.T) {
	if got := string(encode(t, transcript.Whole(decode(t, small))).Data); got != small {
		t.Errorf("got\n%s\nwant the input", got)
	}
}

func TestEncodeChanged(t *testing.T) {
	s := decode(t, small)
	w := transcript.Whole(s)
	w.Entries[1] = transcript.Stub("0123456789abcdef", "a \"stub\"\x01")
	w.Entries[2] = w.Entries[2].WithResult("block-3", "less")
	want := `{
  "note": {"kept": [1, 2.50, null]},
  "intent_ir": ["pager", "sc\u006fre"],
  "blocks": [
    {"id": "block-1", "turn": 1, "role": "user", "kind": "active", "text": "the \"pager\"\n\ud83d\ude00", "extra": 1e5},
    {"id": "block-01234567", "turn": 2.0, "role": "user", "text": "a \"stub\"\u0001"},
    {"text": "less", "role": "tool", "turn": 3, "id": "block-3", "kind": "active"}
  ],
  "current_turn": 4
}
`
	e := encode(t, w)
	if got := string(e.Data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(e.Losses) != 0 {
		t.Errorf("losses %v, want none", e.Losses)
	}
}

func TestEncodeWithoutBlocks(t *testing.T) {
	s := decode(t, `{"x": [1], "blocks": [ ], "intent_ir": ["a"]}`)
	w := &transcript.Window{Session: s, Entries: []transcript.Entry{transcript.Stub("", "new"), transcript.Stub("", "newer")}}
	h, err := Parse("", encode(t, w).Data)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Blocks) != 2 || string(h.Blocks[1].Text) != "newer" || h.Blocks[0].ID == h.Blocks[1].ID || h.Intent[0] != "a" {
		t.Errorf("got %+v, want two blocks with ids of their own", h)
	}
	w = transcript.Whole(decode(t, small))
	w.Entries = nil
	if h, err = Parse("", encode(t, w).Data); err != nil || len(h.Blocks) != 0 {
		t.Errorf("an empty window: got %+v, %v, want no blocks", h, err)
	}
}

func TestEncodeOtherFormats(t *testing.T) {
	s := &transcript.Session{ID: "s", Format: "other", Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("find it"), transcript.Media{Kind: "image", Raw: json.RawMessage("{}")}}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm", Signature: "xyz"},
			transcript.ToolCall{ID: "c1", Name: "grep", Input: json.RawMessage(`{"q":"it"}`)},
		}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "c1", Content: []transcript.Part{transcript.Text("found")}}}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("there")}},
	}}
	e := encode(t, transcript.Whole(s))
	h, err := Parse("", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range h.Blocks {
		got = append(got, b.Turn.String()+" "+b.Role+" "+string(b.Text))
		if !strings.HasPrefix(b.ID, "block-") || len(b.ID) != len("block-")+8 {
			t.Errorf("id %q, want block- and 8 digits", b.ID)
		}
	}
	if diff := cmp.Diff([]string{"1 user find it", "2 assistant grep {\"q\":\"it\"}\nfound", "3 assistant there"}, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	losses := []transcript.Loss{
		{Message: 0, What: "image", Count: 1, Bytes: 2},
		{Message: 1, What: "thinking", Count: 1, Bytes: 5},
		{Message: 1, What: "tool call as such", Count: 1},
		{Message: 2, What: "tool result as such", Count: 1},
	}
	if diff := cmp.Diff(losses, e.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if v, err := (format{}).Validate(e.Data); err != nil || len(v) != 0 {
		t.Errorf("Validate = %v, %v, want nothing", v, err)
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"a good one", small, nil},
		{"one bad type, and no blocks", `{"intent_ir": [], "current_turn": "x", "blocks": []}`, []string{"P2 at current_turn: is a text, want a number"}},
		{"no blocks", `{"intent_ir": [], "blocks": []}`, []string{"P5 at blocks: there are no blocks"}},
		{
			"bad types everywhere", `{"intent_ir": "x", "blocks": [{"id": 1, "turn": "2", "text": []}, 5, {"id": "a", "id": "b", "turn": 1}]}`,
			[]string{
				"P2 at intent_ir: is a text, want a list of texts",
				"P2 at blocks.0.id: is a number, want a text",
				"P2 at blocks.0.turn: is a text, want a number",
				"P2 at blocks.0.text: is a list, want a text",
				"P2 at blocks.1: is a number, want an object",
				"P6 at blocks.2.id: the key occurs twice",
				"P1 at blocks.2.text: the key is missing",
			},
		},
		{
			"a new block and an old id", `{"intent_ir": [], "current_turn": 1, "blocks": [{"id": "a", "turn": 1, "text": ""}, {"id": "a", "turn": 1.5, "text": ""}]}`,
			[]string{`P3 at blocks.1.id: "a" is the id of block 0, too`, "P4 at blocks.1.turn: turn 1.5 is after the current turn 1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vs, err := format{}.Validate([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range vs {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (format{}).Validate([]byte("{")); err == nil {
		t.Error("half an object: got no error, want one")
	}
}

// The encoding of a window with removed and replaced messages is a history in which every
// remaining message keeps its bytes.
func TestRewriteKeepsBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var in strings.Builder
		in.WriteString(`{"intent_ir":[],"blocks":[`)
		n := rapid.IntRange(0, 6).Draw(rt, "n")
		for i := range n {
			if i > 0 {
				in.WriteString(rapid.SampledFrom([]string{",", " ,\n", ", "}).Draw(rt, "comma"))
			}
			b, err := json.Marshal(map[string]any{
				"id": "block-" + strconv.Itoa(i), "turn": i, "text": rapid.String().Draw(rt, "text"),
				"role": rapid.SampledFrom([]string{"user", "tool", "assistant", "robot"}).Draw(rt, "role"),
			})
			if err != nil {
				rt.Fatal(err)
			}
			in.Write(b)
		}
		in.WriteString("]}")
		s, err := format{}.Decode("x", []byte(in.String()))
		if err != nil {
			rt.Fatal(err)
		}
		w := &transcript.Window{Session: s}
		var want [][]byte
		for i := range s.Messages {
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				w.Entries = append(w.Entries, transcript.Keep(&s.Messages[i], ""))
				want = append(want, s.Raw(&s.Messages[i]))
			case 1:
				w.Entries = append(w.Entries, transcript.Stub(transcript.NewBlockID("x", 0, i, "", 0), rapid.String().Draw(rt, "stub")))
			}
		}
		e, err := format{}.Encode(w)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := format{}.Decode("x", e.Data)
		if err != nil {
			rt.Fatalf("%v in\n%s", err, e.Data)
		}
		if len(got.Messages) != len(w.Entries) {
			rt.Fatalf("got %d messages, want %d", len(got.Messages), len(w.Entries))
		}
		for i := range w.Entries {
			if w.Entries[i].Source != nil {
				if raw := got.Raw(&got.Messages[i]); !bytes.Equal(raw, want[0]) {
					rt.Fatalf("got %s, want %s", raw, want[0])
				}
				want = want[1:]
			} else if text := got.Messages[i].Text(); text != w.Entries[i].Text() {
				rt.Fatalf("stub %q, want %q", text, w.Entries[i].Text())
			}
		}
	})
}

// The reader agrees with encoding/json on accepted files, and refuses only invalid JSON
// and files that are no history.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"intent_ir": ["\u00e9\/\b\f"], "blocks": [], "x": [{}, -1.5E+7, true, false, null]}`))
	f.Add([]byte(`{"intent_ir":[],"blocks":[{"id":"\ud800\udc00","turn":-0,"text":"12345678\"\\"}]}`))
	f.Add([]byte("{\"intent_ir\":[\"1234567\x1f\"]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Parse("", data)
		_, lenient := format{}.Validate(data)
		if err != nil {
			var e *transcript.SyntaxError
			if !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("error %v, want a syntax error with a line", err)
			}
			return
		}
		if lenient != nil {
			t.Fatalf("Validate: %v, but Parse reads it", lenient)
		}
		if !utf8.Valid(data) || !json.Valid(data) {
			t.Fatalf("Parse reads what is not JSON: %q", data)
		}
		var want struct {
			Intent []string `json:"intent_ir"`
			Blocks []struct {
				ID   string
				Turn float64
				Text string
			}
		}
		if err := json.Unmarshal(data, &want); err != nil {
			return // encoding/json takes keys of other case for the same
		}
		if exact := !bytes.ContainsAny(bytes.ToUpper(data), "\u017F\u212A") && bytes.Count(bytes.ToLower(data), []byte(`"id"`)) == len(h.Blocks); !exact {
			return
		}
		for i, b := range h.Blocks {
			if i < len(want.Blocks) && want.Blocks[i].ID == b.ID && want.Blocks[i].Turn == b.Turn.Value && want.Blocks[i].Text != string(b.Text) {
				t.Fatalf("block %d is %+v, want %+v", i, b, want.Blocks[i])
			}
		}
		s, err := format{}.Decode("", data)
		if err != nil || !bytes.Equal(s.Bytes(), data) {
			t.Fatalf("Decode: %v, or the items are not the input", err)
		}
	})
}

// Texts of all lengths, with an escape or another special byte at each position, are read as
// encoding/json reads them.
func TestTexts(t *testing.T) {
	for _, part := range []string{"", "é", "\\n", "\\u00e9", "\\\"", "\\\\", "\x7f", "😀", "\\ud83d\\ude00", "\\ud83d\\u0041", "\\udc00"} {
		for n := range 20 {
			for at := range n + 1 {
				text := strings.Repeat("a", at) + part + strings.Repeat("b", n-at)
				data := []byte(`{"intent_ir": [], "blocks": [{"id": "i", "turn": 0, "text": "` + text + `"}]}`)
				var want string
				if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil {
					t.Fatal(err)
				}
				h, err := Parse("", data)
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if got := string(h.Blocks[0].Text); got != want {
					t.Fatalf("%q: got %q, want %q", text, got, want)
				}
			}
		}
	}
	for c := range byte(' ') {
		for n := range 10 {
			data := `{"intent_ir": ["` + strings.Repeat("a", n) + string(rune(c)) + `bbbbbbbbbbbb"], "blocks": []}`
			if _, err := Parse("", []byte(data)); err == nil {
				t.Errorf("the control character %#x at %d is read, want an error", c, n)
			}
		}
	}
}

// The losses of a message are counted beside those of the same message only: with a walk over all
// losses for each part, this would take minutes.
func TestManyLosses(t *testing.T) {
	const n = 60_000
	s := &transcript.Session{ID: "s", Format: "openai"}
	for i := range n {
		id := strconv.Itoa(i)
		s.Messages = append(s.Messages,
			transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{ID: id, Name: "f"}, transcript.ToolCall{ID: id + "b", Name: "f"}}},
			transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: id}, transcript.ToolResult{CallID: id + "b"}}})
	}
	losses := encode(t, transcript.Whole(s)).Losses
	if len(losses) != 2*n || losses[2*n-1].Count != 2 {
		t.Errorf("%d losses", len(losses))
	}
}
