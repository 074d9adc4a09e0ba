package hold

import (
	"container/list"
	"sync"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// A ViewCache caches views, the results of jobs that only read a session. So the same job on an
// unchanged session need not decode it again. A view is valid for one head, like a session in a
// [SessionCache]. The engine works without it. It is safe for concurrent use.
type ViewCache struct {
	mu    sync.Mutex
	all   map[viewKey]*list.Element
	order list.List // of *view, the most recently used first
	bytes int
}

type viewKey struct {
	sessionKey

	kind string // the job and its request
}

type view struct {
	key   viewKey
	head  store.Head
	value any
	bytes int
}

// maxViews is the most bytes of views in the cache.
const maxViews = 64 << 20

// A Viewed is a view with the head of the session from which it was made, and its approximate size
// in bytes.
type Viewed[T any] struct {
	Value T
	Head  *store.Head
	Bytes int
}

// View returns the view of the given kind for the given head. If the cache does not have the view,
// it is made by the function create. The caller must not change the view.
func View[T any](c *ViewCache, scope governance.Scope, head *store.Head, kind string, create func() (Viewed[T], error)) (T, error) {
	key := viewKey{sessionKey{scope, head.ID}, kind}
	if v, ok := c.find(key, head).(T); ok {
		return v, nil
	}
	made, err := create()
	if err == nil {
		KeepView(c, scope, kind, made)
	}
	return made.Value, err
}

// KeepView adds a view of the given kind to the cache. A job that has read a session can so make
// views that other jobs will ask for.
func KeepView[T any](c *ViewCache, scope governance.Scope, kind string, made Viewed[T]) {
	c.keep(&view{viewKey{sessionKey{scope, made.Head.ID}, kind}, *made.Head, made.Value, made.Bytes})
}

// find returns the value of a view at a head, or nil.
func (c *ViewCache) find(key viewKey, head *store.Head) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.all[key]
	if at == nil || at.Value.(*view).head != *head {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*view).value
}

// keep adds a view, unless it is too large.
func (c *ViewCache) keep(v *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.all[v.key]; at != nil {
		c.remove(at)
	}
	if v.bytes > maxViews {
		return
	}
	if c.all == nil {
		c.all = make(map[viewKey]*list.Element)
	}
	c.all[v.key] = c.order.PushFront(v)
	for c.bytes += v.bytes; c.bytes > maxViews; {
		c.remove(c.order.Back())
	}
}

// remove removes an element. The caller holds the lock.
func (c *ViewCache) remove(at *list.Element) {
	v := c.order.Remove(at).(*view)
	c.bytes -= v.bytes
	delete(c.all, v.key)
}

// forget removes all views of a scope. It is called after an erasure in the scope.
func (c *ViewCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.all {
		if key.scope == scope {
			c.remove(at)
		}
	}
}
