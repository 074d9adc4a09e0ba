package geminicli

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

const (
	head  = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-05T10:00:00Z"}`
	going = `{"id":"u","timestamp":"2026-01-05T10:00:02Z","type":"user","content":"go"}`
)

func reply(fields string) string { return `{"id":"g","type":"gemini",` + fields + `}` }

func response(id string) string {
	return `{"functionResponse":{"id":"` + id + `","response":{"output":"of ` + id + `"}}}`
}

func TestWhatLinesSay(t *testing.T) {
	const called = `"toolCalls":[{"id":"c","name":"f","args":{"a":1},"result":"x"}]`
	answer := `{"id":"a","type":"user","content":[` + response("c") + `]}`
	for _, tt := range []struct {
		name, lines, want string
	}{
		{"a time behind a rewind", going + "\n" + reply(`"content":"x"`) + "\n" + `{"$rewindTo":"g","timestamp":"x"}`, "u user go"},
		{"an id again behind a rewind", going + "\n" + reply(`"content":"x"`) + "\n" + `{"$rewindTo":"g"}` + "\n" + `{"id":"v","type":"user","content":"on"}` + "\n" + reply(`"content":"y"`), "u user go; v user on; g assistant y"},
		{"a rewind of all", going + "\n" + `{"$rewindTo":"x"}` + "\n" + `{"id":"v","type":"user","content":"on"}`, "v user on"},
		{"a list that is none", going + "\n" + `{"$set":{"messages":7,"directories":7}}`, "u user go"},
		{"an empty list", going + "\n" + `{"$set":{"messages":[]}}` + "\n" + `{"id":"v","type":"user","content":"on"}`, "v user on"},
		{"a list with what is no message", `{"$set":{"messages":[{"type":"user"},` + going + `,{}]}}`, "u user go"},
		{"blank lines", "\n" + going + "\n \n", "u user go"},
		{"a first reply with a result behind it", reply(`"content":"",`+called) + "\n" + answer, `g assistant  calls f{"a":1}; a tool  result of c`},
		{"a result twice", reply(`"content":"",`+called) + "\n" + answer + "\n" + strings.Replace(answer, `"a"`, `"b"`, 1) + "\n" + `{"id":"d","type":"user","content":[` + response("c") + `,{"text":"and"}]}`, `g assistant  calls f{"a":1}; a tool  result of c; d user and`},
		{"a result without its call", going + "\n" + answer, "u user go; a tool  result of c"},
		{"a message without parts", going + "\n" + `{"id":"e","type":"user","content":[]}`, "u user go; e user "},
		{"a reply without parts", going + "\n" + reply(`"content":[7,""]`), "u user go"},
		{"calls beside the content", going + "\n" + reply(`"content":"x","toolCalls":[7,{"id":"c","name":null,"args":null},{"args":{"a":1},"name":"f","id":7}]`), `u user go; g assistant x calls  calls f{"a":1}`},
		{"calls beside what is no thinking", going + "\n" + reply(`"content":[{"text":"x","thought":false}],`+called), `u user go; g assistant x calls f{"a":1}; g_response tool  result x`},
		{"calls beside thinking", going + "\n" + reply(`"content":[{"thought":true,"text":"x"},{"text":"y","thought":false}],`+called), "u user go; g assistant y (thinks)"},
		{"calls that are none", going + "\n" + reply(`"content":"x","toolCalls":7,"thoughts":7`), "u user go; g assistant x"},
		{"a snapshot of a reply", going + "\n" + reply(`"content":"<state_snapshot>"`), "u user go; g assistant <state_snapshot>"},
	} {
		s := formattest.Decode(t, format{}, head+"\n"+tt.lines+"\n")
		if got := strings.Join(said(s.Messages), "; "); got != tt.want || len(s.Warnings) > 0 {
			t.Errorf("%s: %s, want %s; warnings %v", tt.name, got, tt.want, s.Warnings)
		}
	}
	s := formattest.Decode(t, format{}, going+"\n"+`{"$set":{"a":1,"a":2}}`+"\n"+reply(`"tokens":{"input":1},"model":"m"`)+"\n"+reply(`"model":"n"`))
	if s.ID != "talk" || len(s.Warnings) != 1 || s.Warnings[0].Line != 2 || s.Sent != 0 {
		t.Errorf("id %q, sent %d, warnings %v", s.ID, s.Sent, s.Warnings)
	}
}

// The parts of a request that a reply has beside its content.
func TestPartsBesideTheContent(t *testing.T) {
	const media = `{"inlineData":{}}`
	c, d := response("c"), response("d")
	for _, tt := range []struct{ name, result, want string }{
		{"", `"x"`, `{"functionResponse":{"id":"c","name":"","response":{"output":"x"}}}`},
		{`"f"`, `"x"`, `{"functionResponse":{"id":"c","name":"f","response":{"output":"x"}}}`},
		{"", "", ""},
		{"", "null", ""},
		{"", "[" + c + "," + media + "]", c + media},
		{"", "[" + d + "," + media + "]", ""},
		{"", "[" + c + "," + d + "," + media + "]", c},
		{"", "[" + c + "," + c + "," + media + "]", c + c},
		{"", "[" + media + "]", ""},
	} {
		in := call{id: "c", rawID: []byte(`"c"`), name: []byte(tt.name), result: []byte(tt.result)}
		got := ""
		for _, raw := range in.results() {
			got += string(raw)
		}
		if got != tt.want {
			t.Errorf("the result %s is written as %s, want %s", tt.result, got, tt.want)
		}
	}
	f := read([]byte(reply(`"thoughts":[7,{"subject":"S"},{"description":"D"},{"subject":7,"description":"E"},{"subject":"S","description":"F"},{"description":7},{}]`)))
	got := ""
	for _, p := range thoughtsOf(&f.records[0]) {
		got += string(p.raw)
	}
	if want := `{"text":"**S** ","thought":true}{"text":"D","thought":true}{"text":"E","thought":true}{"text":"**S** F","thought":true}`; got != want {
		t.Errorf("thoughts are written as %s, want %s", got, want)
	}
}

func TestCounts(t *testing.T) {
	for raw, want := range map[string]int64{"0": 0, "9": 9, "107": 107, "1.5": 0, "-1": 0, `"7"`: 0, "1e3": 0, "10995116277769": 10995116277769, "10995116277770": 0} {
		if got := count([]byte(raw)); got != want {
			t.Errorf("%s counts as %d, want %d", raw, got, want)
		}
	}
	s := formattest.Decode(t, format{}, going+"\n"+reply(`"tokens":{"input":10,"cached":50,"output":{},"tool":1}`))
	got := Format.(transcript.Metered).Receipts(s)
	if len(got) != 1 || got[0].Read != 11 || got[0].Uncached != 0 || got[0].Output != 0 || s.Sent != 11 {
		t.Errorf("receipts %+v, sent %d", got, s.Sent)
	}
}

// A changed window keeps the first line about the session, and the lines that set more than times.
func TestSettingsThatAreKept(t *testing.T) {
	kept := []string{`{"$set":{"summary":"S"}}`, `{"$set":{"x":1}}`, `{"$set":{"directories":["/a"]}}`, `{"$set":{"thoughts":7}}`, `{"$set":{"toolCalls":7}}`, `{"$set":{"tokens":7}}`, `{"$set":{"messages":7}}`}
	left := []string{`{"$set":{"lastUpdated":"x"}}`, `{"$set":{"x":null}}`, `{"$set":{"directories":[7]}}`, `{"sessionId":"s","projectHash":"later"}`}
	behind := `{"$set":{"y":1}}`
	in := head + "\n" + strings.Join(left, "\n") + "\n" + strings.Join(kept, "\n") + "\n" + going + "\n" + behind + "\n"
	w := transcript.Whole(formattest.Decode(t, format{}, in))
	w.Entries = append(w.Entries, transcript.Stub("", "stub"))
	want := head + "\n" + strings.Join(kept, "\n") + "\n" + going + "\n" + `{"id":"#","timestamp":"2026-01-05T10:00:02Z","type":"user","content":[{"text": "stub"}]}` + "\n" + behind + "\n"
	encoded := func() string {
		data := string(formattest.Encode(t, format{}, w).Data)
		if at := strings.LastIndex(data, `{"id":"`); at >= 0 && at+39 < len(data) {
			data = data[:at+7] + "#" + data[at+39:]
		}
		return data
	}
	if got := encoded(); got != want {
		t.Errorf("the window is written as\n%s\nwant\n%s", got, want)
	}
	w.As = "t"
	first, _, _ := strings.Cut(encoded(), "\n")
	if want := `{"sessionId":"t","projectHash":"h","startTime":"2026-01-05T10:00:00Z","lastUpdated":"2026-01-05T10:00:00Z","kind":"main","summary":"S"}`; first != want {
		t.Errorf("a new session begins with\n%s\nwant\n%s", first, want)
	}
	for _, list := range []string{"", `,"messages":[]`, `,"messages":[` + going + `]`} {
		w := transcript.Whole(formattest.Decode(t, format{}, `{"sessionId":"s","projectHash":"h"`+list+"}\n"+strings.Replace(going, `"u"`, `"v"`, 1)))
		w.Entries = append([]transcript.Entry{transcript.Stub("", "stub")}, w.Entries...)
		enc := formattest.Encode(t, format{}, w)
		if again := formattest.Decode(t, format{}, string(enc.Data)); again.ID != "s" || len(again.Messages) != len(w.Entries) || strings.Contains(string(enc.Data), `"messages"`) {
			t.Errorf("with %q the window is written as\n%s", list, enc.Data)
		}
	}
}

// What a file without a message of a person is: no session, unless it cannot be read whole.
func TestGreetings(t *testing.T) {
	greeting := head + "\n" + `{"id":"c","type":"user","content":"<session_context>x"}` + "\n"
	pad := func(n int) string { return greeting + strings.Repeat(" ", n-len(greeting)) }
	for name, tt := range map[string]struct {
		in   string
		want bool
	}{
		"a greeting": {greeting, false}, "one behind it is cut off": {greeting + `{"id":"u","ty`, true}, "one that speaks": {greeting + going, true},
		"the longest": {pad(longestGreeting), false}, "a longer one": {pad(longestGreeting + 1), true}, "no session": {`{"projectHash":"h"}`, false}, "no project": {`{"sessionId":"s"}`, false},
	} {
		if got := Format.Sniff([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	long := strings.Repeat("x", 100)
	for set, want := range map[string]string{
		`"directories":[7,"/a","/b"],"summary":"S\nT"`: "/a S", `"directories":7,"summary":"` + long + `"`: " " + long[:79] + "…", `"directories":[]`: " go",
	} {
		s := formattest.Decode(t, format{}, head+"\n"+`{"$set":{`+set+"}}\n"+going)
		if got := s.Project + " " + s.Title; got != want {
			t.Errorf("a session with %s is %q, want %q", set, got, want)
		}
	}
	s := formattest.Decode(t, format{}, head+"\n"+`{"$set":{"directories":["/a"]}}`+"\n"+`{"$set":{"directories":["/b"]}}`+"\n"+going)
	if s.Project != "/b" {
		t.Errorf("the directory is %q, want the latest", s.Project)
	}
	found, err := format{}.Validate([]byte("{\n\"sessionId\":\"s\",\n\"messages\":[\n" + going + ",\n{\"id\":\"g\",\n\"type\":\"gemini\",\"content\":\"x\"},\n" + strings.Replace(reply(`"content":"y"`), `"g"`, `"h"`, 1) + "\n]}"))
	if err != nil || len(found) != 1 || found[0].Field != "line 7" {
		t.Errorf("violations %v, %v, want one in line 7", found, err)
	}
}
