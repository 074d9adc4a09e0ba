// Package record writes a change to a session, with its entry in the journal and its statements
// in the contract. It runs the statements before it stores them.
package record

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
)

// A Recorder writes changes to sessions.
type Recorder struct {
	*hold.Desk
}

// Record writes the change c of a session, together with an entry of the journal and statements of
// the contract. The argument s describes the window after the change. Record returns the id of the
// entry.
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

// BeginSession adds to a change the about cell of a new session without a conversation.
func (e *Recorder) BeginSession(c *store.Change) error {
	cell, err := e.Cell(store.CellAbout, []byte("{}"))
	if err != nil {
		return err
	}
	c.Cells = append(c.Cells, cell)
	c.Head.About, c.Head.Created = cell.ID, c.Head.Updated
	return nil
}
