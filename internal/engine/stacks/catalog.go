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
	// maxCatalogs is how many scopes an engine keeps catalogs of.
	maxCatalogs = 64

	// embedderCache is how many bytes of vectors are kept of each.
	embedderCache = 16 << 20
)

// catalogs are the catalogs of an engine's scopes.
type catalogs struct {
	mu   sync.Mutex
	all  map[governance.Scope]*Catalog
	tick int64
}

// A Catalog is what triage knows of the artifacts of one scope: a column of
// each field that decides, so that a million are looked at in milliseconds. It
// is a copy that is checked on every use: the version of the scope says whether
// anything was written since, by whomever.
type Catalog struct {
	scope    governance.Scope
	resident *artifact.Pages[*Resident] // where pinned artifacts stay
	Embedder llm.Embedder               // with what it said about texts of the scope; nil if there is none

	used    int64      // tick of the last use, guarded by catalogs.mu
	saving  sync.Mutex // held by who writes a snapshot
	Mu      sync.RWMutex
	saved   store.Version // of the snapshot that this one was read from, or has written; 0 if there is none
	changed int           // rows that were written since
	columns
}

// columns are what a catalog has of each artifact, by Seq-1, like the rows of the table.
type columns struct {
	Version  store.Version
	Table    triage.Table
	Pins     map[int]bool // rows that are live and pinned
	ids      []uint64     // of rows without a name: 16 hexadecimal digits
	names    map[int]store.ArtifactID
	versions []store.Version
	newest   store.Version // of all rows
}

// CatalogOf returns the catalog of a scope, and forgets the one that nobody asked for
// longest if there are too many.
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

// Catalog returns the catalog of a scope as the store has it now, locked for
// reading. The caller unlocks it. The store is asked first, so that who is denied a
// scope moves no other out of memory.
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

// refresh reads what was written after the version that the catalog is at. The
// scope is at version, or later.
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
			k.saved = 0 // what is purged does not stay in a snapshot
			if err := e.forget(k.scope); err != nil {
				e.Opts.Logger.WarnContext(ctx, "snapshot not removed", "error", err)
			}
		}
	}
	k.Version = version // rows that are newer are read again, which does no harm
	return nil
}

// set takes in an artifact. Rows between those that are known, which another
// reader may not see yet, are absent.
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
		r.Flags |= triage.Absent // it is in every context and needs no triage
		k.Pins[row] = true
		k.resident.Pin(k.key(row))
	}
	if len(a.Gate) > 0 {
		r.Flags |= triage.Promoted
	}
	k.Table.Set(row, r)
}

// unpin lets the page of a row be evicted again.
func (k *Catalog) unpin(row int) {
	if k.Pins[row] {
		delete(k.Pins, row)
		k.resident.Unpin(k.key(row))
	}
}

// key returns the key of the page of a row.
func (k *Catalog) key(row int) artifact.Key {
	return artifact.Key{Scope: k.scope, ID: string(k.ID(row))}
}

// name sets the id of a row. An id of 16 hexadecimal digits, as most are, takes a word.
func (c *columns) name(row int, id store.ArtifactID) {
	var b [8]byte
	if n, err := hex.Decode(b[:], []byte(id[:min(len(id), 16)])); err == nil && n == len(b) && hex.EncodeToString(b[:]) == string(id) {
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

// close lets go of what the catalog keeps in memory elsewhere.
func (k *Catalog) close() {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for row := range k.Pins {
		k.unpin(row)
	}
	k.Version, k.saved = 0, 0 // whoever still holds it reads everything again
}

// Location returns where the catalog has a row.
func (k *Catalog) Location(row int) Location { return Location{row, k.ID(row), k.versions[row]} }
