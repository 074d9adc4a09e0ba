package carrel_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// movedTo are the stores that a store in a file is moved to, and back from.
var movedTo = map[string]func(t *testing.T) store.Database{
	"memory":   func(*testing.T) store.Database { return memory.New() },
	"postgres": func(t *testing.T) store.Database { return stores.Postgres(t) },
}

// moves copies a store, which must be verified, and returns the result.
func moves(t *testing.T, from, to store.Database) *move.Result {
	t.Helper()
	res, err := move.Run(t.Context(), from, to, &move.Options{IndexText: stacks.IndexText})
	if err != nil || !res.Verified {
		t.Fatalf("move: %+v, %v", res, err)
	}
	return res
}

// opened opens a store in a file for one test.
func opened(t *testing.T, path string, opts *sqlite.Options) store.Database {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A store of an earlier build goes to any other store and back, and gives back the same bytes,
// states and pins everywhere. Its file stays as it was.
func TestEarlierStoreMoves(t *testing.T) {
	for name, open := range movedTo {
		t.Run(name, func(t *testing.T) {
			path := earlierStore(t)
			upgraded, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := upgraded.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			from, there, back := opened(t, path, &sqlite.Options{ReadOnly: true}), open(t), opened(t, filepath.Join(t.TempDir(), "back.db"), nil)
			first, second := moves(t, from, there), moves(t, there, back)
			if !first.Digest.Equal(second.Digest) || first.Has != second.Has {
				t.Errorf("there %+v, back %+v", first, second)
			}
			checkEarlier(t, there)
			checkEarlier(t, back)
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the source was changed, %v", err)
			}
		})
	}
}

// The engine finds in a moved store all that was in it, and nothing that was erased, and goes on
// working with it.
func TestEngineAfterMove(t *testing.T) {
	for name, open := range movedTo {
		t.Run(name, func(t *testing.T) {
			b, end := onSQLite(t, filepath.Join(t.TempDir(), "carrel.db"))
			kept, removed := live(t, b, "kept", "kilimanjaro"), live(t, b, "removed", "everest")
			live(t, b, "purged", spoken)
			if _, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: removed.id}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "purged"}); err != nil {
				t.Fatal(err)
			}
			long := strings.Repeat("mountain", 20) // the index of PostgreSQL has its digest
			if _, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{
				{Class: provenance.Memory, Title: "Zermatt", Content: []byte(long + " is high.")},
			}})); err != nil {
				t.Fatal(err)
			}
			target, path := open(t), filepath.Join(t.TempDir(), "back.db")
			back, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			first, second := moves(t, b.store.(store.Database), target), moves(t, target, back) //nolint:forcetypeassert // a panic fails the test
			if !first.Digest.Equal(second.Digest) {
				t.Errorf("there %+v, back %+v", first, second)
			}
			for _, terms := range [][]string{{"kilimanjaro"}, {"everest"}, {spoken}, {"zermatt"}, {long}, {"decid", "place"}} {
				want, err := b.store.Hits(t.Context(), scope, terms, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range []store.Store{target, back} {
					if got, err := s.Hits(t.Context(), scope, terms, 100); err != nil || !slices.Equal(got, want) {
						t.Errorf("hits of %.20q: %v, %v; want %v", terms, got, err, want)
					}
				}
			}
			if err := back.Close(); err != nil {
				t.Fatal(err)
			}
			if found := words(t, path, spoken); len(found) > 0 {
				t.Errorf("what was purged is in the copy: %q", found)
			}
			e, err := carrel.New(target, &carrel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "search", b.Engine, e, func(e *carrel.Engine) (any, error) {
				return carrel.Items(e.Search(t.Context(), scope, &carrel.SearchRequest{Query: "kilimanjaro turn decided", Limit: 100}))
			})
			same(t, "messages", b.Engine, e, func(e *carrel.Engine) (any, error) {
				return e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: kept.id})
			})
			same(t, "replay", b.Engine, e, func(e *carrel.Engine) (any, error) {
				return e.Replay(t.Context(), scope, &carrel.IDRequest{ID: kept.manifest})
			})
			if out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: kept.id}); err != nil || !bytes.Equal(out.Data, kept.file) {
				t.Errorf("export: %v", err)
			}
			if found, err := carrel.Items(e.Search(t.Context(), scope, &carrel.SearchRequest{Query: spoken})); err != nil || len(found) > 0 {
				t.Errorf("search for what was purged: %+v, %v", found, err)
			}
			if _, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: "purged"}); !errors.Is(err, carrel.ErrGone) {
				t.Errorf("the purged session: %v", err)
			}
			if _, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: removed.id}); !errors.Is(err, carrel.ErrPolicy) {
				t.Errorf("the removed session: %v", err)
			}
			if _, err := e.Append(t.Context(), scope, &carrel.AppendRequest{Session: kept.id, Messages: talk("kilimanjaro", 30, 3)}); err != nil {
				t.Errorf("append: %v", err)
			}
			if _, err := e.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: removed.id}); err != nil {
				t.Errorf("purge: %v", err)
			}
			if problems, err := e.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("Check: %q, %v", problems, err)
			}
			end()
		})
	}
}

// same reports a difference between what two engines say.
func same(t *testing.T, what string, a, b *carrel.Engine, ask func(e *carrel.Engine) (any, error)) {
	t.Helper()
	want, err := ask(a)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := ask(b)
	if err != nil {
		t.Errorf("%s of the copy: %v", what, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: (-source +copy)\n%s", what, diff)
	}
}
