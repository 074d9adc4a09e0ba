package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// A BlobStore is a store with the roles [store.Blobs] and [store.Movable].
type BlobStore interface {
	store.Store
	store.Movable
	store.Blobs
}

// RunBlobs checks the role [store.Blobs]. Each check calls the function open, which makes an empty
// store and registers its cleanup with t, and then calls handle twice; each call opens that store.
func RunBlobs(t *testing.T, open func(t *testing.T) (handle func() BlobStore)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b BlobStore)
	}{
		{"every write takes the blob of a cell, and reading the cell is an AwayError", blobsAreTaken},
		{"a write with a blob that is not reserved is a conflict, and writes nothing", blobsAreReserved},
		{"a blob that is being dropped cannot be taken, and one that was taken cannot be dropped", blobsAreDroppedOrTaken},
		{"reserved blobs are loose when they are old, and dropped ones at once", blobsAgeWhileLoose},
		{"a purge makes the blob of a cell loose in the same write", purgedBlobsAreLoose},
		{"blobs of another scope are neither seen nor taken nor dropped", blobsAreOfAScope},
		{"a store with blobs has no problems", blobsAreSound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle := open(t)
			c.run(t, handle(), handle())
		})
	}
}

// old is an age for LooseBlobs. It is negative, so that every blob is old enough, even one that was
// reserved just now.
const old = -time.Hour

// away returns a cell whose body is in a new blob.
func away(id store.CellID) store.Cell {
	c := newCell(id, store.CellText, "the text of "+string(id))
	c.Blob, c.Body = store.NewBlobKey(len(c.Body)), nil
	return c
}

func reserve(t *testing.T, s BlobStore, sc governance.Scope, cells ...store.Cell) {
	t.Helper()
	if err := s.ReserveBlobs(t.Context(), sc, store.BlobsOf(cells)); err != nil {
		t.Fatalf("ReserveBlobs: %v", err)
	}
}

// loose checks that LooseBlobs, called with the given age, returns the blobs of the given cells.
func loose(t *testing.T, s BlobStore, sc governance.Scope, age time.Duration, cells ...store.Cell) {
	t.Helper()
	got, err := s.LooseBlobs(t.Context(), sc, age)
	if want := slices.Sorted(slices.Values(store.BlobsOf(cells))); err != nil || !slices.Equal(got, want) {
		t.Errorf("LooseBlobs at %v = %q, %v; want %q", age, got, err, want)
	}
}

// isAway checks that the body of a cell is in its blob.
func isAway(t *testing.T, s BlobStore, sc governance.Scope, c store.Cell) {
	t.Helper()
	_, err := collect(s.Cells(t.Context(), sc, []store.CellID{c.ID}))
	found, ok := errors.AsType[*store.AwayError](err)
	if !ok || !errors.Is(err, store.ErrUnreadable) {
		t.Fatalf("cell %s: %v, want an AwayError", c.ID, err)
	}
	equal(t, "cell", found.Cell, c)
}

// withCells returns an update that only adds and purges cells.
func withCells(entry string, cells []store.Cell, purge ...store.CellID) *store.Update {
	return &store.Update{Entry: store.Entry{ID: entry, Op: "put", Actor: governance.ActorUser, Time: epoch}, Cells: cells, Purge: purge}
}

func blobsAreTaken(t *testing.T, a, b BlobStore) {
	all := []store.Cell{away("a"), away("b"), away("c")}
	reserve(t, a, scope, all...)
	c := newChange("op1")
	c.Cells = []store.Cell{all[0], newCell("beside", store.CellItem, "here")}
	apply(t, b, scope, "s", 0, c)
	if _, err := a.Update(t.Context(), scope, withCells("op2", all[1:2])); err != nil {
		t.Fatal(err)
	}
	if err := b.AddCells(t.Context(), scope, all[2:], nil); err != nil {
		t.Fatal(err)
	}
	loose(t, a, scope, old)
	for _, cell := range all {
		isAway(t, a, scope, cell)
	}
	for _, ids := range [][]store.CellID{nil, {"a", "b", "c", "beside", "none"}} {
		got, err := a.CellBlobs(t.Context(), scope, ids)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "CellBlobs", got, map[store.CellID]store.BlobKey{"a": all[0].Blob, "b": all[1].Blob, "c": all[2].Blob})
	}
	got, err := collect(a.Cells(t.Context(), scope, []store.CellID{"beside", "a"}))
	if len(got) != 1 || !errors.Is(err, store.ErrUnreadable) {
		t.Errorf("Cells = %d, %v; want the one with a body, and then the error", len(got), err)
	}
}

func blobsAreReserved(t *testing.T, a, _ BlobStore) {
	one, two := away("a"), away("b")
	reserve(t, a, scope, one)
	c := newChange("op1")
	c.Cells = []store.Cell{one, two}
	_, applied := a.Apply(t.Context(), scope, "s", 0, c)
	_, updated := a.Update(t.Context(), scope, withCells("op2", []store.Cell{one, two}))
	for method, err := range map[string]error{"Apply": applied, "Update": updated, "AddCells": a.AddCells(t.Context(), scope, []store.Cell{one, two}, nil)} {
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v, want %v", method, err, store.ErrConflict)
		}
	}
	loose(t, a, scope, old, one)
	if _, err := a.Head(t.Context(), scope, "s"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the session of a refused change: %v, want %v", err, store.ErrNotFound)
	}
	for _, bad := range []store.Cell{
		{ID: "x", Kind: one.Kind, Salt: one.Salt, Commit: one.Commit, Blob: "no key"},
		{ID: "x", Kind: one.Kind, Salt: one.Salt, Commit: one.Commit, Blob: one.Blob, Body: []byte("and a body")},
	} {
		if err := a.AddCells(t.Context(), scope, []store.Cell{bad}, nil); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("AddCells of an invalid cell with a blob: %v", err)
		}
	}
}

// drop marks the blobs of cells as being dropped, and checks that only those of the cells in want
// were marked.
func drop(t *testing.T, s BlobStore, sc governance.Scope, cells []store.Cell, want ...store.Cell) {
	t.Helper()
	got, err := s.DropBlobs(t.Context(), sc, store.BlobsOf(cells))
	if keys := slices.Sorted(slices.Values(store.BlobsOf(want))); err != nil || !slices.Equal(got, keys) {
		t.Errorf("DropBlobs = %q, %v; want %q", got, err, keys)
	}
}

func blobsAreDroppedOrTaken(t *testing.T, a, b BlobStore) {
	late, taken, never := away("a"), away("b"), away("c")
	reserve(t, a, scope, late, taken)
	if err := a.AddCells(t.Context(), scope, []store.Cell{taken}, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again, as after an answer that was lost
		drop(t, b, scope, []store.Cell{late, taken, never}, late)
	}
	if err := a.AddCells(t.Context(), scope, []store.Cell{late}, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a blob that is being dropped was taken: %v, want %v", err, store.ErrConflict)
	}
	reserve(t, a, scope, late) // does not make it one that can be taken
	if err := a.AddCells(t.Context(), scope, []store.Cell{late}, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a blob that is being dropped was reserved and taken: %v, want %v", err, store.ErrConflict)
	}
	isAway(t, b, scope, taken)
}

func blobsAgeWhileLoose(t *testing.T, a, b BlobStore) {
	one, two, three := away("a"), away("b"), away("c")
	reserve(t, a, scope, one, two, three)
	loose(t, b, scope, soon)
	loose(t, b, scope, old, one, two, three)
	drop(t, b, scope, []store.Cell{two}, two)
	loose(t, a, scope, soon, two)
	if err := a.ForgetBlobs(t.Context(), scope, store.BlobsOf([]store.Cell{one, two})); err != nil {
		t.Fatal(err)
	}
	loose(t, b, scope, old, one, three) // only what is being dropped is forgotten
}

func purgedBlobsAreLoose(t *testing.T, a, b BlobStore) {
	kept, gone := away("a"), away("b")
	reserve(t, a, scope, kept, gone)
	if _, err := a.Update(t.Context(), scope, withCells("op1", []store.Cell{kept, gone})); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Update(t.Context(), scope, withCells("op2", nil, "a", "none")); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a purge of a missing cell: %v, want %v", err, store.ErrNotFound)
	}
	loose(t, b, scope, old) // the whole update was refused
	for i := range 2 {      // again: what is purged can be purged
		if _, err := a.Update(t.Context(), scope, withCells(numbered("op3", i), nil, "b")); err != nil {
			t.Fatal(err)
		}
		loose(t, b, scope, soon, gone)
	}
	isAway(t, b, scope, kept)
	_, err := collect(b.Cells(t.Context(), scope, []store.CellID{"b"}))
	if lost, is := errors.AsType[*store.GoneError](err); !is || lost.Commit != gone.Commit {
		t.Errorf("the purged cell: %v, want a GoneError with its commitment", err)
	}
	blobs, err := b.CellBlobs(t.Context(), scope, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "CellBlobs", blobs, map[store.CellID]store.BlobKey{"a": kept.Blob})
}

func blobsAreOfAScope(t *testing.T, a, b BlobStore) {
	const other = scope + "/other"
	ours, theirs := away("a"), away("b")
	reserve(t, a, scope, ours)
	reserve(t, a, other, theirs)
	if err := a.AddCells(t.Context(), scope, []store.Cell{theirs}, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a blob of another scope was taken: %v, want %v", err, store.ErrConflict)
	}
	drop(t, b, scope, []store.Cell{ours, theirs}, ours)
	if err := b.ForgetBlobs(t.Context(), scope, store.BlobsOf([]store.Cell{ours, theirs})); err != nil {
		t.Fatal(err)
	}
	loose(t, a, scope, old)
	loose(t, a, other, old, theirs)
	if err := a.AddCells(t.Context(), other, []store.Cell{theirs}, nil); err != nil {
		t.Fatal(err)
	}
	if blobs, err := a.CellBlobs(t.Context(), scope, nil); err != nil || len(blobs) > 0 {
		t.Errorf("CellBlobs = %v, %v; want none", blobs, err)
	}
}

func blobsAreSound(t *testing.T, a, _ BlobStore) {
	one, two := away("a"), away("b")
	reserve(t, a, scope, one, two)
	if _, err := a.Update(t.Context(), scope, withCells("op1", []store.Cell{one, two}, "b")); err != nil {
		t.Fatal(err)
	}
	if problems, err := a.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
}
