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

// segmentCache remembers which segments of contexts the store has, so that what
// is handed out again and again is stored once. Without it nothing breaks: those
// of the latest context are read from the store, and others stored again.
type segmentCache struct {
	mu  sync.Mutex
	all map[segmentsOf]*segmentsKnown
}

type segmentsOf struct {
	scope   governance.Scope
	session transcript.SessionID
	format  string
}

// segmentsKnown are segments of the contexts of one scope, session and format,
// by what they are about.
type segmentsKnown struct {
	mu  sync.Mutex
	all map[string]knownSegment
}

// A knownSegment is a segment that the store has.
type knownSegment struct {
	cell   store.CellID
	salt   digest.Salt
	commit digest.Digest
}

const (
	// maxSegmentCaches is for how many scopes, sessions and formats segments
	// are remembered.
	maxSegmentCaches = 64

	// maxSegments is how many of each.
	maxSegments = 10_000
)

// segmentKeys names what the segments of a context are about, in order. What
// comes several times, such as frames, is numbered.
type segmentKeys map[string]int

func (k segmentKeys) next(s *manifest.Segment) string {
	key := fmt.Sprintf("%s %s %d %s", s.Kind, s.Ref, s.Version, s.Form)
	k[key]++
	return fmt.Sprintf("%s %d", key, k[key])
}

// find returns the segment that was last known under a key.
func (k *segmentsKnown) find(key string) (knownSegment, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.all[key]
	return s, ok
}

// keep remembers the segments of a manifest, given the salts of their cells.
func (k *segmentsKnown) keep(m *manifest.Manifest, salts []digest.Salt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) > maxSegments {
		clear(k.all)
	}
	keys := make(segmentKeys)
	for i, salt := range salts {
		s := m.Items[i].(*manifest.Segment)
		k.all[keys.next(s)] = knownSegment{cell: store.CellID(s.Cell), salt: salt, commit: s.Commit}
	}
}

// knownSegments returns what is remembered, or else the segments of the latest
// context.
func (e *Engine) knownSegments(ctx context.Context, scope governance.Scope, session transcript.SessionID, format string) (*segmentsKnown, error) {
	key := segmentsOf{scope, session, format}
	c := &e.segments
	c.mu.Lock()
	known := c.all[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	known = &segmentsKnown{all: make(map[string]knownSegment)}
	for m, err := range e.store.Manifests(ctx, scope, session) {
		if err != nil {
			return nil, err
		}
		if m.Format != format || m.Session != session {
			continue
		}
		if err := e.readSegments(ctx, scope, m.ID, known.all); err != nil {
			return nil, err
		}
		break
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxSegmentCaches {
		c.all = make(map[segmentsOf]*segmentsKnown)
	}
	c.all[key] = known
	return known, nil
}

// readSegments adds the segments of a stored manifest whose cells are still
// there.
func (e *Engine) readSegments(ctx context.Context, scope governance.Scope, id string, known map[string]knownSegment) error {
	row, err := e.store.Manifest(ctx, scope, id)
	if err != nil {
		return err
	}
	sealed, err := manifest.Parse(row.Body)
	if err != nil {
		return fmt.Errorf("%w: manifest %s: %w", store.ErrCorrupt, id, err)
	}
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
				return err
			}
			known[key] = knownSegment{cell: c.ID, salt: c.Salt, commit: s.Commit}
		}
	}
	return nil
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
