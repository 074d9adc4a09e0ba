// Package hold reads a session at a revision: its messages and blocks, its window and earlier
// windows, its contract and summary. It also finds the texts that the agent is likely to need
// again.
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

// Memory holds the caches of sessions that all engines over one store share.
type Memory struct {
	Scans    ScanCache
	Sessions SessionCache
	Receipts ReceiptCache
	Views    ViewCache
}

// Forget removes everything about a scope from memory. It is called after an erasure in the
// scope.
func (e *Desk) Forget(scope governance.Scope) {
	e.Pages.DropScope(scope)
	e.Segments.Forget(scope)
	e.Scans.forget(scope)
	e.Sessions.forget(scope)
	e.Memory.Receipts.forget(scope)
	e.Views.forget(scope)
}
