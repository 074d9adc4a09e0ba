package file

import (
	"os"
	"path"
	"slices"
	"syscall"
	"testing"
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
