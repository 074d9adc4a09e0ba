package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func said(role Role, s string) Message { return Message{Role: role, Parts: []Part{Text(s)}} }

func calls(ids ...string) Message {
	m := Message{Role: RoleAssistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, ToolCall{ID: id, Name: "run", Input: []byte(`{}`)})
	}
	return m
}

func results(ids ...string) Message {
	m := Message{Role: RoleTool}
	for _, id := range ids {
		m.Parts = append(m.Parts, ToolResult{CallID: id, Content: []Part{Text("result of " + id)}})
	}
	return m
}

func TestGroup(t *testing.T) {
	msgs := []Message{
		said(RoleSystem, "s"), said(RoleUser, "u"), calls("1", "2"), results("1"), results("2"),
		calls("3"), said(RoleUser, "wait"), results("3"), results("x"), said(RoleAssistant, "done"),
		{Role: RoleUser, Summary: true, Parts: []Part{Text("so far")}},
	}
	type shape struct {
		Kind     Kind
		Messages []int
	}
	var got []shape
	for i, b := range Group("session", 0, msgs) {
		if b.Turn != i+1 {
			t.Errorf("block %d has turn %d", i, b.Turn)
		}
		got = append(got, shape{b.Kind, b.Messages})
	}
	want := []shape{
		{KindSystem, []int{0}},
		{KindUser, []int{1}},
		{KindTool, []int{2, 3, 4}},
		{KindTool, []int{5, 7}}, // a word in between does not part them
		{KindUser, []int{6}},
		{KindOrphan, []int{8}},
		{KindAssistant, []int{9}},
		{KindSummary, []int{10}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

// Ids depend on session, generation and place, and their short forms differ
// within a session.
func TestBlockIDs(t *testing.T) {
	msgs := make([]Message, 3000)
	for i := range msgs {
		msgs[i] = said(RoleUser, "same")
	}
	seen := make(map[string]bool)
	a, b := Group("a", 0, msgs), Group("a", 0, msgs)
	for i := range a {
		if a[i].ID != b[i].ID || seen[a[i].ID.Short()] {
			t.Fatalf("id %s of turn %d", a[i].ID, i+1)
		}
		seen[a[i].ID.Short()] = true
	}
	if Group("b", 0, msgs)[0].ID == a[0].ID || Group("a", 1, msgs)[0].ID == a[0].ID {
		t.Error("another session or generation has the same id")
	}
}

func TestEntry(t *testing.T) {
	m := Message{Role: RoleAssistant, Parts: []Part{Thinking{Text: "hm", Signature: "x"}, Text("so")}}
	e := Keep(&m, "b")
	if e.Changed() {
		t.Error("a kept message counts as changed")
	}
	bare := e.WithoutThinking()
	if !bare.Changed() || len(bare.Parts) != 1 || len(m.Parts) != 2 {
		t.Errorf("without thinking it is %+v, the source %+v", bare, m)
	}
	r := results("1", "2")
	cut := Keep(&r, "b").WithResult("2", "short")
	if got := cut.Results()[1].Text(); got != "short" || r.Results()[1].Text() == "short" || !cut.Changed() {
		t.Errorf("result is %q, source %q", got, r.Results()[1].Text())
	}
}

func TestSplice(t *testing.T) {
	got := string(Splice([]byte("0123456789"), Cut{From: 8, To: 9, With: []byte("eight")}, Cut{From: 1, To: 3}, Cut{From: 5, To: 5, With: []byte("-")}))
	if want := "034-567eight9"; got != want {
		t.Errorf("Splice = %q, want %q", got, want)
	}
}
