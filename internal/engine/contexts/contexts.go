// Package contexts makes contexts of artifacts and sessions within a budget, seals their manifests, and is the gate for what is to be remembered.
package contexts

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Contexts does the jobs on contexts, manifests and reviews.
type Contexts struct {
	*record.Recorder

	// FitWindow returns the rows and stubs with which the window of a session has target tokens
	// at most. It is a job of package windows.
	FitWindow func(ctx context.Context, scope governance.Scope, h *hold.Snapshot, m hold.Meter, target token.Count) ([]store.Block, map[transcript.BlockID]pager.Stub, error)
}
