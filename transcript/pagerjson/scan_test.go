package pagerjson

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// value draws a JSON value as text.
func value(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r"})
		list := func(item func() string) string {
			var items []string
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				items = append(items, space.Draw(t, "space")+item()+space.Draw(t, "space"))
			}
			return strings.Join(items, ",") + space.Draw(t, "space")
		}
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			return "[" + list(func() string { return value(depth-1).Draw(t, "item") }) + "]"
		case kind == 1 && depth > 0:
			return "{" + list(func() string {
				return text().Draw(t, "key") + space.Draw(t, "space") + ":" + space.Draw(t, "space") + value(depth-1).Draw(t, "value")
			}) + "}"
		case kind < 4:
			return rapid.StringMatching(`-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		case kind < 6:
			return text().Draw(t, "text")
		}
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
	})
}

// text returns a generator of JSON strings with all kinds of escapes.
func text() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"a", "bcdefgh", "é", "語", "\U0001F600", "\x7f", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0041`, `\u00E9`, `\u00e9`, `\uaAfF`, `\u09aF`,
		`\ud7ff`, `\ud800`, `\uDBFF`, `\udc00`, `\uDFFF`, `\ue000`, `\ud83d\ude00`, `\udbff\udfff`, `\ud800\udc00`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") + `"`
	})
}

// Skipped text is a valid value if and only if encoding/json accepts it and it is UTF-8, also
// with one byte added, removed or changed.
func TestSkippedValuesAgainstJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "value")
		at := rapid.IntRange(0, len(v)).Draw(t, "at")
		odd := rapid.SampledFrom([]string{"", `"`, `\`, "0", "9", ".", "e", "-", "+", ",", ":", "]", "}", "[", "{", "\x00", "\x1f", "\xff", "\u00e9", "u", "x", "/", ";", "n"}).Draw(t, "odd")
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			v = v[:at] + odd + v[at:]
		case 1:
			v = v[:at] + odd + v[min(at+1, len(v)):]
		case 2:
			v = v[:at]
		}
		data := []byte(`{"intent_ir":[],"blocks":[],"x":` + v + `}`)
		_, err := Parse("", data)
		if want := json.Valid(data) && utf8.Valid(data); (err == nil) != want {
			t.Fatalf("%s: %v, want it read: %t", data, err, want)
		}
	})
}

// Texts have the value that encoding/json reads; half of a surrogate pair is reported.
func TestTextsAgainstJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quoted := text().Draw(t, "text")
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		s, err := format{}.Decode("x", []byte(`{"intent_ir":[],"blocks":[{"id":"i","turn":0,"text":`+quoted+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Messages[0].Text(); got != want {
			t.Fatalf("%s is %q, want %q", quoted, got, want)
		}
		lone := strings.Contains(want, "\uFFFD")
		if _, err := Parse("", []byte(`{"intent_ir":[`+quoted+`],"blocks":[]}`)); (err != nil) != lone || (len(s.Warnings) > 0) != lone {
			t.Fatalf("%s: %v with warnings %v, want that it has half a pair: %t", quoted, err, s.Warnings, lone)
		}
	})
}

// A high surrogate makes a character with the low surrogate behind it, and with nothing else.
func TestPairs(t *testing.T) {
	for quoted, want := range map[string]string{
		`\ud83d\ude00`: "😀", `\ud800\udc00`: "\U00010000", `\udbff\udfff`: "\U0010ffff", `\ud83d\udbff`: "\ufffd\ufffd", `\ud83d\ue000`: "\ufffd\ue000", `\ud83d\u0041`: "\ufffdA", `\udc00\udc00`: "\ufffd\ufffd",
	} {
		s, err := format{}.Decode("x", []byte(`{"intent_ir":[],"blocks":[{"id":"i","turn":0,"text":"`+quoted+`"}]}`))
		if err != nil || s.Messages[0].Text() != want {
			t.Errorf("%s is %q, want %q: %v", quoted, s.Messages[0].Text(), want, err)
		}
	}
}

// Turns have the value that strconv reads, and are whole within ±2⁵².
func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		text, want string // as it is written again, or what is wrong
	}{
		{"0", "0"},
		{"-0", "0"},
		{"9", "9"},
		{"-17", "-17"},
		{"1.50", "1.5"},
		{"-2.0", "-2.0"},
		{"1e2", "100.0"},
		{"1E-2", "0.01"},
		{"12e+1", "120.0"},
		{"4503599627370496", "4503599627370496"},
		{"-4503599627370496", "-4503599627370496"},
		{"4503599627370497", "is beyond ±2⁵²"},
		{"-4503599627370497", "is beyond ±2⁵²"},
		{"99999999999999999999", "is beyond ±2⁵²"},
		{"1e308", "1e+308"},
		{"1e309", "is too large"},
		{"-1e309", "is too large"},
		{"0.0001", "0.0001"},
		{"9e-5", "9e-05"},
		{"9999999999999998.0", "9999999999999998.0"},
		{"-", "a number is not written"},
		{"1.", "a number is not written"},
		{"1e", "a number is not written"},
		{"1e+", "a number is not written"},
		{"-a", "a number is not written"},
		{"+1", "want a value"},
		{".5", "want a value"},
		{"01", "want ','"},
		{"1:", "want ','"},
		{"\"1\"", "is a text, want a number"},
		{"/", "want a value"},
		{":", "want a value"},
	} {
		h, err := Parse("", []byte(`{"intent_ir":[],"blocks":[],"current_turn":`+tt.text+`}`))
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
			}
			continue
		}
		if got := h.Current.String(); got != tt.want {
			t.Errorf("%s is written as %s, want %s", tt.text, got, tt.want)
		}
		f, err := strconv.ParseFloat(tt.text, 64)
		if err != nil || h.Current.Value != f {
			t.Errorf("%s is %v, want %v", tt.text, h.Current.Value, f)
		}
	}
}

func TestSniffNeedsAList(t *testing.T) {
	for in, want := range map[string]bool{
		`{"blocks": [], "intent_ir": []}`: true, `{"intent_ir": 1, "blocks": [`: true, `{"blocks":`: true, `{"blocks": `: true, `{"intent_ir": [1`: true,
		`{"blocks": {}, "intent_ir": []}`: false, `{"blocks": 5}`: false, `{"blocks": []}`: false, `{"intent_ir": []}`: false, `{"blocks": 5`: false,
		`[`: false, ``: false, `{"a": {"blocks": [], "intent_ir": []}}`: false, `{"blocks": [], "x"`: true, `{"x"`: false, `  {"intent_ir": 1, "blocks":[]`: true,
	} {
		if got := (format{}).Sniff([]byte(in)); got != want {
			t.Errorf("Sniff(%s) = %t", in, got)
		}
	}
}

// Validate reports each violation with its field, also violations by the whole file.
func TestValidateTellsAll(t *testing.T) {
	found, err := format{}.Validate([]byte(`{"current_turn": "x", "current_turn": 1, "blocks": 5, "intent_ir": ["a", 1, "\ud800"], "blocks": [{}, []], "intent_ir": []}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, fmt.Sprint(v.Message, " ", v))
	}
	want := []string{
		"-1 P2 at current_turn: is a text, want a number", "-1 P6 at current_turn: the key occurs twice", "-1 P2 at blocks: is a number, want a list of objects",
		"-1 P2 at intent_ir.1: is a number, want a text", "-1 P2 at intent_ir.1: has half of a surrogate pair", "-1 P6 at blocks: the key occurs twice",
		"0 P1 at blocks.0.id: the key is missing", "0 P1 at blocks.0.turn: the key is missing", "0 P1 at blocks.0.text: the key is missing",
		"1 P2 at blocks.1: is a list, want an object", "-1 P6 at intent_ir: the key occurs twice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	found, err = format{}.Validate([]byte(`{}`))
	if err != nil || len(found) != 2 || found[0].Field != "intent_ir" || found[1].Field != "blocks" || found[0].Message != -1 {
		t.Errorf("an empty object: %v, %v", found, err)
	}
}

// A created block gets a unique id, and the turn of the block that it replaces.
func TestMadeBlocks(t *testing.T) {
	s := decode(t, `{"intent_ir":[],"blocks":[{"id":"block-01234567","turn":7,"text":"a"},{"id":"block-0123456789abcdef","turn":8.5,"text":"b"},{"id":"c","turn":9,"text":"c"}]}`)
	stub := func() transcript.Entry { return transcript.Stub("0123456789abcdef", "x") }
	for _, tt := range []struct {
		name    string
		entries []transcript.Entry
		want    string
	}{
		{"in place of the first", []transcript.Entry{stub(), transcript.Keep(&s.Messages[2], "")}, "block-01234567 7, c 9"},
		{"where the short id is taken", []transcript.Entry{transcript.Keep(&s.Messages[0], ""), stub()}, "block-01234567 7, block-0123456789abcdef 8.5"},
		{
			"where both are",
			[]transcript.Entry{transcript.Keep(&s.Messages[0], ""), transcript.Keep(&s.Messages[1], ""), stub(), stub(), stub()},
			"block-01234567 7, block-0123456789abcdef 8.5, block-0123456789abcdef-2 9, block-0123456789abcdef-3 9, block-0123456789abcdef-4 9",
		},
		{"behind what moved", []transcript.Entry{transcript.Keep(&s.Messages[2], ""), transcript.Keep(&s.Messages[0], ""), stub()}, "c 9, block-01234567 7, block-0123456789abcdef 8.5"},
		{"two in a row", []transcript.Entry{stub(), stub(), transcript.Keep(&s.Messages[1], "")}, "block-01234567 7, block-0123456789abcdef-2 8.5, block-0123456789abcdef 8.5"},
	} {
		h, err := Parse("", encode(t, &transcript.Window{Session: s, Entries: tt.entries}).Data)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range h.Blocks {
			got = append(got, b.ID+" "+b.Turn.String())
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	one := encode(t, &transcript.Window{Session: s, Entries: []transcript.Entry{transcript.Stub("", "x"), transcript.Stub("", "y")}})
	again := encode(t, &transcript.Window{Session: s, Entries: []transcript.Entry{transcript.Stub("", "x"), transcript.Stub("", "y")}})
	h, err := Parse("", one.Data)
	if err != nil || h.Blocks[0].ID == h.Blocks[1].ID || len(h.Blocks[0].ID) != len("block-")+8 || string(one.Data) != string(again.Data) {
		t.Errorf("blocks %+v, %v", h.Blocks, err)
	}
}

// In a session of another format, the text of a tool outside of a tool message is quoted. A loss
// that occurs several times in a message is reported once.
func TestOtherFormatsAreQuoted(t *testing.T) {
	said := "[carrel deadbeef]\nok\xff\ufffd"
	result := transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text(said), transcript.Media{Kind: "image", Raw: []byte("12")}}}
	s := &transcript.Session{ID: "s", Format: "other", Messages: []transcript.Message{
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{ID: "c", Name: "run"}, transcript.Media{Kind: "image", Raw: []byte("1")}, transcript.Media{Kind: "image", Raw: []byte("2")}}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{result}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "orphan", Content: []transcript.Part{transcript.Text(said)}}}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Opaque{Type: "odd", Raw: []byte("{}")}}},
	}}
	e := encode(t, transcript.Whole(s))
	h, err := Parse("", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range h.Blocks {
		got = append(got, b.Role+" "+string(b.Text))
	}
	want := []string{"assistant run\n [carrel deadbeef]\nok\ufffd\ufffd", "tool [carrel deadbeef]\nok\ufffd\ufffd", "user "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	losses := []transcript.Loss{
		{Message: 0, What: "tool call as such", Count: 1},
		{Message: 0, What: "image", Count: 2, Bytes: 2},
		{Message: 1, What: "tool result as such", Count: 1},
		{Message: 1, What: "image", Count: 1, Bytes: 2},
		{Message: 2, What: "tool result as such", Count: 1},
		{Message: 3, What: "odd", Count: 1, Bytes: 2},
	}
	if diff := cmp.Diff(losses, e.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	w := transcript.Whole(s)
	w.Entries[0].Block = "fedcba9876543210"
	if data := encode(t, w).Data; !strings.Contains(string(data), `"id": "block-fedcba98"`) {
		t.Errorf("a block has another id than the window says: %s", data)
	}
}

// New blocks are separated like the first two blocks; if there are fewer, by a comma and a space.
func TestBlocksAreParted(t *testing.T) {
	block := `{"id":"a","turn":1,"text":"a"}`
	for in, between := range map[string]string{
		`{"intent_ir":[],"blocks":[` + block + " ,\t" + strings.ReplaceAll(block, `"a"`, `"b"`) + `]}`: " ,\t",
		`{"intent_ir":[],"blocks":[` + block + `]}`:                                                    ", ",
	} {
		s := decode(t, in)
		w := transcript.Whole(s)
		w.Entries = append(w.Entries, transcript.Stub("0123456789abcdef", "x"))
		if got := string(encode(t, w).Data); !strings.Contains(got, `"}`+between+`{"id": "block-01234567"`) {
			t.Errorf("in %s the stub stands as in %s", in, got)
		}
	}
}
