// Package contexts assembles contexts of artifacts and sessions within a budget, seals their
// manifests, and gates proposed memories.
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

// Contexts has the operations on contexts, manifests and reviews.
type Contexts struct {
	*record.Recorder

	// FitWindow returns rows and stubs for a window of a session with at most target tokens.
	// Package windows implements it.
	FitWindow func(ctx context.Context, scope governance.Scope, h *hold.Snapshot, count func([]transcript.Entry) token.Count, target token.Count) ([]store.Block, map[transcript.BlockID]pager.Stub, error)
}
