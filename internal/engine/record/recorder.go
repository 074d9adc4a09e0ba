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

// Record adds the journal entry and the statements of the contract to a change
// after which the window is as the settlement says.
func (e *Recorder) Record(ctx context.Context, scope governance.Scope, h *hold.Held, c *store.Change, op string, data any, s *Settlement) error {
	var err error
	if c.Entry, err = e.Entry(scope, h.Head.ID, h.Head.Revision, op, data); err != nil {
		return err
	}
	c.Statements, err = e.settle(ctx, scope, h, c, s)
	return err
}
