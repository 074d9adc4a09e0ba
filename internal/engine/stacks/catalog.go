package stacks

import (
	"cmp"
	"context"
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

	Mu      sync.RWMutex
	used    int64 // tick of the last use, guarded by catalogs.mu
	Version store.Version
	Table   triage.Table

	// By Seq-1, like the rows of the table.
	IDs      []store.ArtifactID
	versions []store.Version
	Pins     map[int]bool // rows that are live and pinned
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
		k = &Catalog{scope: scope, resident: e.Pages, Pins: make(map[int]bool)}
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
		if err := k.refresh(ctx, e.Store, scope, version); err != nil {
			return nil, err
		}
	}
}

// refresh reads what was written after the version that the catalog is at. The
// scope is at version, or later.
func (k *Catalog) refresh(ctx context.Context, s store.Store, scope governance.Scope, version store.Version) error {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if k.Version >= version {
		return nil
	}
	for a, err := range s.Artifacts(ctx, scope, k.Version) {
		if err != nil {
			return err
		}
		k.set(a)
	}
	k.Version = version // rows that are newer are read again, which does no harm
	return nil
}

// set takes in an artifact. Rows between those that are known, which another
// reader may not see yet, are absent.
func (k *Catalog) set(a *store.Artifact) {
	row := int(a.Seq - 1)
	for len(k.IDs) <= row {
		k.IDs, k.versions = append(k.IDs, ""), append(k.versions, 0)
		k.Table.Append(triage.Row{Class: a.Class, Created: time.UnixMilli(0), Flags: triage.Absent})
	}
	k.IDs[row], k.versions[row] = a.ID, a.Version
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
		k.resident.Pin(artifact.Key{Scope: k.scope, ID: string(a.ID)})
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
		k.resident.Unpin(artifact.Key{Scope: k.scope, ID: string(k.IDs[row])})
	}
}

// close lets go of what the catalog keeps in memory elsewhere.
func (k *Catalog) close() {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for row := range k.Pins {
		k.unpin(row)
	}
	k.Version = 0 // whoever still holds it reads everything again
}

// Location returns where the catalog has a row.
func (k *Catalog) Location(row int) Location { return Location{row, k.IDs[row], k.versions[row]} }
