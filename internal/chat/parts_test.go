package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// What a content says: its texts, its media with their data, and its other parts as they are.
func TestContents(t *testing.T) {
	kinds := Kinds{"text": Said, "no": Refused, "img": "image", "snd": "audio", "doc": "document"}
	for in, want := range map[string]string{
		`"hi"`:    "text hi",
		`""`:      "",
		`null`:    "empty",
		`[]`:      "empty",
		` [ 7 ] `: "error",
		`[{"type":"text","text":"a"},{"type":"no","refusal":"b","text":"c"}]`:           "text a; text b",
		`[{"type":"odd","text":"a"}]`:                                                   `odd {"type":"odd","text":"a"}`,
		`[{"text":"a"}]`:                                                                ` {"text":"a"}`,
		`[{"type":"text","text":7}]`:                                                    "text ",
		`[{"type":"img","image_url":"http://a/b"}]`:                                     "image||http://a/b|",
		`[{"type":"img","image_url":{"url":"data:image/png;base64,AAAA","detail":{}}}]`: "image|image/png||AAAA",
		`[{"type":"img","image_url":"data:image/png,x"}]`:                               "image||data:image/png,x|",
		`[{"type":"snd","input_audio":{"data":"AAAA","format":"wav"}}]`:                 "audio|audio/wav||AAAA",
		`[{"type":"snd","input_audio":{"data":"AAAA"}}]`:                                "audio|||AAAA",
		`[{"type":"doc","file":{"file_data":"data:a/b;base64,AA"}}]`:                    "document|a/b||AA",
		`[{"type":"doc","file_data":"data:a/b;base64,AA"}]`:                             "document|a/b||AA",
		`[{"type":"doc","file_url":"http://a"},{"type":"doc","text":{"url":"x"}}]`:      "document||http://a|; document|||",
	} {
		data := []byte(" " + in)
		c, err := kinds.Read(rawjson.NewReader(data), data)
		got := "error"
		if err == nil {
			var parts []string
			for _, p := range c.Said() {
				switch p := p.(type) {
				case transcript.Text:
					parts = append(parts, "text "+string(p))
				case transcript.Media:
					parts = append(parts, p.Kind+"|"+p.MIME+"|"+p.URL+"|"+p.Data)
				case transcript.Opaque:
					parts = append(parts, p.Type+" "+string(p.Raw))
				}
			}
			if got = strings.Join(parts, "; "); c.Empty() {
				got += "empty"
			}
			if string(c.Of(data)) != in {
				t.Errorf("the content %s is at %v of %s", in, c.Span, data)
			}
		}
		if got != want {
			t.Errorf("%s says %q, want %q", in, got, want)
		}
	}
	if none := (Content{}); !none.Empty() {
		t.Error("a content that is missing is not empty")
	}
}

// Texts that stand for parts, and ids that a provider accepts.
func TestTextsAndIDs(t *testing.T) {
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "AA", URL: "u"}
	wav, mp3 := transcript.Media{MIME: "audio/wav", Data: "A\""}, transcript.Media{MIME: "audio/mp3", Data: "A"}
	only := func(parts ...transcript.Part) string { s, ok := Only(parts); return fmt.Sprintf("%s %t", s, ok) }
	arguments := func(in string) string { raw, ok := Arguments([]byte(in)); return fmt.Sprintf("%s %t", raw, ok) }
	drop := func(raw, keys string) string {
		return string(Drop([]byte(raw), func(k string) bool { return strings.Contains(keys, k) }))
	}
	for _, tt := range []struct{ name, got, want string }{
		{"one text", only(transcript.Text("a")), "a true"},
		{"two texts", only(transcript.Text("a"), transcript.Text("b")), " false"},
		{"another part", only(image), " false"},
		{"parts with texts", Flat([]transcript.Part{transcript.Text("a"), transcript.Thinking{Text: "t"}, image, transcript.Media{Kind: "document"}}), "a\n[image image/png]\n[document]"},
		{"data", DataURL(image), "data:image/png;base64,AA"},
		{"data without a type", DataURL(transcript.Media{Data: "AA", URL: "u"}), "u"},
		{"a type without data", DataURL(transcript.Media{MIME: "a/b", URL: "u"}), "u"},
		{"a sound", string(Sound(wav)), `{"type": "input_audio", "input_audio": {"data": "A\"", "format": "wav"}}`},
		{"another sound", string(Sound(mp3)), `{"type": "input_audio", "input_audio": {"data": "A", "format": "mp3"}}`},
		{"a sound that is not accepted", string(Sound(transcript.Media{MIME: "audio/ogg", Data: "A"})), ""},
		{"a sound without data", string(Sound(transcript.Media{MIME: "audio/wav"})), ""},
		{"no input", arguments(" "), "{} true"},
		{"an object", arguments(" {\"a\": 1}\n"), `{"a": 1} true`},
		{"a list", arguments(`["a"]`), `{"_raw": "[\"a\"]"} false`},
		{"a part of an object", arguments(`{"a"`), `{"_raw": "{\"a\""} false`},
		{"no values", string(Listing("k", nil)), `{"k":[]}`},
		{"values", string(Listing("k", [][]byte{[]byte("1"), []byte("2")})), `{"k":[1,2]}`},
		{"a member less", drop(`{"a":1, "b":2, "c":3}`, "b"), `{"a":1, "c":3}`},
		{"all members less", drop(`{"a":1}`, "a"), `{}`},
		{"members of a part", string(transcript.Splice([]byte(`[0,{"a":1,"b":2}]`), Dropping([]byte(`{"a":1,"b":2}`), 3, func(k string) bool { return k == "a" })...)), `[0,{"b":2}]`},
		{"an id of allowed signs", CleanID("azAZ09_-"), "azAZ09_-"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	long := strings.Repeat("x", 65)
	for _, tt := range []struct {
		name, got, head string
		hash            int // digits behind the head
	}{
		{"the longest id", CallID(false, long[:64]), long[:64], 0},
		{"a longer one", CallID(false, long), "call_" + long[:16], 16},
		{"a longer one of its own", CallID(true, long), long, 0},
		{"no id", CallID(true, ""), "call_", 16},
		{"an id that is cut in a letter", CallID(false, "xxxxxxxxxxxxxxxé"+long), "call_xxxxxxxxxxxxxxx", 16},
		{"an id with other signs", CleanID("a`{@[/:b"), "ab_", 12},
		{"a long one", CleanID("é" + long), long[:32] + "_", 12},
		{"an id of no signs", CleanID(""), "_", 12},
	} {
		if hash, ok := strings.CutPrefix(tt.got, tt.head); !ok || len(hash) != tt.hash || strings.Trim(hash, "0123456789abcdef") != "" {
			t.Errorf("%s: %s, want %s and %d digits", tt.name, tt.got, tt.head, tt.hash)
		}
	}
	if CleanID("a.b") == CleanID("a:b") || CallID(false, long+"a") == CallID(false, long+"b") {
		t.Error("different ids become one")
	}
}

// Results that are written anew stand in the order of their calls, one without a call before them.
func TestLoose(t *testing.T) {
	run := []transcript.Entry{
		{Message: transcript.Message{Parts: []transcript.Part{transcript.ToolResult{CallID: "2"}, transcript.Text("a"), transcript.ToolResult{CallID: "1"}}}},
		{Message: transcript.Message{ID: "kept", Parts: []transcript.Part{transcript.Text("b")}}},
		{Message: transcript.Message{Parts: []transcript.Part{transcript.ToolResult{CallID: "x"}, transcript.Text("c")}}},
	}
	calls := []transcript.ToolCall{{ID: "1"}, {ID: "2"}, {ID: "1"}}
	results, others := Loose(run, calls, func(en *transcript.Entry) bool { return en.ID == "kept" })
	if got, want := fmt.Sprint(results, others), "[{x [] false false} {1 [] false false} {2 [] false false}] [a c]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	fixes := []transcript.Fix{{Message: 0}, {Message: 1}, {Message: 2}}
	if Place(fixes, []int{3, 5}); fixes[0].Message != 3 || fixes[1].Message != 5 || fixes[2].Message != 2 {
		t.Errorf("the fixes are at %v", fixes)
	}
}

// What a format cannot carry is counted for each message and kind.
func TestLosses(t *testing.T) {
	raw := func(n int) []byte { return make([]byte, n) }
	w := &transcript.Window{Session: &transcript.Session{Tools: raw(1)}, Entries: []transcript.Entry{
		{Message: transcript.Message{Role: "assistant", Parts: []transcript.Part{transcript.Thinking{Text: "ab", Signature: "c"}, transcript.Opaque{Type: "o", Raw: raw(5)}, transcript.Thinking{Text: "d"}, transcript.Text("said")}}},
		{Message: transcript.Message{Role: "tool", Parts: []transcript.Part{
			transcript.ToolResult{Content: []transcript.Part{transcript.Media{Kind: "image", Raw: raw(2)}}}, transcript.Media{Kind: "image", Raw: raw(30)}, transcript.Thinking{Text: "e"},
		}}},
		{Message: transcript.Message{Role: "assistant", Parts: []transcript.Part{transcript.Media{Kind: "audio", Raw: raw(4)}}}},
	}}
	var l Losses
	l.Account(w, func(role string, _ transcript.Media) bool { return role == "user" })
	want := []transcript.Loss{
		{Message: -1, What: "tools", Count: 1, Bytes: 1},
		{Message: 0, What: "thinking", Count: 2, Bytes: 4},
		{Message: 0, What: `"o"`, Count: 1, Bytes: 5},
		{Message: 1, What: "image", Count: 1, Bytes: 2},
		{Message: 1, What: "thinking", Count: 1, Bytes: 1},
		{Message: 2, What: "audio", Count: 1, Bytes: 4},
	}
	if diff := cmp.Diff(want, l.List); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	var v, input Violations
	v.Report("A1", 0, "a %d", 1)
	v.Report("A2", -1, "b")
	input.List = "input"
	input.Report("A3", 2, "c")
	if got, want := fmt.Sprint(v.Found, input.Found), "[A1 at messages.0: a 1 A2: b] [A3 at input.2: c]"; got != want {
		t.Errorf("violations are %s, want %s", got, want)
	}
}

// A conversation keeps its id while it grows and its file moves.
func TestIDsOfBodies(t *testing.T) {
	id := func(name string, rows ...string) transcript.SessionID {
		s := new(transcript.Session)
		for i, row := range rows {
			role, _, _ := strings.Cut(row, " ")
			s.Items = append(s.Items, transcript.Item{Raw: []byte(row)})
			s.Messages = append(s.Messages, transcript.Message{Role: transcript.Role(role), Items: []int{i}})
		}
		Describe(s, "x-", name)
		return s.ID
	}
	first := id("a.json", "system s", "user u")
	for name, same := range map[string]transcript.SessionID{
		"grown": id("a.json", "system s", "user u", "assistant x", "system t"), "moved": id("/b/a.json", "system s", "user u"), "moved elsewhere": id(`c:\a`, "system s", "user u"), "the other way round": id("a.json", "user u", "system s"),
	} {
		if same != first {
			t.Errorf("%s it is %s, before %s", name, same, first)
		}
	}
	for name, other := range map[string]transcript.SessionID{
		"another name": id("b.json", "system s", "user u"), "another system text": id("a.json", "system t", "user u"), "another first message": id("a.json", "system s", "user v"), "no system text": id("a.json", "user u"),
	} {
		if other == first {
			t.Errorf("%s: it has the same id", name)
		}
	}
	if got := id(transcript.ThreadName("t1"), "user u"); got != "x-t1" || len(first) != len("x-")+16 {
		t.Errorf("the ids are %s and %s", got, first)
	}
}

// The pieces of a body are joined again to the body, and cuts before the list move its messages.
func TestFrames(t *testing.T) {
	layout := Layout{Key: "input", Text: true, Hint: "h"}
	f, err := layout.Read("", []byte(`{"a":1,"input":"hello","b":2}`), skip, skipMessage)
	if err != nil || !f.Text || f.Key != 7 || len(f.Messages) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	piece := Piece{Raw: []byte("P"), Index: -1, Block: "k"}
	cuts := []transcript.Cut{{From: 1, To: 7, With: []byte(`"abc":1,`)}, {From: 22, To: 28}}
	got, spans := f.Join([]Piece{piece, piece}, cuts...)
	if want := `{"abc":1,"input":[P, P]}`; string(got) != want || len(spans) != 2 || spans[1] != (transcript.Span{Block: "k", Start: 21, End: 22}) {
		t.Errorf("joined it is %s with %v, want %s", got, spans, want)
	}
	if got, _ := f.Join(nil); string(got) != `{"a":1,"input":[],"b":2}` {
		t.Errorf("without messages it is %s", got)
	}
	items, at := f.Cut([]rawjson.Span{{Start: 15, End: 22}, {Start: 0, End: 1}, {Start: 3, End: 3}})
	var all []string
	for _, item := range items {
		all = append(all, string(item.Raw))
	}
	if diff := cmp.Diff([]string{"{", `"a`, `":1,"input":`, `"hello"`, `,"b":2}`}, all); diff != "" || at[0] != 3 || at[1] != 0 {
		t.Errorf("cut at %v (-want +got):\n%s", at, diff)
	}
	for in, want := range map[string]string{`[7]`: "a message must be an object", `[{},`: "ends in the middle", "{\"input\":[\n7]}": "2: input.0: a message must be an object", `[] 7`: "more text"} {
		if _, err := layout.Read("f", []byte(in), skip, skipMessage); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if f, err := layout.Read("", []byte(` [{}]`), skip, skipMessage); err != nil || f.Key != -1 {
		t.Errorf("a list alone: %+v, %v", f, err)
	}
	head := Head{Model: "m", Tools: rawjson.Span{Start: 1, End: 3}}
	r := rawjson.NewReader([]byte("[\"a\", \n\"\\ud800\", \n\n\"\\ud801\"]"))
	_ = r.Array(func(int) error { _, err := r.String(); head.Note(r); return err })
	s := head.Session("f", []byte("[\"a\", \n\"\\ud800\", \n\n\"\\ud801\"]"))
	if s.Format != "f" || s.Model != "m" || string(s.Tools) != `"a` || len(s.Warnings) != 1 || s.Warnings[0].Line != 2 {
		t.Errorf("the session is %+v", s)
	}
	first := Head{Tools: rawjson.Span{End: 1}, Lossy: 1}
	if s := first.Session("f", []byte("7 ")); string(s.Tools) != "7" || len(s.Warnings) != 1 {
		t.Errorf("the session of a body that begins with both is %+v", s)
	}
	if s := new(Head).Session("f", nil); s.Tools != nil || s.Warnings != nil {
		t.Errorf("the session of a body with neither is %+v", s)
	}
}

// A document is one of Carrel's only in the form that Carrel writes.
func TestNow(t *testing.T) {
	for in, same := range map[string]bool{
		`{"carrel":"windows","earlier":[{}],"now":{"a":1}}`: false, `{"carrel":"windows","earlier":[{}],"new":{"a":1}}`: true, `{"carrel":"windows","earlier":[{}],"now":{"a":1},"b":1}`: true,
		`{"carrel":"windows","earlier":[{}],"now":{"a":1}`: true, `{"carrel":"windows","earlier":{},"now":{"a":1}}`: true, `{"a":1}`: true,
	} {
		if got, want := string(Now([]byte(in))), map[bool]string{true: in, false: `{"a":1}`}[same]; got != want {
			t.Errorf("the present body of %s is %s, want %s", in, got, want)
		}
	}
}
