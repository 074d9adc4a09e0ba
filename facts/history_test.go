package facts

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

func (s *talk) history(o *HistoryOptions) []Piece {
	return History(s.msgs, transcript.Group("s", 0, s.msgs), o)
}

// lay writes pieces one a line: where each is from, its file and its text.
func lay(pieces []Piece) []string {
	var list []string
	for i := range pieces {
		p := &pieces[i]
		list = append(list, fmt.Sprintf("%s [%s] %s", origins[p.Source], p.Path, p.Text))
	}
	return list
}

func TestHistory(t *testing.T) {
	s := new(talk).
		user("first").
		reply("earlier").
		user("second").
		user("third").
		call("looking", "Read", map[string]any{"file_path": "app/pool/dial.go", "limit": 20}, "1→package pool").
		call("", "Grep", map[string]string{"pattern": "retry"}, "dial.go:3:retry").
		edit("app/pool/dial.go", "old", "new").
		run("go test", "ok").
		call("", "TodoWrite", map[string]any{"todos": []any{map[string]string{"content": "fix"}}}, "noted").
		call("", "Weather", json.RawMessage(`"sunny"`), "yes")
	want := []string{
		"task [] first", "reply [] earlier", "user [] second", "newest [] third",
		"newest-reply [] looking", "arguments [pool/dial.go] app/pool/dial.go\n20", "read [pool/dial.go] 1→package pool",
		"arguments [] retry", "search [] dial.go:3:retry",
		"edit [pool/dial.go] app/pool/dial.go\nnew\nold", "edited [pool/dial.go] The file has been updated.",
		"command [] go test", "output [] ok",
		"plan [] fix", "result [] noted",
		`arguments [] "sunny"`, "result [] yes",
	}
	if d := cmp.Diff(want, lay(s.history(nil))); d != "" {
		t.Error(d)
	}
}

func TestHistoryOfPersons(t *testing.T) {
	s := new(talk).user("task").reply("yes").user("note of a program")
	blocks := transcript.Group("s", 0, s.msgs)
	got := lay(History(s.msgs, blocks, &HistoryOptions{Person: func(i int) bool { return i == 0 }}))
	want := []string{"newest [] task", "newest-reply [] yes", "user [] note of a program"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHistoryLeavesSystemTextOut(t *testing.T) {
	s := &talk{msgs: []transcript.Message{{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("rules")}}}}
	if got := s.user("task").history(nil); len(got) != 1 || got[0].Text != "task" {
		t.Errorf("got %v, want the task alone", lay(got))
	}
}

func TestHistoryTakesScansFromWhoKeepsThem(t *testing.T) {
	s := new(talk).user("task").run("ls", "dial.go")
	var asked []string
	pieces := s.history(&HistoryOptions{Scan: func(m, p int, text string) *Scan {
		asked = append(asked, fmt.Sprint(m, " ", p, " ", text))
		return NewScan(text)
	}})
	if d := cmp.Diff([]string{"0 0 task", "1 0 ls", "2 0 dial.go"}, asked); d != "" {
		t.Error(d)
	}
	if len(pieces) != len(asked) {
		t.Errorf("%d pieces of %d texts", len(pieces), len(asked))
	}
}
