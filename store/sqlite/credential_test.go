package sqlite_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

func TestCredentials(t *testing.T) {
	storetest.RunCredentials(t, func(t *testing.T) func() store.Credentials {
		path := newPath(t)
		return func() store.Credentials { return openAt(t, path) }
	})
}

// credentialOf returns a valid credential with the given id.
func credentialOf(id string) *store.Credential {
	return &store.Credential{ID: id, Hash: make([]byte, store.HashSize), Actor: "ci", Created: epoch, Note: "note of " + id}
}

// The migration of a store of schema 3 keeps its content and adds credentials. Credentials survive
// Close and are in a backup.
func TestCredentialsAreKept(t *testing.T) {
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
	gone := credentialOf("tok_2")
	for _, credential := range []*store.Credential{credentialOf("tok_1"), gone} {
		if err := s.AddCredential(t.Context(), credential); err != nil {
			t.Fatal(err)
		}
	}
	gone.Revoked = epoch.Add(time.Hour)
	if err := s.RevokeCredential(t.Context(), gone.ID, gone.Revoked); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := errors.Join(s.Backup(t.Context(), backup), s.Close()); err != nil {
		t.Fatal(err)
	}
	want := []store.Credential{*credentialOf("tok_1"), *gone}
	for _, path := range []string{path, backup} {
		s := openAt(t, path)
		got, err := s.Credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := storetest.Diff(want, got); diff != "" {
			t.Errorf("credentials (-want +got):\n%s", diff)
		}
		if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
			t.Errorf("Check = %q, %v", problems, err)
		}
	}
}

// A damaged credential cannot be read, and Check reports it, and a damaged schema.
func TestCredentialsThatAreDamaged(t *testing.T) {
	t.Parallel()
	for damage, want := range map[string]string{
		`UPDATE token SET scopes = '{"a": 1}'`:                                                   "credential tok_1: store is damaged: its scopes or permissions cannot be parsed",
		`UPDATE token SET permissions = '[1]'`:                                                   "credential tok_1: store is damaged: its scopes or permissions cannot be parsed",
		`UPDATE token SET actor = ''`:                                                            "credential tok_1 has no actor",
		`UPDATE token SET hash = x'00'`:                                                          "credential tok_1: the hash has 1 bytes, want 32",
		`DROP INDEX token_by_age`:                                                                "schema: index token_by_age differs from its migration",
		`ALTER TABLE token ADD COLUMN raw TEXT`:                                                  "schema: table token differs from its migration",
		`DELETE FROM migration WHERE version = (SELECT max(version) FROM migration)`:             "migrations are recorded, want",
		`UPDATE migration SET name = 'lamp' WHERE version = 2`:                                   `schema: migration 2 is recorded as "lamp"`,
		`UPDATE migration SET version = 99 WHERE version = (SELECT max(version) FROM migration)`: `schema: migration 99 is recorded as`,
		`INSERT INTO migration (version, name) SELECT max(version) + 1, 'lamp' FROM migration`:   `is recorded as "lamp"`,
	} {
		path := newPath(t)
		s := openAt(t, path)
		if err := s.AddCredential(t.Context(), credentialOf("tok_1")); err != nil {
			t.Fatal(err)
		}
		tamper(t, path, "PRAGMA ignore_check_constraints = ON", damage)
		problems, err := s.Check(t.Context())
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%s: Check = %q, %v; want %q", damage, problems, err, want)
		}
		if _, err := s.Credential(t.Context(), "tok_1"); strings.Contains(want, "damaged") && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: Credential: %v, want ErrCorrupt", damage, err)
		}
	}
}

// A manifest whose seal is not of the size of a digest cannot be read.
func TestManifestsWithAShortSeal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	storetest.Fill(t, s, "mine")
	var id string
	if err := raw(t, path).QueryRowContext(t.Context(), "SELECT manifest_id FROM manifest LIMIT 1").Scan(&id); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, "PRAGMA ignore_check_constraints = ON", "UPDATE manifest SET seal = x'00'")
	if _, err := s.Manifest(t.Context(), "mine", id); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "its seal has 1 bytes") {
		t.Errorf("Manifest: %v, want an ErrCorrupt about its seal", err)
	}
}

// DocsAt drops positions out of range, which only a tampered index can have and which would
// lead to the artifacts of another scope.
func TestDocsStayInTheirScope(t *testing.T) {
	const base = 5 << 40
	got := sqlite.DocsAt(base, []int64{7, 0, -1, 7, 1<<40 - 1, 1 << 40, 2})
	if want := []int64{base + 2, base + 7, base + 1<<40 - 1}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

// The bound of a prefix is the least text above all that begin with it.
func TestAfter(t *testing.T) {
	for prefix, want := range map[string]any{"a": "b", "ab": "ac", "a\xfe": "a\xff", "a\xff": "b", "a\xff\xff": "b", "\xff": []byte{}, "": []byte{}} {
		if got := sqlite.After(prefix); !reflect.DeepEqual(got, want) {
			t.Errorf("above %q is %q, want %q", prefix, got, want)
		}
	}
}
