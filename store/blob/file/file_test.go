package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/store/blob/blobtest"
	"github.com/carrel-dev/carrel/store/blob/file"
)

// newPlace returns the place in a directory.
func newPlace(t *testing.T, dir string) (p blob.Keeper) {
	t.Helper()
	var err error
	if p, err = file.New(dir); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlace(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) func() blob.Keeper {
		dir := t.TempDir()
		return func() blob.Keeper { return newPlace(t, dir) }
	})
}

func TestNewRefusesARelativePath(t *testing.T) {
	if _, err := file.New("blobs"); err == nil {
		t.Error("a relative path was accepted")
	}
}

// A directory that is not there is no empty place: it may be on a volume that is not mounted.
func TestAMissingDirectoryIsUnreachable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	under := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(under, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newPlace(t, filepath.Join(under, "volume")).Get(t.Context(), "k", 1); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("below a file: %v, want %v", err, store.ErrUnreachable)
	}
	p := newPlace(t, dir)
	_, got := p.Get(t.Context(), "k", 1)
	for method, err := range map[string]error{
		"Put": p.Put(t.Context(), "k", []byte("x")), "Get": got, "Drop": p.Drop(t.Context(), "k"), "Ready": p.Ready(t.Context()),
	} {
		if !errors.Is(err, store.ErrUnreachable) || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want %v", method, err, store.ErrUnreachable)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}

// What a Put has left that was cut off is no blob, and Drop deletes it.
func TestDropDeletesWhatAnUnfinishedPutHasLeft(t *testing.T) {
	dir := t.TempDir()
	p := newPlace(t, dir)
	left := filepath.Join(dir, "scope", "k.part")
	if err := os.Mkdir(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("half of"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), "scope/k", 100); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Get of an unfinished blob: %v, want %v", err, os.ErrNotExist)
	}
	if err := p.Drop(t.Context(), "scope/k"); err != nil {
		t.Fatal(err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "scope", "*")); err != nil || len(names) > 0 {
		t.Errorf("Drop left %q, %v", names, err)
	}
}

// Nobody else can read what is in the place.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir()
	if err := newPlace(t, dir).Put(t.Context(), "scope/k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"scope": 0o700, "scope/k": 0o600} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fi.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
}

// A symbolic link does not lead out of the directory.
func TestLinksDoNotLeadOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "k"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "scope")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	p := newPlace(t, dir)
	if got, err := p.Get(t.Context(), "scope/k", 100); err == nil {
		t.Errorf("Get through a link = %q", got)
	}
	if err := p.Put(t.Context(), "scope/l", []byte("x")); err == nil {
		t.Error("Put through a link succeeded")
	}
}
