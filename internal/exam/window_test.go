package exam

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
)

// People read a report that is JSON: it has a line for each field.
func TestReportsHaveLines(t *testing.T) {
	var b strings.Builder
	if err := (&Report{Share: 40}).JSON(&b); err != nil || !strings.HasPrefix(b.String(), "{\n  \"share\": 40,\n") {
		t.Errorf("%v, %s", err, b.String())
	}
}

// made opens the sessions of the invented exam of testdata: a cut session of Claude Code, a
// request of Chat Completions, and a request of Messages.
func made(t *testing.T) []*OpenSession {
	t.Helper()
	sessions, err := ReadAll([]string{"testdata/made.json"})
	if err != nil {
		t.Fatal(err)
	}
	var list []*OpenSession
	for _, s := range sessions {
		x, err := s.Open("", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

func TestOpen(t *testing.T) {
	for _, s := range made(t) {
		score := s.Score(s.Whole, len(s.Whole))
		if score.Strings != score.AllStrings || score.Strings == 0 {
			t.Errorf("%s: the whole has %d of %d strings", s.ID, score.Strings, score.AllStrings)
		}
		if strings.Contains(s.Whole, "4be1c07") {
			t.Errorf("%s: what the agent had not seen is there", s.ID)
		}
		if strings.Contains(s.Whole, "You look after") || strings.Contains(s.Whole, "You keep the books") {
			t.Errorf("%s: the system text is there", s.ID)
		}
	}
}

// Open fails if the strings of a question are not in the history, or if a conversation of another
// format than that of Claude Code has lines.
func TestOpenRefuses(t *testing.T) {
	data, err := os.ReadFile("testdata/made.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "exam.json")
	for _, tt := range []struct{ name, from, to, want string }{
		{"nowhere", `"on Thursday"`, `"on Friday"`, `session bakery: question b3: must_have: "on Friday" is not in the messages of conversations/bakery.json, in one line or two adjacent lines`},
		{"behind the cut", `"already has UTC in its header"`, `"4be1c07", "insertions"`, `session harbor: question h2: must_have: "4be1c07" is not in the first 11 lines of conversations/harbor.jsonl, in one line or two adjacent lines; strings of this session that are missing besides: 1`},
		{"in the system text", `"on Thursday"`, `"the books of a bakery"`, `session bakery: question b3: must_have: "the books of a bakery" is not`},
		{"lines of a request", `"lines": 0`, `"lines": 3`, "session bakery: lines: conversations/bakery.json has the format openai, which cannot be cut at a line: set lines to 0"},
		{"lines of another session", `conversations/harbor.jsonl`, `../../../transcript/codex/testdata/tools.jsonl`, "session harbor: lines: ../../../transcript/codex/testdata/tools.jsonl has the format codex, which cannot be cut at a line"},
		{"no conversation", "conversations/dome.json", "made.json", "session dome: conversation: made.json: "},
	} {
		text := strings.Replace(string(data), tt.from, tt.to, 1)
		if text == string(data) {
			t.Fatalf("%s: %s is not there", tt.name, tt.from)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sessions, err := ReadAll([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		err = nil
		for _, s := range sessions {
			_, e := s.Open("testdata", nil, nil)
			err = errors.Join(err, e)
		}
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), path+": "+tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestReadAllRefusesTwoOfOneID(t *testing.T) {
	if _, err := ReadAll([]string{"testdata/made.json", "testdata/made.json"}); err == nil || !strings.Contains(err.Error(), "session harbor: id: testdata/made.json also has a session with this id") {
		t.Error(err)
	}
}

// The window of every method is within the limit, and fills it if the history is large enough.
func TestWindows(t *testing.T) {
	methods, err := Methods("all,whole,window", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = Windows(t.Context(), made(t)[:1], methods, 40, func(w *Window) error {
		seen++
		if len(w.Text) > w.Limit {
			t.Errorf("%s of %s: %d bytes of %d", w.Method.Name, w.ID, len(w.Text), w.Limit)
		}
		if (w.Method.Kind == KindWhole) != (w.Text == w.Whole) {
			t.Errorf("%s of %s is the whole", w.Method.Name, w.ID)
		}
		if slices.Contains([]string{"account", "importance", "simple-clip"}, w.Method.Name) && len(w.Text)*100 < w.Limit*90 {
			t.Errorf("%s of %s: only %d bytes of %d", w.Method.Name, w.ID, len(w.Text), w.Limit)
		}
		return nil
	})
	if want := len(methods); err != nil || seen != want || len(methods) != len(MethodNames(nil)) {
		t.Errorf("%d windows, want %d: %v", seen, want, err)
	}
}

// The largest window is found by bisection, from a twelfth to a half of the limit. 99 percent of the
// limit are enough.
func TestFill(t *testing.T) {
	const limit = 1200
	large := errors.New("no disk")
	for _, tt := range []struct {
		name string
		size func(target int) int // of the window; 0 if the budget is too small, and -1 if it fails
		want string               // targets, and the size of the window
	}{
		{"too large", func(int) int { return limit + 1 }, "[350 225 162 131 115 107 103 101 100] 0"},
		{"too small a budget", func(int) int { return 0 }, "[350 475 537 568 584 592 596 598 599] 0"},
		{"as large as the limit", func(int) int { return limit }, "[350] 1200"},
		{"large enough", func(int) int { return 1188 }, "[350] 1188"},
		{"not quite large enough", func(int) int { return 1187 }, "[350 475 537 568 584 592 596 598 599] 1187"},
		{"the larger the target", func(n int) int { return 3 * n }, "[350 475 412 381 396] 1188"},
		{"the smaller the target", func(n int) int { return 1500 - n }, "[350 475 537 568 584 592 596 598 599] 1150"},
		{"a failure", func(int) int { return -1 }, "[350] 0"},
	} {
		var targets []int
		got, err := fill(limit, func(target int) (string, error) {
			targets = append(targets, target)
			switch n := tt.size(target); n {
			case 0:
				return "", carrel.ErrBudget
			case -1:
				return "", large
			default:
				return strings.Repeat("x", n), nil
			}
		})
		if got := fmt.Sprint(targets, " ", len(got)); got != tt.want || errors.Is(err, large) != (tt.name == "a failure") {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// A report has the numbers of the exam, and how much of its limit a method used.
func TestMeasure(t *testing.T) {
	list := made(t)
	half := Method{"half", KindWindows, func(_ *OpenSession, limit int) (string, error) { return strings.Repeat("x", limit/2), nil }}
	r, err := Measure(t.Context(), list, []Method{Whole(), half}, 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, h := &r.Rows[0], &r.Rows[1]
	got := fmt.Sprintln(r.Share, r.Sessions, r.Questions, r.Strings, len(w.Sessions), w.Kind, w.Strings, w.Questions, w.Used, w.Over, h.Strings, h.Questions, max(h.Used-ratio.One/2, ratio.One/2-h.Used) < 1000)
	const want = "40 3 10 13 3 whole {1.000000 1.000000 1.000000} {1.000000 1.000000 1.000000} 1.000000 0 {0.000000 0.000000 0.000000} {0.000000 0.000000 0.000000} true\n"
	if got != want || r.Bytes != len(list[0].Whole)+len(list[1].Whole)+len(list[2].Whole) {
		t.Errorf("got %s, %d bytes, want %s", got, r.Bytes, want)
	}
}

func TestMethods(t *testing.T) {
	peer := Method{Name: "mill", Kind: KindPeer}
	names := func(list string) string {
		methods, err := Methods(list, []Method{peer})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, m := range methods {
			names = append(names, m.Name)
		}
		return strings.Join(names, ",")
	}
	for list, want := range map[string]string{
		"window, simple-names,window": "window,simple-names",
		"peers":                       "mill",
		"whole,mill":                  "whole,mill",
		"best":                        `no method is called "best": there are all, carrel, baselines, account, `,
		"":                            `no method is called "": there are all, carrel, baselines, account, `,
	} {
		if got := names(list); got != want && (!strings.HasSuffix(want, " ") || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
	for _, s := range carrel.Strategies() {
		if !slices.Contains(strings.Split(names("carrel"), ","), string(s)) {
			t.Errorf("strategy %s is not in carrel", s)
		}
	}
	if got := names("baselines"); !strings.Contains(got, "simple-mask-fit,") || !strings.Contains(got, "simple-names") || strings.Contains(got, "oracle") {
		t.Errorf("baselines: %s", got)
	}
}

// Windows read from a folder have the same scores as the methods that made them.
func TestFolder(t *testing.T) {
	sittings, dir := made(t), t.TempDir()
	methods, err := Methods("window,simple-recency", nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := Measure(t.Context(), sittings, methods, 30, func(w *Window) error {
		put(w.File(), w.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	measure := func(folder string) (*Report, error) {
		methods, err := Folder(folder)
		if err != nil {
			return nil, err
		}
		return Measure(t.Context(), sittings, methods, 30, nil)
	}
	got, err := measure(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(want.Rows) // folders are read in the order of their names
	for i := range want.Rows {
		want.Rows[i].Kind = KindWindows
	}
	if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one, err := measure(filepath.Join(dir, "window"))
	if err != nil || len(one.Rows) != 1 || one.Rows[0].Method != "window" || one.Rows[0].Strings != got.Rows[1].Strings {
		t.Errorf("one method: %+v, %v", one, err)
	}

	// A window may also be a request. Here it is the whole history, which is too large.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, s := range sittings {
		put(filepath.Join("mine", s.ID+".json"), string(s.history))
	}
	r, err := measure(dir)
	if err != nil || r.Rows[0].Over != 3 || r.Rows[0].Strings.Mean != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, tt := range []struct{ file, text, want string }{
		{"mine/dome.json", `{"title":"none"}`, filepath.Join(dir, "mine", "dome.json") + ": "},
		{"mine/dome.json", "", "there is no window of this session: put it into dome.txt or dome.json in this folder"},
	} {
		put(tt.file, tt.text)
		if tt.text == "" {
			if err := os.Remove(filepath.Join(dir, tt.file)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := measure(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A mean is within its interval, and the interval within the range of the questions. For equal
// questions the interval is a point. Equal inputs give equal intervals.
func TestEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "questions")
		has, of := make([]int, n), make([]int, n)
		for i := range has {
			of[i] = rapid.IntRange(1, 4).Draw(t, "of")
			has[i] = rapid.IntRange(0, of[i]).Draw(t, "has")
		}
		e := estimate(has, of)
		if e.Low > e.Mean || e.Mean > e.High || e.Low < 0 || e.High > ratio.One || e != estimate(has, of) {
			t.Fatalf("%v of %v: %+v", has, of, e)
		}
		if all := estimate(of, of); all != (Estimate{ratio.One, ratio.One, ratio.One}) {
			t.Fatalf("all of %v: %+v", of, all)
		}
	})
	// The mean of 100 coins has a standard error of .05: 95 percent are within .1.
	coins, of := make([]int, 100), make([]int, 100)
	for i := range coins {
		coins[i], of[i] = i%2, 1
	}
	near := func(got, want ratio.Ratio) bool { return max(got-want, want-got) <= ratio.Of(2, 100) }
	if e := estimate(coins, of); e.Mean != ratio.One/2 || !near(e.Low, ratio.Of(40, 100)) || !near(e.High, ratio.Of(60, 100)) {
		t.Errorf("coins: %+v", e)
	}
}

// System text and tools do not count toward the limit.
func TestSystemTextIsFree(t *testing.T) {
	var request map[string]any
	data, err := os.ReadFile("testdata/conversations/bakery.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &request); err != nil {
		t.Fatal(err)
	}
	windows := func() {
		t.Helper()
		data, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "bakery.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := (&Session{ID: "bakery", Conversation: "bakery.json"}).Open(dir, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		methods := Strategies(carrel.StrategyAccount, carrel.StrategyImportance)
		err = Windows(t.Context(), []*OpenSession{s}, methods, 30, func(w *Window) error {
			if len(w.Text)*100 < w.Limit*90 {
				t.Errorf("%s has %d of %d bytes", w.Method.Name, len(w.Text), w.Limit)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	windows()
	system := request["messages"].([]any)[0].(map[string]any)
	system["content"] = strings.Repeat("Flour is counted in sacks of fifty pounds each. ", 400)
	request["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "void_entry", "description": strings.Repeat("Voids an entry. ", 200), "parameters": map[string]any{"type": "object"}}}}
	windows()
}
