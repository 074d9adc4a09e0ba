package move_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

const scope governance.Scope = "test/move"

var epoch = time.UnixMilli(1_700_000_000_000).UTC()

// options index an artifact by its content.
var options = &move.Options{IndexText: func(_ *store.Artifact, _, content []byte) (string, error) { return string(content), nil }}

func newCell(id store.CellID, kind store.CellKind) store.Cell {
	c := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte("text of " + id)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// A writer makes the writes of a test, and stops at the first error.
type writer struct {
	ctx context.Context
	s   store.Database
	at  map[transcript.SessionID]store.Revision
	n   int
	err error
}

func (w *writer) entry() store.Entry {
	w.n++
	return store.Entry{ID: fmt.Sprintf("op%d", w.n), Op: "op", Actor: governance.ActorUser, Time: epoch.Add(time.Duration(w.n) * time.Second), Data: []byte(fmt.Sprintf(`{"n": %d}`, w.n))}
}

func (w *writer) apply(id transcript.SessionID, c *store.Change) {
	if w.err == nil {
		c.Entry = w.entry()
		w.at[id], w.err = w.s.Apply(w.ctx, scope, id, w.at[id], c)
	}
}

func (w *writer) update(u *store.Update) {
	if w.err == nil {
		u.Entry = w.entry()
		_, w.err = w.s.Update(w.ctx, scope, u)
	}
}

func (w *writer) record(calls ...store.Call) {
	if w.err == nil {
		w.err = w.s.Record(w.ctx, scope, calls)
	}
}

// message is a change that adds a block with a stub, a rewrite and a line of the contract to a
// session that has before blocks.
func message(id transcript.SessionID, before int, words string) *store.Change {
	name := fmt.Sprintf("%s%d", id, before)
	item, stub, sent := newCell(store.CellID(name+"i"), store.CellItem), newCell(store.CellID(name+"s"), store.CellStub), newCell(store.CellID(name+"t"), store.CellSent)
	counts := make(map[string]uint32)
	for word := range strings.FieldsSeq(words) {
		counts[word]++
	}
	return &store.Change{
		Head:      store.Head{Format: "f", Model: "m", Encoding: "e", Messages: before + 1, Blocks: before + 1, Tokens: token.Count(10 * (before + 1)), Created: epoch, Updated: epoch.Add(time.Duration(before) * time.Hour)},
		Cells:     []store.Cell{item, stub, sent},
		Edges:     []store.Edge{{Derived: stub.ID, Source: item.ID, Rel: "stub"}},
		ItemsFrom: before, Items: []store.CellID{item.ID},
		Blocks: []store.Block{{ID: transcript.BlockID(name), Turn: before + 1, Kind: "user", Tools: []string{"Bash"}, Tokens: 10, State: store.StateStub, Form: "stub", Stub: stub.ID, Pinned: before == 0, Cells: []store.CellID{item.ID}}},
		Index:  []store.IndexEntry{{Block: transcript.BlockID(name), Words: counts}},
		Rewrites: []store.Rewrite{{
			Chain: digest.Of([]byte(fmt.Sprint(id, before/2))), Kind: store.RewriteHead, Epoch: before, Messages: 1, Cell: sent.ID,
		}},
		Statements: []string{"(line " + name + ")"},
	}
}

func artifact(id store.ArtifactID, content store.CellID, at store.Version, status store.Status) store.Write {
	return store.Write{At: at, Artifact: store.Artifact{
		ID: id, Class: provenance.Memory, Status: status, Content: content, About: content + "about", Bytes: 1, Encoding: "e",
		Created: epoch, Updated: epoch, Address: string(content), Gate: []byte(`{}`),
	}}
}

// write makes a store with something of everything: sessions of one and of several revisions, one
// that was purged, artifacts of several versions, a held and a purged one,
// manifests with outcomes, calls in all states, and credentials. later adds to each of them.
func write(ctx context.Context, s store.Database) *writer {
	w := &writer{ctx: ctx, s: s, at: make(map[transcript.SessionID]store.Revision)}
	for i := range 5 {
		w.apply("long", message("long", i, fmt.Sprintf("apple pear%d", i)))
	}
	w.apply("one", message("one", 0, "single apple"))
	for i := range 2 {
		w.apply("gone", message("gone", i, "secret"))
	}
	w.apply("again", message("again", 0, "secret"))
	for i := range 4 {
		id := store.ArtifactID(fmt.Sprintf("art%d", i))
		content := newCell(store.CellID(id), store.CellText)
		about := newCell(store.CellID(id+"about"), store.CellAbout)
		u := &store.Update{
			Cells: []store.Cell{content, about}, Artifacts: []store.Write{artifact(id, content.ID, 0, store.StatusLive)},
			Edges: []store.Edge{{Derived: content.ID, Source: "long0i", Rel: "from"}}, Index: []store.ArtifactText{{Artifact: id, Text: string(content.Body)}},
		}
		w.update(u)
	}
	w.update(&store.Update{Manifest: &store.Manifest{
		ID: "m1", Session: "long", Created: epoch, Format: "f", Tier: "full", Budget: 1, Total: 1, Body: []byte(`{}`), Uses: []store.ArtifactID{"art2", "art0"},
	}})
	second := []store.Cell{newCell("art0b", store.CellText), newCell("art0babout", store.CellAbout)}
	w.update(&store.Update{Cells: second, Artifacts: []store.Write{artifact("art0", "art0b", 1, store.StatusLive)}, Index: []store.ArtifactText{{Artifact: "art0", Text: "text of art0b"}}})
	w.update(&store.Update{Artifacts: []store.Write{artifact("art3", "art3", 4, store.StatusHeld)}, Index: []store.ArtifactText{{Artifact: "art3"}}})
	w.update(&store.Update{Outcome: &store.ContextOutcome{Manifest: "m1", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{}`)}})
	w.purge("gone", 1)
	for i, state := range []store.CallState{store.CallDone, store.CallIntent, store.CallUnknown} {
		id := fmt.Sprintf("call%d", i)
		w.record(store.Call{ID: id, Session: "long", State: store.CallIntent, Begun: epoch, Intent: []byte(`{}`)})
		if state != store.CallIntent {
			w.record(store.Call{ID: id, State: state, Ended: epoch.Add(time.Second), Outcome: []byte(`{}`)})
		}
	}
	for i := range 2 {
		if w.err == nil {
			w.err = s.AddCredential(ctx, &store.Credential{
				ID: fmt.Sprintf("tok%d", i), Hash: make([]byte, store.HashSize), Actor: "ci", Created: epoch, Note: "n",
				Scopes: []governance.ScopePattern{"a/*"}, Permissions: []governance.Permission{governance.Read},
			})
		}
	}
	return w
}

// later makes writes after those of write that change what a copy of it has: a session is
// purged and begins again, another is purged, an artifact changes once more.
func (w *writer) later() {
	w.apply("long", message("long", 5, "new words"))
	reindexed := message("long", 6, "more")
	reindexed.Index = append(reindexed.Index, store.IndexEntry{Block: "long0", Words: map[string]uint32{"plum": 2}}, store.IndexEntry{Block: "long1"})
	w.apply("long", reindexed)
	w.apply("new", message("new", 0, "fresh"))
	w.purge("one", 0)
	w.purge("again", 0)
	again := message("again", 1, "another")
	again.ItemsFrom, again.Blocks[0].Turn, again.Head.Blocks, again.Head.Tokens = 0, 1, 1, 10
	again.Statements = []string{"(line of a new beginning)"}
	w.apply("again", again)
	w.update(&store.Update{Artifacts: []store.Write{artifact("art3", "art3", 7, store.StatusPurged)}, Purge: []store.CellID{"art3"}})
	w.update(&store.Update{Artifacts: []store.Write{artifact("art1", "art1", 2, store.StatusLive)}, Manifest: &store.Manifest{
		ID: "m2", Created: epoch, Format: "f", Tier: "full", Body: []byte(`{}`), Uses: []store.ArtifactID{"art1"},
	}})
	w.record(store.Call{ID: "call1", State: store.CallFailed, Ended: epoch.Add(time.Minute)}, store.Call{ID: "call2", State: store.CallDone, Ended: epoch.Add(time.Minute)})
	w.record(store.Call{ID: "call3", State: store.CallIntent, Begun: epoch.Add(time.Minute)})
	if w.err == nil {
		w.err = w.s.RevokeCredential(w.ctx, "tok0", epoch.Add(time.Hour))
	}
}

// purge erases a session that has blocks up to last.
func (w *writer) purge(id transcript.SessionID, last int) {
	c := &store.Change{Head: store.Head{Format: "f", Status: store.StatusPurged, Created: epoch, Updated: epoch}, Erase: true}
	u := new(store.Update)
	for i := range last + 1 {
		m := message(id, i, "")
		b := m.Blocks[0]
		b.State, b.Stub, b.Off, b.Pinned = store.StatePurged, "", true, false
		c.Blocks = append(c.Blocks, b)
		for k := range m.Cells {
			u.Purge = append(u.Purge, m.Cells[k].ID)
		}
	}
	c.Items = []store.CellID{}
	w.apply(id, c)
	w.update(u)
}

func newSource(t *testing.T, s store.Database) *writer {
	t.Helper()
	w := write(t.Context(), s)
	if w.err != nil {
		t.Fatal(w.err)
	}
	return w
}

// same reports the differences of two stores.
func same(t *testing.T, what string, a, b store.Database) {
	t.Helper()
	for _, sc := range []governance.Scope{scope, "test/other"} {
		want, err := storetest.Fingerprint(t.Context(), a, sc)
		if err != nil {
			t.Fatal(err)
		}
		got, err := storetest.Fingerprint(t.Context(), b, sc)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: scope %s: fingerprint %s, %v; want %s", what, sc, got, err, want)
		}
	}
	for _, terms := range [][]string{{"text"}, {"art0b"}, {"art1"}, {"art3"}, {"art0"}} {
		want, err := a.Hits(t.Context(), scope, terms, 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Hits(t.Context(), scope, terms, 10)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: hits of %q: %v, %v; want %v", what, terms, got, err, want)
		}
	}
	if problems, err := b.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%s: Check: %q, %v", what, problems, err)
	}
}

// drivers are the stores of all drivers.
var drivers = map[string]func(t *testing.T) store.Database{
	"memory":   func(*testing.T) store.Database { return memory.New() },
	"sqlite":   func(t *testing.T) store.Database { return stores.SQLite(t) },
	"postgres": func(t *testing.T) store.Database { return stores.Postgres(t) },

	"blobs":              func(t *testing.T) store.Database { return stores.Blobs(t, stores.SQLite(t)) },
	"postgres and blobs": func(t *testing.T) store.Database { return stores.Blobs(t, stores.Postgres(t)) },
}

// A store goes from SQLite to any other and back again, and is the same.
func TestThereAndBack(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			first, second, third := stores.SQLite(t), open(t), stores.SQLite(t)
			newSource(t, first)
			var digests []digest.Digest
			for _, leg := range []struct {
				what     string
				from, to store.Database
			}{{"there", first, second}, {"back", second, third}} {
				res, err := move.Run(t.Context(), leg.from, leg.to, options)
				if err != nil || !res.Verified {
					t.Fatalf("%s: %+v, %v", leg.what, res, err)
				}
				digests = append(digests, res.Digest)
				same(t, leg.what, first, leg.to)
			}
			const want = "5a597144fa430b72562721fe006a21b873a19dba90a6ec2205046852179f65ca" // stays: users compare it with the digest that an earlier version printed
			if digests[0].String() != want || !digests[0].Equal(digests[1]) {
				t.Errorf("the digests are %v, want %s", digests, want)
			}
			res, err := move.Run(t.Context(), first, third, options)
			if err != nil || res.Has != res.Present || !res.Verified {
				t.Errorf("once more: %+v, %v; want nothing to do", res, err)
			}
		})
	}
}

// The bodies of a store go from one directory of blobs to another, and back into the store.
func TestBlobsMove(t *testing.T) {
	first, second, third := stores.Blobs(t, stores.SQLite(t)), stores.Blobs(t, stores.SQLite(t)), stores.SQLite(t)
	newSource(t, first)
	for _, leg := range []struct{ from, to store.Database }{{first, second}, {second, third}} {
		res, err := move.Run(t.Context(), leg.from, leg.to, options)
		if err != nil || !res.Verified {
			t.Fatalf("%+v, %v", res, err)
		}
		same(t, "the copy", first, leg.to)
	}
}

// errCut is what a target returns after it was cut off.
var errCut = errors.New("cut off")

// A cut target fails at all writes after some.
type cut struct {
	store.Database

	left int
}

func (c *cut) next() error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return nil
}

func (c *cut) Apply(ctx context.Context, sc governance.Scope, id transcript.SessionID, at store.Revision, ch *store.Change) (store.Revision, error) {
	if err := c.next(); err != nil {
		return 0, err
	}
	return c.Database.Apply(ctx, sc, id, at, ch)
}

func (c *cut) Update(ctx context.Context, sc governance.Scope, u *store.Update) (store.Version, error) {
	if err := c.next(); err != nil {
		return 0, err
	}
	return c.Database.Update(ctx, sc, u)
}

func (c *cut) Record(ctx context.Context, sc governance.Scope, calls []store.Call) error {
	if err := c.next(); err != nil {
		return err
	}
	return c.Database.Record(ctx, sc, calls)
}

func (c *cut) AddCells(ctx context.Context, sc governance.Scope, cells []store.Cell, edges []store.Edge) error {
	if err := c.next(); err != nil {
		return err
	}
	return c.Database.AddCells(ctx, sc, cells, edges)
}

func (c *cut) AddCredential(ctx context.Context, one *store.Credential) error {
	if err := c.next(); err != nil {
		return err
	}
	return c.Database.AddCredential(ctx, one)
}

// A move that is cut off after any of its writes goes on when it is run again, and so does one to a
// copy of an earlier state of the source.
func TestGoesOn(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			source, target := stores.SQLite(t), open(t)
			w := newSource(t, source)
			writes := 1 // of each run
			if strings.HasPrefix(name, "postgres") {
				writes = 9
			}
			for _, grown := range []bool{false, true} {
				if grown {
					if w.later(); w.err != nil {
						t.Fatal(w.err)
					}
				}
				cuts := 0
				for ; ; cuts++ {
					res, err := move.Run(t.Context(), source, &cut{target, writes}, options)
					if err == nil && res.Verified {
						break
					}
					if !errors.Is(err, errCut) {
						t.Fatalf("run %d: %+v, %v", cuts, res, err)
					}
				}
				if cuts == 0 {
					t.Error("it was never cut off")
				}
				same(t, fmt.Sprintf("grown: %v", grown), source, target)
			}
		})
	}
}

// Each cut of a move whose target is otherwise untouched can be continued.
func TestGoesOnFromAnywhere(t *testing.T) {
	source := memory.New()
	w := newSource(t, source)
	if w.later(); w.err != nil {
		t.Fatal(w.err)
	}
	for after := 0; ; after++ {
		target := memory.New()
		_, err := move.Run(t.Context(), source, &cut{target, after}, options)
		whole := err == nil
		if !whole && !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if res, err := move.Run(t.Context(), source, target, options); err != nil || !res.Verified {
			t.Fatalf("after %d writes: %+v, %v", after, res, err)
		}
		same(t, fmt.Sprintf("after %d writes", after), source, target)
		if whole {
			break
		}
	}
}

// A target that has something else is refused, and stays as it is.
func TestOtherTargets(t *testing.T) {
	source := memory.New()
	if err := newSource(t, source).s.RevokeCredential(t.Context(), "tok1", epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	credential := func(id, note string, hash byte) func(w *writer) {
		return func(w *writer) {
			c := &store.Credential{
				ID: id, Hash: make([]byte, store.HashSize), Actor: "ci", Created: epoch, Note: note,
				Scopes: []governance.ScopePattern{"a/*"}, Permissions: []governance.Permission{governance.Read},
			}
			c.Hash[0] = hash
			w.err = w.s.AddCredential(w.ctx, c)
		}
	}
	begun := func(alter func(*store.Call), ends ...store.Call) func(w *writer) {
		c := store.Call{ID: "call0", Session: "long", State: store.CallIntent, Begun: epoch, Intent: []byte(`{}`)}
		alter(&c)
		return func(w *writer) { w.record(c); w.record(ends...) }
	}
	for what, do := range map[string]func(w *writer){
		"another session":             func(w *writer) { w.apply("other", message("other", 0, "x")) },
		"another journal":             func(w *writer) { w.n = 7; w.apply("one", message("one", 0, "x")) },
		"a longer journal":            func(w *writer) { *w = *write(w.ctx, w.s); w.apply("one", message("one", 1, "x")) },
		"another log":                 func(w *writer) { w.update(&store.Update{}) },
		"a longer log":                func(w *writer) { *w = *write(w.ctx, w.s); w.update(&store.Update{}) },
		"another cell":                func(w *writer) { w.err = w.s.AddCells(w.ctx, scope, []store.Cell{newCell("x", store.CellText)}, nil) },
		"another call":                func(w *writer) { w.record(store.Call{ID: "x", State: store.CallIntent, Begun: epoch}) },
		"a call of another session":   begun(func(c *store.Call) { c.Session = "one" }),
		"a call at another time":      begun(func(c *store.Call) { c.Begun = epoch.Add(time.Second) }),
		"a call of other words":       begun(func(c *store.Call) { c.Intent = []byte(`{"a":1}`) }),
		"a call that ended otherwise": begun(func(*store.Call) {}, store.Call{ID: "call0", State: store.CallDone, Ended: epoch.Add(time.Second), Outcome: []byte(`{"a":1}`)}),
		"a call that ended later":     begun(func(*store.Call) {}, store.Call{ID: "call0", State: store.CallDone, Ended: epoch.Add(time.Minute), Outcome: []byte(`{}`)}),
		"a call that ended": func(w *writer) {
			*w = *write(w.ctx, w.s)
			w.record(store.Call{ID: "call1", State: store.CallDone, Ended: epoch})
		},
		"more calls": func(w *writer) {
			*w = *write(w.ctx, w.s)
			w.record(store.Call{ID: "call3", State: store.CallIntent, Begun: epoch})
		},
		"another edge": func(w *writer) {
			*w = *write(w.ctx, w.s)
			w.err = w.s.AddCells(w.ctx, scope, nil, []store.Edge{{Derived: "art0", Source: "one0i", Rel: "from"}})
		},
		"a credential of another key":           credential("tok0", "n", 1),
		"a revoked credential, noted otherwise": credential("tok1", "x", 0),
		"another scope":                         func(w *writer) { w.err = w.s.AddCells(w.ctx, "other", []store.Cell{newCell("x", store.CellText)}, nil) },
		"another credential": func(w *writer) {
			w.err = w.s.AddCredential(w.ctx, &store.Credential{ID: "x", Hash: make([]byte, store.HashSize), Actor: "a", Created: epoch})
		},
	} {
		target := memory.New()
		w := &writer{ctx: t.Context(), s: target, at: make(map[transcript.SessionID]store.Revision)}
		if do(w); w.err != nil {
			t.Fatalf("%s: %v", what, w.err)
		}
		before, err := storetest.Fingerprint(t.Context(), target, scope)
		if err != nil {
			t.Fatal(err)
		}
		_, err = move.Run(t.Context(), source, target, options)
		if _, ok := errors.AsType[*move.OtherError](err); !ok {
			t.Errorf("%s: %v, want an OtherError", what, err)
		}
		if after, err := storetest.Fingerprint(t.Context(), target, scope); err != nil || !after.Equal(before) {
			t.Errorf("%s: the target was changed, %v", what, err)
		}
	}
}

// A copy whose contract or artifacts are others than those of the source is refused.
func TestOtherParts(t *testing.T) {
	source, target := memory.New(), memory.New()
	newSource(t, source)
	w := &writer{ctx: t.Context(), s: target, at: make(map[transcript.SessionID]store.Revision)}
	for i := range 4 {
		m := message("long", i, fmt.Sprintf("apple pear%d", i))
		m.Statements[0] += " "
		w.apply("long", m)
	}
	_, err := move.Run(t.Context(), source, target, options)
	if _, ok := errors.AsType[*move.OtherError](err); w.err != nil || !ok || !strings.Contains(err.Error(), "session long has another contract") {
		t.Errorf("another contract: %v, %v", err, w.err)
	}

	for what, artifacts := range map[string][]store.Write{"an artifact more": nil, "another artifact": {artifact("y", "art0", 0, store.StatusLive)}} {
		source, target = memory.New(), memory.New()
		from, to := &writer{ctx: t.Context(), s: source}, &writer{ctx: t.Context(), s: target}
		cells := []store.Cell{newCell("art0", store.CellText), newCell("art0about", store.CellAbout)}
		from.update(&store.Update{Cells: cells, Artifacts: artifacts})
		from.update(&store.Update{})
		to.update(&store.Update{Cells: cells, Artifacts: []store.Write{artifact("x", "art0", 0, store.StatusLive)}})
		_, err = move.Run(t.Context(), source, target, options)
		if _, ok := errors.AsType[*move.OtherError](err); errors.Join(from.err, to.err) != nil || !ok || !strings.Contains(err.Error(), "artifact x is another in the source, or is not there") {
			t.Errorf("%s: %v, %v, %v", what, err, from.err, to.err)
		}
	}
	for want, e := range map[string]*move.DifferError{
		"credentials: the source was changed during the move":               {Changed: true},
		"scope a/b: the digest of the copy differs from that of the source": {Scope: "a/b"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// What a session lost before it began again is lost in the copy, too.
func TestErasedListsMove(t *testing.T) {
	for what, without := range map[string]func(*store.Change){
		"rewrites":   func(c *store.Change) { c.Statements = nil },
		"statements": func(c *store.Change) { c.Rewrites = nil },
	} {
		source, target := memory.New(), memory.New()
		w := &writer{ctx: t.Context(), s: source, at: make(map[transcript.SessionID]store.Revision)}
		first := message("s", 0, "x")
		without(first)
		w.apply("s", first)
		for range 2 {
			if w.err != nil {
				t.Fatal(w.err)
			}
			if _, err := move.Run(t.Context(), source, target, options); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			same(t, what, source, target)
			w.purge("s", 0)
			again := message("s", 1, "y")
			again.ItemsFrom, again.Blocks[0].Turn, again.Head.Blocks, again.Head.Tokens, again.Statements, again.Rewrites = 0, 1, 1, 10, nil, nil
			w.apply("s", again)
		}
	}
}

// A counted target counts the cells of each write.
type counted struct {
	store.Database
	cells []int
}

func (c *counted) AddCells(ctx context.Context, sc governance.Scope, cells []store.Cell, edges []store.Edge) error {
	c.cells = append(c.cells, len(cells))
	return c.Database.AddCells(ctx, sc, cells, edges)
}

// A write of cells has 4 MiB of them, or the last ones. If a cell cannot be read, those before it
// are not written in its stead.
func TestCellsMoveInBatches(t *testing.T) {
	source := memory.New()
	for _, id := range []store.CellID{"a", "b", "c"} {
		c := store.Cell{ID: id, Kind: store.CellText, Body: make([]byte, 2<<20)}
		c.Commit = digest.Commit(c.Salt, string(c.Kind), c.Body)
		if err := source.AddCells(t.Context(), scope, []store.Cell{c}, nil); err != nil {
			t.Fatal(err)
		}
	}
	to := &counted{Database: memory.New()}
	if _, err := move.Run(t.Context(), source, to, options); err != nil || fmt.Sprint(to.cells) != "[2 1]" {
		t.Errorf("batches of %v cells, %v, want 2 and 1", to.cells, err)
	}
	to = &counted{Database: memory.New()}
	if _, err := move.Run(t.Context(), &damaged{source, "b", 1}, to, options); !errors.Is(err, store.ErrCorrupt) || len(to.cells) > 0 {
		t.Errorf("a cell that cannot be read: %v after %v cells", err, to.cells)
	}
}

// A damaged source has one cell that cannot be read, but for the first times.
type damaged struct {
	store.Database

	cell  store.CellID
	times int
}

func (d *damaged) Cells(ctx context.Context, sc governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	if d.times--; d.times >= 0 {
		return d.Database.Cells(ctx, sc, ids)
	}
	return func(yield func(*store.Cell, error) bool) {
		for c, err := range d.Database.Cells(ctx, sc, ids) {
			if err == nil && c.ID == d.cell {
				c, err = nil, fmt.Errorf("cell %s: %w", d.cell, store.ErrCorrupt)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Damage of the source is told before anything is written, and damage of the copy at its end.
func TestDamage(t *testing.T) {
	source, target := memory.New(), memory.New()
	newSource(t, source)
	if _, err := move.Run(t.Context(), &damaged{source, "long3s", 0}, target, options); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "read the source: check scope test/move: cell long3s") {
		t.Errorf("a damaged source: %v", err)
	}
	if all, err := target.Scopes(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("scopes %q, %v were written from a damaged source", all, err)
	}
	if _, err := move.Run(t.Context(), source, &damaged{target, "long3s", 0}, options); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "verify the copy") {
		t.Errorf("a damaged copy: %v", err)
	}
}

// A careless target writes something else than it is given.
type careless struct {
	store.Database
	alter func(*store.Change)
}

func (c *careless) Apply(ctx context.Context, sc governance.Scope, id transcript.SessionID, at store.Revision, ch *store.Change) (store.Revision, error) {
	other := *ch
	other.Blocks = slices.Clone(ch.Blocks)
	c.alter(&other)
	return c.Database.Apply(ctx, sc, id, at, &other)
}

// A copy that lacks something is no success, and neither is one of a source that others write.
func TestCopiesAreCompared(t *testing.T) {
	source := memory.New()
	w := newSource(t, source)
	block := func(alter func(*store.Block)) func(*store.Change) {
		return func(c *store.Change) {
			for i := range c.Blocks {
				alter(&c.Blocks[i])
			}
		}
	}
	for what, alter := range map[string]func(*store.Change){
		"no contracts":               func(c *store.Change) { c.Statements = nil },
		"another format":             func(c *store.Change) { c.Head.Format += "x" },
		"another model":              func(c *store.Change) { c.Head.Model += "x" },
		"another encoding":           func(c *store.Change) { c.Head.Encoding += "x" },
		"other counts of messages":   func(c *store.Change) { c.Head.Messages++ },
		"other counts of blocks":     func(c *store.Change) { c.Head.Blocks++ },
		"other counts of tokens":     func(c *store.Change) { c.Head.Tokens++ },
		"other windows":              func(c *store.Change) { c.Head.Window++ },
		"other sizes":                func(c *store.Change) { c.Head.Bytes++ },
		"sessions that began later":  func(c *store.Change) { c.Head.Created = c.Head.Created.Add(time.Millisecond) },
		"sessions that ended later":  func(c *store.Change) { c.Head.Updated = c.Head.Updated.Add(time.Millisecond) },
		"operations of other ids":    func(c *store.Change) { c.Entry.ID += "x" },
		"operations of other data":   func(c *store.Change) { c.Entry.Data = []byte(`{}`) },
		"operations of another name": func(c *store.Change) { c.Entry.Op += "x" },
		"operations of others":       func(c *store.Change) { c.Entry.Actor += "x" },
		"operations at other times":  func(c *store.Change) { c.Entry.Time = c.Entry.Time.Add(time.Millisecond) },
		"other turns":                block(func(b *store.Block) { b.Turn++ }),
		"other kinds":                block(func(b *store.Block) { b.Kind += "x" }),
		"other tools":                block(func(b *store.Block) { b.Tools = append(slices.Clip(b.Tools), "x") }),
		"other tokens of blocks":     block(func(b *store.Block) { b.Tokens++ }),
		"other forms":                block(func(b *store.Block) { b.Form += "x" }),
		"other tokens in the window": block(func(b *store.Block) { b.Window++ }),
		"no pins":                    block(func(b *store.Block) { b.Pinned = !b.Pinned }),
		"other windows of blocks":    block(func(b *store.Block) { b.Earlier++ }),
	} {
		target := memory.New()
		_, err := move.Run(t.Context(), source, &careless{target, alter}, options)
		if differs, ok := errors.AsType[*move.DifferError](err); !ok || differs.Changed {
			t.Errorf("a copy with %s: %v", what, err)
		}
		_, err = move.Run(t.Context(), source, target, options)
		if _, ok := errors.AsType[*move.OtherError](err); ok != strings.HasPrefix(what, "operations") && what != "no contracts" {
			t.Errorf("a second move to a copy with %s: %v", what, err)
		}
	}
	busy := *options
	busy.Progress = func(step string, _, _ int) {
		if step == "copy: session" && w.at["one"] == 1 {
			w.apply("one", message("one", 1, "x"))
		}
	}
	_, err := move.Run(t.Context(), source, memory.New(), &busy)
	if differs, ok := errors.AsType[*move.DifferError](err); !ok || !differs.Changed {
		t.Errorf("a source that was changed: %v", err)
	}
}

// A dry run reads both stores and writes nothing.
func TestDryRun(t *testing.T) {
	source, target := memory.New(), memory.New()
	newSource(t, source)
	dry := *options
	dry.DryRun = true
	res, err := move.Run(t.Context(), source, &cut{target, 0}, &dry)
	if err != nil || res.Verified || res.Has.Cells == 0 || res.Present != (move.Amount{}) {
		t.Errorf("a dry run: %+v, %v", res, err)
	}
}

// A move goes on from calls that fill more than one reading.
func TestManyCallsMove(t *testing.T) {
	source, target := memory.New(), memory.New()
	w := &writer{ctx: t.Context(), s: source}
	for _, n := range []int{1, 1200, 0} {
		for i := range n {
			w.record(store.Call{ID: fmt.Sprint(n, "-", i), State: store.CallIntent, Begun: epoch.Add(time.Duration(i) * time.Second)})
		}
		res, err := move.Run(t.Context(), source, target, options)
		if err = errors.Join(err, w.err); err != nil || !res.Verified || res.Has.Calls != res.Present.Calls+n {
			t.Fatalf("%d more calls: %+v, %v", n, res, err)
		}
	}
	same(t, "with many calls", source, target)
}

// The requests of the last day go with a move, if the target can have them.
func TestRequestsMove(t *testing.T) {
	source, target := memory.New(), memory.New()
	requests := source.(store.Requests) //nolint:forcetypeassert // a panic fails the test
	r := &store.Request{Scope: scope, Actor: "ci", Key: "k", Attempt: "a", Asking: digest.Of(nil), Time: epoch, Outcome: []byte("made")}
	newSource(t, source)
	if err := requests.SettleRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	res, err := move.Run(t.Context(), source, target, options)
	if err != nil || res.Requests != 1 || res.LeftBehind != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	got, err := target.(store.Requests).Request(t.Context(), scope, "ci", "k") //nolint:forcetypeassert // a panic fails the test
	if err != nil || string(got.Outcome) != "made" || got.Attempt != "a" {
		t.Errorf("the request is %+v, %v", got, err)
	}
	if res, err = move.Run(t.Context(), source, stores.SQLite(t), options); err != nil || res.LeftBehind != 1 {
		t.Errorf("to a file: %+v, %v; want one left behind", res, err)
	}
}

// A purge that a process has begun and not ended goes with a move, so that the copy can finish it;
// one that ended since an earlier move ends in the copy.
func TestJobsMove(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			source, target := open(t), open(t)
			newSource(t, source)
			left := store.Job{Scope: scope, Name: "purge session one", Mark: "a", Actor: "ada", Data: []byte(`{"derived": ["long"]}`)}
			held := store.Job{Scope: scope, Name: "purge session two", Mark: "b", Actor: "ada", Data: []byte(`{}`)}
			for j, d := range map[*store.Job]time.Duration{&left: 0, &held: time.Hour} {
				if _, err := source.BeginJob(t.Context(), j, d); err != nil {
					t.Fatal(err)
				}
			}
			moved := func(want ...store.Job) {
				t.Helper()
				if _, err := move.Run(t.Context(), source, target, options); err != nil {
					t.Fatal(err)
				}
				got, err := target.OpenJobs(t.Context(), scope)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("the copy has the open jobs %+v, %v; want %+v", got, err, want)
				}
			}
			moved(left, held)
			if err := source.EndJob(t.Context(), &left); err != nil {
				t.Fatal(err)
			}
			moved(held)
		})
	}
}
