// Package stacks stores artifacts: it adds them, reads them as pages, fetches their sources
// again, and records which artifacts were derived from which.
package stacks

import (
	"fmt"
	"sync"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// Shared holds what all engines over one store keep in memory. Each entry belongs to one scope,
// and is used only after the store has confirmed the version of the scope.
type Shared struct {
	Policy     *triage.Policy
	PolicyName string        // versions of all rules that decide about contexts
	Exact      token.Counter // for artifacts, which belong to no model
	Pages      *artifact.Pages[*Resident]
	Catalogs   catalogs
	Segments   segmentCache
	Passes     sync.Pool // of *triage.First, for reuse
}

// Stacks reads and writes the artifacts of a store.
type Stacks struct {
	*base.Base
	*Shared
}

// NewShared returns the shared state for engines with these options.
func NewShared(o *base.Options) (*Shared, error) {
	s := &Shared{Policy: o.Triage, Pages: artifact.NewPages[*Resident](o.Resident)}
	s.PolicyName = fmt.Sprintf("%s:ladder/%d-%d-%d:page/%d:gate/%d", o.Triage.Version(),
		o.Ladder.Summarized, o.Ladder.Core, o.Ladder.Minimal, max(0, o.Page), int64(o.Confidence))
	var err error
	if s.Exact, err = token.Encoding("o200k_base"); err != nil {
		return nil, fmt.Errorf("carrel: %w", err)
	}
	return s, nil
}
