package sqlite_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

func TestMovable(t *testing.T) {
	storetest.RunMovable(t, func(t *testing.T) storetest.MovableStore { return openAt(t, newPath(t)) })
}

// A store that is opened for reading only gives back everything, takes nothing, and its file
// stays as it is. No file is made, and none is migrated.
func TestOpenReadOnly(t *testing.T) {
	path := newPath(t)
	if s, err := sqlite.Open(t.Context(), path, &sqlite.Options{ReadOnly: true}); err == nil {
		t.Errorf("a missing file was opened: %v", s.Close())
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file was made: %v", err)
		}
	}
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	cell := store.Cell{ID: "a", Kind: store.CellText, Body: []byte("text")}
	cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
	if err := errors.Join(s.AddCells(t.Context(), scope, []store.Cell{cell}, nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(t.Context(), path, &sqlite.Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.AllCells(t.Context(), scope); err != nil || len(all) != 1 {
		t.Errorf("cells: %q, %v", all, err)
	}
	cell.ID = "b"
	if err := s.AddCells(t.Context(), scope, []store.Cell{cell}, nil); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("it took a cell: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, %v", err)
	}
}
