package hold

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionCache caches the decoded parts of the sessions that were loaded or changed last, so
// that a job reads only the head of its session. A cached session is valid for one head: a job
// that read another head, because this or another process changed the session, does not find it.
// The engine works without the cache. It is safe for concurrent use.
type SessionCache struct {
	mu    sync.Mutex
	all   map[sessionKey]*list.Element
	order list.List // of *keptSession, the most recently used first
	bytes int
}

type sessionKey struct {
	scope governance.Scope
	id    transcript.SessionID
}

// A keptSession is a session in the cache. It is never changed.
type keptSession struct {
	key   sessionKey
	head  store.Head
	items []store.CellID
	ends  []int // offset in data at which the body of each item ends
	data  []byte
	rows  []store.Block // in the order of [store.Sessions]
}

const (
	// maxKept is the most bytes of sessions in the cache.
	maxKept = 64 << 20

	// maxKeptSession is the size of the largest session, in bytes, that the cache takes.
	maxKeptSession = maxKept / 8

	// keptRow estimates the bytes that a block or an item takes beside its text.
	keptRow = 256
)

func (k *keptSession) size() int { return len(k.data) + keptRow*(len(k.rows)+len(k.items)) }

// find returns the cached session for a head, or nil.
func (c *SessionCache) find(scope governance.Scope, head *store.Head) *keptSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.all[sessionKey{scope, head.ID}]
	if at == nil || at.Value.(*keptSession).head != *head {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*keptSession)
}

// at returns the cached session at a revision, or nil. At revision 0 a session is empty.
func (c *SessionCache) at(key sessionKey, revision store.Revision) *keptSession {
	if revision == 0 {
		return &keptSession{key: key}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.all[key]; at != nil && at.Value.(*keptSession).head.Revision == revision {
		return at.Value.(*keptSession)
	}
	return nil
}

// keep adds a session to the cache and replaces its older state. A session that is too large is
// dropped instead. Nothing but the size decides whether it is cached.
func (c *SessionCache) keep(k *keptSession) {
	if k.size() > maxKeptSession {
		c.drop(k.key)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[sessionKey]*list.Element)
	}
	if at := c.all[k.key]; at != nil {
		if at.Value.(*keptSession).head.Revision > k.head.Revision {
			return // another goroutine cached a newer revision
		}
		c.remove(at)
	}
	c.all[k.key] = c.order.PushFront(k)
	for c.bytes += k.size(); c.bytes > maxKept; {
		c.remove(c.order.Back())
	}
}

// remove removes an element. The caller holds the lock.
func (c *SessionCache) remove(at *list.Element) {
	k := c.order.Remove(at).(*keptSession)
	c.bytes -= k.size()
	delete(c.all, k.key)
}

// drop removes a session.
func (c *SessionCache) drop(key sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.all[key]; at != nil {
		c.remove(at)
	}
}

// forget removes all sessions of a scope. It is called after an erasure in the scope.
func (c *SessionCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.all {
		if key.scope == scope {
			c.remove(at)
		}
	}
}

// snapshot returns a new snapshot of the cached session.
func (k *keptSession) snapshot(head *store.Head) *Snapshot {
	h := &Snapshot{Head: head, Items: slices.Clone(k.items)}
	h.cut(k.data, k.ends)
	for i := range k.rows {
		h.add(&k.rows[i])
	}
	return h
}

// keptOf returns the session of a snapshot in the form in which the cache keeps it. data is the
// input, that is, the bodies of all items together.
func keptOf(scope governance.Scope, h *Snapshot, data []byte) *keptSession {
	k := &keptSession{
		key: sessionKey{scope, h.Head.ID}, head: *h.Head, data: data,
		items: slices.Clone(h.Items), rows: slices.Concat(h.Rows, h.Off),
	}
	end := 0
	for _, body := range h.Bodies {
		end += len(body)
		k.ends = append(k.ends, end)
	}
	return k
}

// changed returns the session as it is after the change c, at the given revision. It returns nil if
// the change erases the session or makes it too large for the cache, or if an item of the new
// session has a body that neither the cache nor the change contains.
func (k *keptSession) changed(revision store.Revision, c *store.Change) *keptSession {
	if c.Erase || c.Head.Bytes > maxKeptSession {
		return nil
	}
	n := &keptSession{key: k.key, head: c.Head, items: k.items, ends: k.ends, data: k.data, rows: k.rows}
	n.head.ID, n.head.Revision = k.key.id, revision
	if c.Items != nil && !n.replaceItems(c) {
		return nil
	}
	n.replaceRows(c.Blocks)
	return n
}

// replaceItems sets the items to those that the session has after a change. It reports whether it
// knows the bodies of all of them.
func (k *keptSession) replaceItems(c *store.Change) bool {
	if c.ItemsFrom > len(k.items) {
		return false
	}
	bodies := make(map[store.CellID][]byte, len(c.Cells))
	for i, from := range k.items {
		bodies[from] = k.body(i)
	}
	for i := range c.Cells {
		bodies[c.Cells[i].ID] = c.Cells[i].Body
	}
	items, ends := slices.Clone(k.items[:c.ItemsFrom]), slices.Clone(k.ends[:c.ItemsFrom])
	data := make([]byte, 0, c.Head.Bytes)
	if c.ItemsFrom > 0 {
		data = append(data, k.data[:k.ends[c.ItemsFrom-1]]...)
	}
	for _, id := range c.Items {
		body, known := bodies[id]
		if !known {
			return false
		}
		data = append(data, body...)
		items, ends = append(items, id), append(ends, len(data))
	}
	k.items, k.ends, k.data = items, ends, data
	return true
}

// body returns the body of item i.
func (k *keptSession) body(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.data[from:k.ends[i]:k.ends[i]]
}

// replaceRows adds blocks, and replaces rows with the same ids.
func (k *keptSession) replaceRows(blocks []store.Block) {
	rows := slices.Clone(k.rows)
	places := make(map[transcript.BlockID]int, len(rows))
	for i := range rows {
		places[rows[i].ID] = i
	}
	for _, b := range blocks {
		b.Tools, b.Cells = slices.Clone(b.Tools), slices.Clone(b.Cells)
		if len(b.Cells) == 0 {
			b.Cells = nil // as the store returns rows
		}
		if i, there := places[b.ID]; there {
			rows[i] = b
		} else {
			rows = append(rows, b)
		}
	}
	slices.SortFunc(rows, func(a, b store.Block) int {
		switch {
		case a.Off != b.Off && a.Off:
			return 1
		case a.Off != b.Off:
			return -1
		}
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), strings.Compare(string(a.ID), string(b.ID)))
	})
	k.rows = rows
}

// Over returns a store that writes to s and caches each changed session.
func (c *SessionCache) Over(s store.Store) store.Store { return keeping{s, c} }

// A keeping is a store that caches the sessions changed through it.
type keeping struct {
	store.Store

	cache *SessionCache
}

// Apply implements [store.Sessions].
func (s keeping) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	revision, err := s.Store.Apply(ctx, scope, id, at, c)
	if err != nil {
		return revision, err
	}
	key := sessionKey{scope, id}
	if before := s.cache.at(key, at); before != nil {
		if after := before.changed(revision, c); after != nil {
			s.cache.keep(after)
			return revision, nil
		}
	}
	s.cache.drop(key)
	return revision, nil
}
