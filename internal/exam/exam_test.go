package exam

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// A string counts where it stands in a line, or in two that follow each other, but not in a
// list of names, and not in a window that is too large.
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
		if got.Strings != tt.strings || got.Questions != tt.questions || got.AllStrings != 4 || got.AllQuestions != 3 || got.Used != len(tt.window) || len(got.Missed) != 4-tt.strings {
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

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte("1\n2\n3"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[int]string{0: "1\n2\n3", 1: "1\n", 2: "1\n2\n", 3: "1\n2\n3", 9: "1\n2\n3"} {
		got, err := (&Session{Conversation: "a.jsonl", Lines: lines}).History(dir)
		if err != nil || string(got) != want {
			t.Errorf("%d lines: %q, %v", lines, got, err)
		}
	}
	if _, err := (&Session{ID: "x", Conversation: "b.jsonl"}).History(dir); err == nil || !strings.HasPrefix(err.Error(), "x: ") {
		t.Errorf("a session without its file: %v", err)
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exam.json")
	if err := os.WriteFile(path, []byte(`{"sessions":[{"id":"a","conversation":"a.jsonl","lines":3,"questions":[{"type":"fact","question":"Which?","answer":"That.","must_have":["that"]}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Read(path)
	if err != nil || len(e.Sessions) != 1 || e.Sessions[0].Questions[0].MustHave[0] != "that" || e.Sessions[0].Lines != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := os.WriteFile(path, []byte(`{"sessions":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "exam.json") {
		t.Errorf("no exam: %v", err)
	}
}

// A fit gives more to the kind of unit that has what answers need.
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
}
