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

// A SessionCache keeps what sessions are made of, those that were loaded or changed last,
// so that a job on one reads its head and nothing else. What it keeps is good for one
// head: who has read another, because this process or another one has changed the
// session, does not find it. Without it nothing breaks. It is safe for concurrent use.
type SessionCache struct {
	mu    sync.Mutex
	all   map[sessionKey]*list.Element
	order list.List // of *keptSession, the one that was used last first
	bytes int
}

type sessionKey struct {
	scope governance.Scope
	id    transcript.SessionID
}

// A keptSession is what a session is made of. Nothing of it is ever changed.
type keptSession struct {
	key   sessionKey
	head  store.Head
	items []store.CellID
	ends  []int // of their bodies, in data
	data  []byte
	rows  []store.Block // in the order of [store.Sessions]
}

const (
	// maxKept is how many bytes of sessions are kept at most.
	maxKept = 64 << 20

	// maxKeptSession is how many bytes a session has that is kept.
	maxKeptSession = maxKept / 8

	// keptRow is about how many bytes a block takes, or an item.
	keptRow = 256
)

func (k *keptSession) size() int { return len(k.data) + keptRow*(len(k.rows)+len(k.items)) }

// find returns a session as it is with a head, or nil.
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

// at returns a session as it is at a revision, or nil. Before its first it has nothing.
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

// keep keeps a session, in place of what was kept of it. Of nothing else than its size
// depends whether it is found afterwards.
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
			return // somebody was faster
		}
		c.remove(at)
	}
	c.all[k.key] = c.order.PushFront(k)
	for c.bytes += k.size(); c.bytes > maxKept; {
		c.remove(c.order.Back())
	}
}

// remove takes a session out. The cache is locked.
func (c *SessionCache) remove(at *list.Element) {
	k := c.order.Remove(at).(*keptSession)
	c.bytes -= k.size()
	delete(c.all, k.key)
}

// drop forgets a session.
func (c *SessionCache) drop(key sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.all[key]; at != nil {
		c.remove(at)
	}
}

// forget forgets everything about a scope: something of it was erased.
func (c *SessionCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.all {
		if key.scope == scope {
			c.remove(at)
		}
	}
}

// snapshot returns the session for a job to work on.
func (k *keptSession) snapshot(head *store.Head) *Snapshot {
	h := &Snapshot{Head: head, Items: slices.Clone(k.items)}
	h.cut(k.data, k.ends)
	for i := range k.rows {
		h.add(&k.rows[i])
	}
	return h
}

// keptOf returns what is kept of a session that was read, given its input.
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

// changed returns the session as it is after a change, or nil if that is not known.
func (k *keptSession) changed(revision store.Revision, c *store.Change) *keptSession {
	if c.Erase || c.Head.Bytes > maxKeptSession {
		return nil
	}
	n := &keptSession{key: k.key, head: c.Head, items: k.items, ends: k.ends, data: k.data, rows: k.rows}
	n.head.ID, n.head.Revision = k.key.id, revision
	if c.Items != nil && !n.replaceItems(c) {
		return nil
	}
	if len(c.Blocks) > 0 {
		n.replaceRows(c.Blocks)
	}
	return n
}

// replaceItems makes the list of items that of a change, and reports whether all of them
// are known.
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

// body returns the body of an item.
func (k *keptSession) body(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.data[from:k.ends[i]:k.ends[i]]
}

// replaceRows adds blocks, or replaces those with the same ids.
func (k *keptSession) replaceRows(blocks []store.Block) {
	rows := slices.Clone(k.rows)
	places := make(map[transcript.BlockID]int, len(rows))
	for i := range rows {
		places[rows[i].ID] = i
	}
	for _, b := range blocks {
		b.Tools, b.Cells = slices.Clone(b.Tools), slices.Clone(b.Cells)
		if len(b.Cells) == 0 {
			b.Cells = nil // as it is read
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

// Over returns s, and keeps what is changed through it.
func (c *SessionCache) Over(s store.Store) store.Store { return keeping{s, c} }

// A keeping store keeps the sessions that are changed through it.
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
