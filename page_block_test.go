package carrel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Blocks that somebody names become stubs of a line, each once, whatever else there is;
// the journal has it, and it can be undone.
func TestPageByHand(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	untouched := export(t, e, in.Session)
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	first, second := list.Messages[2], list.Messages[4]
	req := &carrel.PageRequest{Blocks: []string{second.ShortID, second.ShortID, string(first.ID)}, DryRun: true}
	before := snapshot(t, e, in.Session)
	planned, err := e.Page(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	if snapshot(t, e, in.Session) != before {
		t.Error("planning has changed something")
	}
	req.DryRun = false
	res, err := e.Page(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	op := res.Op
	if res.Op = ""; op == "" {
		t.Error("what was written has no id")
	}
	if diff := cmp.Diff(planned, res); diff != "" {
		t.Errorf("it is not what was planned (-plan +job):\n%s", diff)
	}
	stub := res.Blocks[0].After
	want := &carrel.PageResult{
		Session: in.Session, Before: list.Window, After: list.Window - first.Window - second.Window + stub + res.Blocks[1].After, Provider: "openai",
		Blocks: []carrel.PagedBlock{
			{Block: second.ID, ShortID: second.ShortID, Turn: second.Turn, Kind: transcript.KindTool, Changed: true, Before: second.Window, After: stub},
			{Block: first.ID, ShortID: first.ShortID, Turn: first.Turn, Kind: transcript.KindTool, Changed: true, Before: first.Window, After: res.Blocks[1].After},
		},
	}
	if diff := cmp.Diff(want, res); diff != "" || stub >= second.Window || stub == 0 {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	now, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range now.Messages {
		was := list.Messages[i]
		if named := i == 2 || i == 4; (b.State == store.StateStub) != named || (b.Window != was.Window) != named {
			t.Errorf("block %d is %s of %d tokens, was %s of %d", i, b.State, b.Window, was.State, was.Window)
		}
	}
	if now.Window != res.After {
		t.Errorf("the window has %d tokens, the result says %d", now.Window, res.After)
	}
	journal, err := carrel.Items(e.Journal(t.Context(), scope, &carrel.JournalRequest{Session: in.Session}))
	if err != nil {
		t.Fatal(err)
	}
	if last := journal[len(journal)-1]; last.ID != op || len(journal) != 2 {
		t.Errorf("the journal has %d entries, the last %s; want %s as the second", len(journal), last.ID, op)
	}

	// A stub stays one, beside a block that becomes one, and alone it is nothing to do.
	third := list.Messages[6]
	more, err := e.Page(t.Context(), scope, &carrel.PageRequest{Session: in.Session, Blocks: []string{first.ShortID, third.ShortID}})
	if err != nil || more.Blocks[0].Changed || !more.Blocks[1].Changed || more.Blocks[0].Before != more.Blocks[0].After || more.Op == "" {
		t.Errorf("of a stub and another block: %+v, %v", more, err)
	}
	if more.Before-more.After != third.Window-more.Blocks[1].After {
		t.Errorf("the window went from %d to %d tokens, the block from %d to %d", more.Before, more.After, third.Window, more.Blocks[1].After)
	}
	again, err := e.Page(t.Context(), scope, &carrel.PageRequest{Session: in.Session, Blocks: []string{first.ShortID}})
	if err != nil || again.Op != "" || len(again.Blocks) != 1 || again.Blocks[0].Changed || again.After != more.After {
		t.Errorf("of a stub alone: %+v, %v", again, err)
	}
	for _, undone := range []string{more.Op, op} {
		if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session, Op: undone}); err != nil {
			t.Fatal(err)
		}
	}
	if got := export(t, e, in.Session); string(got) != string(untouched) {
		t.Error("undone, the window is another one")
	}
}

// What may not become a stub is refused by name and reason, and so is all that is named
// beside it.
func TestPageByHandRefuses(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	gone, live := list.Messages[3], list.Messages[2].ShortID
	if _, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: []string{gone.ShortID}, Trigger: &pager.Trigger{Floor: 1}}); err != nil {
		t.Fatal(err)
	}
	cold := gone.ShortID
	short := blockOf(t, e, in.Session, "The pool waited") // a line
	system := list.Messages[0]
	before := snapshot(t, e, in.Session)
	for _, tt := range []struct {
		name   string
		req    *carrel.PageRequest
		want   error
		reason map[string]string // of each block that is refused
	}{
		{"nothing", &carrel.PageRequest{Session: in.Session}, carrel.ErrRequest, nil},
		{"a block under a hard rule", &carrel.PageRequest{Blocks: []string{system.ShortID}}, carrel.ErrPolicy, map[string]string{string(system.ID): pager.RuleSystem.Keeps()}},
		{"a block that is cold", &carrel.PageRequest{Blocks: []string{cold}}, carrel.ErrPolicy, map[string]string{cold: "is not in the window"}},
		{"one that is cold and one that could go", &carrel.PageRequest{Blocks: []string{live, cold}}, carrel.ErrPolicy, map[string]string{cold: "is not in the window"}},
		{"a block that is shorter than a stub", &carrel.PageRequest{Blocks: []string{short}}, carrel.ErrPolicy, map[string]string{short: "tokens, and a stub of it would have"}},
		{"no block of the session", &carrel.PageRequest{Session: in.Session, Blocks: []string{"zzz"}}, carrel.ErrPolicy, map[string]string{"zzz": "is no block of the conversation"}},
		{"no block at all", &carrel.PageRequest{Blocks: []string{"zzz"}}, store.ErrNotFound, nil},
		{"a session that is not there", &carrel.PageRequest{Session: "none", Blocks: []string{live}}, store.ErrNotFound, nil},
	} {
		res, err := e.Page(t.Context(), scope, tt.req)
		if res != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %v", tt.name, res, err, tt.want)
			continue
		}
		refused, ok := carrel.Refused(err)
		if ok != (tt.reason != nil) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !ok {
			continue
		}
		if !refused.Paging || refused.Named != len(tt.req.Blocks) || len(refused.Refused) != len(tt.reason) {
			t.Errorf("%s: refused is %+v", tt.name, refused)
		}
		for id, reason := range tt.reason {
			if r := refused.Refused[0]; !strings.HasPrefix(r.Block, id) || !strings.Contains(r.Reason, reason) {
				t.Errorf("%s: refused is %+v, want that %s %s", tt.name, r, id, reason)
			}
		}
	}
	if snapshot(t, e, in.Session) != before {
		t.Error("what was refused has changed something")
	}
}
