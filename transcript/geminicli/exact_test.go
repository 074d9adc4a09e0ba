package geminicli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

const (
	head   = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-05T10:00:00Z"}`
	going  = `{"id":"u","timestamp":"2026-01-05T10:00:02Z","type":"user","content":"go"}` + "\n"
	on     = `{"id":"v","type":"user","content":"on"}` + "\n"
	called = `"toolCalls":[{"id":"c","name":"f","args":{"a":1},"result":"x"}]`
)

func reply(fields string) string { return `{"id":"g","type":"gemini",` + fields + "}\n" }

func response(id string) string {
	return `{"functionResponse":{"id":"` + id + `","response":{"output":"of ` + id + `"}}}`
}

func TestWhatLinesSay(t *testing.T) {
	x, answer := reply(`"content":"x"`), `{"id":"a","type":"user","content":[`+response("c")+"]}\n"
	for lines, want := range map[string]string{
		going + x + `{"$rewindTo":"g","timestamp":"x"}`: "u user go", going + x + `{"$rewindTo":"g"}` + "\n" + on + reply(`"content":"y"`): "u user go; v user on; g assistant y", going + `{"$rewindTo":"x"}` + "\n" + on: "v user on",
		going + `{"$set":{"messages":7,"directories":7}}`: "u user go", going + `{"$set":{"messages":[]}}` + "\n" + on: "v user on", `{"$set":{"messages":[{"type":"user"},` + strings.TrimSpace(going) + `,{}]}}`: "u user go", "\n" + going + "\n \n": "u user go",
		reply(`"content":"",`+called) + answer: `g assistant  calls f{"a":1}; a tool  result of c`, going + answer: "u user go; a tool  result of c",
		reply(`"content":"",`+called) + answer + strings.Replace(answer, `"a"`, `"b"`, 1) + `{"id":"d","type":"user","content":[` + response("c") + `,{"text":"and"}]}`: `g assistant  calls f{"a":1}; a tool  result of c; d user and`,
		going + `{"id":"e","type":"user","content":[]}`: "u user go; e user ", `{"id":"e","type":"user","content":[]}` + "\n" + going: "e user ; u user go", going + reply(`"content":[7,""]`): "u user go", going + reply(`"content":"<state_snapshot>"`): "u user go; g assistant <state_snapshot>",
		going + reply(`"content":"x","toolCalls":[7,{"id":"c","name":null,"args":null},{"args":{"a":1},"name":"f","id":7}]`): `u user go; g assistant x calls  calls f{"a":1}`, going + reply(`"content":"x","toolCalls":7,"thoughts":7`): "u user go; g assistant x",
		going + reply(`"content":[{"text":"x","thought":false}],`+called): `u user go; g assistant x calls f{"a":1}; g_response tool  result x`, going + reply(`"content":[{"thought":true,"text":"x"},{"text":"y","thought":false}],`+called): "u user go; g assistant y (thinks)",
	} {
		s := formattest.Decode(t, format{}, head+"\n"+lines+"\n")
		if got := strings.Join(said(s.Messages), "; "); got != want || len(s.Warnings) > 0 {
			t.Errorf("%s: %s, want %s; warnings %v", lines, got, want, s.Warnings)
		}
	}
	s := formattest.Decode(t, format{}, going+`{"$set":{"a":1,"a":2}}`+"\n"+reply(`"tokens":{"input":10,"cached":50,"output":{},"tool":1}`)+reply(`"model":"n"`))
	if r := Format.(transcript.Metered).Receipts(s); s.ID != "talk" || len(s.Warnings) != 1 || s.Warnings[0].Line != 2 || s.Sent != 0 || len(r) != 1 || r[0].Read != 11 || r[0].Uncached != 0 || r[0].Output != 0 {
		t.Errorf("id %q, sent %d, warnings %v, receipts %+v", s.ID, s.Sent, s.Warnings, r)
	}
	if s := formattest.Decode(t, format{}, going+reply(`"model":"m","tokens":{"input":10}`)+strings.Replace(reply(`"model":"n"`), `"g"`, `"h"`, 1)); s.Model != "m" || s.Sent != 10 {
		t.Errorf("behind a reply without counts the model is %q, with %d tokens sent", s.Model, s.Sent)
	}
	context := `{"id":"c","type":"user","content":"<session_context>\n**Workspace Directories:**\n  - /b\nx"}` + "\n"
	for set, want := range map[string]string{"": "/b 1", `{"$set":{"directories":["/a"]}}` + "\n": "/a 1"} {
		if s := formattest.Decode(t, format{}, head+"\n"+set+context+going+reply(`"tokens":{"input":1}`)); fmt.Sprint(s.Project, " ", s.Sent) != want {
			t.Errorf("with %q, the project is %q and %d tokens are sent, want %s", set, s.Project, s.Sent, want)
		}
	}
	for raw, want := range map[string]int64{"0": 0, "9": 9, "107": 107, "1.5": 0, "-1": 0, `"7"`: 0, "1e3": 0, "10995116277769": 10995116277769, "10995116277770": 0} {
		if got := count([]byte(raw)); got != want {
			t.Errorf("%s counts as %d, want %d", raw, got, want)
		}
	}
}

// The parts of a request that a reply has beside its content.
func TestPartsBesideTheContent(t *testing.T) {
	const media = `{"inlineData":{}}`
	c, d := response("c"), response("d")
	for result, want := range map[string]string{
		`"x"`: `{"functionResponse":{"id":"c","name":"","response":{"output":"x"}}}`, "": "", "null": "", "[" + media + "]": "", "[" + c + "," + media + "]": c + media,
		"[" + d + "," + media + "]": "", "[" + c + "," + d + "," + media + "]": c, "[" + c + "," + c + "," + media + "]": c + c,
	} {
		got := ""
		for _, raw := range (&call{id: "c", rawID: []byte(`"c"`), result: []byte(result)}).results() {
			got += string(raw)
		}
		if got != want {
			t.Errorf("the result %s is written as %s, want %s", result, got, want)
		}
	}
	f, got := read([]byte(reply(`"thoughts":[7,{"subject":"S"},{"description":"D"},{"subject":7,"description":"E"},{"subject":"S","description":"F"},{"description":7},{}]`))), ""
	for _, p := range thoughtsOf(&f.records[0]) {
		got += string(p.raw)
	}
	if want := `{"text":"**S** ","thought":true}{"text":"D","thought":true}{"text":"E","thought":true}{"text":"**S** F","thought":true}`; got != want {
		t.Errorf("thoughts are written as %s, want %s", got, want)
	}
}

// A changed window keeps the first line about the session, and the lines that set more than times.
func TestSettingsThatAreKept(t *testing.T) {
	const left = `{"$set":{"lastUpdated":"x"}}` + "\n" + `{"$set":{"x":null}}` + "\n" + `{"$set":{"directories":[7]}}` + "\n" + `{"sessionId":"s","projectHash":"later"}` + "\n"
	const behind = `{"$set":{"y":1}}` + "\n"
	kept := head + "\n"
	for _, set := range []string{`"summary":"S"`, `"x":1`, `"directories":["/a"]`, `"thoughts":7`, `"toolCalls":7`, `"tokens":7`, `"messages":7`} {
		kept += `{"$set":{` + set + "}}\n"
	}
	w := transcript.Whole(formattest.Decode(t, format{}, strings.Replace(kept, "\n", "\n"+left, 1)+going+behind))
	w.Entries = append(w.Entries, transcript.Stub("", "stub"))
	got := string(formattest.Encode(t, format{}, w).Data)
	at := strings.LastIndex(got, `{"id":"`) + len(`{"id":"`)
	if want := kept + going + `{"id":"` + got[at:at+32] + `","timestamp":"2026-01-05T10:00:02Z","type":"user","content":[{"text": "stub"}]}` + "\n" + behind; got != want {
		t.Errorf("the window is written as\n%s\nwant\n%s", got, want)
	}
	w.As = "t"
	first, _, _ := strings.Cut(string(formattest.Encode(t, format{}, w).Data), "\n")
	if want := `{"sessionId":"t","projectHash":"h","startTime":"2026-01-05T10:00:00Z","lastUpdated":"2026-01-05T10:00:00Z","kind":"main","summary":"S"}`; first != want {
		t.Errorf("a new session begins with\n%s\nwant\n%s", first, want)
	}
	for _, list := range []string{"", `,"messages":[]`, `,"messages":[` + going + `]`} {
		w := transcript.Whole(formattest.Decode(t, format{}, `{"sessionId":"s","projectHash":"h"`+strings.ReplaceAll(list, "\n", "")+"}\n"+on))
		w.Entries = append([]transcript.Entry{transcript.Stub("", "stub")}, w.Entries...)
		enc := formattest.Encode(t, format{}, w)
		if again := formattest.Decode(t, format{}, string(enc.Data)); again.ID != "s" || len(again.Messages) != len(w.Entries) || strings.Contains(string(enc.Data), `"messages"`) {
			t.Errorf("with %q the window is written as\n%s", list, enc.Data)
		}
	}
}

// A file without a message of a person is no session, unless it cannot be read whole.
func TestGreetings(t *testing.T) {
	greeting := head + "\n" + `{"id":"c","type":"user","content":"<session_context>x"}` + "\n"
	longest := greeting + strings.Repeat(" ", longestGreeting-len(greeting))
	for in, want := range map[string]bool{greeting: false, greeting + `{"id":"u","ty`: true, greeting + going: true, head + "\n" + `{"id":"c","type":"gemini","content":"<session_context>x"}` + "\n": true, longest: false, longest + " ": true, `{"projectHash":"h"}`: false, `{"sessionId":"s"}`: false} {
		if got := Format.Sniff([]byte(in)); got != want {
			t.Errorf("%.200s: %v, want %v", in, got, want)
		}
	}
	long := strings.Repeat("x", 100)
	for set, want := range map[string]string{
		`"directories":[7,"/a","/b"],"summary":"S\nT"`: "/a S", `"directories":7,"summary":"` + long + `"`: " " + long[:79] + "…", `"directories":[]`: " go", `"directories":["/a"]}}` + "\n" + `{"$set":{"directories":["/b"]`: "/b go",
	} {
		if s := formattest.Decode(t, format{}, head+"\n"+`{"$set":{`+set+"}}\n"+going); s.Project+" "+s.Title != want {
			t.Errorf("a session with %s is %q, %q, want %q", set, s.Project, s.Title, want)
		}
	}
	found, err := format{}.Validate([]byte("{\n\"sessionId\":\"s\",\n\"messages\":[\n" + going + ",{\"id\":\"g\",\n\"type\":\"gemini\",\"content\":\"x\"},\n" + strings.Replace(reply(`"content":"y"`), `"g"`, `"h"`, 1) + "]}"))
	if err != nil || len(found) != 1 || found[0].Field != "line 7" {
		t.Errorf("violations %v, %v, want one in line 7", found, err)
	}
}

// Lines with messages are read without the others, and other lines are not.
func TestPieces(t *testing.T) {
	f := format{}
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{going, reply(`"content":"x"`)}, "u user go; g assistant x"},
		{[]string{going, head + "\n"}, ""},
		{[]string{going, "torn\n"}, ""},
	} {
		var items [][]byte
		for _, l := range tt.lines {
			items = append(items, []byte(l))
		}
		if got := strings.Join(said(f.Piece(items)), "; "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.lines, got, tt.want)
		}
	}
}

// A part is a call or a response if it has an object for it.
func TestKindsOfParts(t *testing.T) {
	for raw, want := range map[string]string{
		`{"functionCall":{"id":"a"},"x":1}`: "true false false a", `{"functionCall":7}`: "false false false ", `{"functionResponse":{"id":"a"},"x":1}`: "false true false a", `{"functionResponse":7}`: "false false false ",
		`{"functionCall":{"id":7}}`: "true false false ", `{"text":"x","thought":true,"y":1}`: "false false true ", `{"text":"x","thought":1}`: "false false false ",
	} {
		p := part{raw: []byte(raw)}
		if p.look(); fmt.Sprint(p.calls, p.answers, p.thinks, " ", p.id) != want {
			t.Errorf("%s: %v %v %v %q, want %s", raw, p.calls, p.answers, p.thinks, p.id, want)
		}
	}
	if got, want := string((&call{rawID: []byte("7"), name: []byte("null")}).asPart()), `{"functionCall":{"id":7}}`; got != want {
		t.Errorf("a call is written %s, want %s", got, want)
	}
	s := &transcript.Session{Messages: []transcript.Message{{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("S")}}}}
	if w, lost := withoutSystem(transcript.Whole(s)); len(w.Entries) != 0 || len(lost) != 1 {
		t.Errorf("of a system text alone, %d entries and the losses %v", len(w.Entries), lost)
	}
}
