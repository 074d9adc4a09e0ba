package sqlite_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

// Open refuses an empty file and leaves it unchanged. Without a file it makes a store, and leaves no
// temporary files.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	file(nil)(t, path)
	_, err := sqlite.Open(t.Context(), path, nil)
	if !errors.Is(err, store.ErrCorrupt) || !strings.HasSuffix(err.Error(), path+" is an empty file and not a store") {
		t.Errorf("Open of an empty file: %v, want an ErrCorrupt that names it", err)
	}
	if data := readFile(t, path); len(data) > 0 {
		t.Error("it was written to")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".carrel-new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("to make a store leaves %q behind, %v", left, err)
	}
}

// Apply fails if the path of the store no longer names the open file, because its change would be
// lost with the file.
func TestMovedAway(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
		},
	} {
		path := newPath(t)
		s := openAt(t, path)
		fill(t, s, 1, 2)
		before := read(t, s)
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := move(path); err != nil {
			t.Fatal(err)
		}
		err := writeMuch(t, s, "late")
		if !errors.Is(err, store.ErrMoved) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Apply: %v, want an ErrMoved that names the file", name, err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Errorf("%s: Ready: %v, want ErrMoved", name, err)
		}
		if diff := storetest.Diff(before, read(t, s)); diff != "" {
			t.Errorf("%s: contents (-before +after):\n%s", name, diff)
		}
		if name == "moved" {
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			if err := s.Ready(t.Context()); err != nil {
				t.Errorf("Ready after it was put back: %v", err)
			}
		}
	}
}

// writeMuch writes a session of a megabyte.
func writeMuch(t *testing.T, s store.Store, id transcript.SessionID) error {
	t.Helper()
	c := store.Cell{ID: store.CellID(id), Kind: store.CellItem, Body: make([]byte, 1<<20)}
	c.Commit = digest.Commit(c.Salt, string(c.Kind), c.Body)
	_, err := s.Apply(t.Context(), scope, id, 0, &store.Change{
		Cells: []store.Cell{c}, Items: []store.CellID{c.ID},
		Entry: store.Entry{ID: "op-" + string(id), Op: "test", Actor: "user", Time: epoch},
	})
	return err
}

// Without space on the disk, Apply fails with ErrFull and writes nothing.
func TestFull(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	fill(t, s, 1, 2)
	before := read(t, s)
	if err := sqlite.LimitPages(s, 1); err != nil { // SQLite raises the limit to the present size
		t.Fatal(err)
	}
	err := writeMuch(t, s, "large")
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), path) {
		t.Fatalf("Apply: %v, want an ErrFull that names the file", err)
	}
	if text := err.Error(); !strings.Contains(text, "free some space") || strings.Contains(text, "(13)") {
		t.Errorf("the error says %q", text)
	}
	if err := s.Ready(t.Context()); err != nil && !errors.Is(err, store.ErrFull) {
		t.Errorf("Ready: %v, want ErrFull or, if what it tries is small enough, nothing", err)
	}
	if err := sqlite.LimitPages(s, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready with space again: %v", err)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
	if got := read(t, s); len(got.Sessions) < len(before.Sessions) {
		t.Errorf("there are %d sessions, there were %d", len(got.Sessions), len(before.Sessions))
	}
}

// readOnlyChild is the environment variable with the path of a store that a child process of the
// test can only read.
const readOnlyChild = "CARREL_READ_ONLY_CHILD"

// A store without permission to write can be read, and writes fail with ErrReadOnly. Root can write
// every file, so a child process that runs as nobody tries it.
func TestReadOnly(t *testing.T) {
	if path := os.Getenv(readOnlyChild); path != "" {
		readOnly(t, path)
		return
	}
	for name, modes := range map[string][2]fs.FileMode{ // of the folder, of the file
		"folder and file": {0o555, 0o444},
		"file":            {0o777, 0o444},
		"folder":          {0o555, 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			open := func(path string, mode fs.FileMode) {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			top := t.TempDir()
			open(filepath.Dir(top), 0o755) // so that the child can reach it
			dir := filepath.Join(top, "dir")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "carrel.db")
			copyFile(t, path, filled(t))
			open(path, modes[1])
			open(dir, modes[0])
			t.Cleanup(func() { open(dir, 0o755) })
			exe := filepath.Join(top, "test")
			copyFile(t, exe, os.Args[0])
			open(exe, 0o755)
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestReadOnly$", "-test.count=1")
			cmd.Env = append(os.Environ(), readOnlyChild+"="+path, "TMPDIR="+os.TempDir())
			cmd.Dir = top
			asNobody(cmd)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// readOnly is the body of the child process.
func readOnly(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); len(got.Sessions) == 0 {
		t.Error("no session can be read")
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
	if _, err := s.Postings(t.Context(), scope, []string{"apple"}); err != nil {
		t.Errorf("Postings: %v", err)
	}
	err = writeMuch(t, s, "late")
	if !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "writable") {
		t.Errorf("Apply: %v, want an ErrReadOnly that names the file and what to do", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Ready: %v, want ErrReadOnly", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Compare returns the figures of a backup, and what the present store has and the backup lacks.
func TestCompare(t *testing.T) {
	t.Parallel()
	path, backup := newPath(t), filepath.Join(t.TempDir(), "backup.db")
	s := openAt(t, path)
	fill(t, s, 2, 3)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	then := read(t, s)
	c, err := sqlite.Compare(t.Context(), backup, path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Backup.Sessions != len(then.Sessions) || c.Backup.Artifacts != len(then.Artifacts) || c.Backup.Newest.IsZero() ||
		c.Present == nil || *c.Present != c.Backup || c.LostSessions+c.OlderSessions+c.LostVersions+c.LostCalls != 0 {
		t.Errorf("Compare with the store that was backed up: %+v, present %+v", c, c.Present)
	}
	late := then.Sessions[0].Head
	apply := &store.Change{Head: late, Entry: store.Entry{ID: "op-late", Op: "test", Actor: "user", Time: epoch}}
	if _, err := s.Apply(t.Context(), scope, late.ID, late.Revision, apply); err != nil {
		t.Fatal(err)
	}
	fresh := &store.Change{Entry: store.Entry{ID: "op-fresh", Op: "test", Actor: "user", Time: epoch}}
	if _, err := s.Apply(t.Context(), scope, "fresh", 0, fresh); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), scope, &store.Update{Entry: store.Entry{ID: "up-late", Op: "test", Actor: "user", Time: epoch}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(t.Context(), scope, []store.Call{(&caller{name: "late"}).next()}); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []int{8, 7} { // schema of the backup
		c, err = sqlite.Compare(t.Context(), backup, path)
		if err != nil || c.LostSessions != 1 || c.OlderSessions != 1 || c.LostVersions != 1 || c.LostCalls != 1 {
			t.Errorf("Compare with a backup of schema %d = %+v, %v; want one session lost, one older, one update and one call lost", schema, c, err)
		}
		if schema == 8 {
			tamper(t, backup, withoutCalls...)
		}
	}
	if c, err := sqlite.Compare(t.Context(), backup, path+".none"); err != nil || c.Present != nil {
		t.Errorf("Compare with no store = %+v, %v", c, err)
	}
	if _, err := sqlite.Compare(t.Context(), path+".none", path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Compare of no backup: %v, want ErrNotExist", err)
	}
}

// An error of SQLite about the disk or permissions is told as what it means, with what to try.
func TestErrorsOfSQLite(t *testing.T) {
	t.Parallel()
	there, none := newPath(t), newPath(t)+".none"
	file(nil)(t, there)
	for _, tt := range []struct {
		path string
		code int
		want error
		says string
	}{
		{there, codes.SQLITE_FULL, store.ErrFull, "free some space"},
		{there, codes.SQLITE_READONLY, store.ErrReadOnly, "reading works"},
		{there, codes.SQLITE_READONLY_DBMOVED, store.ErrMoved, "put the file back"},
		{there, codes.SQLITE_CANTOPEN, store.ErrReadOnly, "no file can be created beside it: reading works"},
		{none, codes.SQLITE_CANTOPEN, store.ErrUnreadable, "make the file readable"},
		{there, codes.SQLITE_PERM, store.ErrUnreadable, "make the file readable"},
		{there, codes.SQLITE_AUTH, store.ErrUnreadable, "make the file readable"},
		{there, codes.SQLITE_IOERR_READ, store.ErrFailing, "look into the log"},
		{there, codes.SQLITE_IOERR_WRITE, store.ErrFull, "free some space"},
		{there, codes.SQLITE_IOERR_SHMSIZE, store.ErrFull, "free some space"},
		{there, codes.SQLITE_IOERR_TRUNCATE, store.ErrFull, "free some space"},
	} {
		err := sqlite.StoreError(tt.path, tt.code, io.ErrShortWrite)
		if !errors.Is(err, tt.want) || errors.Is(err, io.ErrShortWrite) == (tt.path == none) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("code %d: %v, want %v that says %q", tt.code, err, tt.want, tt.says)
		}
	}
	if err := sqlite.StoreError(there, codes.SQLITE_BUSY, io.ErrShortWrite); err != nil {
		t.Errorf("a busy store: %v, want no trouble", err)
	}
	for err, want := range map[error]bool{store.ErrReadOnly: true, store.ErrFull: true, fs.ErrPermission: true, store.ErrFailing: false} {
		if got := sqlite.CannotWrite(err); got != want {
			t.Errorf("%v: nothing can be written: %t, want %t", err, got, want)
		}
	}
}
