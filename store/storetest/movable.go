package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A MovableStore is a store with the role [store.Movable].
type MovableStore interface {
	store.Store
	store.Movable
}

// RunMovable checks the role [store.Movable]. Each check calls open for a new empty store.
func RunMovable(t *testing.T, open func(t *testing.T) MovableStore) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s MovableStore)
	}{
		{"cells that are added without a session are read like others, and purged ones are purged", addedCells},
		{"AddCells refuses what exists, what is missing and what is invalid, and then adds nothing", addedCellsRefused},
		{"a session that adopts cells has brought them", adopted},
		{"only AddCells takes a purged cell", purgedRefused},
		{"all cells and edges of a scope are listed, whatever added them", everyCell},
		{"all jobs of a scope are listed, also those that a process has", everyJob},
		{"the words of blocks are returned as they were last indexed", everyWord},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// purged returns what remains of a cell after its purge.
func purged(c store.Cell) store.Cell {
	return store.Cell{ID: c.ID, Kind: c.Kind, Commit: c.Commit, Gone: true}
}

func addedCells(t *testing.T, s MovableStore) {
	live, gone := newCell("a", store.CellText, "text"), purged(newCell("b", store.CellStub, "gone"))
	edge := store.Edge{Derived: "b", Source: "a", Rel: "from"}
	if err := s.AddCells(t.Context(), scope, []store.Cell{live, gone, newCell("c", store.CellText, "")}, []store.Edge{edge}); err != nil {
		t.Fatal(err)
	}
	got, err := collect(s.Cells(t.Context(), scope, []store.CellID{"a", "c", "b"}))
	lost, isGone := errors.AsType[*store.GoneError](err)
	if len(got) != 2 || !isGone || *lost != (store.GoneError{Cell: "b", Kind: gone.Kind, Commit: gone.Commit}) {
		t.Errorf("cells: %d, %v; want two, and the third purged", len(got), err)
	}
	equal(t, "cell", got[0], &live)
	edges, err := s.Sources(t.Context(), scope, "b")
	lists(t, "sources", edges, err, func(e store.Edge) string { return string(e.Source) }, "a")
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
}

func addedCellsRefused(t *testing.T, s MovableStore) {
	one := newCell("a", store.CellText, "text")
	if err := s.AddCells(t.Context(), scope, []store.Cell{one}, nil); err != nil {
		t.Fatal(err)
	}
	damaged, salted := newCell("x", store.CellText, "text"), purged(newCell("x", store.CellText, "text"))
	damaged.Body = []byte("other")
	salted.Salt[0] = 1
	for what, cells := range map[string][]store.Cell{
		"a stored cell": {newCell("x", store.CellText, ""), one}, "a cell twice": {newCell("x", store.CellText, ""), newCell("x", store.CellText, "")},
		"another body": {damaged}, "a purged cell with a salt": {salted}, "no id": {newCell("", store.CellText, "")},
	} {
		if err := s.AddCells(t.Context(), scope, cells, nil); err == nil {
			t.Errorf("%s: it was added", what)
		}
	}
	err := s.AddCells(t.Context(), scope, []store.Cell{newCell("x", store.CellText, "")}, []store.Edge{{Derived: "x", Source: "none", Rel: "r"}})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an edge to a missing cell: %v, want ErrNotFound", err)
	}
	all, err := s.AllCells(t.Context(), scope)
	lists(t, "cells", all, err, itself[store.CellID], "a")
}

func adopted(t *testing.T, s MovableStore) {
	c := fullChange("x")
	if err := s.AddCells(t.Context(), scope, c.Cells, c.Edges); err != nil {
		t.Fatal(err)
	}
	for i := range c.Cells {
		c.Adopt = append(c.Adopt, c.Cells[i].ID)
	}
	c.Cells, c.Edges = nil, nil
	for what, ids := range map[string][]store.CellID{"a missing cell": {"none"}, "a cell twice": {"xc1", "xc1"}, "no id": {""}} {
		bad := *c
		bad.Adopt = append(slices.Clone(c.Adopt), ids...)
		if _, err := s.Apply(t.Context(), scope, "s", 0, &bad); err == nil {
			t.Errorf("a session adopted %s", what)
		}
	}
	apply(t, s, scope, "s", 0, c)
	apply(t, s, "test/other", "s", 0, fullChange("x"))
	got, err := s.Brought(t.Context(), scope, "s")
	lists(t, "brought", got, err, itself[store.CellID], "xabout xc1 xc2 xsent xstub xsummary")
	equal(t, "contents", contents(t, s, scope), contents(t, s, "test/other"))
}

func purgedRefused(t *testing.T, s MovableStore) {
	gone := purged(newCell("a", store.CellItem, "text"))
	c := newChange("op1")
	c.Cells = []store.Cell{gone}
	if _, err := s.Apply(t.Context(), scope, "s", 0, c); err == nil {
		t.Error("Apply took a purged cell")
	}
	if _, err := s.Update(t.Context(), scope, &store.Update{Cells: c.Cells, Entry: c.Entry}); err == nil {
		t.Error("Update took a purged cell")
	}
}

func everyCell(t *testing.T, s MovableStore) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, "test/other", "s", 0, fullChange("z"))
	u := &store.Update{Cells: []store.Cell{newCell("b", store.CellText, "b"), newCell("a", store.CellText, "a")}, Entry: newChange("op2").Entry}
	u.Edges = []store.Edge{{Derived: "b", Source: "xc1", Rel: "from"}, {Derived: "a", Source: "b", Rel: "from"}, {Derived: "a", Source: "b", Rel: "by"}}
	u.Purge = []store.CellID{"xc2"}
	if _, err := s.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	all, err := s.AllCells(t.Context(), scope)
	lists(t, "cells", all, err, itself[store.CellID], "a b xabout xc1 xc2 xsent xstub xsummary")
	edges, err := s.AllEdges(t.Context(), scope)
	lists(t, "edges", edges, err, func(e store.Edge) string { return fmt.Sprintf("%s-%s-%s", e.Derived, e.Source, e.Rel) },
		"a-b-by a-b-from b-xc1-from xstub-xc1-stub xstub-xc2-stub")
	none, err := s.AllCells(t.Context(), "none")
	lists(t, "cells of no scope", none, err, itself[store.CellID], "")
	edges, err = s.AllEdges(t.Context(), "none")
	lists(t, "edges of no scope", edges, err, func(e store.Edge) string { return e.Rel }, "")
}

func everyJob(t *testing.T, s MovableStore) {
	held, open, elsewhere := newJob("2", "a"), newJob("1", "a"), newJob("3", "a")
	held.Data = []byte(`{"derived": ["s2"]}`)
	elsewhere.Scope = "test/elsewhere"
	begin(t, s, held, soon, nil)
	begin(t, s, open, over, nil)
	begin(t, s, elsewhere, over, nil)
	got, err := s.AllJobs(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "all jobs", got, []store.Job{*open, *held})
}

func everyWord(t *testing.T, s MovableStore) {
	words := func(ids ...transcript.SessionID) map[transcript.SessionID][]store.IndexEntry {
		t.Helper()
		all, err := s.BlockWords(t.Context(), scope, ids)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := fullChange("x")
	apply(t, s, scope, "s", 0, first)
	apply(t, s, scope, "other", 0, fullChange("y"))
	equal(t, "words", words("s", "none"), map[transcript.SessionID][]store.IndexEntry{"s": first.Index})
	for i := range 20 { // so that segments are merged
		c := retire("x", numbered("n", i), "")
		c.Index = []store.IndexEntry{{Block: "xb1", Words: map[string]uint32{numbered("w", i): uint32(i + 1), "often": 200}}} //nolint:gosec // it is small
		apply(t, s, scope, "s", store.Revision(i+1), c)
	}
	last := []store.IndexEntry{first.Index[1], {Block: "xb1", Words: map[string]uint32{"w0019": 20, "often": 200}}}
	equal(t, "words after changes", words("s", "other"), map[transcript.SessionID][]store.IndexEntry{"s": last, "other": fullChange("y").Index})
	c := retire("x", "empty", "")
	c.Index = []store.IndexEntry{{Block: "xb1"}}
	apply(t, s, scope, "s", 21, c)
	equal(t, "words after one block lost them", words("s"), map[transcript.SessionID][]store.IndexEntry{"s": last[:1]})
	apply(t, s, scope, "s", 22, erasure("x"))
	if got := words("s"); len(got["s"]) > 0 {
		t.Errorf("words after an erasure: %v", got)
	}
}
