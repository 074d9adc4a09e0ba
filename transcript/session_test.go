package transcript

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The text of a block has its texts, calls and results, each with a line feed, but no thinking
// and no pictures.
func TestBlockText(t *testing.T) {
	msgs := []Message{
		said(RoleUser, "not of the block"),
		{Role: RoleAssistant, Parts: []Part{Thinking{Text: "hm"}, Text("so"), Media{Kind: "image"}, ToolCall{ID: "1", Name: "run", Input: []byte(`{"a":1}`)}, Opaque{Type: "x"}}},
		{Role: RoleTool, Parts: []Part{ToolResult{CallID: "1", Content: []Part{Text("one"), Media{}, Text("two")}}, Text("")}},
	}
	b := &Block{Messages: []int{1, 2}}
	if got, want := b.Text(msgs), "so\nrun {\"a\":1}\none\ntwo\n\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	var said []string
	for p, text := range b.Said(msgs) {
		if said = append(said, fmt.Sprintf("%T %s", p, text)); len(said) == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"transcript.Text so", `transcript.ToolCall run {"a":1}`}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// Ids are stored, so they must not change: another program computed these.
func TestBlockIDsStay(t *testing.T) {
	for _, tt := range []struct {
		session          SessionID
		generation, turn int
		providerID       string
		try              int
		want             BlockID
	}{
		{"s", 0, 1, "", 0, "7bae0d545ef7a340"},
		{"s", 2, 3, "", 1, "186821f7b1cd2135"},
		{"s", 0, 7, "msg_1", 0, "474da6587f19dcd4"},
		{"s", 0, 8, "msg_1", 0, "474da6587f19dcd4"}, // wherever the message stands
	} {
		if got := NewBlockID(tt.session, tt.generation, tt.turn, tt.providerID, tt.try); got != tt.want || got.Short() != string(tt.want[:8]) {
			t.Errorf("%+v is %s, short %s", tt, got, got.Short())
		}
	}
	if got := BlockID("abc").Short(); got != "abc" {
		t.Errorf("a short id is %q in short", got)
	}
}

// If two ids begin alike, the second one is changed, also across windows.
func TestIDsThatBeginAlike(t *testing.T) {
	alike := []Message{{ID: "m7954", Role: RoleUser}, {ID: "m143249", Role: RoleUser}}
	if a, b := NewBlockID("s", 0, 1, "m7954", 0), NewBlockID("s", 0, 1, "m143249", 0); a == b || a.Short() != b.Short() {
		t.Fatalf("%s and %s do not begin alike", a, b)
	}
	blocks := Group("s", 0, alike)
	if blocks[0].ID.Short() != "4e0960ab" || blocks[1].ID != "449df478d1af3fb7" {
		t.Errorf("ids %s and %s", blocks[0].ID, blocks[1].ID)
	}
	s := &Session{ID: "s", Messages: alike[1:], Earlier: [][]Message{{said(RoleUser, "first"), alike[0]}}}
	now, earlier := s.Blocks()
	if len(now) != 1 || len(earlier) != 1 || len(earlier[0]) != 2 {
		t.Fatalf("blocks %+v and %+v", now, earlier)
	}
	if earlier[0][1].ID.Short() != "4e0960ab" || earlier[0][1].Turn != 2 || now[0].ID != "449df478d1af3fb7" || now[0].Turn != 1 {
		t.Errorf("blocks %+v and %+v", now, earlier)
	}
}

// The type of a message decides before its content: a summary with calls is a summary, and a
// call in a user message does not make it the assistant's.
func TestKinds(t *testing.T) {
	call := ToolCall{ID: "1", Name: "run"}
	for _, tt := range []struct {
		m    Message
		want Kind
	}{
		{Message{Role: RoleAssistant, Parts: []Part{call}}, KindTool},
		{Message{Role: RoleAssistant}, KindAssistant},
		{Message{Role: RoleUser, Parts: []Part{call}}, KindUser},
		{Message{Role: RoleAssistant, Parts: []Part{call}, Summary: true}, KindSummary},
		{Message{Role: RoleSystem}, KindSystem},
		{Message{Role: RoleTool}, KindOrphan},
	} {
		if got := Group("s", 0, []Message{tt.m})[0].Kind; got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.m, got, tt.want)
		}
	}
}

// A message is the bytes of its items, in order. An item that several messages of a block share
// occurs once.
func TestRawBytes(t *testing.T) {
	s := &Session{
		Items:    []Item{{Raw: []byte("a")}, {Raw: []byte("b")}, {Raw: []byte("c")}, {Raw: []byte("d")}},
		Messages: []Message{{Items: []int{1}}, {Items: []int{1, 2}}, {Items: []int{2}}, {Items: []int{0, 3}}, {}},
	}
	var raw []string
	for i := range s.Messages {
		raw = append(raw, string(s.Raw(&s.Messages[i])))
	}
	if diff := cmp.Diff([]string{"b", "bc", "c", "ad", ""}, raw); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}
	if got := string(s.RawBlock(&Block{Messages: []int{3, 0, 1, 2}})); got != "adbc" {
		t.Errorf("the block is %q", got)
	}
	if got := string(s.Bytes()); got != "abcd" {
		t.Errorf("the session is %q", got)
	}
	s.Earlier = [][]Message{{{}, {}}, {{}}}
	if got := s.Count(); got != 8 {
		t.Errorf("%d messages", got)
	}
}

func TestParts(t *testing.T) {
	m := Message{Parts: []Part{Text("a"), ToolCall{ID: "1"}, Text("b"), ToolResult{CallID: "2"}, ToolCall{ID: "3"}}}
	if m.Text() != "a\nb" || len(m.Calls()) != 2 || m.Calls()[1].ID != "3" || len(m.Results()) != 1 || m.HasThinking() {
		t.Errorf("text %q, %d calls, %d results, thinking %t", m.Text(), len(m.Calls()), len(m.Results()), m.HasThinking())
	}
	m.Parts = append(m.Parts, Thinking{})
	if !m.HasThinking() {
		t.Error("it has thinking")
	}
}

func TestSyntaxErrorText(t *testing.T) {
	for _, tt := range []struct {
		e    SyntaxError
		want string
	}{
		{SyntaxError{Text: "is wrong"}, "is wrong"},
		{SyntaxError{Name: "a.json", Text: "is wrong"}, "a.json: is wrong"},
		{SyntaxError{Line: 1, Text: "is wrong"}, "1: is wrong"},
		{SyntaxError{Field: "x.0", Text: "is wrong", Hint: "mend it"}, "x.0: is wrong"},
		{SyntaxError{Name: "a.json", Line: 12, Field: "x.0", Text: "is wrong"}, "a.json:12: x.0: is wrong"},
	} {
		if got := tt.e.Error(); got != tt.want {
			t.Errorf("%+v says %q, want %q", tt.e, got, tt.want)
		}
	}
	for field, want := range map[string]string{"": "R1: no", "x": "R1 at x: no"} {
		if got := (Violation{Rule: "R1", Field: field, Text: "no"}).String(); got != want {
			t.Errorf("violation %q, want %q", got, want)
		}
	}
}

func TestLineOf(t *testing.T) {
	data := []byte("\na\n\nb\n")
	var got []int
	for offset := -1; offset <= len(data)+1; offset++ {
		got = append(got, LineOf(data, offset))
	}
	if want := []int{1, 1, 2, 2, 3, 4, 4, 5, 5}; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}

// A window is intact only if it has every message of its session, unchanged, in order and with
// its name.
func TestIntactWindows(t *testing.T) {
	session := func() *Session {
		return &Session{ID: "s", Messages: []Message{said(RoleUser, "a"), calls("1"), results("1"), {Role: RoleAssistant, Parts: []Part{Thinking{}, Text("b")}}}}
	}
	for _, tt := range []struct {
		name              string
		change            func(w *Window)
		intact, unchanged bool
	}{
		{"as it is", func(*Window) {}, true, true},
		{"another session", func(w *Window) { w.As = "t" }, false, true},
		{"a message less", func(w *Window) { w.Entries = w.Entries[1:] }, false, false},
		{"a message more", func(w *Window) { w.Entries = append(w.Entries, w.Entries[0]) }, false, false},
		{"another order", func(w *Window) { w.Entries[0], w.Entries[1] = w.Entries[1], w.Entries[0] }, false, false},
		{"a stub", func(w *Window) { w.Entries[0] = Stub("b", "x") }, false, false},
		{"a copy of a message", func(w *Window) { m := w.Session.Messages[0]; w.Entries[0] = Keep(&m, "") }, false, false},
		{"the last without thinking", func(w *Window) { w.Entries[3] = w.Entries[3].WithoutThinking() }, false, false},
		{"another result", func(w *Window) { w.Entries[2] = w.Entries[2].WithResult("1", "x") }, false, false},
		{"nothing to leave out", func(w *Window) { w.Entries[0] = w.Entries[0].WithoutThinking() }, true, true},
	} {
		w := Whole(session())
		tt.change(w)
		if w.Intact() != tt.intact || w.Unchanged() != tt.unchanged {
			t.Errorf("%s: intact %t, unchanged %t", tt.name, w.Intact(), w.Unchanged())
		}
	}
}

// Changing an entry does not change earlier entries.
func TestEntriesAreCopies(t *testing.T) {
	m := results("1", "2", "1")
	m.Parts = append(m.Parts, Text("more"), Thinking{})
	first := Keep(&m, "b").WithResult("1", "one")
	second := first.WithResult("2", "two")
	if diff := cmp.Diff(map[string]string{"1": "one"}, first.Replaced); diff != "" {
		t.Errorf("the first replaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"1": "one", "2": "two"}, second.Replaced); diff != "" {
		t.Errorf("the second replaces (-want +got):\n%s", diff)
	}
	var texts []string
	for _, r := range second.Results() {
		texts = append(texts, r.CallID+" "+r.Text())
	}
	if want := []string{"1 one", "2 two", "1 one"}; !slices.Equal(texts, want) || second.Text() != "more" || !second.HasThinking() {
		t.Errorf("results %q, want %q; text %q", texts, want, second.Text())
	}
	bare := second.WithoutThinking()
	if bare.HasThinking() || !bare.Bare || len(bare.Parts) != 4 || !second.HasThinking() || second.Bare {
		t.Errorf("without thinking it is %+v", bare)
	}
	if e := (&Entry{Source: &m}); e.Changed() {
		t.Error("an entry that keeps everything has changed")
	}
}

// Thinking is removed from a message that ends behind the change, whatever the order of its items.
func TestRemoveThinkingByTheEndOfAMessage(t *testing.T) {
	s := &Session{
		Items:    []Item{{Raw: []byte("aaaa")}, {Raw: []byte("bbbb")}},
		Messages: []Message{{Role: RoleAssistant, Parts: []Part{Thinking{Text: "hm"}, Text("x")}, Items: []int{1, 0}}},
	}
	for from, want := range map[int]bool{3: true, 6: true, 8: false} {
		if got := removeThinking(Whole(s), from); got != want {
			t.Errorf("behind byte %d: %t", from, got)
		}
	}
}
