package stacks

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/triage"
)

const (
	// maxCatalogs is the most scopes whose catalogs an engine keeps in memory.
	maxCatalogs = 64

	// embedderCache is the most bytes of cached vectors per catalog.
	embedderCache = 16 << 20
)

// catalogs are the catalogs of an engine, by scope.
type catalogs struct {
	mu   sync.Mutex
	all  map[governance.Scope]*Catalog
	tick int64
}

// A Catalog holds the fields of the artifacts of one scope by which triage decides. Each field is a
// column, so that a million artifacts are examined in milliseconds. The catalog is a copy. At every
// use the version of the scope is compared with the store, to find out whether any process has
// written since.
type Catalog struct {
	scope    governance.Scope
	resident *artifact.Pages[*Resident] // where pinned artifacts stay
	Embedder llm.Embedder               // caches vectors of the scope's texts; nil if there is no embedder

	used    int64      // tick of the last use, guarded by catalogs.mu
	saving  sync.Mutex // held while a snapshot is written
	Mu      sync.RWMutex
	saved   store.Version // version of the snapshot on disk that this catalog read or wrote; 0 if none
	changed int           // number of rows written since saved
	columns
}

// columns are the fields that a catalog has of each artifact. The fields of the artifact with the
// number Seq are at index Seq-1 of each slice, and in row Seq-1 of Table.
type columns struct {
	Version  store.Version
	Table    triage.Table
	Pins     map[int]bool             // rows of live, pinned artifacts
	ids      []uint64                 // ids of 16 hexadecimal digits, as numbers
	names    map[int]store.ArtifactID // other ids, by row
	versions []store.Version
	newest   store.Version // highest of versions
}

// CatalogOf returns the catalog of a scope. If there are too many catalogs, it drops the least
// recently used.
func (e *Stacks) CatalogOf(scope governance.Scope) *Catalog {
	c := &e.Catalogs
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick++
	k := c.all[scope]
	if k == nil {
		if c.all == nil {
			c.all = make(map[governance.Scope]*Catalog)
		}
		if len(c.all) >= maxCatalogs {
			var oldest governance.Scope
			for s, k := range c.all {
				if oldest == "" || cmp.Less(k.used, c.all[oldest].used) {
					oldest = s
				}
			}
			c.all[oldest].close()
			delete(c.all, oldest)
		}
		k = &Catalog{scope: scope, resident: e.Pages, columns: columns{Pins: make(map[int]bool), names: make(map[int]store.ArtifactID)}}
		if e.Opts.Embedder != nil {
			k.Embedder = llm.Cached(e.Opts.Embedder, embedderCache)
		}
		c.all[scope] = k
	}
	k.used = c.tick
	return k
}

// Catalog returns the up-to-date catalog of a scope, locked for reading; the caller unlocks it.
// It asks the store first, so that a caller without access to the scope cannot displace another
// catalog.
func (e *Stacks) Catalog(ctx context.Context, scope governance.Scope) (*Catalog, error) {
	for {
		version, err := e.Store.Version(ctx, scope)
		if err != nil {
			return nil, err
		}
		k := e.CatalogOf(scope)
		k.Mu.RLock()
		if k.Version >= version {
			return k, nil
		}
		k.Mu.RUnlock()
		if err := e.refresh(ctx, k, version); err != nil {
			return nil, err
		}
		e.save(ctx, k)
	}
}

// refresh reads the artifacts that were written after the catalog's version. The argument version
// is a version of the scope that the store has reached; it may be at a later one.
func (e *Stacks) refresh(ctx context.Context, k *Catalog, version store.Version) error {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if k.Version >= version {
		return nil
	}
	if k.Version == 0 {
		if err := e.load(ctx, k, version); err != nil {
			return err
		}
	}
	for a, err := range e.Store.Artifacts(ctx, k.scope, k.Version) {
		if err != nil {
			return err
		}
		k.set(a)
		k.changed++
		if a.Status == store.StatusPurged && k.saved > 0 {
			k.saved = 0 // a purged artifact must not stay in a snapshot
			if err := e.forget(k.scope); err != nil {
				e.Opts.Logger.WarnContext(ctx, "snapshot not removed", "error", err)
			}
		}
	}
	k.Version = version // rows that are newer are read again later, which does no harm
	return nil
}

// set adds or replaces an artifact. If artifacts with lower numbers were not read yet, it adds rows
// for them that are marked as absent.
func (k *Catalog) set(a *store.Artifact) {
	row := int(a.Seq - 1)
	for len(k.ids) <= row {
		k.ids, k.versions = append(k.ids, 0), append(k.versions, 0)
		k.Table.Append(triage.Row{Class: a.Class, Created: time.UnixMilli(0), Flags: triage.Absent})
	}
	k.name(row, a.ID)
	k.versions[row], k.newest = a.Version, max(k.newest, a.Version)
	r := triage.Row{Class: a.Class, Created: a.Created, Expires: a.Expires}
	switch a.Status {
	case store.StatusLive:
	case store.StatusRefuted:
		r.Flags |= triage.Refuted
	case store.StatusHeld, store.StatusRejected, store.StatusTombstoned, store.StatusPurged:
		r.Flags |= triage.Absent
	}
	k.unpin(row)
	if a.Pinned && a.Status == store.StatusLive {
		r.Flags |= triage.Absent // every context has it, so triage skips it
		k.Pins[row] = true
		k.resident.Pin(k.key(row))
	}
	if len(a.Gate) > 0 {
		r.Flags |= triage.Promoted
	}
	k.Table.Set(row, r)
}

// unpin ends the pin of a row, so that its page may leave the memory.
func (k *Catalog) unpin(row int) {
	if k.Pins[row] {
		delete(k.Pins, row)
		k.resident.Unpin(k.key(row))
	}
}

// key returns the key of a row's page.
func (k *Catalog) key(row int) artifact.Key {
	return artifact.Key{Scope: k.scope, ID: string(k.ID(row))}
}

// name sets the id of a row. An id of 16 hexadecimal digits, the usual form, is stored as a
// number.
func (c *columns) name(row int, id store.ArtifactID) {
	var b [8]byte
	_, _ = hex.Decode(b[:], []byte(id[:min(len(id), 16)])) // another id is not what b encodes to
	if hex.EncodeToString(b[:]) == string(id) {
		c.ids[row] = binary.BigEndian.Uint64(b[:])
		delete(c.names, row)
		return
	}
	c.names[row] = id
}

// ID returns the id of the artifact in a row.
func (c *columns) ID(row int) store.ArtifactID {
	if id, named := c.names[row]; named {
		return id
	}
	return store.ArtifactID(hex.EncodeToString(binary.BigEndian.AppendUint64(nil, c.ids[row])))
}

// close releases the catalog's pins and empties it.
func (k *Catalog) close() {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for row := range k.Pins {
		k.unpin(row)
	}
	k.columns = columns{Pins: make(map[int]bool), names: make(map[int]store.ArtifactID)} // a goroutine that still has it reads everything again
	k.saved, k.changed = 0, 0
}

// Location returns the location of a row.
func (k *Catalog) Location(row int) Location { return Location{row, k.ID(row), k.versions[row]} }
