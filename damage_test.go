package carrel_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A damagedStore changes what it returns, as damage that its own checks do not notice would.
type damagedStore struct {
	store.Store

	artifact func(*store.Artifact)
	block    func(*store.Block)
	entry    func(*store.Entry)
	head     func(*store.Head)
	heads    int // how often a head was asked for
	broken   int // which of these fails, from 1
}

var errNoDisk = errors.New("no disk")

// changed returns the values of all, each changed by f if that is not nil.
func changed[T any](all iter.Seq2[*T, error], f func(*T)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for v, err := range all {
			if err == nil && f != nil {
				f(v)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func (s *damagedStore) Artifacts(ctx context.Context, in governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return changed(s.Store.Artifacts(ctx, in, after), s.artifact)
}

func (s *damagedStore) Blocks(ctx context.Context, in governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return changed(s.Store.Blocks(ctx, in, id), s.block)
}

func (s *damagedStore) Entries(ctx context.Context, in governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return changed(s.Store.Entries(ctx, in, id, after), s.entry)
}

func (s *damagedStore) Heads(ctx context.Context, in governance.Scope) iter.Seq2[*store.Head, error] {
	return changed(s.Store.Heads(ctx, in), s.head)
}

func (s *damagedStore) Head(ctx context.Context, in governance.Scope, id transcript.SessionID) (*store.Head, error) {
	if s.heads++; s.heads == s.broken {
		return nil, errNoDisk
	}
	h, err := s.Store.Head(ctx, in, id)
	if err == nil && s.head != nil {
		s.head(h)
	}
	return h, err
}

// Check finds records that differ from the texts and from the journal, and nothing else.
func TestCheckFindsDamage(t *testing.T) {
	s := stores.New(t)
	b := newBench(t, s, carrel.Options{Counter: quarter{}})
	in := imported(t, b.Engine, podTalk(t, 4))
	blocks, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	pinned := blocks.Messages[len(blocks.Messages)-1].ID
	if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(pinned)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.One / 2}, Strategy: carrel.StrategyPager}); err != nil {
		t.Fatal(err)
	}
	list := b.put(t, chunk("The pool has four workers."), chunk("This one is erased."))
	rows, err := s.Pick(t.Context(), scope, &store.Pick{Prefix: string(list[1].ID)}, 1)
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	gone := rows[0]
	if _, err := b.Purge(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(gone.ID)}}); err != nil {
		t.Fatal(err)
	}
	var stubs []*store.Block
	var live *store.Block
	for r, err := range s.Blocks(t.Context(), scope, in.Session) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.State == store.StateStub:
			stubs = append(stubs, r)
		case r.State == store.StateLive && r.ID != pinned:
			live = r
		}
	}
	if len(stubs) < 2 || live == nil {
		t.Fatalf("%d stubs, %v", len(stubs), live)
	}
	of := func(id transcript.BlockID, f func(*store.Block)) *damagedStore {
		return &damagedStore{block: func(r *store.Block) {
			if r.ID == id {
				f(r)
			}
		}}
	}
	text := func(f func(*store.Artifact)) *damagedStore {
		return &damagedStore{artifact: func(a *store.Artifact) {
			if a.ID == list[0].ID {
				f(a)
			}
		}}
	}
	const journal, cells, kinds = "the journal says otherwise", "texts of its cells", "the kind or the tools"
	for _, tt := range []struct {
		name string
		s    *damagedStore
		want string // in the only problem; empty if there is none
	}{
		{"nothing", &damagedStore{}, ""},
		{"bytes of an artifact", text(func(a *store.Artifact) { a.Bytes++ }), "is not the one that it was stored with"},
		{"address of an artifact", text(func(a *store.Artifact) { a.Address = digest.Of(nil).String() }), "is not the one that it was stored with"},
		{"no address", text(func(a *store.Artifact) { a.Address = "" }), ""},
		{"purged text of a live artifact", text(func(a *store.Artifact) { a.Content = gone.Content }), "artifacts"},
		{"kind", of(live.ID, func(r *store.Block) { r.Kind = transcript.KindSummary }), kinds},
		{"tools", of(live.ID, func(r *store.Block) { r.Tools = append(r.Tools, "x") }), kinds},
		{"cells of another", of(live.ID, func(r *store.Block) { r.Cells = stubs[0].Cells }), cells},
		{"no cells", of(live.ID, func(r *store.Block) { r.Cells = nil }), cells},
		{"state", of(live.ID, func(r *store.Block) { r.State = store.StateCold }), journal},
		{"form", of(live.ID, func(r *store.Block) { r.Form = "gone" }), journal},
		{"form and state", of(live.ID, func(r *store.Block) { r.Form, r.State = "gone", store.StateCold }), journal},
		{"stub of another", of(stubs[0].ID, func(r *store.Block) { r.Stub = stubs[1].Stub }), journal},
		{"tokens", of(live.ID, func(r *store.Block) { r.Window++ }), "are recorded"},
		{"unknown encoding", &damagedStore{head: func(h *store.Head) { h.Encoding = "unheard-of" }}, ""},
		{"other data of a pin", &damagedStore{entry: func(e *store.Entry) {
			if e.Op == "pin" {
				e.Data = []byte(`[]`)
			}
		}}, ""},
		{"data of a pass", &damagedStore{entry: func(e *store.Entry) {
			if e.Op == "page" {
				e.Data = nil
			}
		}}, journal},
	} {
		tt.s.Store = s
		problems, err := newBench(t, tt.s, carrel.Options{Counter: quarter{}}).Check(t.Context())
		if err != nil || tt.want == "" && len(problems) > 0 || tt.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], tt.want)) {
			t.Errorf("%s: %q, %v, want %q", tt.name, problems, err, tt.want)
		}
	}
	for broken := range 6 {
		d := &damagedStore{Store: s, broken: broken}
		if problems, err := newBench(t, d, carrel.Options{Counter: quarter{}}).Check(t.Context()); len(problems) > 0 || err != nil && !errors.Is(err, errNoDisk) {
			t.Errorf("if head %d cannot be read: %q, %v", broken, problems, err)
		}
	}
}
