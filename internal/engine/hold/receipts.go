package hold

import (
	"context"
	"slices"
	"sync"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Receipts has the records of calls that the client of a session made.
type Receipts struct {
	List   []transcript.Receipt // never changed
	Log    []transcript.Request // the client's log of its requests, if the file has one; never changed
	Unseen int                  // number of sub-agents of the session whose calls have no receipt

	head store.Head
}

// A ReceiptCache caches receipts. So to compute costs, a session is decoded only if it changed
// since it was decoded last. The engine works without the cache. It is safe for concurrent use.
type ReceiptCache struct {
	mu    sync.Mutex
	all   map[sessionKey]*Receipts
	count int // receipts and logged requests in all
}

// maxReceipts is how many receipts and logged requests the cache may have before it begins anew. A
// single session may have more.
const maxReceipts = 100_000

// MeteredBy returns the format of a session if it records what the provider charged, or nil.
func MeteredBy(head *store.Head) transcript.Metered {
	f, err := FormatNamed(head.Format)
	if err != nil {
		return nil
	}
	m, _ := f.(transcript.Metered)
	return m
}

// Receipts returns the receipts of a session whose format is metered.
func (e *Desk) Receipts(ctx context.Context, scope governance.Scope, head *store.Head, metered transcript.Metered) (*Receipts, error) {
	key := sessionKey{scope, head.ID}
	c := &e.Memory.Receipts
	c.mu.Lock()
	r := c.all[key]
	c.mu.Unlock()
	if r != nil && r.head == *head {
		return r, nil
	}
	h, err := e.Load(ctx, scope, head.ID)
	if err != nil {
		return nil, err
	}
	r = &Receipts{List: metered.Receipts(h.Session), head: *h.Head}
	if l, ok := metered.(transcript.Logged); ok {
		r.Log, _ = l.Requests(h.Session)
	}
	r.Unseen = max(subAgents(h.Session)-sideThreads(r.List), 0)
	c.keep(key, r)
	return r, nil
}

func (r *Receipts) size() int { return len(r.List) + len(r.Log) }

// keep adds the receipts of a session. A full cache begins anew.
func (c *ReceiptCache) keep(key sessionKey, r *Receipts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	if c.count += r.size(); c.all == nil || c.count > maxReceipts {
		c.all, c.count = make(map[sessionKey]*Receipts), r.size()
	}
	c.all[key] = r
}

// drop removes the receipts of a session. The caller holds the lock.
func (c *ReceiptCache) drop(key sessionKey) {
	if r := c.all[key]; r != nil {
		c.count -= r.size()
		delete(c.all, key)
	}
}

// forget removes the receipts of all sessions of a scope. It is called after an erasure in the
// scope.
func (c *ReceiptCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all {
		if key.scope == scope {
			c.drop(key)
		}
	}
}

// subAgents returns how many sub-agents a session started.
func subAgents(s *transcript.Session) (n int) {
	for _, msgs := range append(slices.Clip(s.Earlier), s.Messages) {
		for i := range msgs {
			for _, call := range msgs[i].Calls() {
				if call.Name == "Task" || call.Name == "Agent" {
					n++
				}
			}
		}
	}
	return n
}

// sideThreads returns how many conversations of sub-agents have receipts.
func sideThreads(all []transcript.Receipt) (n int) {
	for i := range all {
		if all[i].Side && all[i].After < 0 {
			n++
		}
	}
	return n
}
