package carrel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Moments of a session are compared by its journal: what a pass dropped is what differs, and
// what is undone does not.
func TestDiffSession(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := of(e.Import(t.Context(), scope, &carrel.ImportRequest{Data: conversation(t)}))(t)
	diff := func(from, to string) *carrel.SessionDelta {
		t.Helper()
		return of(e.DiffSession(t.Context(), scope, &carrel.DiffSessionRequest{Session: in.Session, From: from, To: to}))(t)
	}
	if d := diff("", ""); len(d.Blocks) != 0 || d.From.Window == nil {
		t.Errorf("before any pass: %+v", d)
	}
	pass := of(e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: api.Target{Tokens: in.Tokens / 3}}))(t)
	d := diff("", "")
	if len(d.Blocks) == 0 || len(d.Ops) != 1 || d.Ops[0].Op != pass.Op || d.Ops[0].Blocks != len(d.Blocks) || *d.Ops[0].Before != pass.Before || *d.Ops[0].After != pass.After || *d.From.Window != pass.Before || *d.To.Window != pass.After {
		t.Fatalf("after a pass: %+v", d)
	}
	list := of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t)
	left := 0
	for _, b := range list.Messages {
		if b.Form != pager.Whole {
			left++
		}
	}
	if len(d.Blocks) != left || d.Blocks[0].From != pager.Whole || d.Blocks[0].Preview == "" || d.Blocks[0].Op != pass.Op {
		t.Errorf("%d blocks differ, and %d are not whole: %+v", len(d.Blocks), left, d.Blocks[0])
	}
	of(e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(d.Blocks[0].Block)}}))(t)
	if d := diff(pass.Op, "now"); len(d.Blocks) != 1 || d.Blocks[0].Pinned == nil || !*d.Blocks[0].Pinned || d.Blocks[0].From != "" || d.Ops[0].Blocks != 1 || d.Ops[0].Before != nil {
		t.Errorf("after a pin: %+v", d)
	}
	for range 2 {
		of(e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}))(t)
	}
	if d := diff("start", ""); len(d.Ops) != 4 || !d.Ops[0].Undone || *d.From.Window != *d.To.Window {
		t.Errorf("after all was undone: %+v", d)
	}
	for from, to := range map[string]string{"none": "", "now": "start", "": "op_none", "start": "99", "0": ""} {
		if _, err := e.DiffSession(t.Context(), scope, &carrel.DiffSessionRequest{Session: in.Session, From: from, To: to}); !errors.Is(err, api.ErrRequest) {
			t.Errorf("from %q to %q: %v", from, to, err)
		}
	}
}

// A pin that was undone is no change, and neither is one that was removed; one that was removed and
// undone is.
func TestDiffSessionOfPins(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := of(e.Import(t.Context(), scope, &carrel.ImportRequest{Data: conversation(t)}))(t)
	first := string(of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t).Messages[0].ID)
	pin := func(unpin bool) {
		of(e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{first}, Unpin: unpin}))(t)
	}
	undo := func() { of(e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}))(t) }
	for i, step := range []func(){func() { pin(false) }, undo, func() { pin(false) }, func() { pin(true) }, undo, undo} {
		step()
		list := of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t)
		d := of(e.DiffSession(t.Context(), scope, &carrel.DiffSessionRequest{Session: in.Session, From: "start"}))(t)
		if len(d.Ops) != i+1 || len(d.Blocks) > 0 != list.Messages[0].Pinned {
			t.Errorf("after %d steps the pin is %v, and the difference %+v", i+1, list.Messages[0].Pinned, d.Blocks)
		}
	}
}

// Blocks that the client compacted leave from the place that they had in the window, and those that
// come back are there whole.
func TestDiffSessionOfACompaction(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Strategy: carrel.StrategyImportance})
	d := newDiary()
	for i := range 12 {
		d.runs(fmt.Sprintf("make module%d", i), strings.Repeat(fmt.Sprintf("module%d built by marzipan\n", i), 30), false)
	}
	d.says("All modules are built.")
	id, file := b.imports(t, d), d.file()
	pass := of(b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: api.Target{Share: ratio.Of(1, 2)}}))(t)
	_, was := blocksOf(t, b, id)
	d.compacts("Twelve modules are built.")
	d.asks("Go on.")
	b.imports(t, d)
	diff := func(from string) map[transcript.BlockID]api.BlockDelta {
		t.Helper()
		all := make(map[transcript.BlockID]api.BlockDelta)
		for _, d := range of(b.DiffSession(t.Context(), scope, &carrel.DiffSessionRequest{Session: id, From: from}))(t).Blocks {
			all[d.Block] = d
		}
		return all
	}
	cut := 0
	for _, info := range was {
		got, listed := diff(pass.Op)[info.ID]
		if info.Form != pager.Whole {
			cut++
		}
		if listed != (info.Form != pager.Gone) || listed && (got.From != info.Form || got.Before != info.Window || got.To != pager.Gone || got.After != 0) {
			t.Errorf("a block that was %s with %d tokens: %+v", info.Form, info.Window, got)
		}
	}
	if cut == 0 {
		t.Error("the pass has cut no block")
	}
	journal := of(b.Journal(t.Context(), scope, &carrel.JournalRequest{Session: id}))(t).Items
	of(b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s.jsonl", Data: file, Rewind: true}))(t)
	back := diff(journal[len(journal)-1].ID)
	for _, info := range was {
		if got := back[info.ID]; got.From != pager.Gone || got.Before != 0 || got.To != pager.Whole || got.After != info.Tokens {
			t.Errorf("a block of %d tokens that came back: %+v", info.Tokens, got)
		}
	}
}

// A moment whose size no operation has recorded is told without a size.
func TestMomentsWithoutASize(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := of(e.Import(t.Context(), scope, &carrel.ImportRequest{Data: conversation(t)}))(t)
	first := of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t).Messages[0].ID
	of(e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(first)}}))(t)
	d := of(e.DiffSession(t.Context(), scope, &carrel.DiffSessionRequest{Session: in.Session, From: "start"}))(t)
	if len(d.Blocks) != 1 || d.Blocks[0].Block != first || d.From.Window != nil || d.To.Window == nil {
		t.Errorf("after a pin alone: %+v", d)
	}
}

// A second look at a session finds what the first has read, as an engine that looks for the first
// time would, and whoever changes an answer changes no later one.
func TestASecondLookIsTheFirst(t *testing.T) {
	s := stores.New(t)
	e := newEngine(t, s)
	in := of(e.Import(t.Context(), scope, &carrel.ImportRequest{Data: conversation(t)}))(t)
	of(e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: api.Target{Tokens: in.Tokens / 3}}))(t)
	for range 2 {
		of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t)
		fresh := newEngine(t, s)
		for _, size := range []token.Count{0, 50_000} {
			req := &carrel.ContextRequest{Session: in.Session, Window: size}
			if diff := cmp.Diff(of(fresh.Context(t.Context(), scope, req))(t), of(e.Context(t.Context(), scope, req))(t)); diff != "" {
				t.Errorf("a window of %d:\n%s", size, diff)
			}
		}
		req := &carrel.DiffSessionRequest{Session: in.Session}
		d := of(e.DiffSession(t.Context(), scope, req))(t)
		if diff := cmp.Diff(of(fresh.DiffSession(t.Context(), scope, req))(t), d); diff != "" {
			t.Errorf("what changed:\n%s", diff)
		}
		d.Blocks[0].Preview, d.Ops[0].Op = "another", "another"
	}
}

// of returns a function that returns the value, or fails the test.
func of[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
