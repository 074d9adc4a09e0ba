package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

func TestBackupIsEqual(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	fill(t, s, 3, 4)
	path := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v; want mode 0600", fi, err)
	}
	if names, err := filepath.Glob(path + "*"); err != nil || len(names) != 1 {
		t.Errorf("the backup is %q, want one file", names)
	}
	if diff := storetest.Diff(read(t, s), read(t, openAt(t, path))); diff != "" {
		t.Errorf("contents of the backup (-store +backup):\n%s", diff)
	}
}

// backUp returns the path of a backup of a store with an older schema. The backup has the same
// schema, and the store stays as it is.
func backUp(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the backup changed the store, %v", err)
	}
	var schemas [2]int
	for i, name := range []string{path, to} {
		if err := raw(t, name).QueryRowContext(t.Context(), "SELECT max(version) FROM migration").Scan(&schemas[i]); err != nil {
			t.Fatal(err)
		}
	}
	if schemas[0] != schemas[1] {
		t.Errorf("the store has schema %d, the backup %d", schemas[0], schemas[1])
	}
	return to
}

// A backup is consistent even if other goroutines write meanwhile.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, id := range []transcript.SessionID{"a", "b", "c"} {
		wg.Go(func() {
			sc := newScript(id)
			for at := store.Revision(0); ; at++ {
				if _, err := s.Apply(t.Context(), scope, id, at, sc.next()); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		path := filepath.Join(t.TempDir(), "backup.db")
		if err := s.Backup(t.Context(), path); err != nil {
			t.Error(err)
			continue
		}
		if problems, err := openAt(t, path).Check(t.Context()); len(problems) > 0 || err != nil {
			t.Errorf("Check of the backup = %q, %v", problems, err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestBackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := openAt(t, filled(t))
	path := filepath.Join(t.TempDir(), "backup.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup in a context that is done: %v, want context.Canceled", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	fill(t, s, 2, 4)
	want := read(t, s)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	bytes := string(readFile(t, backup))
	file(nil)(t, backup+"-wal") // a log without content is none

	// where no store exists
	path := filepath.Join(t.TempDir(), "new", "carrel.db")
	if err := sqlite.Restore(t.Context(), backup, path, false); err != nil {
		t.Fatal(err)
	}
	restored := openAt(t, path)
	if diff := storetest.Diff(want, read(t, restored)); diff != "" {
		t.Errorf("contents (-want +restored):\n%s", diff)
	}
	fill2 := newScript("later")
	if _, err := restored.Apply(t.Context(), scope, "later", 0, fill2.next()); err != nil {
		t.Fatal(err)
	}

	// where a store exists: only with force, and not while it is open
	if err := sqlite.Restore(t.Context(), backup, path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Restore over a store: %v, want fs.ErrExist", err)
	}
	if err := sqlite.Restore(t.Context(), backup, path, true); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Restore over a store that is open: %v, want ErrBusy", err)
	}
	if got := len(read(t, restored).Sessions); got != 3 {
		t.Errorf("after the refusals, %d sessions, want 3", got)
	}
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), backup, path, true); err != nil {
		t.Fatal(err)
	}
	if diff := storetest.Diff(want, read(t, openAt(t, path))); diff != "" {
		t.Errorf("contents (-want +restored by force):\n%s", diff)
	}
	if string(readFile(t, backup)) != bytes {
		t.Error("the backup was changed")
	}
}

// Restore replaces a damaged store, and does not apply the log that a crash left beside it to the
// backup.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	fill(t, s, 2, 2)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	file([]byte("damaged"))(t, path)
	other := openAt(t, newPath(t))
	fill(t, other, 4, 4)
	info, err := other.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, path+"-wal", info.Path+"-wal")
	if err := sqlite.Restore(t.Context(), backup, path, true); err != nil {
		t.Fatal(err)
	}
	if diff := storetest.Diff(read(t, s), read(t, openAt(t, path))); diff != "" {
		t.Errorf("contents (-want +restored):\n%s", diff)
	}
}

// Restore refuses an invalid backup and leaves the present store unchanged.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
		says string
	}{
		{"no file", func(*testing.T, string) {}, fs.ErrNotExist, "backup.db"},
		{"an empty file", file(nil), store.ErrCorrupt, "backup.db is empty"},
		{"text", file([]byte("a diary")), store.ErrCorrupt, "backup.db"},
		{"another program's database", func(t *testing.T, path string) { tamper(t, path, "CREATE TABLE recipes (x)") }, sqlite.ErrForeign, "backup.db"},
		{"a cell that was changed", func(t *testing.T, path string) {
			copyFile(t, path, filled(t))
			tamper(t, path, "UPDATE cell SET salt = zeroblob(32) WHERE cell_id = 's0-000002'")
		}, store.ErrCorrupt, "1 problems, first: scope test: cell s0-000002"},
		{"a byte, which SQLite takes for none", file([]byte("x")), store.ErrCorrupt, "backup.db is empty"},
		{"a store with a byte of a log", func(t *testing.T, path string) {
			copyFile(t, path, filled(t))
			file([]byte("x"))(t, path+"-wal")
		}, nil, "make a backup of it"},
		{"a store with a log", func(t *testing.T, path string) {
			s := openAt(t, path)
			fill(t, s, 1, 1)
		}, nil, "make a backup of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filled(t)
			before := readFile(t, path)
			backup := filepath.Join(t.TempDir(), "backup.db")
			tt.make(t, backup)
			err := sqlite.Restore(t.Context(), backup, path, true)
			if err == nil || !strings.Contains(err.Error(), tt.says) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Restore: %v, want %v that says %q", err, tt.want, tt.says)
			}
			if string(readFile(t, path)) != string(before) {
				t.Error("the store was changed")
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".restore-*")); err != nil || len(left) > 0 {
				t.Errorf("it left %q, %v", left, err)
			}
		})
	}
}
