package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

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
	mu    sync.Mutex
	all   map[segmentsOf]*SegmentsKnown
	count atomic.Int64 // of the segments of all
}

type segmentsOf struct {
	scope   governance.Scope
	session transcript.SessionID
	format  string
}

// SegmentsKnown are segments of the contexts of one scope, session and format,
// by what they are about.
type SegmentsKnown struct {
	mu    sync.Mutex
	all   map[string]KnownSegment
	count *atomic.Int64 // of the cache
}

// A KnownSegment is a segment that the store has.
type KnownSegment struct {
	Cell   store.CellID
	Salt   digest.Salt
	Commit digest.Digest
}

const (
	// maxSegments is how many segments are remembered of one scope, session and format.
	maxSegments = 10_000

	// maxAllSegments is how many are remembered of all before some are forgotten. Each
	// takes about 300 bytes.
	maxAllSegments = 100_000

	// latestUpdates is how many of a scope's updates are searched for its latest context.
	latestUpdates = 64
)

// A ContextEntry is what the log has about a context that was handed out, with the operation
// [OpAssemble].
type ContextEntry struct {
	Manifest string `json:"manifest"` // its id
}

// OpAssemble is the operation of an entry that has a [ContextEntry].
const OpAssemble = "assemble"

// SegmentKeys names what the segments of a context are about, in order. What
// comes several times, such as frames, is numbered.
type SegmentKeys map[string]int

// Next returns the key of a segment: its digest, and how often that has come before.
func (k SegmentKeys) Next(s *manifest.Segment) string {
	key := fmt.Sprintf("%s %s %d %s", s.Kind, s.Ref, s.Version, s.Form)
	k[key]++
	return fmt.Sprintf("%s %d", key, k[key])
}

// Find returns the segment that was last known under a key.
func (k *SegmentsKnown) Find(key string) (KnownSegment, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.all[key]
	return s, ok
}

// Keep remembers the segments of a manifest, given the salts of their cells.
func (k *SegmentsKnown) Keep(m *manifest.Manifest, salts []digest.Salt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := len(k.all)
	defer func() { k.count.Add(int64(len(k.all) - before)) }()
	if before > maxSegments {
		clear(k.all)
	}
	keys := make(SegmentKeys)
	for i, salt := range salts {
		s := m.Items[i].(*manifest.Segment)
		k.all[keys.Next(s)] = KnownSegment{Cell: store.CellID(s.Cell), Salt: salt, Commit: s.Commit}
	}
}

// KnownSegments returns what is remembered, or else the segments of the latest context, if
// it is among the latest updates of the scope, which is at version or later.
func (e *Stacks) KnownSegments(ctx context.Context, scope governance.Scope, version store.Version, session transcript.SessionID, format string) (*SegmentsKnown, error) {
	key := segmentsOf{scope, session, format}
	c := &e.Segments
	c.mu.Lock()
	known := c.all[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	known = &SegmentsKnown{all: make(map[string]KnownSegment), count: &c.count}
	if err := e.readLatest(ctx, key, version, known.all); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[segmentsOf]*SegmentsKnown)
	}
	if other := c.all[key]; other != nil { // somebody was faster
		return other, nil
	}
	for old := range c.all {
		if c.count.Load() < maxAllSegments {
			break
		}
		c.remove(old)
	}
	c.all[key] = known
	c.count.Add(int64(len(known.all)))
	return known, nil
}

// remove forgets what is known under a key. The cache is locked. A job that still has
// it may add to it, and counts that elsewhere.
func (c *segmentCache) remove(key segmentsOf) {
	k := c.all[key]
	k.mu.Lock()
	defer k.mu.Unlock()
	c.count.Add(-int64(len(k.all)))
	k.count = new(atomic.Int64)
	delete(c.all, key)
}

// readLatest adds the segments of the latest context under a key. The list of all contexts
// would have it first, but is read whole before it says so, and grows for ever.
func (e *Stacks) readLatest(ctx context.Context, key segmentsOf, version store.Version, known map[string]KnownSegment) error {
	var ids []string
	for entry, err := range e.Store.Log(ctx, key.scope, max(0, version-latestUpdates)) {
		if err != nil {
			return err
		}
		var made ContextEntry
		if entry.Op == OpAssemble && json.Unmarshal(entry.Data, &made) == nil {
			ids = append(ids, made.Manifest)
		}
	}
	for _, id := range slices.Backward(ids) {
		row, err := e.Store.Manifest(ctx, key.scope, id)
		if err != nil {
			return err
		}
		if row.Format == key.format && row.Session == key.session {
			return e.readSegments(ctx, key.scope, row, known)
		}
	}
	return nil
}

// readSegments adds the segments of a stored manifest whose cells are still there.
func (e *Stacks) readSegments(ctx context.Context, scope governance.Scope, row *store.Manifest, known map[string]KnownSegment) error {
	sealed, err := manifest.Parse(row.Body)
	if err != nil {
		return fmt.Errorf("%w: manifest %s: %w", store.ErrCorrupt, row.ID, err)
	}
	keys := make(SegmentKeys)
	var names []string
	var cells []store.CellID
	var commits []digest.Digest
	for _, it := range sealed.Manifest().Items {
		if s, ok := it.(*manifest.Segment); ok {
			names, cells, commits = append(names, keys.Next(s)), append(cells, store.CellID(s.Cell)), append(commits, s.Commit)
		}
	}
	for at := 0; at < len(cells); at++ { // again behind each cell that is gone
		for c, err := range e.Store.Cells(ctx, scope, cells[at:]) {
			if errors.Is(err, store.ErrGone) {
				break
			}
			if err != nil {
				return err
			}
			known[names[at]] = KnownSegment{Cell: c.ID, Salt: c.Salt, Commit: commits[at]}
			at++
		}
	}
	return nil
}

// Forget forgets everything about a scope: something of it was erased.
func (c *segmentCache) Forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all {
		if key.scope == scope {
			c.remove(key)
		}
	}
}
