package storetest

import (
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
)

// newUpdate returns an update that has only an entry with the given id.
func newUpdate(entry string) *store.Update {
	return &store.Update{Entry: store.Entry{ID: entry, Op: "put", Actor: governance.ActorUser, Time: epoch}}
}

// add adds an artifact with an index entry and two cells to an update, and returns it.
func add(u *store.Update, id, text string) *store.Write {
	content, about := newCell(store.CellID(id+"-text"), store.CellText, text), newCell(store.CellID(id+"-about"), store.CellAbout, `{"id":"`+id+`"}`)
	u.Cells = append(u.Cells, content, about)
	u.Index = append(u.Index, store.ArtifactText{Artifact: store.ArtifactID(id), Text: text})
	u.Artifacts = append(u.Artifacts, store.Write{Artifact: store.Artifact{
		ID: store.ArtifactID(id), Class: provenance.Memory, Status: store.StatusLive,
		Content: content.ID, About: about.ID, Bytes: int64(len(text)), Tokens: 3, Encoding: "o200k",
		Created: epoch, Updated: epoch, Address: digest.Of([]byte(text)).Short(),
	}})
	return &u.Artifacts[len(u.Artifacts)-1]
}

// put writes new artifacts in one update. Each element of texts is an id and a text.
func put(t *testing.T, s store.Store, sc governance.Scope, texts ...[2]string) store.Version {
	t.Helper()
	u := newUpdate("put " + texts[0][0])
	for _, text := range texts {
		add(u, text[0], text[1])
	}
	return update(t, s, sc, u)
}

// fullUpdate returns an update with a value in every field except Purge. All ids
// begin with prefix, and none may exist in the scope.
func fullUpdate(prefix string) *store.Update {
	u := newUpdate(prefix + "up1")
	add(u, prefix+"a1", "one apple")
	a := add(u, prefix+"a2", "two apples \x00\xff")
	a.Class, a.Status, a.Pinned = provenance.Document, store.StatusHeld, true
	a.Source, a.Gate = "file", []byte(`{"b": 1.0, "a": [ ]}`)
	a.Created, a.Updated, a.Expires = epoch.Add(-time.Hour), epoch.Add(time.Second), epoch.Add(time.Hour)
	sent := newCell(store.CellID(prefix+"sent"), store.CellSegment, "one apple, as it was sent")
	u.Cells = append(u.Cells, sent)
	u.Edges = []store.Edge{
		{Derived: sent.ID, Source: a.Content, Rel: "sent"},
		{Derived: sent.ID, Source: store.CellID(prefix + "a1-text"), Rel: "sent"},
	}
	u.Manifest = &store.Manifest{
		ID: prefix + "m1", Session: "s", Created: epoch, Format: "openai", Tier: tier.Summarized,
		Budget: 100, Total: 42, Seal: digest.Of([]byte(prefix)), Body: []byte(`{"items": [ ]}`),
		Uses: []store.ArtifactID{store.ArtifactID(prefix + "a2"), store.ArtifactID(prefix + "a1")},
	}
	u.Outcome = &store.ContextOutcome{Manifest: prefix + "m1", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{"ok": true }`)}
	u.Entry.Data = []byte(`{"n": 1 }`)
	return u
}

// update makes an update that must succeed.
func update(t *testing.T, s store.Store, sc governance.Scope, u *store.Update) store.Version {
	t.Helper()
	version, err := s.Update(t.Context(), sc, u)
	if err != nil {
		t.Fatalf("Update %s: %v", u.Entry.ID, err)
	}
	return version
}

// artifact returns an artifact, or fails the test.
func artifact(t *testing.T, s store.Store, sc governance.Scope, id store.ArtifactID) store.Artifact {
	t.Helper()
	for a, err := range s.Artifacts(t.Context(), sc, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if a.ID == id {
			return *a
		}
	}
	t.Fatalf("there is no artifact %s", id)
	return store.Artifact{}
}

// rewrite returns an update that writes the artifact with the given id without a change, and the
// write in that update.
func rewrite(t *testing.T, s store.Store, id store.ArtifactID, entry string) (*store.Update, *store.Write) {
	t.Helper()
	u := newUpdate(entry)
	a := artifact(t, s, scope, id)
	u.Artifacts = []store.Write{{Artifact: a, At: a.Version}}
	return u, &u.Artifacts[0]
}

// ids returns the ids of artifacts.
func ids(all []store.Artifact) (ids []string) {
	for i := range all {
		ids = append(ids, string(all[i].ID))
	}
	return ids
}

// values returns the values to which an iteration yields pointers, or its error.
func values[T any](seq iter.Seq2[*T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, *v)
	}
	return all, nil
}

// reads returns, by name, the methods that read artifacts, the ledger or derived
// cells of a scope that has fullUpdate("x"), as functions that return the number of
// results.
func reads(s store.Store) map[string]func(ctx ctxT, sc scopeT) (int, error) {
	pick := func(p store.Pick) func(ctxT, scopeT) (int, error) {
		return func(ctx ctxT, sc scopeT) (int, error) { return count(s.Pick(ctx, sc, &p, 9)) }
	}
	return map[string]func(ctx ctxT, sc scopeT) (int, error){
		"Version": func(ctx ctxT, sc scopeT) (int, error) {
			version, err := s.Version(ctx, sc)
			return int(version), err
		},
		"Artifacts":              func(ctx ctxT, sc scopeT) (int, error) { return size(s.Artifacts(ctx, sc, 0)) },
		"Pick by id":             pick(store.Pick{Prefix: "xa"}),
		"Pick by address":        pick(store.Pick{Address: digest.Of([]byte("one apple")).Short()}),
		"Pick by status":         pick(store.Pick{Status: store.StatusHeld}),
		"Pick by cell":           pick(store.Pick{Cells: []store.CellID{"xa1-text"}}),
		"Hits":                   func(ctx ctxT, sc scopeT) (int, error) { return count(s.Hits(ctx, sc, []string{"apple"}, 9)) },
		"Manifests":              func(ctx ctxT, sc scopeT) (int, error) { return size(s.Manifests(ctx, sc, "")) },
		"Manifests of a session": func(ctx ctxT, sc scopeT) (int, error) { return size(s.Manifests(ctx, sc, "s")) },
		"Users":                  func(ctx ctxT, sc scopeT) (int, error) { return count(s.Users(ctx, sc, []store.ArtifactID{"xa1"})) },
		"Log":                    func(ctx ctxT, sc scopeT) (int, error) { return size(s.Log(ctx, sc, 0)) },
		"Derived":                func(ctx ctxT, sc scopeT) (int, error) { return count(s.Derived(ctx, sc, []store.CellID{"xa1-text"})) },
	}
}

// count returns the length of a list.
func count[T any](all []T, err error) (int, error) { return len(all), err }

// size returns the number of values of an iteration.
func size[T any](seq iter.Seq2[T, error]) (int, error) {
	return count(collect(seq))
}

// sortedNames returns the keys of m in order.
func sortedNames[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
