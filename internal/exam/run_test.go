package exam

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/llmtest"
	"github.com/carrel-dev/carrel/ratio"
)

// newRun prepares the invented exam of testdata, with windows of two methods.
func newRun(t *testing.T) *Run {
	t.Helper()
	r := emptyRun(t)
	methods, err := Methods("whole,simple-names", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(t.Context(), made(t), methods, 40); err != nil {
		t.Fatal(err)
	}
	return r
}

func emptyRun(t *testing.T) *Run {
	t.Helper()
	dir := t.TempDir()
	return &Run{Folder: dir, Put: func(path string, data []byte) error {
		path = filepath.Join(dir, path)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
	}}
}

func asks(s *llmtest.Script) Model { return func() (llm.Generator, error) { return s, nil } }

// nobody is a Model that fails: the test expects that no model is asked.
func nobody() (llm.Generator, error) { return nil, errors.New("somebody was asked") }

// hand writes a file of a run, as a person may do by hand.
func (r *Run) hand(t *testing.T, path, text string) {
	t.Helper()
	if err := r.Put(filepath.FromSlash(path), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (r *Run) text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Folder, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A paper has the window and the questions, and neither answers nor the name of the method.
func TestPapers(t *testing.T) {
	r := newRun(t)
	for _, method := range []string{"whole", "simple-names"} {
		text := r.text(t, "papers/"+method+"/dome.json")
		for _, not := range []string{"must_have", "Its coil is dead: 0 mA", "0 mA in place of 40 mA", "Test with a wet sensor", method} {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is on the paper", method, not)
			}
		}
	}
	var p Paper
	if err := json.Unmarshal([]byte(r.text(t, "papers/whole/dome.json")), &p); err != nil {
		t.Fatal(err)
	}
	if p.Window != made(t)[2].Whole || len(p.Questions) != 3 || p.Questions[1] != (Asked{"d2", "What is wrong with relay K3?"}) {
		t.Errorf("%+v", p)
	}
	prompt := p.Prompt()
	if !strings.Contains(prompt.Text, "<window>\n"+p.Window+"\n</window>\n") || !strings.HasSuffix(prompt.Text, "\nd3: Where is the new relay to be ordered?") {
		t.Error(prompt.Text)
	}
}

func TestPrepareRefuses(t *testing.T) {
	sittings := made(t)[:1]
	for _, tt := range []struct {
		method Method
		want   string
	}{
		{Method{"big", KindWindows, func(s *OpenSession, limit int) (string, error) { return s.Whole, nil }}, "testdata/made.json: session harbor: method big: the window has 6858 bytes, want at most 2743"},
		{Method{"none", KindStrategy, func(*OpenSession, int) (string, error) { return "", nil }}, "testdata/made.json: session harbor: method none: no window has at most 2743 bytes: raise the share"},
		{Method{"../up", KindWindows, nil}, `method "../up": want a name of letters`},
	} {
		r := emptyRun(t)
		if err := r.Prepare(t.Context(), sittings, []Method{tt.method}, 40); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if _, err := r.Ask(t.Context(), nobody, false); !errors.Is(err, ErrNoRun) {
			t.Errorf("what was not prepared is asked about: %v", err)
		}
	}
}

// Answers to a paper that was prepared anew and has changed are removed, and the others stay.
func TestPrepareAgain(t *testing.T) {
	r := emptyRun(t)
	methods := []Method{
		{"same", KindWindows, func(*OpenSession, int) (string, error) { return "the same at any limit", nil }},
		{"cut", KindWindows, func(s *OpenSession, limit int) (string, error) { return s.Whole[:limit], nil }},
	}
	for i, share := range []int{40, 40, 20} {
		if err := r.Prepare(t.Context(), made(t), methods, share); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			r.hand(t, "answers/same/dome.json", `{"answers":{"d1":"K5"}}`)
			r.hand(t, "answers/cut/dome.json", `{"answers":{"d1":"K5"}}`)
		}
		if !r.exists("answers/same/dome.json") {
			t.Errorf("at %d%% the answers to a paper without changes are gone", share)
		}
		if there := r.exists("answers/cut/dome.json"); there != (share == 40) {
			t.Errorf("at %d%% the answers to a paper that depends on the limit are there: %v", share, there)
		}
	}
}

// answersTo returns a reply that gives one answer to each question of a prompt.
func answersTo(p *llm.Prompt, answer string) string {
	_, questions, _ := strings.Cut(p.Text, "\nQuestions:\n\n")
	list := make(map[string]string)
	for line := range strings.Lines(questions) {
		id, _, _ := strings.Cut(line, ":")
		list[id] = answer
	}
	data, err := json.Marshal(map[string]any{"answers": list, "next": []string{"one", "two"}, "rating": 4, "helped": "all", "confused": "none"})
	if err != nil {
		panic(err) // cannot happen: all values are strings
	}
	return "Here it is:\n```json\n" + string(data) + "\n```\n"
}

// An interrupted run continues where it stopped, unreadable replies are stored and asked for
// again, and answers written by hand are used.
func TestAskGoesOn(t *testing.T) {
	r := newRun(t)
	r.hand(t, "answers/whole/bakery.json", `{"answers":{"b1":"Invoice 8841."}}`)
	script := &llmtest.Script{Func: func(call int, p *llm.Prompt) llmtest.Step {
		switch call {
		case 0:
			return llmtest.Say("I cannot tell.")
		case 1:
			return llmtest.Step{Text: answersTo(p, "x"), Stop: llm.StopLength}
		case 2:
			return llmtest.Say(`{"answers":{"z9":"x"}}`)
		case 3:
			return llmtest.Step{Text: "No.", Stop: llm.StopRefusal}
		case 4:
			return llmtest.Fail(llm.ErrUnavailable)
		}
		return llmtest.Say(answersTo(p, "x"))
	}}
	tally, err := r.Ask(t.Context(), asks(script), false)
	if !errors.Is(err, llm.ErrUnavailable) || tally.Asked != 4 || tally.Kept != 1 || len(tally.Unread) != 4 {
		t.Fatalf("%+v, %v", tally, err)
	}
	for path, want := range map[string]string{
		"answers/whole/harbor.json":        "there is no JSON object in the reply",
		"answers/whole/dome.json":          "the reply was cut off",
		"answers/simple-names/harbor.json": "answers: the exam has no question z9",
		"answers/simple-names/bakery.json": "the model would not answer",
	} {
		var a Answers
		if err := json.Unmarshal([]byte(r.text(t, path)), &a); err != nil || !strings.Contains(a.Problem, want) || a.Raw == "" || a.Model != "script" {
			t.Errorf("%s: %+v, %v, want %s", path, a, err, want)
		}
	}
	if _, err := r.Scores(1); !errors.Is(err, errProblem) {
		t.Errorf("scores without answers: %v", err)
	}
	tally, err = r.Ask(t.Context(), asks(script), false)
	if err != nil || tally.Asked != 5 || tally.Kept != 1 || len(tally.Unread) != 0 {
		t.Fatalf("%+v, %v", tally, err)
	}
	if tally, err = r.Ask(t.Context(), nobody, false); err != nil || tally.Kept != 6 {
		t.Errorf("all is there: %+v, %v", tally, err)
	}
	if tally, err = r.Ask(t.Context(), asks(script), true); err != nil || tally.Asked != 6 {
		t.Errorf("all again: %+v, %v", tally, err)
	}
}

// Invalid answers are an error that names the file and the field.
func TestAnswersByHand(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"answers":{"b9":"x"}}`, ": answers: the exam has no question b9"},
		{`{"answers":{"b1":"x"},"rating":6}`, ": rating: 6, want 1 to 5"},
		{`{"answers":{"b1":"x"},"rating":-1}`, ": rating: -1, want 1 to 5"},
		{`{"answers":{"b1":"x"},"rating":"good"}`, ":1: rating: want a number, not string"},
		{`{"next":["x"]}`, ": answers: the field is missing"},
		{`{"answers":`, ":1: unexpected end of JSON input"},
	} {
		r := newRun(t)
		r.hand(t, "answers/whole/harbor.json", `{"answers":{"h1":"x"}}`)
		r.hand(t, "answers/whole/bakery.json", tt.text)
		_, err := r.Ask(t.Context(), nobody, false)
		if wrong, ok := errors.AsType[*Error](err); !ok || wrong.Error() != filepath.Join(r.Folder, "answers", "whole", "bakery.json")+tt.want {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestTooLargeForTheModel(t *testing.T) {
	r := newRun(t)
	_, err := r.Ask(t.Context(), asks(&llmtest.Script{Tokens: 500, Repeat: true, Steps: []llmtest.Step{llmtest.Say("{}")}}), false)
	if err == nil || !strings.Contains(err.Error(), "tokens, and the model's window has 500") {
		t.Error(err)
	}
	p := &llm.Prompt{System: "Answer.", Text: "Which lamp?"}
	for more, want := range map[int]bool{0: true, -1: false} {
		script := &llmtest.Script{Tokens: estimated(p) + more, Steps: []llmtest.Step{llmtest.Say("{}")}}
		if _, err := r.ask(t.Context(), asks(script), "x", p, new(Tally)); (err == nil) != want {
			t.Errorf("a window of %d tokens more than the prompt needs: %v", more, err)
		}
	}
}

// Long jobs tell how far they are, and what a model used is added up.
func TestProgress(t *testing.T) {
	r, steps := answered(t), ""
	r.Step = func(done, total int) { steps += fmt.Sprintf("%d/%d ", done, total) }
	methods, named := Methods("whole,simple-names", nil)
	prepared := r.Prepare(t.Context(), made(t), methods, 40)
	tally, asked := r.Ask(t.Context(), asks(&llmtest.Script{Func: func(_ int, p *llm.Prompt) llmtest.Step {
		return llmtest.Step{Text: answersTo(p, "x"), Usage: llm.Usage{Input: 7, Output: 2}}
	}}), true)
	_, graded := r.Grade(t.Context(), asks(grader(t)), 1, false)
	const want = "1/6 2/6 3/6 4/6 5/6 6/6 0/6 1/6 2/6 3/6 4/6 5/6 0/3 1/3 2/3 "
	if err := errors.Join(named, prepared, asked, graded); err != nil || steps != want || tally.Usage != (llm.Usage{Input: 42, Output: 12}) {
		t.Errorf("got %s, %+v, %v, want %s", steps, tally, err, want)
	}
}

// A key that was changed by hand is refused if it cannot name the files of a run.
func TestKeyByHand(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"methods":[],"sessions":[{"id":"a"}]}`, ": the list of methods or of sessions is missing"},
		{`{"methods":["m"],"sessions":[]}`, ": the list of methods or of sessions is missing"},
		{`{"methods":["m","../m"],"sessions":[{"id":"a"}]}`, `: methods: "../m" cannot name a folder`},
		{`{"methods":["m"],"sessions":[null]}`, ": sessions[0].id: the id is missing"},
		{`{"methods":["m"],"sessions":[{"id":"../a"}]}`, ": sessions[0].id: the id is missing"},
		{`{"methods":["m"],"sessions":[{"id":"a"}]}`, ": session a: conversation: the path of a file is missing"},
	} {
		r := emptyRun(t)
		r.hand(t, "key.json", tt.text)
		_, err := r.Ask(t.Context(), nobody, false)
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(r.Folder, "key.json")+tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
	for _, raw := range []string{"", "{", "}", "} {", "x"} {
		if err := (&Reply{Raw: raw}).read(new(Answers), func() error { return nil }); err == nil || err.Error() != "there is no JSON object in the reply" {
			t.Errorf("%q is read: %v", raw, err)
		}
	}
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "A1", 51: "Z1", 52: "A2"} {
		if got := letter(i); got != want {
			t.Errorf("letter %d is %s, want %s", i, got, want)
		}
	}
	r := newRun(t)
	for _, session := range []string{"harbor", "bakery", "dome"} {
		r.hand(t, "answers/whole/"+session+".json", `{"answers":{}}`)
		r.hand(t, "answers/simple-names/"+session+".json", `{"answers":{}}`)
	}
	if tally, err := r.Grade(t.Context(), nobody, 1, true); err != nil || tally.Kept != 3 {
		t.Errorf("sheets without answers: %+v, %v", tally, err)
	}
	if full := strings.Repeat("w ", mostWords-1) + "w"; said(full).short() != full {
		t.Error("an answer of as many words as it may have is cut")
	}
}

// answered returns a run with answers; all of the method simple-names but one are unknown.
func answered(t *testing.T) *Run {
	t.Helper()
	r := newRun(t)
	long := strings.Repeat("word ", mostWords) + "more"
	r.hand(t, "answers/whole/harbor.json", `{"answers":{"h1":"Stations.","h2":"`+long+`","h3":"Passed","h4":"unknown values"},"next":["commit","tell","rest","fourth"],"rating":5,"helped":"all"}`)
	r.hand(t, "answers/whole/bakery.json", `{"answers":{"b1":8841,"b2":"x"},"rating":4}`)
	r.hand(t, "answers/whole/dome.json", `{"answers":{"d1":"K5","d2":"x","d3":"Unknown."},"next":["unknown"]}`)
	r.hand(t, "answers/simple-names/harbor.json", `{"answers":{"h1":"Unknown – it does not say","h2":""},"next":["commit"],"rating":1}`)
	r.hand(t, "answers/simple-names/bakery.json", `{"answers":{"b1":"Invoice 8841"}}`)
	r.hand(t, "answers/simple-names/dome.json", `{"answers":{}}`)
	return r
}

// A sheet has the answers of readers, cut at 30 words, without "unknown" and without names of
// methods.
func TestSheets(t *testing.T) {
	r := answered(t)
	if n, graded, err := r.Sheets(1, false); n != 3 || graded != 0 || err != nil {
		t.Fatal(n, graded, err)
	}
	text := r.text(t, "sheets/harbor.json") + r.text(t, "sheets/bakery.json")
	if strings.Contains(text, "whole") || strings.Contains(text, "simple-names") {
		t.Error("a sheet names a method")
	}
	var s Sheet
	if err := json.Unmarshal([]byte(r.text(t, "sheets/harbor.json")), &s); err != nil {
		t.Fatal(err)
	}
	said := func(list []Answer) string {
		var b strings.Builder
		for _, a := range list {
			b.WriteString(a.As + "=" + a.Says + "|")
		}
		return b.String()
	}
	for i, want := range []string{"A=Stations.|", "A=" + strings.TrimSpace(strings.Repeat("word ", mostWords)) + " …|", "A=Passed|", "A=unknown values|"} {
		if got := said(s.Questions[i].Answers); got != want {
			t.Errorf("question %d: %s, want %s", i, got, want)
		}
	}
	if got := said(s.Next.Steps); got != "A=1. commit\n2. tell\n3. rest|B=1. commit|" && got != "A=1. commit|B=1. commit\n2. tell\n3. rest|" {
		t.Errorf("next: %s", got)
	}
	if s.Questions[0].Right != "Those in data/stations: the port authority owns them." || s.Questions[0].Where == "" || len(s.Next.Right) != 2 {
		t.Errorf("%+v", s)
	}
}

// The letters of methods depend on the question and the seed, and each answer has one letter.
func TestLettersAreShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, seed := rapid.IntRange(1, 40).Draw(t, "methods"), rapid.Int().Draw(t, "seed")
		order := shuffled(n, seed, "s", "q")
		if !slices.Equal(order, shuffled(n, seed, "s", "q")) {
			t.Fatal("not the same each time")
		}
		letters := make(map[string]bool)
		for i := range order {
			letters[letter(i)] = true
		}
		slices.Sort(order)
		for i := range order {
			if order[i] != i || len(letters) != n {
				t.Fatalf("%v, %v", order, letters)
			}
		}
	})
	firsts := make(map[int]int)
	for i := range 300 {
		firsts[shuffled(3, 1, "s", fmt.Sprint(i))[0]]++
	}
	for m := range 3 {
		if firsts[m] < 60 || firsts[m] > 140 {
			t.Errorf("method %d is the first of 3 in %d of 300 questions", m, firsts[m])
		}
	}
}

// grade returns a grade that depends on the text of an answer.
func grade(says string) float64 {
	switch says {
	case "x":
		return -.5
	case "8841", "Invoice 8841":
		return .5
	}
	return 1
}

// grader is a model that grades sheets.
func grader(t *testing.T) *llmtest.Script {
	return &llmtest.Script{Func: func(_ int, p *llm.Prompt) llmtest.Step {
		var s Sheet
		if err := json.Unmarshal([]byte(p.Text), &s); err != nil || p.System != graderTask || s.Task != "" {
			t.Errorf("%v: %s", err, p.Text)
		}
		g := Grades{Grades: make(map[string]map[string]float64), Next: make(map[string]int)}
		for _, q := range s.Questions {
			g.Grades[q.ID] = make(map[string]float64)
			for _, a := range q.Answers {
				g.Grades[q.ID][a.As] = grade(a.Says)
			}
		}
		if s.Next != nil {
			for _, a := range s.Next.Steps {
				g.Next[a.As] = min(3, len(a.Says)/8)
			}
		}
		data, err := json.Marshal(&g)
		if err != nil {
			t.Error(err)
		}
		return llmtest.Say(string(data))
	}}
}

func TestScores(t *testing.T) {
	r := answered(t)
	tally, err := r.Grade(t.Context(), asks(grader(t)), 7, false)
	if err != nil || tally.Asked != 3 || len(tally.Unread) != 0 {
		t.Fatalf("%+v, %v", tally, err)
	}
	got, err := r.Scores(7)
	if err != nil {
		t.Fatal(err)
	}
	whole, names := &got.Rows[0], &got.Rows[1]
	if got.Sessions != 3 || got.Questions != 10 || got.Share != 40 || whole.Method != "whole" || names.Method != "simple-names" {
		t.Errorf("%+v", got)
	}
	// h1 to h4 and d1 are right, b1 in part, b2 and d2 wrong, b3 and d3 unknown:
	// 5 + .5 − 1 of 10. Of the next steps harbor has 3, and the others nothing, of three.
	if whole.Score.Mean != ratio.Of(45, 100) || whole.Right != 5 || whole.Part != 1 || whole.Unknown != 2 || whole.Wrong != 2 || *whole.Next != ratio.One || *whole.Rating != ratio.Of(45, 10) {
		t.Errorf("%+v, next %v, rating %v", whole, whole.Next, whole.Rating)
	}
	if names.Score.Mean != ratio.Of(5, 100) || names.Right != 0 || names.Part != 1 || names.Unknown != 9 || names.Wrong != 0 || *names.Next != ratio.Of(1, 3) || *names.Rating != ratio.One {
		t.Errorf("%+v, next %v, rating %v", names, names.Next, names.Rating)
	}
	if whole.Score.Low >= whole.Score.Mean || whole.Score.High <= whole.Score.Mean {
		t.Errorf("%+v", whole.Score)
	}
	want := []TypeScore{{"constraint", 3, ratio.Of(1, 6)}, {"decision", 1, ratio.One}, {"state", 2, ratio.One}, {"fact", 3, ratio.Of(1, 3)}, {"intent", 1, 0}}
	if diff := cmp.Diff(want, whole.Types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if whole.Remarks[0] != (Remark{"harbor", "all", ""}) {
		t.Errorf("%+v", whole.Remarks)
	}

	// If all sheets have grades, no model is asked, and the scores are the same. With
	// another seed the letters differ.
	if tally, err = r.Grade(t.Context(), nobody, 7, false); err != nil || tally.Kept != 3 {
		t.Errorf("%+v, %v", tally, err)
	}
	again, err := r.Scores(7)
	if diff := cmp.Diff(text(t, got), text(t, again)); diff != "" || err != nil {
		t.Errorf("(-first +again):\n%s%v", diff, err)
	}
}

// Grades of a sheet that has changed are invalid until it is graded again.
func TestStaleGrades(t *testing.T) {
	r := answered(t)
	if _, err := r.Grade(t.Context(), asks(grader(t)), 1, false); err != nil {
		t.Fatal(err)
	}
	r.hand(t, "answers/whole/dome.json", `{"answers":{"d1":"K6"}}`)
	if _, err := r.Grade(t.Context(), nobody, 1, false); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "dome.json") {
		t.Errorf("graded: %v", err)
	}
	if _, err := r.Scores(1); !errors.Is(err, ErrStale) {
		t.Errorf("added up: %v", err)
	}
	if _, err := r.Grade(t.Context(), asks(&llmtest.Script{}), 1, true); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("a model that is not there: %v", err)
	}
	if _, err := r.Scores(1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old grades of a new sheet count: %v", err)
	}
	if tally, err := r.Grade(t.Context(), asks(grader(t)), 1, false); err != nil || tally.Asked != 1 {
		t.Errorf("%+v, %v", tally, err)
	}
}

func TestGradesByHand(t *testing.T) {
	r := answered(t)
	good := map[string]string{
		"harbor": `{"grades":{"h1":{"A":1},"h2":{"A":1},"h3":{"A":1},"h4":{"A":0}},"next":{"A":0,"B":3}}`,
		"bakery": `{"grades":{"b1":{"A":0.5,"B":1},"b2":{"A":-0.5}}}`,
		"dome":   `{"grades":{"d1":{"A":1},"d2":{"A":0}}}`,
	}
	for session, text := range good {
		r.hand(t, "grades/"+session+".json", text)
	}
	if tally, err := r.Grade(t.Context(), nobody, 1, false); err != nil || tally.Kept != 3 {
		t.Fatalf("%+v, %v", tally, err)
	}
	for _, again := range []bool{false, true} {
		if n, graded, err := r.Sheets(1, again); n != 3 || graded != 3 || err != nil {
			t.Errorf("again %v: %d sheets, %d graded, %v", again, n, graded, err)
		}
	}
	r.hand(t, "grades/dome.json", `{"grades":null,"problem":"there is no JSON object in the reply"}`)
	if n, graded, err := r.Sheets(1, false); n != 3 || graded != 2 || err != nil {
		t.Errorf("with grades that cannot be read: %d sheets, %d graded, %v", n, graded, err)
	}
	r.hand(t, "grades/dome.json", good["dome"])
	for _, tt := range []struct{ from, to, want string }{
		{`,"B":1`, ``, ": grades: B of question b1 has no grade"},
		{`-0.5`, `-1`, ": grades: A of question b2 has -1, want 1, 0.5, 0 or -0.5"},
		{`"b2":{"A":-0.5}`, `"b2":3`, ":1: grades: want an object, not number"},
	} {
		r.hand(t, "grades/bakery.json", strings.Replace(good["bakery"], tt.from, tt.to, 1))
		if _, err := r.Grade(t.Context(), nobody, 1, false); err == nil || err.Error() != filepath.Join(r.Folder, "grades", "bakery.json")+tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	r.hand(t, "grades/bakery.json", good["bakery"])
	for _, tt := range []struct{ from, to, want string }{
		{`,"B":3`, ``, ": next: B has no grade"},
		{`"B":3`, `"B":4`, ": next: B has 4, want 0 to 3"},
		{`"B":3`, `"B":-1`, ": next: B has -1, want 0 to 3"},
	} {
		r.hand(t, "grades/harbor.json", strings.Replace(good["harbor"], tt.from, tt.to, 1))
		if _, err := r.Grade(t.Context(), nobody, 1, false); err == nil || !strings.HasSuffix(err.Error(), "harbor.json"+tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestSaysNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " ": true, "unknown": true, "Unknown.": true, `"unknown"`: true, "UNKNOWN – the window does not say": true, "unknown (not there)": true,
		"unknown values are dropped": false, "unknown 404s are dropped": false, "unknowns": false, "it is unknown": false, "…": false, "12": false,
	} {
		if got := said(text).isUnknown(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
