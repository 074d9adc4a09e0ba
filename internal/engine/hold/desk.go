// Package hold reads a session at a revision: its messages and blocks, what its window has,
// its earlier windows, its contract and its summary, and what of it is likely to be needed.
package hold

import (
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
)

// A Desk reads the sessions of a store.
type Desk struct {
	*stacks.Stacks
	*Memory
}

// Memory is what all engines over one store keep of sessions.
type Memory struct {
	Scans    ScanCache
	Sessions SessionCache
}

// Forget takes out of memory all that is of a scope: something of it was erased.
func (e *Desk) Forget(scope governance.Scope) {
	e.Pages.DropScope(scope)
	e.Segments.Forget(scope)
	e.Scans.forget(scope)
	e.Sessions.forget(scope)
}
