package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// rowsOf returns live rows with ids of one letter.
func rowsOf(ids string) (rows []store.Block) {
	for _, id := range ids {
		rows = append(rows, store.Block{ID: transcript.BlockID(id), State: store.StateLive, Form: string(pager.Whole)})
	}
	return rows
}

// A session only grew if the stored blocks are its first, and nothing left or came back.
func TestSessionsThatOnlyGrew(t *testing.T) {
	old := &hold.Snapshot{Rows: rowsOf("ab")}
	for name, tt := range map[string]struct {
		m    merge
		want bool
	}{
		"as it was": {merge{rows: rowsOf("ab")}, true}, "longer": {merge{rows: rowsOf("abc")}, true}, "shorter": {merge{rows: rowsOf("a")}, false}, "other": {merge{rows: rowsOf("acb")}, false},
		"said to be shorter": {merge{rows: rowsOf("abc"), shorter: true}, false}, "left": {merge{rows: rowsOf("abc"), off: rowsOf("x")}, false},
		"compacted": {merge{rows: rowsOf("abc"), cooled: []transcript.BlockID{"x"}}, false}, "back": {merge{rows: rowsOf("abc"), revived: []transcript.BlockID{"x"}}, false},
	} {
		if got := tt.m.onlyGrew(old); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A summary stays while the blocks that it covers begin the conversation, in the forms that they had.
func TestCoveredBlocks(t *testing.T) {
	for _, tt := range []struct {
		ids    string
		now    int
		change func(*store.Block)
		want   bool
	}{
		{"abx", 0, nil, true},
		{"ab", 0, nil, true},
		{"a", 0, nil, false},
		{"wab", 1, nil, true},
		{"ba", 0, nil, false},
		{"ac", 0, nil, false},
		{"ab", 0, func(r *store.Block) { r.Form = string(pager.Line) }, false},
	} {
		m, reg := &merge{rows: rowsOf(tt.ids), now: tt.now}, &register{}
		old := &hold.Snapshot{Rows: rowsOf("abc"), Summary: &hold.WindowSummary{Covers: 2, Summary: &summary.Summary{}}}
		for _, r := range old.Rows {
			reg.known = append(reg.known, knownBlock{row: r})
		}
		if tt.change != nil {
			tt.change(&m.rows[1])
		}
		if got := m.covered(old, reg); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	m, old := &merge{rows: rowsOf("abc"), changed: make([]bool, 3)}, &hold.Snapshot{Rows: rowsOf("ab"), Summary: &hold.WindowSummary{Covers: 5}}
	m.rows[0].Form, m.rows[0].State, m.rows[2].Form, m.changed[1] = string(pager.Gone), store.StateCold, string(pager.Line), true
	if m.reset(old); fmt.Sprint(m.changed) != "[true true false]" || m.rows[0].State != store.StateLive || m.rows[2].Form != string(pager.Line) {
		t.Errorf("after a reset: changed %v, %+v", m.changed, m.rows)
	}
}

// A stored block has new bytes if it grew or reads otherwise, and its row changed if its place did.
func TestBlocksThatAreKept(t *testing.T) {
	sound := store.Block{ID: "a", Kind: transcript.KindTool, Tools: []string{"ls"}, State: store.StateLive, Form: string(pager.Whole), Turn: 1}
	for _, tt := range []struct {
		name   string
		rel    relation
		now    int
		change func(*store.Block)
		want   string // fresh, changed, compacted, back
	}{
		{"same", same, 0, func(*store.Block) {}, "false false 0 0"},
		{"alike", alike, 0, func(*store.Block) {}, "true true 0 0"},
		{"more", more, 0, func(*store.Block) {}, "true true 0 0"},
		{"more of a stub", more, 0, func(r *store.Block) { r.Form, r.State = string(pager.Line), store.StateStub }, "true true 0 1"},
		{"stub", same, 0, func(r *store.Block) { r.Form, r.State = string(pager.Line), store.StateStub }, "false false 0 0"},
		{"kind", same, 0, func(r *store.Block) { r.Kind = transcript.KindUser }, "true true 0 0"},
		{"tools", same, 0, func(r *store.Block) { r.Tools = nil }, "true true 0 0"},
		{"turn", same, 0, func(r *store.Block) { r.Turn = 2 }, "false true 0 0"},
		{"off and live", same, 0, func(r *store.Block) { r.Off = true }, "false true 0 0"},
		{"off", same, 0, hold.SetEarlier, "false true 0 1"},
		{"compacted", same, 1, func(*store.Block) {}, "false true 1 0"},
		{"compacted before", same, 1, hold.SetEarlier, "false false 0 0"},
	} {
		m := &merge{rows: make([]store.Block, 1), fresh: make([]bool, 1), changed: make([]bool, 1), now: tt.now}
		m.msgs = []transcript.Message{{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{Name: "ls"}}}}
		m.blocks = []transcript.Block{{Kind: transcript.KindTool, Turn: 1, Messages: []int{0}}}
		row := sound
		tt.change(&row)
		m.keep(0, &knownBlock{row: row}, tt.rel)
		if got := fmt.Sprint(m.fresh[0], m.changed[0], len(m.cooled), len(m.revived)); got != tt.want || m.rows[0].Kind != transcript.KindTool || m.rows[0].Off != (tt.now > 0) {
			t.Errorf("%s: %s, want %s, %+v", tt.name, got, tt.want, m.rows[0])
		}
	}
}

// A block that left comes back once, and without an id of the provider only at its turn.
func TestBlocksThatComeBack(t *testing.T) {
	for _, tt := range []struct {
		used bool
		turn int
		id   string
		want bool
	}{{false, 3, "", true}, {false, 4, "", false}, {false, 4, "msg_1", true}, {true, 3, "", false}, {true, 3, "msg_1", false}} {
		r := &register{known: []knownBlock{{row: store.Block{ID: "a", Turn: 3}, used: tt.used}}, gone: map[string][]int{"x": {0}}}
		k := r.again([]transcript.Message{{ID: tt.id}}, &transcript.Block{Turn: tt.turn, Messages: []int{0}}, [][]byte{[]byte("x")})
		if (k != nil) != tt.want || k != nil && !k.used {
			t.Errorf("%+v: %+v", tt, k)
		}
	}
}

// In a session with earlier windows a shortened block grew, and the one behind it moved on. Both keep
// their ids, and one comes back, once.
func TestBlocksThatMove(t *testing.T) {
	was, is := saying(4), saying(4)
	was.Messages = []transcript.Message{{Items: []int{0}}, {Items: []int{2}}}
	is.Messages = []transcript.Message{{Items: []int{0, 1}}, {Items: []int{3}}, {Items: []int{2}}}
	old := &hold.Snapshot{Session: was, Rows: rowsOf("ac")}
	old.Blocks, _ = was.Blocks()
	old.Rows[0].Form, old.Rows[0].State = string(pager.Line), store.StateStub
	m, reg := newMerge(is), newRegister(old)
	reg.past = true
	err := over(nil).match(t.Context(), "a", is, m, reg)
	if err != nil || m.rows[0].ID != "a" || m.rows[1].ID != "" || m.rows[2].ID != "c" || fmt.Sprint(m.revived) != "[a]" {
		t.Errorf("%+v, back %v, %v", m.rows, m.revived, err)
	}
}

// A block that moved to the place of a part of it is itself. The part has left the conversation.
func TestBlocksThatMoveToAPart(t *testing.T) {
	was, is := saying(2), saying(2)
	was.Messages = []transcript.Message{{Items: []int{0}}, {Role: transcript.RoleUser, Items: []int{0, 1}}}
	is.Messages = []transcript.Message{{Items: []int{0, 1}}}
	old := &hold.Snapshot{Session: was, Rows: rowsOf("ac")}
	old.Blocks, _ = was.Blocks()
	m, reg := newMerge(is), newRegister(old)
	reg.past = true
	if err := over(nil).match(t.Context(), "a", is, m, reg); err != nil || m.rows[0].ID != "c" {
		t.Fatalf("%+v, %v", m.rows, err)
	}
	if m.leave(reg); len(m.off) != 1 || m.off[0].ID != "a" {
		t.Errorf("%+v left", m.off)
	}
}

// What the client keeps when it compacts is in the present window alone. Older windows stay whole.
func TestWindowsBehindACompaction(t *testing.T) {
	body := func(words string) []byte {
		return []byte(`{"messages":[{"role":"user","content":"` + strings.ReplaceAll(words, " ", `"},{"role":"user","content":"`) + `"}]}`)
	}
	known, err := openai.Format.Decode("", chat.Windows([][]byte{body("a b")}, body("c b d")))
	s, err2 := openai.Format.Decode("", body("e b d"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	got, _, err := behindCompaction(&api.ImportRequest{Data: s.Bytes(), Compaction: "new"}, s, &hold.Snapshot{Session: known})
	if want := chat.Windows([][]byte{body("a b"), body("c")}, body("e b d")); err != nil || !bytes.Equal(got.Data, want) {
		t.Errorf("%s, %v, want %s", got.Data, err, want)
	}
}

// Small parts of imports and recalls.
func TestPartsOfImports(t *testing.T) {
	for _, tt := range []struct {
		known, data string
		want        bool
	}{{"abc", "ab", true}, {"abc", "abc", false}, {"ab", "abc", false}, {"abc", "b", false}, {"ab \n", "ab", false}, {"abc", "", true}} {
		if got := cutOff([]byte(tt.known), []byte(tt.data)); got != tt.want {
			t.Errorf("%q is cut off from %q: %v", tt.data, tt.known, got)
		}
	}
	item := func(raw string) transcript.Item { return transcript.Item{Raw: []byte(raw)} }
	for want, s := range map[string]*transcript.Session{
		"":         {},
		"ab":       {Items: []transcript.Item{item("ab")}},
		"a|bc|d|e": {Items: []transcript.Item{item("a"), item("b"), item("c"), item("d"), item("e")}, Messages: []transcript.Message{{Items: []int{0}}, {Items: []int{3, 4}}}},
	} {
		pieces, owner := pack(s, []byte("abcde"))
		if got := string(bytes.Join(pieces, []byte("|"))); got != want || len(owner) != len(s.Items) || want == "" && len(pieces) > 0 {
			t.Errorf("pieces %q, want %q", pieces, want)
		}
	}
	if got := union([]transcript.SessionID{"a", "b"}, []transcript.SessionID{"b", "c"}); fmt.Sprint(got) != "[a b c]" {
		t.Errorf("union %v", got)
	}
	s := &transcript.Session{Items: []transcript.Item{item(`{"a":1}`), item(`"be brief"`), item(`{"b":2}`), item(`{"a":1}`)}}
	msgs := []transcript.Message{{Items: []int{0}}, {Items: []int{1}}, {Items: []int{2}}, {}, {Items: []int{3}}}
	if got := string(bytes.Join(without(s, msgs, [][]byte{[]byte(`{"a":1}`)}), []byte(" "))); got != `{"a":1} {"b":2}` {
		t.Errorf("messages without the last that is kept: %s", got)
	}
	for _, tt := range []struct {
		from, to int
		want     string // "-" if the range is refused
	}{{0, 0, "abc"}, {1, 0, "bc"}, {1, 2, "b"}, {0, 3, "abc"}, {2, 2, ""}, {3, 0, ""}, {-1, 2, "-"}, {2, 1, "-"}, {0, 4, "-"}, {4, 0, "-"}} {
		r := &api.RecallResult{}
		err := cutRecalled(r, []byte("abc"), &api.RecallRequest{From: tt.from, To: tt.to})
		if r.Size != 3 || tt.want == "-" && !errors.Is(err, api.ErrRequest) || tt.want != "-" && (err != nil || string(r.Data) != tt.want) {
			t.Errorf("%d:%d: %q, %v, want %q", tt.from, tt.to, r.Data, err, tt.want)
		}
	}
}
