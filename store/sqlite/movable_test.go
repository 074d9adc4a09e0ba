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
	"github.com/carrel-dev/carrel/transcript"
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

// Damage of what only a move reads is an ErrCorrupt.
func TestMovableNoticesDamage(t *testing.T) {
	for _, damage := range []string{
		`DELETE FROM edge`, `UPDATE edge SET rel = 'other'`, `UPDATE posting SET body = x'00'`, `DELETE FROM posting`, `DELETE FROM segment`, `UPDATE doc SET block_id = 'y'`,
	} {
		path := newPath(t)
		s, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]store.Cell, 2)
		for i := range cells {
			cells[i] = store.Cell{ID: store.CellID("ab"[i : i+1]), Kind: store.CellText}
			cells[i].Commit = digest.Commit(cells[i].Salt, string(cells[i].Kind), nil)
		}
		_, err = s.Apply(t.Context(), scope, "s", 0, &store.Change{
			Cells: cells, Edges: []store.Edge{{Derived: "a", Source: "b", Rel: "r"}}, Entry: store.Entry{ID: "op1"},
			Blocks: []store.Block{{ID: "x", Turn: 1, State: store.StateLive}}, Index: []store.IndexEntry{{Block: "x", Words: map[string]uint32{"apple": 1}}},
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		tamper(t, path, damage)
		s = openAt(t, path)
		_, edges := s.AllEdges(t.Context(), scope)
		_, words := s.BlockWords(t.Context(), scope, []transcript.SessionID{"s"})
		if !errors.Is(edges, store.ErrCorrupt) && !errors.Is(words, store.ErrCorrupt) {
			t.Errorf("after %s: %v, %v", damage, edges, words)
		}
	}
}
