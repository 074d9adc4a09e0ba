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

// segmentCache caches which segments of contexts the store has, so that a segment that many
// contexts share is stored once. The engine works without it: it reads the segments of the latest
// context from the store, and stores the others again.
type segmentCache struct {
	mu    sync.Mutex
	all   map[segmentsOf]*SegmentsKnown
	count atomic.Int64 // number of segments of all entries
}

type segmentsOf struct {
	scope   governance.Scope
	session transcript.SessionID
	format  string
}

// SegmentsKnown are known segments of the contexts of one scope, session and format, by key.
type SegmentsKnown struct {
	mu      sync.Mutex
	all     map[string]KnownSegment
	count   *atomic.Int64 // the counter of the cache
	version store.Version // version of the scope up to which no segment in all was erased
}

// A KnownSegment is a segment that is in the store.
type KnownSegment struct {
	Cell   store.CellID
	Salt   digest.Salt
	Commit digest.Digest
}

const (
	// maxSegments is the most segments that are cached for one scope, session and format.
	maxSegments = 10_000

	// maxAllSegments is the most segments that are cached in all before some are dropped. Each
	// takes about 300 bytes.
	maxAllSegments = 100_000

	// latestUpdates is how many of the last updates of a scope are searched for its latest
	// context.
	latestUpdates = 64
)

// A ContextEntry is the data of a log entry about a context that was assembled, with the
// operation [OpAssemble].
type ContextEntry struct {
	Manifest string               `json:"manifest"`          // id of the manifest
	Session  transcript.SessionID `json:"session,omitempty"` // session whose window is in it
	Format   string               `json:"format,omitempty"`  // format of the context; entries of earlier versions have none
}

// OpAssemble is the operation of a log entry with a [ContextEntry].
const OpAssemble = "assemble"

// opPurge is the operation of the log entry of each update that erases cells.
const opPurge = "purge"

// SegmentKeys makes the keys of the segments of a context, in order. It numbers segments that
// occur several times, such as frames.
type SegmentKeys map[string]int

// Next returns the key of a segment. It is made of kind, reference, version and form of the
// segment, and a number that counts the segments with these properties, from 1.
func (k SegmentKeys) Next(s *manifest.Segment) string {
	key := fmt.Sprintf("%s %s %d %s", s.Kind, s.Ref, s.Version, s.Form)
	k[key]++
	return fmt.Sprintf("%s %d", key, k[key])
}

// Find returns the segment that was last stored under a key.
func (k *SegmentsKnown) Find(key string) (KnownSegment, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.all[key]
	return s, ok
}

// Keep adds the segments of a manifest, given the salts of their cells.
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

// KnownSegments returns the segments in the cache. If the cache has none, or if another process has
// erased cells of the scope since they were cached, it reads the segments of the session's latest
// context and caches them, or no segments if that context is not among the last updates of the
// scope. The argument version is a version that the scope has reached.
func (e *Stacks) KnownSegments(ctx context.Context, scope governance.Scope, version store.Version, session transcript.SessionID, format string) (*SegmentsKnown, error) {
	key := segmentsOf{scope, session, format}
	c := &e.Segments
	c.mu.Lock()
	known := c.all[key]
	c.mu.Unlock()
	if known != nil {
		erased, err := e.erasedSince(ctx, scope, known, version)
		if err != nil || !erased {
			return known, err
		}
		c.Forget(scope) // another process has erased them
	}
	known = &SegmentsKnown{all: make(map[string]KnownSegment), count: &c.count, version: version}
	if err := e.readLatest(ctx, key, version, known.all); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[segmentsOf]*SegmentsKnown)
	}
	if other := c.all[key]; other != nil { // another goroutine was faster
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

// erasedSince reports whether cells of the scope were erased after the version of k. If not, it
// sets the version of k to the given one, which the scope has reached.
func (e *Stacks) erasedSince(ctx context.Context, scope governance.Scope, k *SegmentsKnown, version store.Version) (bool, error) {
	k.mu.Lock()
	from := k.version
	k.mu.Unlock()
	for entry, err := range e.Store.Log(ctx, scope, from) {
		if err != nil {
			return false, err
		}
		if entry.Op == opPurge {
			return true, nil
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = max(from, version)
	return false, nil
}

// remove drops the segments under a key. The caller holds the lock. A job that still uses the
// dropped segments may add to them; the cache no longer counts what it adds.
func (c *segmentCache) remove(key segmentsOf) {
	k := c.all[key]
	k.mu.Lock()
	defer k.mu.Unlock()
	c.count.Add(-int64(len(k.all)))
	k.count = new(atomic.Int64)
	delete(c.all, key)
}

// readLatest adds the segments of the latest context under a key. It searches the log, because
// the list of all contexts would have to be read whole and keeps growing.
func (e *Stacks) readLatest(ctx context.Context, key segmentsOf, version store.Version, known map[string]KnownSegment) error {
	var all []ContextEntry
	for entry, err := range e.Store.Log(ctx, key.scope, max(0, version-latestUpdates)) {
		if err != nil {
			return err
		}
		var made ContextEntry
		if entry.Op == OpAssemble && json.Unmarshal(entry.Data, &made) == nil {
			all = append(all, made)
		}
	}
	for _, made := range slices.Backward(all) {
		if made.Format != "" && (made.Format != key.format || made.Session != key.session) {
			continue
		}
		row, err := e.Store.Manifest(ctx, key.scope, made.Manifest)
		if err != nil {
			return err
		}
		if row.Format == key.format && row.Session == key.session {
			return e.readSegments(ctx, key.scope, row, known)
		}
	}
	return nil
}

// readSegments adds the segments of a stored manifest whose cells still exist.
func (e *Stacks) readSegments(ctx context.Context, scope governance.Scope, row *store.Manifest, known map[string]KnownSegment) error {
	sealed, err := manifest.Parse(row.Body)
	if err != nil {
		return fmt.Errorf("%w: read manifest %s: %w", store.ErrCorrupt, row.ID, err)
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
	i := 0
	for c, err := range e.ReadCells(ctx, scope, cells) {
		switch {
		case err == nil:
			known[names[i]] = KnownSegment{Cell: c.ID, Salt: c.Salt, Commit: commits[i]}
		case !errors.Is(err, store.ErrGone):
			return err
		}
		i++
	}
	return nil
}

// Forget drops all segments of a scope. It is called after an erasure in the scope.
func (c *segmentCache) Forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all {
		if key.scope == scope {
			c.remove(key)
		}
	}
}
