// Package stacks keeps artifacts: it puts them in, reads them in pages, asks their sources
// again, and knows what was made from what.
package stacks

import (
	"fmt"
	"sync"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// Shared is what all engines over one store keep in memory. What it keeps is of one scope
// each, and read only after the store has said what the scope is at.
type Shared struct {
	Policy     *triage.Policy
	PolicyName string        // of everything that decides about contexts
	Exact      token.Counter // for artifacts, which belong to no model
	Pages      *artifact.Pages[*Resident]
	Catalogs   catalogs
	Segments   segmentCache
	Passes     sync.Pool // of *triage.First that nobody needs any more
}

// Stacks reads and writes the artifacts of a store.
type Stacks struct {
	*base.Base
	*Shared
}

// NewShared returns what engines with these options share.
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
