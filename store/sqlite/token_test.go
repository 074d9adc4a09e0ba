package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

func TestTokens(t *testing.T) {
	storetest.RunTokens(t, func(t *testing.T) func() store.Tokens {
		path := newPath(t)
		return func() store.Tokens { return openAt(t, path) }
	})
}

// tokenOf returns a token whose id says whose it is.
func tokenOf(id string) *store.Token {
	return &store.Token{ID: id, Hash: make([]byte, store.HashSize), Actor: "ci", Created: epoch, Note: "note of " + id}
}

// What a store of schema 3 has stays, and it has tokens from then on; they outlive
// whoever wrote them, and are in a backup.
func TestTokensAreKept(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	old := openAt(t, path)
	fill(t, old, 2, 3)
	before := read(t, old)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	takeBack(t, path, 3)
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := storetest.Diff(before, read(t, s)); diff != "" {
		t.Errorf("contents after the migration (-before +after):\n%s", diff)
	}
	gone := tokenOf("tok_2")
	for _, token := range []*store.Token{tokenOf("tok_1"), gone} {
		if err := s.AddToken(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	gone.Revoked = epoch.Add(time.Hour)
	if err := s.RevokeToken(t.Context(), gone.ID, gone.Revoked); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := errors.Join(s.Backup(t.Context(), backup), s.Close()); err != nil {
		t.Fatal(err)
	}
	want := []store.Token{*tokenOf("tok_1"), *gone}
	for _, path := range []string{path, backup} {
		s := openAt(t, path)
		got, err := s.Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := storetest.Diff(want, got); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
		if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
			t.Errorf("Check = %q, %v", problems, err)
		}
	}
}

// A token that was tampered with allows nothing that can be read, and Check finds
// it.
func TestTokensThatAreDamaged(t *testing.T) {
	t.Parallel()
	for damage, want := range map[string]string{
		`UPDATE token SET scopes = '{"a": 1}'`:  "token tok_1: store is damaged: what it allows cannot be read",
		`UPDATE token SET permissions = '[1]'`:  "token tok_1: store is damaged: what it allows cannot be read",
		`UPDATE token SET actor = ''`:           "token tok_1: it is nobody's",
		`UPDATE token SET hash = x'00'`:         "token tok_1: a hash has 32 bytes, not 1",
		`DROP INDEX token_by_age`:               "schema: index token_by_age is not as it was made",
		`ALTER TABLE token ADD COLUMN raw TEXT`: "schema: table token is not as it was made",
	} {
		path := newPath(t)
		s := openAt(t, path)
		if err := s.AddToken(t.Context(), tokenOf("tok_1")); err != nil {
			t.Fatal(err)
		}
		tamper(t, path, "PRAGMA ignore_check_constraints = ON", damage)
		problems, err := s.Check(t.Context())
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%s: Check = %q, %v; want %q", damage, problems, err, want)
		}
		if _, err := s.Token(t.Context(), "tok_1"); strings.Contains(want, "damaged") && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: Token: %v, want ErrCorrupt", damage, err)
		}
	}
}

// A place that is none of the scope, as only an index has that somebody changed, leads to no
// text of another scope.
func TestDocsStayInTheirScope(t *testing.T) {
	const base = 5 << 40
	got := sqlite.DocsAt(base, []int64{7, 0, -1, 7, 1<<40 - 1, 1 << 40, 2})
	if want := []int64{base + 2, base + 7, base + 1<<40 - 1}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}
