package guard_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
)

// newCell returns a cell with a salt derived from its id.
func newCell(id store.CellID, kind store.CellKind) store.Cell {
	c := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte("body of " + id)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// written returns an update that writes a new artifact with the given class and status,
// and its cells.
func written(entry string, id store.ArtifactID, class provenance.Class, status store.Status) *store.Update {
	text, about := newCell(store.CellID(entry+"-text"), store.CellText), newCell(store.CellID(entry+"-about"), store.CellAbout)
	return &store.Update{
		Cells: []store.Cell{text, about},
		Artifacts: []store.Write{{Artifact: store.Artifact{
			ID: id, Class: class, Status: status, Content: text.ID, About: about.ID, Created: epoch, Updated: epoch,
		}}},
		Entry: store.Entry{ID: entry, Op: "put", Actor: actor, Time: epoch},
	}
}

// stocked returns a store with an artifact of each status, with artifacts that the gate
// or a person has decided about, and with a manifest.
func stocked(t *testing.T) store.Database {
	t.Helper()
	s := memory.New()
	for _, a := range []struct {
		id     store.ArtifactID
		class  provenance.Class
		status store.Status
		gate   string
		source string
	}{
		{"live", provenance.Document, store.StatusLive, "", ""},
		{"fetched", provenance.Document, store.StatusLive, "", "file"},
		{"memory", provenance.Memory, store.StatusLive, `"commit"`, ""},
		{"held", provenance.Memory, store.StatusHeld, `"hold"`, ""},
		{"rejected", provenance.Memory, store.StatusRejected, `"hold"`, ""},
		{"refuted", provenance.Document, store.StatusRefuted, "", ""},
		{"tombstoned", provenance.Document, store.StatusTombstoned, "", ""},
		{"purged", provenance.Document, store.StatusPurged, "", ""},
		{"verified", provenance.Verified, store.StatusLive, "", ""},
		{"verifiedfetched", provenance.Verified, store.StatusLive, "", "file"},
	} {
		u := written("made-"+string(a.id), a.id, a.class, a.status)
		u.Artifacts[0].Source = a.source
		if a.gate != "" {
			u.Artifacts[0].Gate = []byte(a.gate)
		}
		if _, err := s.Update(t.Context(), scope, u); err != nil {
			t.Fatal(err)
		}
	}
	u := &store.Update{Manifest: &store.Manifest{ID: "m_1", Created: epoch}, Entry: store.Entry{ID: "made-m", Actor: actor, Time: epoch}}
	if _, err := s.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	return s
}

// on returns an update that replaces the stored artifact id by a changed one.
func on(t *testing.T, s store.Store, id store.ArtifactID, change func(*store.Write)) *store.Update {
	t.Helper()
	for a, err := range s.Artifacts(t.Context(), scope, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if a.ID == id {
			w := store.Write{Artifact: *a, At: a.Version}
			change(&w)
			return &store.Update{Artifacts: []store.Write{w}, Entry: store.Entry{ID: "op", Op: "put", Actor: actor, Time: epoch}}
		}
	}
	t.Fatalf("there is no artifact %s", id)
	return nil
}

// become returns a function that sets the status of an artifact.
func become(status store.Status) func(*store.Write) {
	return func(w *store.Write) { w.Status = status }
}

// says gives an artifact another text.
func says(w *store.Write) { w.Content = "made-live-text" }

// Each kind of update needs exactly the permissions of the package comment: without one
// of them it is denied and changes nothing.
func TestUpdatesTake(t *testing.T) {
	const write, erase, review = governance.Write, governance.Erase, governance.Review
	type s = store.Store
	by := func(who governance.Actor) func(*testing.T, s) *store.Update {
		return func(*testing.T, s) *store.Update {
			return &store.Update{
				Outcome: &store.ContextOutcome{Manifest: "m_1", Actor: who, Time: epoch}, Entry: store.Entry{ID: "op", Actor: actor, Time: epoch},
			}
		}
	}
	gate := func(said string, status store.Status) func(*store.Write) {
		return func(w *store.Write) { w.Status, w.Gate = status, []byte(said) }
	}
	change := func(id store.ArtifactID, change func(*store.Write)) func(*testing.T, s) *store.Update {
		return func(t *testing.T, s s) *store.Update { return on(t, s, id, change) }
	}
	fresh := func(class provenance.Class, status store.Status) func(*testing.T, s) *store.Update {
		return func(*testing.T, s) *store.Update { return written("op", "new", class, status) }
	}
	refetch := func(id store.ArtifactID, source string) func(*testing.T, s) *store.Update {
		return func(t *testing.T, s s) *store.Update {
			u := on(t, s, id, func(w *store.Write) { says(w); w.Source = source })
			u.Entry.Op = "refetch"
			return u
		}
	}
	for _, tt := range []struct {
		name   string
		update func(*testing.T, s) *store.Update
		takes  []governance.Permission
	}{
		{"a manifest", func(*testing.T, s) *store.Update {
			return &store.Update{Manifest: &store.Manifest{ID: "m_2", Created: epoch}, Entry: store.Entry{ID: "op", Actor: actor, Time: epoch}}
		}, nil},
		{"an outcome of one's own", by(actor), nil},
		{"an outcome of somebody else", by("dana"), []governance.Permission{review}},
		{"a new document", fresh(provenance.Document, store.StatusLive), nil},
		{"a new memory past the gate", fresh(provenance.Memory, store.StatusLive), nil},
		{"a new memory that is held", fresh(provenance.Memory, store.StatusHeld), nil},
		{"a new memory that is verified", fresh(provenance.Verified, store.StatusLive), []governance.Permission{review}},
		{"a new memory that is verified and held", fresh(provenance.Verified, store.StatusHeld), []governance.Permission{review}},
		{"a pin", change("live", func(w *store.Write) { w.Pinned = true }), nil},
		{"another text", change("memory", says), nil},
		{"a pin of what is verified", change("verified", func(w *store.Write) { w.Pinned = true }), nil},
		{"another text of what is verified", change("verified", says), []governance.Permission{review}},
		{"another text of what is verified and fetched, by hand", change("verifiedfetched", says), []governance.Permission{review}},
		{"what the source of a verified one says now", refetch("verifiedfetched", "file"), nil},
		{"what another source of a verified one says", refetch("verifiedfetched", "http"), []governance.Permission{review}},
		{"what no source of a verified one says", refetch("verified", ""), []governance.Permission{review}},
		{"what a source says now", refetch("fetched", "file"), nil},
		{"what was verified, and is no longer", change("verified", func(w *store.Write) { w.Class = provenance.Memory }), nil},
		{"what becomes verified", change("memory", func(w *store.Write) { w.Class = provenance.Verified }), []governance.Permission{review}},
		{"what was held and the gate lets pass", change("held", gate(`"commit"`, store.StatusLive)), nil},
		{"what was held and the gate holds again", change("held", gate(`"hold again"`, store.StatusHeld)), nil},
		{"what was held and lives without the gate", change("held", become(store.StatusLive)), []governance.Permission{review}},
		{"what was held and lives as if it had never been at the gate", change("held", func(w *store.Write) {
			w.Status, w.Gate = store.StatusLive, nil
		}), []governance.Permission{review}},
		{"what was held and is rejected", change("held", gate(`"rejected"`, store.StatusRejected)), []governance.Permission{review}},
		{"what was held and is approved", change("held", func(w *store.Write) {
			w.Status, w.Class, w.Gate = store.StatusLive, provenance.Verified, []byte(`"approved"`)
		}), []governance.Permission{review}},
		{"what was rejected and lives", change("rejected", gate(`"commit"`, store.StatusLive)), []governance.Permission{review}},
		{"what was rejected and is held", change("rejected", become(store.StatusHeld)), []governance.Permission{review}},
		{"what is removed", change("live", become(store.StatusTombstoned)), []governance.Permission{erase}},
		{"what is refuted", change("live", become(store.StatusRefuted)), []governance.Permission{erase}},
		{"what is purged", change("live", become(store.StatusPurged)), []governance.Permission{erase}},
		{"what was held and is removed", change("held", become(store.StatusTombstoned)), []governance.Permission{erase}},
		{"what was rejected and is purged", change("rejected", become(store.StatusPurged)), []governance.Permission{erase}},
		{"what was removed and is restored", change("tombstoned", become(store.StatusLive)), []governance.Permission{erase}},
		{"what was refuted and is restored", change("refuted", become(store.StatusLive)), []governance.Permission{erase}},
		{"what was purged and lives again", change("purged", become(store.StatusLive)), []governance.Permission{erase}},
		{"what was removed and is rejected", change("tombstoned", become(store.StatusRejected)), []governance.Permission{erase, review}},
		{"what was removed and becomes verified", change("tombstoned", func(w *store.Write) {
			w.Status, w.Class = store.StatusLive, provenance.Verified
		}), []governance.Permission{erase, review}},
		{"another text of what was removed and stays so", change("tombstoned", says), nil},
		{"cells that are purged", func(*testing.T, s) *store.Update {
			return &store.Update{Purge: []store.CellID{"made-live-text"}, Entry: store.Entry{ID: "op", Actor: actor, Time: epoch}}
		}, []governance.Permission{erase}},
		{"one that takes nothing and one that does", func(t *testing.T, s s) *store.Update {
			u := on(t, s, "live", func(w *store.Write) { w.Pinned = true })
			u.Artifacts = append(u.Artifacts, on(t, s, "memory", become(store.StatusRefuted)).Artifacts...)
			return u
		}, []governance.Permission{erase}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for set := range subsets() {
				s := stocked(t)
				before := fingerprint(t, s)
				version, err := granted(s, set...).Update(t.Context(), scope, tt.update(t, s))
				if err != nil && version != 0 {
					t.Errorf("with %v what is refused has version %d", set, version)
				}
				missing := slices.ContainsFunc(append(tt.takes, write), func(p governance.Permission) bool { return !slices.Contains(set, p) })
				switch {
				case !missing && err != nil:
					t.Errorf("with %v: %v", set, err)
				case missing && !errors.Is(err, governance.ErrDenied):
					t.Errorf("with %v: %v, want it denied", set, err)
				case missing && fingerprint(t, s) != before:
					t.Errorf("with %v it was denied, and something has changed", set)
				}
			}
		})
	}
}

// The guard checks exactly the artifact that a write replaces, even if many artifacts
// have ids with the same prefix. A write at another version fails with a conflict before
// the store is called.
func TestUpdateOfAnotherVersion(t *testing.T) {
	s := memory.New()
	u := &store.Update{Entry: store.Entry{ID: "made", Actor: actor, Time: epoch}}
	for i := range 100 {
		u.Artifacts = append(u.Artifacts, written(fmt.Sprint("a", i), store.ArtifactID(fmt.Sprint("a", i)), provenance.Document, store.StatusLive).Artifacts...)
		u.Cells = append(u.Cells, written(fmt.Sprint("a", i), "a", provenance.Document, store.StatusLive).Cells...)
	}
	last := written("a", "a", provenance.Verified, store.StatusLive)
	u.Artifacts, u.Cells = append(u.Artifacts, last.Artifacts...), append(u.Cells, last.Cells...)
	if _, err := s.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	g := granted(s, governance.Write)
	if _, err := g.Update(t.Context(), scope, on(t, s, "a", says2)); !errors.Is(err, governance.ErrDenied) {
		t.Errorf("another text of what is verified: %v, want it denied", err)
	}
	for _, spoil := range []func(*store.Write){
		func(w *store.Write) { w.At++ },
		func(w *store.Write) { w.At = -1 },
		func(w *store.Write) { w.ID = "a1x" },
	} {
		bad := on(t, s, "a", spoil)
		if version, err := g.Update(t.Context(), scope, bad); !errors.Is(err, store.ErrConflict) || version != 0 {
			t.Errorf("%s at %d: version %d, %v, want ErrConflict", bad.Artifacts[0].ID, bad.Artifacts[0].At, version, err)
		}
	}
	nameless := on(t, s, "a1", func(w *store.Write) { w.ID = "" })
	_, want := s.Update(t.Context(), scope, nameless)
	if _, err := g.Update(t.Context(), scope, nameless); want == nil || err == nil || err.Error() != want.Error() {
		t.Errorf("without an id: %v, want what the store says: %v", err, want)
	}
	pin := on(t, s, "a", func(w *store.Write) { w.Pinned = true })
	if _, err := g.Update(t.Context(), scope, pin); err != nil {
		t.Errorf("a pin: %v", err)
	}
	if _, err := g.Update(t.Context(), scope, &store.Update{
		Artifacts: []store.Write{{Artifact: last.Artifacts[0].Artifact, At: 1}}, Entry: store.Entry{ID: "op2", Actor: actor},
	}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the version before: %v, want ErrConflict", err)
	}
	gone := last.Artifacts[0].Artifact // at its present version, this write would be denied
	gone.Status = store.StatusTombstoned
	if _, err := g.Update(t.Context(), scope, &store.Update{
		Artifacts: []store.Write{{Artifact: gone, At: 1}}, Entry: store.Entry{ID: "op3", Actor: actor},
	}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the version before is removed: %v, want ErrConflict", err)
	}
}

func says2(w *store.Write) { w.Content = "a1-text" }
