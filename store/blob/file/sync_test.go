package file

import (
	"errors"
	"os"
	"path"
	"slices"
	"syscall"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
)

// A folder that another process has made, or whose name could not be synced before, may not be on
// the disk yet: Put waits until it is.
func TestPutSyncsFoldersThatExist(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(path.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	var synced []string
	failing := true
	p := &place{dir: dir, sync: func(_ *os.Root, folder string) error {
		if failing {
			return syscall.EIO
		}
		synced = append(synced, folder)
		return nil
	}}
	if err := p.Put(t.Context(), "a/b/k", []byte("x")); err == nil {
		t.Error("Put succeeded without a sync")
	}
	failing = false
	for i, want := range [][]string{
		{".", "a", "a/b"},
		{"a/b"}, // the names of the folders are on the disk
		{".", "a", "a/b"},
	} {
		if i == 2 { // somebody has emptied the directory
			if err := os.RemoveAll(path.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
		}
		synced = nil
		if err := p.Put(t.Context(), "a/b/k", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(synced, want) {
			t.Errorf("Put %d has synced %q, want %q", i, synced, want)
		}
	}
}

// An error of the system is told as what it means for the blobs, with what to try.
func TestErrorsOfTheSystem(t *testing.T) {
	p := &place{dir: "/blobs"}
	for err, want := range map[error]error{
		syscall.ENOSPC: store.ErrFull, syscall.EROFS: store.ErrReadOnly, syscall.EACCES: store.ErrUnreadable, syscall.EIO: store.ErrFailing,
	} {
		trouble, is := errors.AsType[*blob.TroubleError](p.explain(&os.PathError{Op: "open", Path: "k", Err: err}, store.ErrUnreadable))
		if !is || !errors.Is(trouble.Kind, want) || trouble.Next == "" {
			t.Errorf("%v is told as %+v, want %v", err, trouble, want)
		}
	}
	if err := p.explain(syscall.EMFILE, store.ErrUnreadable); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("another error is told as %v", err)
	}
}
