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

// lay returns pieces as text, one a line: the source, the file and the text of each.
func lay(pieces []Piece) []string {
	var list []string
	for i := range pieces {
		p := &pieces[i]
		list = append(list, fmt.Sprintf("%s [%s] %s", origins[p.source], p.Path, p.Text))
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

// Agents whose only tool is a shell, a patch or one tool for all file operations read and
// change files, too.
func TestHistoryOfOtherAgents(t *testing.T) {
	s := new(talk).user("Begin.")
	for _, c := range []struct {
		tool   string
		args   any
		result string
	}{
		{"str_replace_based_edit_tool", map[string]string{"command": "view", "path": "app/a.go"}, "1\tpackage a"},
		{"str_replace_editor", map[string]string{"command": "str_replace", "path": "/app/a.go", "old_str": "x", "new_str": "y"}, "done"},
		{"edit", map[string]string{"filePath": "app/a.go", "oldString": "x", "newString": "y"}, "done"},
		{"shell", map[string]any{"command": []string{"bash", "-lc", "cd app && sed -n '1,200p' pool/b.go"}}, "package pool"},
		{"bash", map[string]string{"command": "cat a.go b.go"}, "package a"},
		{"bash", map[string]string{"command": "cat a.go | grep x"}, "x"},
		{"bash", map[string]string{"command": "cat > app/c.go <<'EOF'\npackage c\nEOF"}, ""},
		{"bash", map[string]string{"command": "cat notes.txt && go test ./..."}, "ok"},
		{"apply_patch", json.RawMessage(`{"input":"*** Begin Patch\n*** Update File: app/d.go\n-x\n+y\n*** End Patch"}`), "done"},
		{"shell", map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: app/e.go\n-x\n+y\n*** End Patch\nEOF"}}, "done"},
		{"bash", map[string]string{"command": "apply_patch '*** Begin Patch\n*** Update File: app/f.go\n-x\n+y\n*** End Patch'"}, "done"},
	} {
		s.call("", c.tool, c.args, c.result)
	}
	var got []string
	for _, p := range s.history(nil)[1:] {
		got = append(got, fmt.Sprintf("%s [%s]", origins[p.source], p.Path))
	}
	want := []string{
		"arguments [app/a.go]", "read [app/a.go]",
		"edit [app/a.go]", "edited [app/a.go]",
		"edit [app/a.go]", "edited [app/a.go]",
		"command [pool/b.go]", "read [pool/b.go]",
		"command []", "output []",
		"command []", "output []",
		"edit [app/c.go]",
		"command []", "output []",
		"edit [app/d.go]", "edited [app/d.go]",
		"edit [app/e.go]", "edited [app/e.go]",
		"edit [app/f.go]", "edited [app/f.go]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The arguments of a change have the removed lines of each of its edits.
func TestHistoryKnowsWhatIsTakenAway(t *testing.T) {
	s := new(talk).user("Begin.").call("", "MultiEdit", json.RawMessage(
		`{"file_path":"a.go","edits":[{"old_string":"first old\nsecond old","new_string":"new"},{"old_string":"third old","new_string":"newer"}]}`), "done")
	p := &s.history(nil)[1]
	got := make(map[string]bool)
	for i := range p.Lines {
		got[p.Text[p.Lines[i].From:p.Lines[i].To]] = p.removes(&p.Lines[i])
	}
	want := map[string]bool{"a.go": false, "first old": true, "second old": true, "new": false, "third old": true, "newer": false}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBoundsOfWhatAnEditRemoves(t *testing.T) {
	p := &Piece{removed: []span{{2, 5}}}
	for from, want := range map[int32]bool{1: false, 2: true, 4: true, 5: false} {
		if got := p.removes(&Line{From: from}); got != want {
			t.Errorf("the line at %d is removed: %v, want %v", from, got, want)
		}
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
	s.user("task").user("")
	s.msgs = append(s.msgs, transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "gone", Content: []transcript.Part{transcript.Text("lost")}}}})
	if d := cmp.Diff([]string{"newest [] task", "result [] lost"}, lay(s.history(nil))); d != "" {
		t.Error(d)
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
