// Package record writes one change to a session, with its entry in the journal and its
// statements in the contract, which are run before they are kept.
package record

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
)

// A Recorder writes the changes of sessions.
type Recorder struct {
	*hold.Desk
}

// Record writes a change after which the window is as the settlement says, with its entry
// in the journal and its statements in the contract. It returns the id of the entry.
func (e *Recorder) Record(ctx context.Context, scope governance.Scope, h *hold.Snapshot, c *store.Change, op string, data any, s *Settlement) (string, error) {
	var err error
	if c.Entry, err = e.Entry(scope, h.Head, op, data); err != nil {
		return "", err
	}
	if c.Statements, err = e.settle(ctx, scope, h, c, s); err != nil {
		return "", err
	}
	_, err = e.Store.Apply(ctx, scope, h.Head.ID, h.Head.Revision, c)
	return c.Entry.ID, err
}

// BeginSession adds to a change what a session has from the first, where that is no
// conversation.
func (e *Recorder) BeginSession(c *store.Change) error {
	cell, err := e.Cell(store.CellAbout, []byte("{}"))
	if err != nil {
		return err
	}
	c.Cells = append(c.Cells, cell)
	c.Head.About, c.Head.Created = cell.ID, c.Head.Updated
	return nil
}
