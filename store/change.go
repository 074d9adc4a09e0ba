package store

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/transcript"
)

// Validate returns the first error in a change that can be found without the store. Every driver
// calls it before it writes. Each cell is there once, has an ID and a matching Commit, and is not
// Gone. Each block is there once and has an ID and a valid State. A rewrite has a valid Kind, a
// Chain, and a cell that the change adds. Head.Status is empty, StatusTombstoned or StatusPurged,
// and Entry has an ID. With Erase the status is StatusPurged, and there are no Statements, Index or
// Rewrites.
func (c *Change) Validate() error {
	cells := make(map[CellID]bool, len(c.Cells))
	kinds := make(map[CellID]CellKind, len(c.Rewrites))
	for i := range c.Cells {
		if err := c.Cells[i].validate(i, cells, "change"); err != nil {
			return err
		}
		if len(c.Rewrites) > 0 {
			kinds[c.Cells[i].ID] = c.Cells[i].Kind
		}
	}
	if err := validateAdopted(c.Adopt, cells); err != nil {
		return err
	}
	for _, id := range c.Adopt {
		kinds[id] = CellSent // the kind is not known here
	}
	if err := validateRewrites(c.Rewrites, kinds); err != nil {
		return err
	}
	blocks := make(map[transcript.BlockID]bool, len(c.Blocks))
	for i := range c.Blocks {
		b := &c.Blocks[i]
		switch {
		case b.ID == "":
			return fmt.Errorf("block %d of the change has no id", i+1)
		case blocks[b.ID]:
			return fmt.Errorf("block %s is twice in the change", b.ID)
		case !b.State.valid():
			return fmt.Errorf("block %s: no such state: %q", b.ID, b.State)
		}
		blocks[b.ID] = true
	}
	if c.Items != nil && c.ItemsFrom < 0 {
		return fmt.Errorf("ItemsFrom of the change is %d, below 0", c.ItemsFrom)
	}
	switch s := c.Head.Status; {
	case c.Entry.ID == "":
		return errors.New("the journal entry has no id")
	case s != "" && s != StatusTombstoned && s != StatusPurged:
		return fmt.Errorf("no such status of a session: %q", s)
	case c.Erase && (s != StatusPurged || len(c.Statements)+len(c.Index)+len(c.Rewrites) > 0):
		return errors.New("a change with Erase needs the status \"purged\", and adds no statements, index entries or rewrites")
	}
	return nil
}

// validate returns an error if c, the cell at index i of a change or an update, is invalid. The map
// seen has the ids of the cells before it; validate adds that of c. The text in of is "change" or
// "update", for the error.
func (c *Cell) validate(i int, seen map[CellID]bool, of string) error {
	switch {
	case c.ID == "":
		return fmt.Errorf("cell %d of the %s has no id", i+1, of)
	case seen[c.ID]:
		return fmt.Errorf("cell %s is twice in the %s", c.ID, of)
	case c.Gone:
		return fmt.Errorf("cell %s of the %s is marked as gone: only AddCells takes purged cells", c.ID, of)
	case c.Blob != "" && (c.Body != nil || c.Blob.Size() < 1):
		return fmt.Errorf("cell %s has a body and a blob, or a blob with an invalid key", c.ID)
	case c.Blob == "" && !c.Holds():
		return fmt.Errorf("cell %s: the commitment was not computed from this body and salt: use digest.Commit", c.ID)
	}
	seen[c.ID] = true
	return nil
}

// Holds reports whether the commitment of a cell matches its body. Of a cell that is Gone or has a
// Blob it reports false, because the body is not there.
func (c *Cell) Holds() bool {
	return c.Commit.Equal(c.commit())
}

// commit returns the commitment to the body of a cell.
func (c *Cell) commit() digest.Digest { return digest.Commit(c.Salt, string(c.Kind), c.Body) }

func (s State) valid() bool {
	switch s {
	case StateLive, StateStub, StateCold, StatePurged:
		return true
	default:
		return false
	}
}
