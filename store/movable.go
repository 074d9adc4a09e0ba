package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/transcript"
)

// Movable has the methods that only the copying of a whole store needs: they list all records of
// kinds that other methods return only for given keys, and add cells with their edges, also purged
// ones. It is not part of [Store]: only the owner of the store has this role, and a guarded store
// does not.
type Movable interface {
	// AllCells returns the ids of all cells of a scope in order, also of purged cells.
	AllCells(ctx context.Context, scope governance.Scope) ([]CellID, error)

	// AllEdges returns all edges of a scope, ordered by derived cell, source and relation.
	AllEdges(ctx context.Context, scope governance.Scope) ([]Edge, error)

	// BlockWords returns the index entries of the blocks of sessions, in the order in which
	// they were made. Blocks without words have none.
	BlockWords(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID) (map[transcript.SessionID][]IndexEntry, error)

	// AllJobs returns all jobs of a scope that have not ended, also those that a process has,
	// ordered by name.
	AllJobs(ctx context.Context, scope governance.Scope) ([]Job, error)

	// AddCells adds cells and edges durably, all or none. The cells may be purged ones, see
	// [Cell.Gone], and belong to no session until [Change.Adopt] names them. AddCells fails with
	// ErrNotFound if an edge refers to a missing cell, and refuses a cell or an edge that exists.
	AddCells(ctx context.Context, scope governance.Scope, cells []Cell, edges []Edge) error
}

// ValidateMoved returns the first error in the arguments of [Movable.AddCells] that can be found
// without the store. Every driver calls it before it writes. Cells are checked as in
// [Change.Validate], but may be Gone; such a cell has no Salt, Body or Blob.
func ValidateMoved(cells []Cell) error {
	seen := make(map[CellID]bool, len(cells))
	for i := range cells {
		c := cells[i]
		if c.Gone {
			if c.Salt != [len(c.Salt)]byte{} || c.Body != nil || c.Blob != "" {
				return fmt.Errorf("cell %s is purged but has a salt, a body or a blob: all must be empty", c.ID)
			}
			c.Gone, c.Commit = false, (&Cell{Kind: c.Kind}).commit()
		}
		if err := c.validate(i, seen, "move"); err != nil {
			return err
		}
	}
	return nil
}

// validateAdopted returns the first error in the list of cells that a change adopts. The map
// brought has the cells that the change adds.
func validateAdopted(ids []CellID, brought map[CellID]bool) error {
	seen := make(map[CellID]bool, len(ids))
	for _, id := range ids {
		switch {
		case id == "":
			return errors.New("the change adopts a cell without an id")
		case brought[id] || seen[id]:
			return fmt.Errorf("the change adds or adopts cell %s twice", id)
		}
		seen[id] = true
	}
	return nil
}
