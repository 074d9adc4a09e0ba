package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

var errBroken = errors.New("broken")

// A toldStore gives what a test tells it to. What it is not told of fails.
type toldStore struct {
	store.Store

	heads   []store.Head
	block   *store.Block
	refs    []store.BlockRef
	entries []store.Entry
	brought []store.CellID
	listed  bool           // manifests are listed
	read    []store.CellID // cells that were asked for
}

func (s *toldStore) Heads(context.Context, governance.Scope) iter.Seq2[*store.Head, error] {
	return func(yield func(*store.Head, error) bool) {
		for i := range s.heads {
			if !yield(&s.heads[i], nil) {
				return
			}
		}
	}
}

func (s *toldStore) Head(_ context.Context, _ governance.Scope, id transcript.SessionID) (*store.Head, error) {
	for i := range s.heads {
		if s.heads[i].ID == id {
			return &s.heads[i], nil
		}
	}
	return nil, store.ErrNotFound
}

func (s *toldStore) Block(context.Context, governance.Scope, store.BlockRef) (*store.Block, error) {
	return s.block, nil
}

func (s *toldStore) Find(context.Context, governance.Scope, string, int) ([]store.BlockRef, error) {
	return s.refs, nil
}

func (s *toldStore) Numbered(context.Context, governance.Scope, []int64) ([]store.BlockRef, error) {
	if s.refs == nil {
		return nil, errBroken
	}
	return s.refs, nil
}

func (s *toldStore) Entries(context.Context, governance.Scope, transcript.SessionID, store.Revision) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for i := range s.entries {
			if !yield(&s.entries[i], nil) {
				return
			}
		}
	}
}

func (s *toldStore) Cells(_ context.Context, _ governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	s.read = append(s.read, ids...)
	return func(yield func(*store.Cell, error) bool) {
		if len(ids) > 0 {
			yield(nil, errBroken)
		}
	}
}

func (s *toldStore) Brought(context.Context, governance.Scope, transcript.SessionID) ([]store.CellID, error) {
	if s.brought == nil {
		return nil, errBroken
	}
	return s.brought, nil
}

func (s *toldStore) Manifests(context.Context, governance.Scope, transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return func(yield func(*store.Manifest, error) bool) {
		if !s.listed {
			yield(nil, errBroken)
		}
	}
}

func (s *toldStore) Derived(context.Context, governance.Scope, []store.CellID) ([]store.CellID, error) {
	return nil, errBroken
}

// over returns sessions over a store.
func over(s store.Store) *Sessions {
	return &Sessions{&record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Store: s}}, Memory: new(hold.Memory)}}}
}

// A told format reads a file as the session that it is told.
type told struct {
	transcript.Format
	s *transcript.Session
}

func (f told) Continue(string, []byte, func(string) bool) *transcript.Session { return f.s }
func (told) SessionOf(string) transcript.SessionID                            { return "s" }

// saying returns a session of messages, each of one item of one byte and in a block of its own.
func saying(n int) *transcript.Session {
	s := &transcript.Session{ID: "s"}
	for i := range n {
		role := transcript.RoleUser
		if i%2 > 0 {
			role = transcript.RoleAssistant
		}
		s.Items = append(s.Items, transcript.Item{Raw: []byte{'a' + byte(i)}})
		s.Messages = append(s.Messages, transcript.Message{Role: role, Parts: []transcript.Part{transcript.Text("x")}, Items: []int{i}})
	}
	return s
}

// A file is read on from its end if that is one block, in the window whole and with the stored cells.
func TestEndsOfFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		s      *transcript.Session
		cells  []store.CellID
		change func(*store.Block)
		whole  bool
	}{
		"one block": {saying(1), []store.CellID{"c"}, nil, false}, "unreadable": {nil, []store.CellID{"c"}, nil, true}, "two blocks": {saying(2), []store.CellID{"c", "d"}, nil, true},
		"no block": {saying(0), nil, nil, true}, "more cells": {saying(1), []store.CellID{"c", "d"}, nil, true}, "other cells": {saying(1), []store.CellID{"d"}, nil, true},
		"off": {saying(1), []store.CellID{"c"}, func(r *store.Block) { r.Off = true }, true}, "cold": {saying(1), []store.CellID{"c"}, func(r *store.Block) { r.State = store.StateCold }, true},
		"bare": {saying(1), []store.CellID{"c"}, func(r *store.Block) { r.Form = string(pager.Bare) }, true},
	} {
		row := &store.Block{ID: "b", State: store.StateLive, Form: string(pager.Whole), Cells: []store.CellID{"c"}}
		if tt.change != nil {
			tt.change(row)
		}
		head := &store.Head{ID: "s", Messages: 7, Blocks: 5}
		h, err := over(&toldStore{block: row}).holdEnd(t.Context(), "a", told{s: tt.s}, head, &hold.FileProgress{Block: "b", Cells: tt.cells}, []byte("ab"))
		if tt.whole != errors.Is(err, hold.ErrReadWhole) || !tt.whole && (err != nil || h.Blocks[0].ID != "b" || h.Prefix.Messages != 6 || h.Prefix.Blocks != 4) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// The whole file is read if a new block may have the short id of a stored one of its session.
func TestNewBlocksWithKnownIDs(t *testing.T) {
	others := func(n int) (refs []store.BlockRef) {
		for range n {
			refs = append(refs, store.BlockRef{Session: "o"})
		}
		return refs
	}
	for name, tt := range map[string]struct {
		blocks int
		refs   []store.BlockRef
		whole  bool
	}{
		"none": {2, nil, false}, "of others": {2, others(mostAlike - 1), false}, "of too many": {2, others(mostAlike), true}, "of the session": {2, append(others(2), store.BlockRef{Session: "s"}), true}, "no new block": {1, []store.BlockRef{{Session: "s"}}, false},
	} {
		if err := over(&toldStore{refs: tt.refs}).checkNewIDs(t.Context(), "a", saying(tt.blocks)); tt.whole != errors.Is(err, hold.ErrReadWhole) || !tt.whole && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, cells, err := over(nil).trail(&transcript.Session{Format: "claudecode"}, nil, &merge{}, nil, nil); p != nil || cells != nil || err != nil {
		t.Errorf("trail of an empty file: %+v, %v, %v", p, cells, err)
	}
}

// A block that the index has and the store lacks is damage, unless it was removed meanwhile.
func TestBlocksThatTheIndexHas(t *testing.T) {
	ref := store.BlockRef{Session: "s", Block: "b"}
	for _, tt := range []struct {
		refs []store.BlockRef
		want error
	}{{[]store.BlockRef{ref}, store.ErrCorrupt}, {[]store.BlockRef{{}}, nil}, {nil, errBroken}} {
		s := &search{e: over(&toldStore{refs: tt.refs})}
		if err := s.lost(t.Context(), 1, ref); !errors.Is(err, tt.want) {
			t.Errorf("now %+v: %v, want %v", tt.refs, err, tt.want)
		}
	}
	h := &hold.Snapshot{Session: saying(1), Rows: rowsOf("b")}
	h.Blocks, _ = h.Session.Blocks()
	for name, tt := range map[string]struct {
		ref    store.BlockRef
		req    api.SearchRequest
		change func(*store.Block)
		loaded *hold.Snapshot
		want   string
	}{
		"loaded": {ref: ref, loaded: h, want: "x\n"}, "no session": {}, "other session": {ref: ref, req: api.SearchRequest{Session: "o"}, loaded: h}, "this session": {ref: ref, req: api.SearchRequest{Session: "s"}, loaded: h, want: "x\n"},
		"purged": {ref: ref, change: func(r *store.Block) { r.State = store.StatePurged }, loaded: h}, "other kind": {ref: ref, req: api.SearchRequest{Kind: transcript.KindTool}, loaded: h},
		"left the conversation": {ref: ref, change: func(r *store.Block) { r.ID = "left" }, loaded: h}, "session removed meanwhile": {ref: ref},
	} {
		row := &store.Block{ID: "b", Kind: transcript.KindUser, State: store.StateLive, Off: true}
		if tt.change != nil {
			tt.change(row)
		}
		s := &search{
			e: over(&toldStore{block: row, heads: []store.Head{{ID: "s", Status: store.StatusTombstoned}}}), req: &tt.req,
			heads: map[transcript.SessionID]*store.Head{"s": {ID: "s"}}, loaded: map[transcript.SessionID]*hold.Snapshot{"s": tt.loaded},
		}
		f, said, err := s.block(t.Context(), tt.ref)
		if err != nil || said != tt.want || (f != nil) != (tt.want != "") {
			t.Errorf("%s: %+v, %q, %v, want %q", name, f, said, err, tt.want)
		}
	}
}

// A block shares its score with its neighbors in its session, and is indexed if it has words.
func TestNeighborsOfBlocks(t *testing.T) {
	for session, want := range map[transcript.SessionID]ratio.Ratio{"s": retrieval.NeighborShares[0], "": 0} {
		all := map[int64]*candidate{}
		for n := range int64(3) {
			all[n] = &candidate{number: n, ref: store.BlockRef{Session: session}}
		}
		all[2].ref.Session = "o"
		if spread(all, &retrieval.Best{ID: 1, Score: ratio.One}); all[0].score != want || all[2].score != 0 {
			t.Errorf("in session %q the neighbors get %v and %v, want %v and 0", session, all[0].score, all[2].score, want)
		}
	}
	s := &search{views: []postings.View{{}, {}}}
	s.views[0].IDs, s.views[0].Lengths = []int64{1, 2}, []uint32{0, 3}
	s.views[1].IDs, s.views[1].Lengths = []int64{5}, []uint32{1}
	for number, want := range map[int64]bool{1: false, 2: true, 3: false, 5: true} {
		if got := s.indexed(number); got != want {
			t.Errorf("block %d is indexed: %v", number, got)
		}
	}
}

// The summary of a removed session is not recalled, and neither is one that is not there.
func TestSummariesThatAreRecalled(t *testing.T) {
	s := &toldStore{heads: []store.Head{{ID: "none"}, {ID: "removed", Status: store.StatusTombstoned, Summary: "r"}, {ID: "one", Summary: "1"}}}
	if _, err := over(s).recallSummary(t.Context(), "a", &api.RecallRequest{Block: hold.SummaryPrefix}); !errors.Is(err, errBroken) || fmt.Sprint(s.read) != "[1]" {
		t.Errorf("%v, cells %v, want that of the only summary", err, s.read)
	}
	s.heads = append(s.heads, store.Head{ID: "two", Summary: "2"})
	if _, err := over(s).recallSummary(t.Context(), "a", &api.RecallRequest{Block: hold.SummaryPrefix}); !errors.Is(err, api.ErrAmbiguous) {
		t.Errorf("two summaries: %v, want ErrAmbiguous", err)
	}
}

// Only entries about contracts name parents. An erasure that fails has erased nothing.
func TestErasuresThatFail(t *testing.T) {
	s := &toldStore{}
	for _, op := range []string{hold.OpContract, hold.OpPin} {
		for _, data := range []string{`{"parent":"` + op + `"}`, `{}`, `{"parent":"x",}`, ``} {
			s.entries = append(s.entries, store.Entry{Op: op, Data: json.RawMessage(data)})
		}
	}
	if got, err := over(s).parents(t.Context(), "a", "s"); err != nil || fmt.Sprint(got) != "["+hold.OpContract+"]" {
		t.Errorf("parents %v, %v", got, err)
	}
	for _, s := range []*toldStore{{}, {brought: []store.CellID{"c"}}, {brought: []store.CellID{"c"}, listed: true}} {
		if n, err := over(s).eraseCells(t.Context(), "a", []transcript.SessionID{"s"}, &api.SessionRemoval{}); n != 0 || !errors.Is(err, errBroken) {
			t.Errorf("%d cells are erased, %v", n, err)
		}
	}
}
