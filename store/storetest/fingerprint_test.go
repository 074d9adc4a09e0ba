package storetest_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

const fingerprintScope governance.Scope = "test"

// A write is one job of a history.
type write func(ctx context.Context, s store.Store) error

func applied(at store.Revision, c *store.Change) write {
	return func(ctx context.Context, s store.Store) error {
		_, err := s.Apply(ctx, fingerprintScope, "s", at, c)
		return err
	}
}

func updated(u *store.Update) write {
	return func(ctx context.Context, s store.Store) error {
		_, err := s.Update(ctx, fingerprintScope, u)
		return err
	}
}

func fingerprintCell(id store.CellID, kind store.CellKind) store.Cell {
	c := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte("text of " + id)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// history returns writes with something in every field, and what may be changed
// in them.
func history() (writes []write, c *store.Change, u, last *store.Update) {
	epoch := time.UnixMilli(1_700_000_000_000)
	entry := func(id string) store.Entry {
		return store.Entry{ID: id, Op: "op", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{"n": 1}`)}
	}
	c = &store.Change{
		Head: store.Head{
			Format: "f", Model: "m", Encoding: "e", About: "c2", Messages: 1, Blocks: 2, Tokens: 3, Window: 4, Bytes: 5,
			Created: epoch, Updated: epoch,
		},
		Cells: []store.Cell{fingerprintCell("c1", store.CellItem), fingerprintCell("c2", store.CellAbout), fingerprintCell("c3", store.CellStub)},
		Edges: []store.Edge{{Derived: "c3", Source: "c1", Rel: "stub"}},
		Items: []store.CellID{"c1", "c1"},
		Blocks: []store.Block{{
			ID: "b1", Turn: 1, Kind: "user", Tools: []string{"Bash"}, Tokens: 3, State: store.StateStub, Form: "stub", Window: 1,
			Stub: "c3", Cells: []store.CellID{"c1"},
		}},
		Entry:      entry("op1"),
		Statements: []string{`(fact "one")`},
	}
	u = &store.Update{
		Cells: []store.Cell{fingerprintCell("a1", store.CellText), fingerprintCell("a2", store.CellAbout), fingerprintCell("a3", store.CellSegment)},
		Edges: []store.Edge{{Derived: "a3", Source: "a1", Rel: "sent"}},
		Artifacts: []store.Write{{Artifact: store.Artifact{
			ID: "art1", Class: provenance.Memory, Status: store.StatusLive, Content: "a1", About: "a2", Bytes: 1, Tokens: 2,
			Encoding: "e", Source: "s", Created: epoch, Updated: epoch, Expires: epoch, Address: "x", Gate: []byte(`{}`),
		}}},
		Manifest: &store.Manifest{
			ID: "m1", Session: "s", Created: epoch, Format: "f", Tier: "full", Budget: 1, Total: 1, Body: []byte(`{}`),
			Uses: []store.ArtifactID{"art1"},
		},
		Outcome: &store.Outcome{Manifest: "m1", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{}`)},
		Entry:   entry("op2"),
	}
	last = &store.Update{Entry: entry("op3")}
	return []write{applied(0, c), updated(u), updated(last)}, c, u, last
}

// fingerprints returns the fingerprint of a store before the first write and
// after each.
func fingerprints(t *testing.T, s store.Store, writes []write) (all []string) {
	t.Helper()
	for i := range len(writes) + 1 {
		if i > 0 {
			if err := writes[i-1](t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		one, err := storetest.Fingerprint(t.Context(), s, fingerprintScope)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one.String())
	}
	return all
}

func TestFingerprintIsOfTheContents(t *testing.T) {
	writes, _, _, _ := history()
	want := fingerprints(t, memory.New(), writes)
	seen := make(map[string]bool)
	for i, one := range want {
		if seen[one] {
			t.Errorf("write %d did not change the fingerprint", i)
		}
		seen[one] = true
	}
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "carrel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	again, _, _, _ := history()
	if diff := cmp.Diff(want, fingerprints(t, file, again)); diff != "" {
		t.Errorf("fingerprints of the same writes (-memory +sqlite):\n%s", diff)
	}
}

// Whatever one thing is otherwise, the fingerprint is.
func TestFingerprintChanges(t *testing.T) {
	writes, _, _, _ := history()
	all := fingerprints(t, memory.New(), writes)
	seen := map[string]string{all[len(all)-1]: "nothing"}
	for name, change := range map[string]func(c *store.Change, u, last *store.Update){
		"a head's model":            func(c *store.Change, _, _ *store.Update) { c.Head.Model = "n" },
		"a head's bytes":            func(c *store.Change, _, _ *store.Update) { c.Head.Bytes++ },
		"a head's time":             func(c *store.Change, _, _ *store.Update) { c.Head.Updated = c.Head.Updated.Add(time.Millisecond) },
		"a body":                    func(c *store.Change, _, _ *store.Update) { c.Cells[0] = fingerprintCell("c1", store.CellStub) },
		"the items":                 func(c *store.Change, _, _ *store.Update) { c.Items = c.Items[:1] },
		"a block's tools":           func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Tools = []string{"Ba", "sh"} },
		"a block's cells":           func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Cells = []store.CellID{"c2"} },
		"a block's stub":            func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Stub = "c2" },
		"a block's pin":             func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Pinned = true },
		"a journal entry":           func(c *store.Change, _, _ *store.Update) { c.Entry.Data = nil },
		"a statement":               func(c *store.Change, _, _ *store.Update) { c.Statements[0] = `(fact "two")` },
		"an edge of a block":        func(c *store.Change, _, _ *store.Update) { c.Edges[0].Source = "c2" },
		"an artifact's id":          func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].ID, u.Manifest.Uses = "art2", nil },
		"an artifact's class":       func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Class = provenance.Tool },
		"an artifact's status":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Status = store.StatusHeld },
		"an artifact's pin":         func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Pinned = true },
		"an artifact's tokens":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Tokens++ },
		"an artifact's expiry":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Expires = time.Time{} },
		"an artifact's gate":        func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Gate = nil },
		"an artifact's address":     func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Address = "y" },
		"an artifact's source":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Source = "" },
		"an artifact's content":     func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Content = "c1" },
		"what was made from it":     func(_ *store.Change, u, _ *store.Update) { u.Cells[2] = fingerprintCell("a3", store.CellQuery) },
		"an edge":                   func(_ *store.Change, u, _ *store.Update) { u.Edges[0].Rel = "other" },
		"a manifest's seal":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Seal[3]++ },
		"a manifest's body":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Body = []byte(`{ }`) },
		"a manifest's uses":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Uses = nil },
		"a manifest's tier":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Tier = "core" },
		"an outcome":                func(_ *store.Change, u, _ *store.Update) { u.Outcome.Data = []byte(`{ }`) },
		"no outcome":                func(_ *store.Change, u, _ *store.Update) { u.Outcome = nil },
		"the log":                   func(_ *store.Change, _, last *store.Update) { last.Entry.Op = "other" },
		"a purge":                   func(_ *store.Change, _, last *store.Update) { last.Purge = []store.CellID{"a1"} },
		"a purge of what came next": func(_ *store.Change, _, last *store.Update) { last.Purge = []store.CellID{"a3"} },
	} {
		writes, c, u, last := history()
		change(c, u, last)
		all := fingerprints(t, memory.New(), writes)
		one := all[len(all)-1]
		if other, ok := seen[one]; ok {
			t.Errorf("with %s otherwise, the fingerprint is that of %s", name, other)
		}
		seen[one] = name
	}
}

func TestFingerprintReportsErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := storetest.Fingerprint(ctx, memory.New(), fingerprintScope); !errors.Is(err, context.Canceled) {
		t.Errorf("Fingerprint in a context that is done: %v, want context.Canceled", err)
	}
}
