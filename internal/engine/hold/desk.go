// Package hold reads a session at a revision: its messages and blocks, what its window has,
// its earlier windows, its contract and its summary, and what of it is likely to be needed.
package hold

import "github.com/carrel-dev/carrel/internal/engine/stacks"

// A Desk reads the sessions of a store.
type Desk struct {
	*stacks.Stacks
	Scans *ScanCache
}
