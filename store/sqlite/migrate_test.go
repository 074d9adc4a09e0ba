package sqlite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

// A store of each earlier schema is migrated to the newest one and keeps its content.
func TestMigrateFromVersion1(t *testing.T) {
	t.Parallel()
	steps, err := sqlite.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	old, err := sqlite.OpenWith(t.Context(), path, steps[:1])
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), path, path+".backup"); err != nil {
		t.Errorf("Backup of a store of the first version: %v", err)
	}
	none := newPath(t)
	tamper(t, none, "CREATE TABLE x (x)", "DROP TABLE x")
	if err := sqlite.Backup(t.Context(), none, path+".none"); err == nil {
		t.Error("a database without tables was backed up as a store")
	}
	newest := newPath(t)
	now := openAt(t, newest)
	if err := playSessions(t.Context(), now, 2, 4); err != nil {
		t.Fatal(err)
	}
	before := sessions(t, now)
	copyTables(t, newest, path)

	later := append(slices.Clip(steps),
		sqlite.NewMigration("x_later.sql", "CREATE TABLE later (x TEXT NOT NULL) STRICT; ALTER TABLE session ADD COLUMN later TEXT"))
	for range 2 { // the second time no migration is left
		s, err := sqlite.OpenWith(t.Context(), path, later)
		if err != nil {
			t.Fatal(err)
		}
		if diff := storetest.Diff(before, sessions(t, s)); diff != "" {
			t.Errorf("contents after the migration (-before +after):\n%s", diff)
		}
		info, err := s.Info(t.Context())
		if err != nil || info.Schema != len(later) {
			t.Errorf("Info = %+v, %v; want schema %d", info, err, len(later))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var names string
	err = raw(t, path).QueryRowContext(t.Context(), "SELECT group_concat(version || ' ' || name, ', ' ORDER BY version) FROM migration").Scan(&names)
	if err != nil || !strings.HasPrefix(names, "1 0001_sessions.sql, ") || !strings.HasSuffix(names, " x_later.sql") {
		t.Errorf("migrations on record: %q, %v", names, err)
	}
}

// copyTables copies the rows of the tables that both stores have. It does not copy the words of the
// index, which cannot be read.
func copyTables(t *testing.T, from, to string) {
	t.Helper()
	db := raw(t, to)
	run := func(statement string, args ...any) {
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run("PRAGMA foreign_keys = OFF")
	run("ATTACH ? AS newest", from)
	for _, table := range []string{"cell", "edge", "session", "item", "block", "block_cell", "entry", "statement", "doc"} {
		var columns string
		query := "SELECT group_concat(name) FROM pragma_table_info(?, 'main')"
		if err := db.QueryRowContext(t.Context(), query, table).Scan(&columns); err != nil {
			t.Fatal(err)
		}
		run("INSERT INTO main." + table + " (" + columns + ") SELECT " + columns + " FROM newest." + table)
	}
	run("DETACH newest")
}

// withoutCalls has the statements that take a store back to schema 7.
var withoutCalls = []string{
	"DROP TABLE job",
	"DROP TABLE cell_blob",
	"DROP TABLE loose_blob",
	"DROP TABLE rewrite", "DROP TABLE call", "DROP TABLE session_calls", "ALTER TABLE scope_total DROP COLUMN calls",
	"ALTER TABLE scope_total DROP COLUMN open_calls", "ALTER TABLE scope_total DROP COLUMN segments", "ALTER TABLE session_total DROP COLUMN rewrites",
}

// takeBack takes a store back to schema 3 or 4, with all that is in it.
func takeBack(t *testing.T, path string, version int) {
	t.Helper()
	oldIndex(t, path)
	statements := append(slices.Clip(withoutCalls),
		"PRAGMA foreign_keys = OFF", "DROP TABLE session_status", "DROP TABLE session_cell",
		"DROP TABLE segment", "DROP TABLE posting", "DROP TABLE gone_doc", "ALTER TABLE block DROP COLUMN earlier",
	)
	for _, table := range []string{"cell", "session", "block", "entry", "doc", "log", "artifact", "outcome", "token"} {
		statements = append(statements, "ALTER TABLE "+table+" DROP COLUMN imprint")
	}
	statements = append(statements,
		"ALTER TABLE doc DROP COLUMN words", "ALTER TABLE artifact DROP COLUMN words", "DROP TABLE session_total",
		"DROP TABLE scope_total", "DROP TABLE manifest_imprint", "DROP TABLE token_total", "DELETE FROM migration WHERE version > 4")
	if version == 3 {
		statements = append(statements, "DROP TABLE token", "DELETE FROM migration WHERE version > 3")
	}
	tamper(t, path, statements...)
}

// oldIndex makes the index of blocks of schema 6: each word of a block once, after the mark of its
// scope.
func oldIndex(t *testing.T, path string) {
	t.Helper()
	db := raw(t, path)
	run := func(statement string, args ...any) {
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run(`CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'")`)
	texts := make(map[int64]string)
	type row struct {
		key, pages int64
		scope      governance.Scope
		docs       []byte
	}
	var segments []row
	rows, err := db.QueryContext(t.Context(), "SELECT segment, pages, scope, docs FROM segment")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.key, &r.pages, &r.scope, &r.docs); err != nil {
			t.Fatal(err)
		}
		segments = append(segments, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, r := range segments {
		ids, _, err := postings.ParseDocs(r.docs)
		if err != nil {
			t.Fatal(err)
		}
		for page := range r.pages {
			var body []byte
			if err := db.QueryRowContext(t.Context(), "SELECT body FROM posting WHERE page = ?", r.key<<20|page).Scan(&body); err != nil {
				continue // it has no words
			}
			err := postings.Words(body, 1<<20, func(word string, l *postings.List) error {
				for i, id := range ids {
					if l.Count(uint32(i)) > 0 { //nolint:gosec // it is small
						texts[id] += digest.Of([]byte(r.scope)).Short() + word + " "
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for id, text := range texts {
		run("INSERT INTO words (rowid, text) VALUES (?, ?)", id, text)
	}
}

// The migration of a store of schema 4 keeps its content and its words, and adds imprints.
func TestMigrateMakesImprints(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	fill(t, s, 2, 3)
	if err := s.AddCredential(t.Context(), credentialOf("tok_1")); err != nil {
		t.Fatal(err)
	}
	before := read(t, s)
	lines, err := storetest.Containing(t.Context(), s, scope, "line")
	if err != nil || len(lines) == 0 {
		t.Fatalf("blocks with a word: %v, %v", lines, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	takeBack(t, path, 4)
	s = openAt(t, path)
	if again, err := storetest.Containing(t.Context(), s, scope, "line"); err != nil || !slices.Equal(again, lines) {
		t.Errorf("blocks with a word after the migration: %v, %v; want %v", again, err, lines)
	}
	if diff := storetest.Diff(before, read(t, s)); diff != "" {
		t.Errorf("contents after the migration (-before +after):\n%s", diff)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
	tamper(t, path, "UPDATE block SET form = 'gone'")
	if problems, err := s.Check(t.Context()); len(problems) == 0 || err != nil {
		t.Errorf("Check of blocks that were bent = %q, %v", problems, err)
	}
}

// sessions returns the contents of the sessions of a store.
func sessions(t *testing.T, s store.Store) []storetest.Session {
	t.Helper()
	all, err := storetest.ReadSessions(t.Context(), s, scope)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A failed migration leaves the store unchanged, at the version before.
func TestMigrateAllOrNothing(t *testing.T) {
	t.Parallel()
	path := filled(t)
	steps, err := sqlite.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	bad := append(slices.Clip(steps), sqlite.NewMigration("x_bad.sql", "CREATE TABLE half (x); CREATE TABLE half (y)"))
	if _, err := sqlite.OpenWith(t.Context(), path, bad); err == nil || !strings.Contains(err.Error(), "x_bad.sql") {
		t.Errorf("a migration that cannot be made: %v, want its name", err)
	}
	s := openAt(t, path)
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
	var n int
	if err := raw(t, path).QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'half'").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables of the migration that failed, %v; want none", n, err)
	}
}

// The migration of a store of schema 4 records which cells each session has brought.
func TestMigrateFindsTheCellsOfSessions(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	fill(t, s, 3, 4)
	list := sessions(t, s)
	want := make(map[transcript.SessionID][]store.CellID)
	for _, se := range list {
		cells, err := s.Brought(t.Context(), scope, se.Head.ID)
		if err != nil || len(cells) == 0 {
			t.Fatalf("session %s brought %q, %v", se.Head.ID, cells, err)
		}
		want[se.Head.ID] = cells
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	takeBack(t, path, 4)
	s = openAt(t, path)
	for id, cells := range want {
		if got, err := s.Brought(t.Context(), scope, id); err != nil || !slices.Equal(got, cells) {
			t.Errorf("session %s brought %q, %v; want %q", id, got, err, cells)
		}
	}
}
