package carrel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// segmentCache remembers the segments of the latest context of each scope,
// session and format, so that what is handed out again and again is stored
// once. Without it nothing breaks: the segments are read from the store, or
// stored again.
type segmentCache struct {
	mu  sync.Mutex
	all map[segmentsOf]map[string]knownSegment
}

type segmentsOf struct {
	scope   governance.Scope
	session transcript.SessionID
	format  string
}

// A knownSegment is a segment that the store has.
type knownSegment struct {
	cell   store.CellID
	salt   digest.Salt
	commit digest.Digest
}

// maxSegmentCaches is how many contexts are remembered.
const maxSegmentCaches = 64

// segmentKeys names what the segments of a context are about, in order. What
// comes several times, such as frames, is numbered.
type segmentKeys map[string]int

func (k segmentKeys) next(s *manifest.Segment) string {
	key := fmt.Sprintf("%s %s %d %s", s.Kind, s.Ref, s.Version, s.Form)
	k[key]++
	return fmt.Sprintf("%s %d", key, k[key])
}

// keep remembers the segments of a manifest, given the salts of their cells.
func (c *segmentCache) keep(scope governance.Scope, session transcript.SessionID, format string, m *manifest.Manifest, salts []digest.Salt) {
	known := make(map[string]knownSegment, len(salts))
	keys := make(segmentKeys)
	for i, salt := range salts {
		s := m.Items[i].(*manifest.Segment)
		known[keys.next(s)] = knownSegment{cell: store.CellID(s.Cell), salt: salt, commit: s.Commit}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxSegmentCaches {
		c.all = make(map[segmentsOf]map[string]knownSegment)
	}
	c.all[segmentsOf{scope, session, format}] = known
}

// of returns the segments of the latest context, which are not to be changed.
func (c *segmentCache) of(ctx context.Context, e *Engine, scope governance.Scope, session transcript.SessionID, format string) (map[string]knownSegment, error) {
	key := segmentsOf{scope, session, format}
	c.mu.Lock()
	known, ok := c.all[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	for m, err := range e.store.Manifests(ctx, scope, session) {
		if err != nil {
			return nil, err
		}
		if m.Format != format || m.Session != session {
			continue
		}
		return e.readSegments(ctx, scope, m.ID)
	}
	return nil, nil
}

// readSegments returns the segments of a stored manifest whose cells are still
// there.
func (e *Engine) readSegments(ctx context.Context, scope governance.Scope, id string) (map[string]knownSegment, error) {
	row, err := e.store.Manifest(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	sealed, err := manifest.Parse(row.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: manifest %s: %w", store.ErrCorrupt, id, err)
	}
	known := make(map[string]knownSegment)
	keys := make(segmentKeys)
	for _, it := range sealed.Manifest().Items {
		s, ok := it.(*manifest.Segment)
		if !ok {
			continue
		}
		key := keys.next(s)
		for c, err := range e.store.Cells(ctx, scope, []store.CellID{store.CellID(s.Cell)}) {
			if errors.Is(err, store.ErrGone) {
				break
			}
			if err != nil {
				return nil, err
			}
			known[key] = knownSegment{cell: c.ID, salt: c.Salt, commit: s.Commit}
		}
	}
	return known, nil
}

// forget forgets everything about a scope: something of it was erased.
func (c *segmentCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all {
		if key.scope == scope {
			delete(c.all, key)
		}
	}
}
