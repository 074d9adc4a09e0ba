package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

const scope governance.Scope = "test"

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, newPath(t)) })
}

func TestOpeners(t *testing.T) {
	storetest.RunOpeners(t, func(t *testing.T) func() store.Store {
		path := newPath(t)
		return func() store.Store { return openAt(t, path) }
	})
}

func TestBlobs(t *testing.T) {
	storetest.RunBlobs(t, func(t *testing.T) func() storetest.BlobStore {
		path := newPath(t)
		return func() storetest.BlobStore { return openAt(t, path).(storetest.BlobStore) }
	})
}

// newPath returns the path of a file that does not exist.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "carrel.db") }

// openAt opens the store at path and closes it when the test ends.
func openAt(t testing.TB, path string) store.Database {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	storetest.CloseAfter(t, s)
	return s
}

// fill applies a number of changes to each of the sessions s0, s1 and so on, and twice as many
// updates of the author a.
func fill(t testing.TB, s store.Store, sessions, changes int) {
	t.Helper()
	if err := play(t.Context(), s, sessions, changes); err != nil {
		t.Fatal(err)
	}
}

func play(ctx context.Context, s store.Store, sessions, changes int) error {
	if err := playSessions(ctx, s, sessions, changes); err != nil {
		return err
	}
	a := &author{name: "a"}
	for range 2 * changes {
		u := a.next()
		version, err := s.Update(ctx, scope, u)
		if err != nil {
			return err
		}
		a.made(u, version)
	}
	return nil
}

func playSessions(ctx context.Context, s store.Store, sessions, changes int) error {
	for i := range sessions {
		id := transcript.SessionID(fmt.Sprintf("s%d", i))
		sc := newScript(id)
		for at := range store.Revision(changes) {
			if _, err := s.Apply(ctx, scope, id, at, sc.next()); err != nil {
				return err
			}
		}
	}
	return nil
}

// filled makes a closed store with sessions, artifacts and calls, and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	data, err := filledFile()
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	file(data)(t, path)
	return path
}

// filledFile makes the file of [filled] once for all tests.
var filledFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "carrel-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // a temporary directory
	path := filepath.Join(dir, "carrel.db")
	s, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(play(context.Background(), s, 3, 4), playCalls(context.Background(), s), s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// read returns the contents of a store.
func read(t *testing.T, s store.Store) *storetest.Contents {
	t.Helper()
	c, err := storetest.Read(t.Context(), s, scope)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// raw opens the database at path without the driver, until the test ends.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// tamper runs statements on the database at path without the driver.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := raw(t, path)
	defer db.Close() // the cleanup of raw closes it again and checks the error
	for _, stmt := range append([]string{"PRAGMA ignore_check_constraints = ON"}, statements...) {
		if _, err := db.ExecContext(t.Context(), stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

func TestOpenKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	fill(t, s, 3, 5)
	before := read(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if diff := storetest.Diff(before, read(t, openAt(t, path))); diff != "" {
		t.Errorf("contents after opening again (-before +after):\n%s", diff)
	}
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "new", "dir")
	s := openAt(t, filepath.Join(dir, "carrel.db"))
	fill(t, s, 1, 1)
	for name, want := range map[string]fs.FileMode{
		"": 0o700, "carrel.db": 0o600, "carrel.db-wal": 0o600, "carrel.db-shm": 0o600,
	} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fi.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestOpenTakesAnyPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "100%25.db", "what?mode=ro#x.db", "é🙂.db", "it's.db", ":memory:"} {
		path := filepath.Join(t.TempDir(), name)
		s := openAt(t, path)
		fill(t, s, 1, 1)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		copied := filepath.Join(filepath.Dir(path), "copy of "+name)
		if err := s.Backup(t.Context(), copied); err != nil {
			t.Errorf("Backup to %q: %v", copied, err)
		}
	}
}

func TestOpenInSeveralPlacesAtOnce(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	const openers = 8
	var wg sync.WaitGroup
	for i := range openers {
		wg.Go(func() {
			s, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			id := transcript.SessionID(fmt.Sprintf("s%d", i))
			sc := newScript(id)
			for at := range store.Revision(3) {
				if _, err := s.Apply(t.Context(), scope, id, at, sc.next()); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(read(t, openAt(t, path)).Sessions); got != openers {
		t.Errorf("%d sessions, want %d", got, openers)
	}
}

// When several openers switch a new store to WAL mode at once, they wait for each other.
func TestOpenForTheFirstTimeAtOnce(t *testing.T) {
	t.Parallel()
	const rounds, openers = 8, 6
	for range rounds {
		path := newPath(t)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range openers {
			wg.Go(func() {
				<-start
				s, err := sqlite.Open(t.Context(), path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
	}
}

// Open refuses a file that is not a store, names it, and does not change it.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	head := make([]byte, 4096)
	copy(head, "SQLite format 3\x00")
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
		says string
	}{
		{"text", file([]byte("this is a diary\n")), store.ErrCorrupt, "not a database"},
		{"a page of garbage", file([]byte(strings.Repeat("garbage ", 2000))), store.ErrCorrupt, "not a database"},
		{"a header with nothing behind", file(head), store.ErrCorrupt, "carrel.db"},
		{"another program's database", func(t *testing.T, path string) {
			tamper(t, path, "CREATE TABLE recipes (name TEXT)")
		}, sqlite.ErrForeign, "carrel.db: database of another program"},
		{"a database of a newer Carrel", func(t *testing.T, path string) {
			copyFile(t, path, filled(t))
			tamper(t, path, "INSERT INTO migration VALUES (1000, '1000_later.sql')")
		}, nil, "has schema 1000"},
		{"a store cut short", func(t *testing.T, path string) {
			copyFile(t, path, filled(t))
			if err := os.Truncate(path, 3*4096); err != nil {
				t.Fatal(err)
			}
		}, store.ErrCorrupt, "carrel.db"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := newPath(t)
			tt.make(t, path)
			before := readFile(t, path)
			s, err := sqlite.Open(t.Context(), path, nil)
			if err == nil {
				// Open does not notice damage inside the file; reading does.
				_, err = storetest.Read(t.Context(), s, scope)
				if err := s.Close(); err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Error(err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v that says %q", err, tt.want, tt.says)
			}
			if schema, ok := errors.AsType[*store.SchemaError](err); tt.want == nil && (!ok || schema.Have != 1000 || schema.Path != path) {
				t.Errorf("error %v, want a SchemaError with the version", err)
			}
			if after := readFile(t, path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// file returns a function that writes a file.
func file(data []byte) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	file(readFile(t, from))(t, to)
}

func TestCheckEngine(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"3.51.3": "", "3.51.10": "", "3.53.4": "", "4.0.0": "",
		"3.51.2": "build with 3.51.3 or newer", "3.9.9": "build with 3.51.3 or newer", "2.99.9": "build with 3.51.3 or newer",
		"new": `version "new" of SQLite`,
	} {
		err := sqlite.CheckEngine(version)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("SQLite %s: %v, want %q", version, err, want)
		}
	}
}

// Cells does not return a cell whose row was changed without the driver.
func TestCellsNamesDamage(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		"body = CAST('forged' AS BLOB), len = 6",
		"kind = 'about'",
		"salt = zeroblob(32)",
		"salt = zeroblob(3)",
		"commitment = zeroblob(32)",
		"salt = NULL, body = NULL",
	} {
		path := filled(t)
		s := openAt(t, path)
		head, err := s.Items(t.Context(), scope, "s1")
		if err != nil {
			t.Fatal(err)
		}
		tamper(t, path, fmt.Sprintf("UPDATE cell SET %s WHERE cell_id = '%s'", damage, head[2]))
		n := 0
		for c, err := range s.Cells(t.Context(), scope, head) {
			if n++; n <= 2 {
				if err != nil || c.ID != head[n-1] {
					t.Errorf("%s: cell %d: %v", damage, n, err)
				}
				continue
			}
			if c != nil || !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), string(head[2])) {
				t.Errorf("%s: the cell is read as %v, %v; want an ErrCorrupt that names it", damage, c, err)
			}
		}
		if n != 3 {
			t.Errorf("%s: Cells yielded %d times, want to end at the third", damage, n)
		}
		problems, err := s.Check(t.Context())
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), "cell "+string(head[2])+": its commitment does not match the body") {
			t.Errorf("%s: Check = %q, %v; want the cell named", damage, problems, err)
		}
	}
}

func TestCheckFinds(t *testing.T) {
	withoutRaces(t)
	t.Parallel()
	for damage, want := range map[string]string{
		"DELETE FROM cell WHERE cell_id = 's1-000001'":                    "refers to a missing cell",
		"DELETE FROM entry WHERE session_id = 's1' AND revision = 2":      "scope test: session s1: is at revision 4, its journal has 3 entries",
		"DELETE FROM item WHERE session_id = 's1' AND ord = 1":            "scope test: session s1: has",
		"UPDATE session SET tokens = 7 WHERE session_id = 's1'":           "scope test: session s1: its head has 7 tokens, its blocks",
		"UPDATE session SET blocks = 700 WHERE session_id = 's1'":         "scope test: session s1: its head has 700 blocks, there are",
		"UPDATE block SET state = 'lost' WHERE session_id = 's1'":         "file: CHECK constraint failed in block",
		"UPDATE block SET pinned = -1 WHERE session_id = 's1'":            "name \"pinned\": a flag is -1",
		"UPDATE block SET off = 2 WHERE session_id = 's1'":                "name \"off\": a flag is 2",
		"DELETE FROM session WHERE session_id = 's1'":                     "refers to a missing session",
		"UPDATE cell SET body = zeroblob(3), len = 3 WHERE scope <> ''":   "scope test: cell s0-000001: its commitment does not match the body",
		"UPDATE entry SET scope = 'x' WHERE entry_id LIKE 'op-s2-%'":      "scope test: session s2: is at revision 4, its journal has 0 entries",
		"UPDATE block SET tokens = tokens + 1 WHERE session_id LIKE 's2'": "scope test: session s2: its head has",

		"UPDATE scope SET version = 9":                                                          "scope test: is at version 9, its log has 8 entries",
		"DELETE FROM log WHERE entry_id = 'a-up-3'":                                             "scope test: is at version 8, its log has 7 entries",
		"DELETE FROM artifact WHERE artifact_id = 'a-art-3'":                                    "scope test: the last position is 8, there are 7 artifacts",
		"DELETE FROM artifact WHERE artifact_id = 'a-art-4'":                                    "scope test: position 4 is in the index and has no artifact (1 in all)",
		"DELETE FROM artifact WHERE artifact_id = 'a-art-5'":                                    "table manifest_use: a row refers to a missing artifact",
		"DELETE FROM manifest WHERE manifest_id = 'a-m-3'":                                      "refers to a missing manifest",
		"UPDATE artifact SET content = 'gone' WHERE artifact_id = 'a-art-3'":                    "table artifact: a row refers to a missing cell",
		"UPDATE artifact SET scope = 'x' WHERE artifact_id = 'a-art-3'":                         "scope test: the artifact at position 3 has the wrong name of the scope (1 in all)",
		"UPDATE artifact SET pinned = -1 WHERE artifact_id = 'a-art-3'":                         "name \"pinned\": a flag is -1",
		"UPDATE artifact SET status = 'lost' WHERE artifact_id = 'a-art-3'":                     "file: CHECK constraint failed in artifact",
		"UPDATE artifact SET doc = doc + 20 WHERE artifact_id = 'a-art-3'":                      "scope test: the last position is 8, there are 7 artifacts",
		"UPDATE cell SET body = zeroblob(len), salt = zeroblob(32) WHERE state = 'purged'":      "scope test: cell a-text-6 was purged, but its salt or body is still stored",
		"UPDATE cell SET body = zeroblob(len) WHERE state = 'purged'":                           "scope test: cell a-text-6 was purged, but its salt or body is still stored",
		"INSERT INTO cell_blob SELECT scope, cell_id, cell_id FROM cell WHERE state = 'purged'": "scope test: cell a-text-6 was purged, but its salt or body is still stored",
		"INSERT INTO cell_blob SELECT scope, cell_id, cell_id FROM cell":                        "scope test: cell a-text-2 has a body and a blob",
		"UPDATE scope_total SET held = held + 1":                                                "the number of held artifacts does not match its checksum",
		"DELETE FROM session_total":                                                             "the record of the lists of session s1 does not match its checksum",
		"UPDATE cell SET body = x'', len = 0 WHERE cell_id = 'a-text-2'":                        "scope test: cell a-text-2: its commitment does not match the body",
		"UPDATE artifact_words_docsize SET id = id + 50 WHERE id & 255 = 5":                     "is in the index and has no artifact",
		"INSERT INTO artifact_words (artifact_words) VALUES ('delete-all')":                     "index artifact_words: the words of 7 texts differ from those that were written",
		"DELETE FROM scope":                         "refers to a missing scope",
		"DROP TRIGGER entry_not_in_log":             "schema: trigger entry_not_in_log differs from its migration",
		"ALTER TABLE entry RENAME COLUMN data TO x": "schema: table entry differs from its migration",
		"CREATE TABLE notes (x)":                    "schema: table notes does not belong to it",
	} {
		path := filled(t)
		tamper(t, path, damage)
		s := openAt(t, path)
		problems, err := s.Check(t.Context())
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%s: Check = %q, %v; want %q", damage, problems, err, want)
		}
		if again, err := s.Check(t.Context()); err != nil || strings.Join(again, "\n") != strings.Join(problems, "\n") {
			t.Errorf("%s: Check again = %q, %v; want the same", damage, again, err)
		}
	}
}

// With a randomly damaged file nothing panics, and no cell comes back with another text.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	path := filled(t)
	data := readFile(t, path)
	want := make(map[store.CellID]string)
	s := openAt(t, path)
	var ids []store.CellID
	for _, se := range read(t, s).Sessions {
		for _, c := range se.Cells {
			want[c.ID] = string(c.Body)
			ids = append(ids, c.ID)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	refused, files := 0, 60
	if raceDetector {
		files = 6
	}
	for range files {
		damaged := append([]byte(nil), data...)
		for range 1 + rng.IntN(40) {
			damaged[rng.IntN(len(damaged))] ^= byte(1 + rng.IntN(255))
		}
		if rng.IntN(4) == 0 {
			damaged = damaged[:rng.IntN(len(damaged))]
		}
		copied := newPath(t)
		file(damaged)(t, copied)
		s, err := sqlite.Open(t.Context(), copied, nil)
		if err != nil {
			refused++
			continue
		}
		for _, id := range ids {
			for c, err := range s.Cells(t.Context(), scope, []store.CellID{id}) {
				if err == nil && string(c.Body) != want[id] {
					t.Errorf("cell %s came back as another text", id)
				}
			}
		}
		_, readErr := storetest.Read(t.Context(), s, scope)
		problems, err := s.Check(t.Context())
		if readErr != nil && err == nil && len(problems) == 0 {
			t.Errorf("a store that cannot be read (%v) passes Check", readErr)
		}
		_, _ = storetest.Containing(t.Context(), s, scope, "line")
		_, _ = s.Apply(t.Context(), scope, "new", 0, newScript("new").next())
		_ = s.Close() // may report the damage
	}
	if refused == 0 {
		t.Error("no damage kept a file from being opened: is there any?")
	}
}

// Apply and Ready fail while another program writes. Afterwards both succeed, and Ready has changed
// nothing.
func TestApplyReportsBusy(t *testing.T) {
	t.Parallel()
	path := filled(t)
	s, err := sqlite.Open(t.Context(), path, &sqlite.Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // the test is about Apply
	db := raw(t, path)
	exec := func(stmt string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), stmt); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN IMMEDIATE")
	if _, err := s.Apply(t.Context(), scope, "new", 0, newScript("new").next()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Apply while another writes: %v, want ErrBusy", err)
	}
	if got := len(read(t, s).Sessions); got != 3 {
		t.Errorf("while another writes, %d sessions can be read, want 3", got)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Ready while another writes: %v, want ErrBusy", err)
	}
	exec("COMMIT")
	before, err := s.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready afterwards: %v", err)
	}
	if after, err := s.Credentials(t.Context()); err != nil || len(after) != len(before) {
		t.Errorf("what Ready tried to write: %d credentials, %v, want %d as before", len(after), err, len(before))
	}
	if _, err := s.Apply(t.Context(), scope, "new", 0, newScript("new").next()); err != nil {
		t.Errorf("Apply afterwards: %v", err)
	}
}

// An Apply that waits for the lock of another process ends with its context.
func TestApplyCanBeGivenUp(t *testing.T) {
	t.Parallel()
	path := filled(t)
	s := openAt(t, path)
	db := raw(t, path)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const writers = 3
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			id := transcript.SessionID(fmt.Sprintf("new%d", i))
			_, err := s.Apply(ctx, scope, id, 0, newScript(id).next())
			errs <- err
		}()
	}
	cancel()
	for range writers {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("Apply, given up: %v, want context.Canceled", err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), scope, "last", 0, newScript("last").next()); err != nil {
		t.Fatal(err)
	}
	if got := len(read(t, s).Sessions); got != 4 {
		t.Errorf("%d sessions, want the 3 that were there and the last", got)
	}
}

func TestApplyAfterClose(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), scope, "s", 0, newScript("s").next()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Apply after Close: %v, want fs.ErrClosed", err)
	}
}

// together opens a store and calls write in a number of goroutines, while another connection holds
// the lock, so that their writes share a transaction.
func together(t *testing.T, writers int, write func(s store.Store, i int)) store.Database {
	t.Helper()
	path := newPath(t)
	s := openAt(t, path)
	db := raw(t, path)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { write(s, i) })
	}
	if _, err := db.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return s
}

// Of the changes that share a transaction, only the invalid ones fail.
func TestApplySharesTransactions(t *testing.T) {
	t.Parallel()
	const writers = 20
	s := together(t, writers, func(s store.Store, i int) {
		id := transcript.SessionID(fmt.Sprintf("s%d", i))
		c := newScript(id).next()
		if i%4 == 0 {
			c.Items = append(c.Items, "nowhere")
		}
		_, err := s.Apply(t.Context(), scope, id, 0, c)
		if refused := errors.Is(err, store.ErrNotFound); refused != (i%4 == 0) || !refused && err != nil {
			t.Errorf("Apply of change %d: %v", i, err)
		}
	})
	if got := len(read(t, s).Sessions); got != writers*3/4 {
		t.Errorf("%d sessions, want %d", got, writers*3/4)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// A large change never runs within a savepoint, where it would take quadratic time, even if it
// waits behind other changes. An invalid change beside it fails alone.
func TestApplyOfALargeChange(t *testing.T) {
	t.Parallel()
	large := func(id transcript.SessionID) *store.Change {
		c := newScript(id).next()
		for i := range sqlite.LargeRows {
			c.Statements = append(c.Statements, fmt.Sprintf("statement %d", i))
		}
		return c
	}
	s := together(t, 4, func(s store.Store, i int) {
		id := transcript.SessionID(fmt.Sprintf("s%d", i))
		c := large(id)
		if i == 1 {
			c.Items = append(c.Items, "nowhere")
		}
		_, err := s.Apply(t.Context(), scope, id, 0, c)
		if refused := errors.Is(err, store.ErrNotFound); refused != (i == 1) || !refused && err != nil {
			t.Errorf("Apply of change %d: %v", i, err)
		}
	})
	if sqlite.Nests(s) {
		t.Error("a large change was written within a savepoint")
	}
	if got := len(read(t, s).Sessions); got != 3 {
		t.Errorf("%d sessions, want 3", got)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// When its context ends, an iteration ends with the error of the context.
func TestIterationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := openAt(t, filled(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	items, err := s.Items(ctx, scope, "s0")
	if err != nil {
		t.Fatal(err)
	}
	many := items
	for len(many) < 10_000 {
		many = append(many, items...)
	}
	var last error
	for _, err := range s.Cells(ctx, scope, many) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the iteration ended with %v, want context.Canceled", last)
	}
}

// Replaced words are in no segment and not in the file after segments were merged, or after another
// session of the scope was erased.
func TestIndexForgets(t *testing.T) {
	t.Parallel()
	const word = "unmistakable"
	for name, finish := range map[string]func(s store.Store, sc *script){
		"erasure of another session": func(s store.Store, _ *script) {
			c := &store.Change{Head: store.Head{Blocks: 1, Created: epoch, Updated: epoch}, Entry: store.Entry{ID: "begin", Actor: governance.ActorUser, Time: epoch}}
			c.Blocks = []store.Block{{ID: "b", Turn: 1, State: store.StateLive}}
			c.Index = []store.IndexEntry{{Block: "b", Words: postings.Counts(store.Words("other words"))}}
			if _, err := s.Apply(t.Context(), scope, "other", 0, c); err != nil {
				t.Fatal(err)
			}
			erase := &store.Change{Head: store.Head{Blocks: 1, Status: store.StatusPurged, Created: epoch, Updated: epoch}, Entry: store.Entry{ID: "erase", Actor: governance.ActorUser, Time: epoch}, Erase: true}
			if _, err := s.Apply(t.Context(), scope, "other", 1, erase); err != nil {
				t.Fatal(err)
			}
		},
		"merging": func(s store.Store, sc *script) {
			for i := range 20 {
				if _, err := s.Apply(t.Context(), scope, "s", store.Revision(2+i), sc.next()); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		path := newPath(t)
		s := openAt(t, path)
		sc := newScript("s")
		c := sc.next()
		c.Index = append(c.Index, store.IndexEntry{Block: c.Blocks[0].ID, Words: postings.Counts(store.Words(word))})
		if _, err := s.Apply(t.Context(), scope, "s", 0, c); err != nil {
			t.Fatal(err)
		}
		next := sc.next()
		next.Index = append(next.Index, store.IndexEntry{Block: c.Blocks[0].ID})
		if _, err := s.Apply(t.Context(), scope, "s", 1, next); err != nil {
			t.Fatal(err)
		}
		if found := remains(t, path, []string{word}); len(found) == 0 {
			t.Errorf("%s: the word is not in the file before: the test proves nothing", name)
		}
		finish(s, sc)
		if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
			t.Errorf("%s: Check = %q, %v", name, problems, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if found := remains(t, path, []string{word}); len(found) > 0 {
			t.Errorf("%s: the word is still in the file", name)
		}
	}
}

// The changes of one transaction add one segment to the index of blocks. It has no words of a
// failed change or of an erased session, even if the same transaction has added the session.
func TestIndexOfATransaction(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	begin := func(id, word string) sqlite.Step {
		c := &store.Change{Head: store.Head{Blocks: 1, Created: epoch, Updated: epoch}, Entry: store.Entry{ID: "begin-" + id, Actor: governance.ActorUser, Time: epoch}}
		c.Blocks = []store.Block{{ID: "b", Turn: 1, State: store.StateLive}}
		c.Index = []store.IndexEntry{{Block: "b", Words: postings.Counts(store.Words("shared " + word))}}
		return sqlite.Step{ID: transcript.SessionID(id), C: c}
	}
	again := begin("one", "changed")
	again.At, again.C.Entry.ID = 1, "again"
	late := begin("late", "refused")
	late.C.Entry.ID = "begin-one" // it exists, so applyJournal fails after applyIndex
	erase := sqlite.Step{ID: "two", At: 1, C: &store.Change{
		Head:  store.Head{Blocks: 1, Status: store.StatusPurged, Created: epoch, Updated: epoch},
		Entry: store.Entry{ID: "erase", Actor: governance.ActorUser, Time: epoch}, Erase: true,
	}}
	errs := sqlite.Together(t.Context(), s, scope, begin("one", "begun"), begin("two", "erased"), late, again, begin("three", "kept"), erase, begin("four", "last"))
	for i, err := range errs {
		if refused := i == 2; (err != nil) != refused {
			t.Errorf("change %d: %v; want an error: %t", i, err, refused)
		}
	}
	if n, err := sqlite.Segments(t.Context(), s, scope); n != 2 || err != nil { // before the erasure, and after it
		t.Errorf("%d segments, %v; want 2", n, err)
	}
	for word, want := range map[string]int{"shared": 3, "begun": 0, "changed": 1, "erased": 0, "refused": 0, "kept": 1, "last": 1} {
		refs, err := storetest.Containing(t.Context(), s, scope, word)
		if len(refs) != want || err != nil {
			t.Errorf("%q is in %v, %v; want %d", word, refs, err, want)
		}
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if found := remains(t, path, []string{"erased", "refused"}); len(found) > 0 {
		t.Errorf("%q is still in the file", found)
	}
}

// Damage in the index of blocks does not make changes fail.
func TestDamagedIndexBarsNoChange(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	sc := newScript("s")
	for i := range 30 { // enough for segments to be merged
		if _, err := s.Apply(t.Context(), scope, "s", store.Revision(i), sc.next()); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
		if i == 2 {
			tamper(t, path, "UPDATE posting SET body = substr(body, 2)")
		}
	}
	if problems, err := s.Check(t.Context()); len(problems) == 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// withoutRaces skips a test under the race detector. It is for tests with one goroutine, which
// would take most of a minute there and cannot race.
func withoutRaces(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("nothing runs concurrently here: run it without the race detector")
	}
}

// Postings and Check report damage in the index of blocks.
func TestIndexIsChecked(t *testing.T) {
	withoutRaces(t)
	t.Parallel()
	for _, damage := range []string{
		"UPDATE posting SET body = zeroblob(length(body))",
		"UPDATE posting SET body = substr(body, 2)",
		"UPDATE segment SET docs = substr(docs, 3)",
		"UPDATE segment SET pages = 2",
		"UPDATE segment SET scope = 'x'",
		"UPDATE doc SET block_id = 'x' WHERE doc = 1",
		"UPDATE scope_total SET segments = segments + 1",
		"DELETE FROM scope_total",
		"DELETE FROM segment",
		"DELETE FROM posting",
		"INSERT INTO gone_doc (scope, doc) SELECT scope, doc FROM doc LIMIT 1",
	} {
		path := newPath(t)
		s := openAt(t, path)
		c := newScript("s").next()
		if _, err := s.Apply(t.Context(), scope, "s", 0, c); err != nil {
			t.Fatal(err)
		}
		c.Index[0].Words = nil
		words := slices.Sorted(store.Words(string(c.Cells[len(c.Cells)-1].Body)))
		tamper(t, path, "PRAGMA foreign_keys = OFF", damage)
		if problems, err := s.Check(t.Context()); len(problems) == 0 || err != nil {
			t.Errorf("%s: Check = %q, %v", damage, problems, err)
		}
		refs, err := storetest.Containing(t.Context(), s, scope, words...)
		if err != nil && !errors.Is(err, store.ErrCorrupt) || err == nil && len(refs) > 0 && !strings.HasPrefix(damage, "INSERT") {
			t.Errorf("%s: found %v, %v; want an ErrCorrupt, or nothing", damage, refs, err)
		}
	}
}
