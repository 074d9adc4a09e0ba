package artifact

import (
	"container/list"
	"sync"

	"github.com/carrel-dev/carrel/governance"
)

// A Key names an artifact. Equal ids in two scopes are two artifacts.
type Key struct {
	Scope governance.Scope
	ID    string
}

// A Page is one version of an artifact, in memory.
type Page[T any] struct {
	Version int64 // version of the artifact in the store
	Size    int64 // approximate size of Value in bytes
	Value   T     // shared by all users of the page; must not be changed
}

// Pages is the set of resident pages. It keeps the most recently used pages
// up to a number of bytes. It is safe for concurrent use.
type Pages[T any] struct {
	limit int64 // bytes

	mu     sync.Mutex // guards the following fields
	pages  map[Key]*list.Element
	lru    list.List   // of *resident[T]; the front is the most recently used
	pins   map[Key]int // number of pins of each key, resident or not
	bytes  int64       // size of all pages
	fixed  int64       // size of the pinned pages
	pinned int         // number of pinned pages

	hits, faults, evictions int64
}

type resident[T any] struct {
	key  Key
	page Page[T]
}

// size returns the counted size of a page. An empty page counts as one byte, so that a limit on
// bytes also limits the number of pages.
func (r *resident[T]) size() int64 { return max(1, r.page.Size) }

// Stats are counters of a resident set.
type Stats struct {
	Hits      int64 // calls of Get that found the page
	Faults    int64 // calls of Get that did not find it
	Evictions int64 // pages evicted to make room
	Pages     int   // resident now
	Pinned    int   // part of Pages that is pinned
	Bytes     int64 // size of all pages; a page of size 0 counts as 1
	Limit     int64 // in bytes
}

// NewPages returns an empty set of at most limit bytes. With a limit of 0 or
// less it keeps no pages.
func NewPages[T any](limit int64) *Pages[T] {
	return &Pages[T]{limit: max(0, limit), pages: make(map[Key]*list.Element), pins: make(map[Key]int)}
}

// Get returns the page of k if it is resident at version, and marks it most
// recently used. Otherwise it is a fault; a page of another version is
// dropped because it is outdated.
func (p *Pages[T]) Get(k Key, version int64) (Page[T], bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.pages[k]
	if !ok {
		p.faults++
		return Page[T]{}, false
	}
	r := e.Value.(*resident[T])
	if r.page.Version != version {
		p.remove(e)
		p.faults++
		return Page[T]{}, false
	}
	p.lru.MoveToFront(e)
	p.hits++
	return r.page, true
}

// Put makes a page resident and most recently used, and replaces any other
// version. The least recently used pages that are not pinned make room.
//
// A page that is larger than the limit, or larger than the space without
// pinned pages, is not kept, and no other page is evicted. The page of a pinned
// key is kept unless it alone exceeds the limit.
func (p *Pages[T]) Put(k Key, pg Page[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.pages[k]; ok {
		p.remove(e)
	}
	r := &resident[T]{key: k, page: pg}
	pinned := p.pins[k] > 0
	if r.size() > p.limit || !pinned && p.fixed+r.size() > p.limit {
		return
	}
	p.evict(p.limit - r.size())
	p.pages[k] = p.lru.PushFront(r)
	p.bytes += r.size()
	if pinned {
		p.fix(r, 1)
	}
}

// Pin prevents the eviction of the page of k, which need not be resident yet.
// Pins are counted: each Pin needs an Unpin. Dropping ignores pins.
func (p *Pages[T]) Pin(k Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins[k]++
	if e, ok := p.pages[k]; ok && p.pins[k] == 1 {
		p.fix(e.Value.(*resident[T]), 1)
	}
}

// Unpin removes one pin; without a pin it does nothing. If pinned pages have
// exceeded the limit, unpinned pages are evicted now.
func (p *Pages[T]) Unpin(k Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.pins[k] {
	case 0:
	case 1:
		delete(p.pins, k)
		if e, ok := p.pages[k]; ok {
			p.fix(e.Value.(*resident[T]), -1)
			p.evict(p.limit)
		}
	default:
		p.pins[k]--
	}
}

// Drop removes a page, pinned or not. The pins of k stay for its next page.
func (p *Pages[T]) Drop(k Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.pages[k]; ok {
		p.remove(e)
	}
}

// DropScope removes all pages of a scope, pinned or not.
func (p *Pages[T]) DropScope(scope governance.Scope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.lru.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*resident[T]).key.Scope == scope {
			p.remove(e)
		}
		e = next
	}
}

// Stats returns the present counters.
func (p *Pages[T]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{
		Hits: p.hits, Faults: p.faults, Evictions: p.evictions,
		Pages: len(p.pages), Pinned: p.pinned, Bytes: p.bytes, Limit: p.limit,
	}
}

// Keys returns the keys of the resident pages, most recently used first.
func (p *Pages[T]) Keys() []Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys := make([]Key, 0, len(p.pages))
	for e := p.lru.Front(); e != nil; e = e.Next() {
		keys = append(keys, e.Value.(*resident[T]).key)
	}
	return keys
}

// evict removes the least recently used pages that are not pinned, until the size of all pages is
// at most room or only pinned pages are left.
func (p *Pages[T]) evict(room int64) {
	for e := p.lru.Back(); e != nil && p.bytes > room; {
		prev := e.Prev()
		if p.pins[e.Value.(*resident[T]).key] == 0 {
			p.remove(e)
			p.evictions++
		}
		e = prev
	}
}

func (p *Pages[T]) remove(e *list.Element) {
	r := e.Value.(*resident[T])
	if p.pins[r.key] > 0 {
		p.fix(r, -1)
	}
	p.bytes -= r.size()
	p.lru.Remove(e)
	delete(p.pages, r.key)
}

// fix adds a page to the counts of pinned pages if n is 1, and subtracts it if n is -1.
func (p *Pages[T]) fix(r *resident[T], n int) {
	p.pinned += n
	p.fixed += int64(n) * r.size()
}
