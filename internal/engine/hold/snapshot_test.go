package hold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// An item has a cell if the cell holds exactly this item.
func TestCellsOfItems(t *testing.T) {
	for _, tt := range []struct{ items, bodies, want string }{
		{"a b", "a b", "0 1"}, {"ab c", "a b c", "- 2"}, {"a b c", "ab c", "- - 1"}, {"abc d", "a b c d", "- 3"}, {"a b", "a", "0 -"}, {"ab cd", "a bc d", "- -"}, {"", "", ""},
	} {
		h := &Snapshot{Session: &transcript.Session{}}
		for item := range strings.FieldsSeq(tt.items) {
			h.Session.Items = append(h.Session.Items, transcript.Item{Raw: []byte(item)})
		}
		for i, body := range strings.Fields(tt.bodies) {
			h.Bodies, h.Items = append(h.Bodies, []byte(body)), append(h.Items, store.CellID(fmt.Sprint(i)))
		}
		var got []string
		for _, id := range h.itemCells() {
			if id == "" {
				id = "-"
			}
			got = append(got, string(id))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q in %q: %s, want %s", tt.items, tt.bodies, got, tt.want)
		}
	}
}

// Of two blocks with the same cells, one has the row, and the session was stored by an older version.
func TestBlocksOfEarlierWindows(t *testing.T) {
	msgs := []transcript.Message{{Items: []int{0}}}
	h := &Snapshot{
		Session: &transcript.Session{Items: []transcript.Item{{Raw: []byte("a")}}, Earlier: [][]transcript.Message{msgs, msgs}},
		Items:   []store.CellID{"c"}, Bodies: [][]byte{[]byte("a")},
		Off: []store.Block{{ID: "row", Cells: []store.CellID{"c"}}, {ID: "left", Cells: []store.CellID{"d"}}},
	}
	block := []transcript.Block{{Messages: []int{0}}}
	if h.Outdated() {
		t.Error("a session without earlier windows is outdated")
	}
	h.findEarlier([][]transcript.Block{block, block})
	if len(h.Earlier) != 2 || len(h.Earlier[0].Rows) != 1 || len(h.Earlier[1].Rows) != 0 || len(h.Unrecorded) != 1 || len(h.Off) != 1 || h.Off[0].ID != "left" {
		t.Errorf("windows %+v, %d blocks without a row, left %+v", h.Earlier, len(h.Unrecorded), h.Off)
	}
	if !h.Outdated() || !(&Snapshot{older: true}).Outdated() {
		t.Error("a session that an older version stored is not outdated")
	}
}

// A number of blocks is at most that of the session, and 0 means all.
func TestFirstBlocks(t *testing.T) {
	h := &Snapshot{Blocks: make([]transcript.Block, 3)}
	for n, want := range map[int]int{-1: -1, 0: 3, 1: 1, 3: 3, 4: -1} {
		if got, err := h.FirstBlocks(n); want >= 0 && (got != want || err != nil) || want < 0 && !errors.Is(err, api.ErrRequest) {
			t.Errorf("FirstBlocks(%d) = %d, %v", n, got, err)
		}
	}
}

// The first task is in the first words of a person.
func TestFirstTaskRules(t *testing.T) {
	h := &Snapshot{Session: &transcript.Session{}}
	for i, text := range []string{"agent: Hello", "user: <local-command-stdout>ok</local-command-stdout>", "user: Fix it", "user: Go on"} {
		kind, said, _ := strings.Cut(text, ": ")
		h.Session.Messages = append(h.Session.Messages, transcript.Message{Parts: []transcript.Part{transcript.Text(said)}})
		h.Blocks = append(h.Blocks, transcript.Block{Kind: transcript.KindUser, Messages: []int{i}})
		if kind == "agent" {
			h.Blocks[i].Kind = transcript.KindAssistant
		}
	}
	if got, want := fmt.Sprintf("%q", h.FirstTaskRules(4)), fmt.Sprintf("%q", []pager.Rule{"", "", pager.RuleFirstTask, ""}); got != want {
		t.Errorf("rules %s, want %s", got, want)
	}
}

// Carrel made an entry that is a single text and from no item.
func TestEntriesThatCarrelMade(t *testing.T) {
	text := transcript.Text("x")
	for name, tt := range map[string]struct {
		e    transcript.Entry
		want bool
	}{
		"made":         {transcript.Entry{Message: transcript.Message{Parts: []transcript.Part{text}}}, true},
		"two parts":    {transcript.Entry{Message: transcript.Message{Parts: []transcript.Part{text, text}}}, false},
		"nothing":      {transcript.Entry{}, false},
		"no text":      {transcript.Entry{Message: transcript.Message{Parts: []transcript.Part{transcript.Media{}}}}, false},
		"of a session": {transcript.Entry{Source: &transcript.Message{}, Message: transcript.Message{Parts: []transcript.Part{text}}}, false},
	} {
		if _, got := madeText(&tt.e); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A format has other names, and a request in it opens with the user's words.
func TestNamesOfFormats(t *testing.T) {
	for name, want := range map[string]string{"claude": "claudecode", "openai": "openai", "": "openai", "auto": "openai"} {
		f, err := Pick(name, []byte(`{"messages":[{"role":"user","content":"x"}],"model":"gpt-5"}`))
		if err != nil || f.Name() != want {
			t.Errorf("Pick(%q) = %v, %v, want %s", name, f, err, want)
		}
	}
	for _, name := range []string{"openai", "anthropic", "gemini", "responses"} {
		data, err := Opening(name, "hello")
		if err != nil {
			t.Fatal(err)
		}
		f, err := FormatNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Decode("x", data)
		if err != nil || len(s.Messages) != 1 || s.Messages[0].Text() != "hello" || s.Messages[0].Role != transcript.RoleUser {
			t.Errorf("%s: %s is %+v, %v", name, data, s, err)
		}
	}
}

// A file is mended in the format that is named, if it is a request in that format, or one with only
// text.
func TestFormatsToMend(t *testing.T) {
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	chat := []byte(`{"messages":[{"role":"user","content":"x"},` + call + `]}`)
	other := fakesession.ClaudeCode(1, 3)
	names := Mendable()
	for _, tt := range []struct {
		provider, want string
		data           []byte
	}{
		{"openai", "", chat},
		{"", "", chat},
		{names[0], "not a request for " + names[0], other},
		{"", "not a request for " + names[0], other},
		{"squid", `provider "squid" is none of`, other},
	} {
		f, err := toMend(tt.provider, tt.data)
		if tt.want == "" && (err != nil || f.Name() != "openai") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v, %v, want %q", tt.provider, f, err, tt.want)
		}
	}
	for data, want := range map[string]bool{string(chat): false, `{"messages":[{"role":"user","content":"x"}]}`: true, "no JSON": false} {
		if got := onlySpeaks(openai.Format, []byte(data)); got != want {
			t.Errorf("%s speaks only: %v", data, got)
		}
	}
}

// A session is counted by the counter that counted it before, and otherwise by that of the options.
func TestMeters(t *testing.T) {
	for _, tt := range []struct {
		counter        token.Counter
		encoding, want string
	}{
		{nil, "cl100k_base", "cl100k_base"}, {bytesCounted{}, "cl100k_base", "cl100k_base"}, {bytesCounted{}, "bytes", "bytes"}, {bytesCounted{}, "", "bytes"}, {nil, "bytes", ""}, {nil, "", "o200k_base"},
	} {
		d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{Opts: base.Options{Counter: tt.counter}}}}
		m, err := d.MeterFor(&transcript.Session{Format: "openai"}, tt.encoding)
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || m.Counter.Encoding() != tt.want) {
			t.Errorf("%+v: %+v, %v", tt, m, err)
		}
	}
	m := Meter{Counter: bytesCounted{}, Framing: token.Framing{Request: 3, Tools: 20}}
	for tools, want := range map[string]token.Count{"": 3, "0": 24, "[{}]": 27} {
		if got := m.Fixed(&transcript.Session{Tools: json.RawMessage(tools)}); got != want {
			t.Errorf("with the tools %q: %d, want %d", tools, got, want)
		}
	}
}

// The texts of a session are scanned once if the session is small enough to be kept.
func TestScansOfSessions(t *testing.T) {
	for size, want := range map[int64]bool{maxKeptSession: true, maxKeptSession + 1: false} {
		d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{}}, Memory: new(Memory)}
		h := &Snapshot{Head: &store.Head{Bytes: size}, Session: &transcript.Session{Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("x y z")}}}}}
		h.Blocks = []transcript.Block{{Kind: transcript.KindUser, Messages: []int{0}}}
		d.PiecesOfSession(keptScope, h)
		if got := d.Scans.new != nil && len(d.Scans.new.texts) > 0; got != want {
			t.Errorf("scans of a session of %d bytes are kept: %v", size, got)
		}
	}
}

// A brokenStore has a session whose block is only in the index, and entries.
type brokenStore struct {
	store.Store
	entries []store.Entry
}

var errBroken = errors.New("broken")

func (s *brokenStore) Find(context.Context, governance.Scope, string, int) ([]store.BlockRef, error) {
	return []store.BlockRef{{Session: "s", Block: "b"}}, nil
}

func (s *brokenStore) Head(context.Context, governance.Scope, transcript.SessionID) (*store.Head, error) {
	return &store.Head{ID: "s"}, nil
}

func (s *brokenStore) Block(context.Context, governance.Scope, store.BlockRef) (*store.Block, error) {
	return nil, store.ErrNotFound
}

func (s *brokenStore) Cells(_ context.Context, _ governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		if len(ids) > 0 {
			yield(nil, errBroken)
		}
	}
}

func (s *brokenStore) Entries(context.Context, governance.Scope, transcript.SessionID, store.Revision) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for i := range s.entries {
			if !yield(&s.entries[i], nil) {
				return
			}
		}
	}
}

// What a damaged store lacks is an error, and no text.
func TestDamagedStore(t *testing.T) {
	undo := func(id string) store.Entry {
		return store.Entry{ID: "undo of " + id, Op: OpUndo, Data: fmt.Appendf(nil, `{"undoes":%q}`, id)}
	}
	s := &brokenStore{entries: []store.Entry{{ID: "first", Op: OpPage}, {ID: "second", Op: OpPage}, undo("first"), undo("unknown")}}
	d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{Store: s}}, Memory: new(Memory)}
	if _, _, err := d.FindBlock(t.Context(), keptScope, "b"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("FindBlock of a block that is only in the index: %v, want ErrCorrupt", err)
	}
	for _, tt := range []struct {
		format string
		cells  []store.CellID
		want   error
	}{{"squid", []store.CellID{"c"}, api.ErrFormat}, {"openai", nil, nil}, {"openai", []store.CellID{"c"}, errBroken}} {
		if text, ok, err := d.Piece(t.Context(), keptScope, &store.Head{Format: tt.format}, &store.Block{Cells: tt.cells}); text != "" || ok || !errors.Is(err, tt.want) {
			t.Errorf("Piece of %+v = %q, %v, %v", tt, text, ok, err)
		}
	}
	ops, err := d.Ops(t.Context(), keptScope, "s")
	if err != nil || len(ops) != 4 || !ops[0].Undone || ops[1].Undone {
		t.Errorf("Ops = %+v, %v, want that the first is undone", ops, err)
	}
}
