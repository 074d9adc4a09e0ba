package exam

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
)

func TestRender(t *testing.T) {
	got, err := Render([]byte(`{"messages":[
		{"role":"system","content":"You fix lamps."},{"role":"developer","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"Mend"},{"type":"text","text":"it."}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}},{"id":"b","function":{"name":"Read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"lamp.go"}]}`))
	want := "<user>\nMend\nit.\n</user>\n<assistant>\n\n<call Bash> {\"command\":\"ls\"}\n<call Read> {}\n</assistant>\n<tool_result>\nlamp.go\n</tool_result>"
	if err != nil || got != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
	}
	if _, err := Render([]byte("{")); err == nil {
		t.Error("half a request has a text")
	}
}

// A string counts if it is in a line or in two adjacent lines, but not in a list of names, and
// not in a window that is too large.
func TestScore(t *testing.T) {
	s := &Session{Questions: []Question{
		{Type: "fact", MustHave: []string{"lamp.go", "the `Bulb` is gone"}},
		{Type: "state", MustHave: []string{"three lamps in all"}},
		{Type: "intent", MustHave: []string{"socket"}},
	}}
	for _, tt := range []struct {
		name, window       string
		strings, questions int
	}{
		{"one line", "in lamp.go it says: THE BULB, is gone!", 2, 1},
		{"two lines that follow", "there are three lamps\n\nin all of the house", 1, 1},
		{"two lines with one between", "there are three lamps\nor not, as I said\nin all of the house", 0, 0},
		{"a list of names", "lamp.go\nsocket\nbulb", 0, 0},
		{"a part of a word", "the sockets are all new ones", 0, 0},
		{"nothing", "", 0, 0},
	} {
		got := s.Score(tt.window, 100)
		if got.Strings != tt.strings || got.Questions != tt.questions || got.AllStrings != 4 || got.AllQuestions != 3 || got.Bytes != len(tt.window) || len(got.Missed) != 4-tt.strings {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	window := "the socket is in lamp.go, says the user"
	if got := s.Score(window, len(window)); got.Strings != 2 {
		t.Errorf("a window as large as its limit: %+v", got)
	}
	if got := s.Score(window, len(window)-1); got.Strings != 0 {
		t.Errorf("a window that is too large: %+v", got)
	}
}

// Letters of every script count, and a string is not found by its ASCII letters alone.
func TestScoreOfOtherScripts(t *testing.T) {
	for _, tt := range []struct {
		must, window string
		found        bool
	}{
		{"порт 8080", "we saw 8080 requests a day", false},
		{"порт 8080", "мы открыли Порт: 8080 вчера", true},
		{"порт 8080", "мы открыли аэропорт 8080 вчера", false},
		{"設定A", "we took a new lamp", false},
		{"設定A", "彼は設定Aを使う", true},
		{"設定A", "設定A", false}, // fewer than four words
		{"Größe", "die große Größe der Lampe", true},
		{"Größe", "gr e of the lamp", false},
		{"हिन्दी", "यह हिन्दी में लिखा है", true},
	} {
		s := &Session{Questions: []Question{{ID: "q", MustHave: []string{tt.must}}}}
		if got := s.Score(tt.window, len(tt.window)); (got.Strings == 1) != tt.found {
			t.Errorf("%q in %q: found %v, want %v", tt.must, tt.window, got.Strings == 1, tt.found)
		}
	}
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte("1\n2\n3"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[int]string{0: "1\n2\n3", 1: "1\n", 2: "1\n2\n", 3: "1\n2\n3"} {
		for _, folder := range []string{dir, ""} {
			got, err := (&Session{Conversation: "a.jsonl", Lines: lines, file: filepath.Join(dir, "exam.json")}).History(folder)
			if err != nil || string(got) != want {
				t.Errorf("%d lines: %q, %v", lines, got, err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blank.jsonl"), []byte("\n1\n2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Session{Conversation: "blank.jsonl", Lines: 2}).History(dir); err != nil || string(got) != "\n1\n" {
		t.Errorf("two lines, the first blank: %q, %v", got, err)
	}
	for _, tt := range []struct{ name, data, want string }{
		{"b.jsonl", "1\n2\n3", "e.json: session x: lines: 4 is too many: b.jsonl has 3 lines"},
		{"b.jsonl", "1\n2\n3\n", "e.json: session x: lines: 4 is too many: b.jsonl has 3 lines"},
		{"b.jsonl", "", "e.json: session x: lines: 4 is too many: b.jsonl has 0 lines"},
		{"c.jsonl", "1", "e.json: session x: conversation: open "},
	} {
		if err := os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(tt.data), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Session{ID: "x", Conversation: tt.name, Lines: 4, file: "e.json"}
		if _, err := s.History(dir); err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "--data") != (tt.name == "c.jsonl") {
			t.Errorf("%s with %q: %v, want %s", tt.name, tt.data, err, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exam.json")
	read := func(text string) (*Exam, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Read(path)
	}
	const question = `{"id":"q1","type":"fact","q":"Which?","answer":"That.","must_have":["that"],"where":"it is that"}`
	const session = `{"sessions":[{"id":"a","conversation":"a.jsonl","lines":3,"questions":[` + question + `],"next":["go on"]}]}`
	e, err := read(session)
	if err != nil {
		t.Fatal(err)
	}
	want := Session{ID: "a", Conversation: "a.jsonl", Lines: 3, Next: []string{"go on"}, file: path, Questions: []Question{
		{ID: "q1", Type: "fact", Text: "Which?", Answer: "That.", MustHave: []string{"that"}, Where: "it is that"},
	}}
	if diff := cmp.Diff([]Session{want}, e.Sessions, cmp.AllowUnexported(Session{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ from, to, want string }{
		{session, `{"sessions":3}`, ":1: sessions: want an array, not number"},
		{session, "{\n\n\"sessions\":[}", ":3: invalid character"},
		{session, `{"session":[]}`, ": sessions: want at least one session"},
		{`"lines":3`, `"lines":"3"`, ":1: sessions.lines: want a number, not string"},
		{`"lines":3`, `"lines":-3`, ": session a: lines: -3 is below 0"},
		{`"id":"a"`, `"id":"../a"`, `: sessions[0].id: "../a" is not an id`},
		{`"id":"a",`, ``, `: sessions[0].id: "" is not an id`},
		{`"conversation":"a.jsonl",`, ``, ": session a: conversation: the path of a file is missing"},
		{question, ``, ": session a: questions: want at least one question"},
		{question, question + "," + question, ": session a: question q1: id: two questions have this id"},
		{`"id":"q1",`, ``, `: session a: questions[0].id: "" is not an id`},
		{`"q":"Which?"`, `"question":"Which?"`, ": session a: question q1: q: the question is missing: write its text into this field"},
		{`"answer":"That.",`, ``, ": session a: question q1: answer: the answer is missing"},
		{`["that"]`, `[]`, ": session a: question q1: must_have: want at least one string"},
		{`["that"]`, `["that","…"]`, ": session a: question q1: must_have[1]: \"…\" must have a letter"},
		{`}]}`, `},{"id":"a","conversation":"b","questions":[` + question + `]}]}`, ": session a: id: two sessions have this id"},
	} {
		text := strings.Replace(session, tt.from, tt.to, 1)
		_, err := read(text)
		if wrong, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(wrong.Error(), path+tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, tt.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an exam that is not there: %v", err)
	}
}

// A fit gives a higher weight to a kind of unit that has the required strings.
func TestFit(t *testing.T) {
	data := []byte(`{"messages":[{"role":"user","content":"Mend the lamp of the hall, please, today."},
		{"role":"assistant","content":"I will look at the wires that lead to it now."}]}`)
	f, err := carrel.Detect(data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(must string) (words, sentence int) {
		s := &Session{Questions: []Question{{MustHave: []string{must}}}}
		p := Fit([]*Sample{NewSample(s, c, nil)})
		return p.Weight("kind", "words"), p.Weight("kind", "sentence")
	}
	if words, sentence := fit("lamp of the hall"); words <= sentence {
		t.Errorf("words have %d, sentences %d", words, sentence)
	}
	if words, sentence := fit("the wires that lead"); words >= sentence {
		t.Errorf("words have %d, sentences %d", words, sentence)
	}
	if _, err := account.ParsePrior(Fit(nil).String()); err != nil {
		t.Error(err)
	}
	// Properties that always go together share the weight.
	p := Fit([]*Sample{NewSample(&Session{Questions: []Question{{MustHave: []string{"lamp of the hall"}}}}, c, nil)})
	if first, last := p.Weight("kind", "words"), p.Weight("length", "person"); last*5 < first*4 || first*5 < last*4 {
		t.Errorf("of the words of a person, the kind has %d and the length %d", first, last)
	}
}

// The exams of this repository are valid; an account answers most of their questions, and a
// list of names few of them.
func TestOwnExams(t *testing.T) {
	sessions, err := ReadAll([]string{filepath.FromSlash("../../bench/exam/testdata/own.json")})
	if err != nil {
		t.Fatal(err)
	}
	questions := 0
	var sittings []*OpenSession
	for _, s := range sessions {
		x, err := s.Open("", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sittings = append(sittings, x)
		questions += len(s.Questions)
	}
	if len(sessions) != 12 || questions != 120 {
		t.Errorf("there are %d sessions with %d questions", len(sessions), questions)
	}
	methods, err := Methods("account,simple-names", nil)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]*Score)
	err = Windows(t.Context(), sittings, methods, 10, func(w *Window) error {
		if found[w.Method.Name] == nil {
			found[w.Method.Name] = &Score{}
		}
		found[w.Method.Name].Add(w.Score(w.Text, w.Limit))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, n := found["account"], found["simple-names"]; a.Strings*10 < a.AllStrings*7 || n.Strings*10 >= n.AllStrings*3 {
		t.Errorf("of %d strings an account has %d, a bag of names %d", a.AllStrings, a.Strings, n.Strings)
	}
}

func TestHistoryThatIsPacked(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("1\n2\n")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"whole.gz": b.Bytes(), "cut.gz": b.Bytes()[:b.Len()-9], "none.gz": []byte("1\n2\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&Session{ID: "x", Conversation: name, file: "e.json"}).History(dir)
		if whole := name == "whole.gz"; whole != (err == nil) || whole && string(got) != "1\n2\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
