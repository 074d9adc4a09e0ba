package llm

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/carrel-dev/carrel/digest"
)

// Cached returns an embedder that caches the vectors of e in at most limit bytes, and evicts
// the least recently requested ones. It stores digests of texts, not texts. A text that occurs
// twice in a call is embedded once. Two concurrent calls may both embed the same text. The name
// is that of e. With a limit of 0, it caches nothing.
//
// Use one cache for each scope. The duration of a call reveals whether a text is in the cache,
// so users of a shared cache could learn about each other's texts.
func Cached(e Embedder, limit int) Embedder {
	return &cache{embedder: e, limit: limit, entries: make(map[digest.Digest]*list.Element)}
}

type cache struct {
	embedder Embedder
	limit    int // bytes

	mu      sync.Mutex // guards the following fields
	used    int        // bytes
	entries map[digest.Digest]*list.Element
	lru     list.List // of *entry; the front is the most recently used
}

type entry struct {
	key    digest.Digest
	vector []float32
}

// entryOverhead is the approximate size of an entry without its vector, in bytes.
const entryOverhead = 256

func (e *entry) size() int { return entryOverhead + 4*len(e.vector) }

// Name implements [Embedder].
func (c *cache) Name() string { return c.embedder.Name() }

// Embed implements [Embedder].
func (c *cache) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	name := c.embedder.Name()
	keys := make([]digest.Digest, len(texts))
	for i, t := range texts {
		keys[i] = digest.Of([]byte(name + "\x00" + t))
	}
	known := c.find(keys)
	if err := c.fill(ctx, known, keys, texts); err != nil {
		return nil, err
	}
	if !sameLength(known) {
		// The model behind the name was replaced. Its old and new vectors cannot be compared.
		c.clear()
		clear(known)
		if err := c.fill(ctx, known, keys, texts); err != nil {
			return nil, err
		}
		if !sameLength(known) {
			return nil, fmt.Errorf("%s returned vectors of different lengths: %w", name, ErrReply)
		}
	}
	vectors := make([][]float32, len(texts))
	for i, k := range keys {
		vectors[i] = slices.Clone(known[k])
	}
	return vectors, nil
}

// fill embeds those texts whose vectors the map known lacks. It adds the new vectors to
// that map and to the cache.
func (c *cache) fill(ctx context.Context, known map[digest.Digest][]float32, keys []digest.Digest, texts []string) error {
	var missing []string
	var at []digest.Digest
	asked := make(map[digest.Digest]bool)
	for i, k := range keys {
		if known[k] == nil && !asked[k] {
			asked[k] = true
			missing = append(missing, texts[i])
			at = append(at, k)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	vectors, err := c.embedder.Embed(ctx, missing)
	if err != nil {
		return err
	}
	if len(vectors) != len(missing) {
		return fmt.Errorf("%s returned %d vectors for %d texts: %w", c.embedder.Name(), len(vectors), len(missing), ErrReply)
	}
	for i, v := range vectors {
		known[at[i]] = v
		c.add(&entry{at[i], v})
	}
	return nil
}

// find returns the cached vectors of keys.
func (c *cache) find(keys []digest.Digest) map[digest.Digest][]float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := make(map[digest.Digest][]float32, len(keys))
	for _, k := range keys {
		if el, ok := c.entries[k]; ok {
			c.lru.MoveToFront(el)
			known[k] = el.Value.(*entry).vector
		}
	}
	return known
}

// add stores a vector and evicts others if there is no room. It does not store a vector that is
// larger than the limit.
func (c *cache) add(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[e.key]; ok {
		c.forget(old)
	}
	if e.size() > c.limit {
		return
	}
	for c.used+e.size() > c.limit {
		c.forget(c.lru.Back())
	}
	c.used += e.size()
	c.entries[e.key] = c.lru.PushFront(e)
}

// forget removes an entry. The caller holds the lock.
func (c *cache) forget(el *list.Element) {
	e := c.lru.Remove(el).(*entry)
	delete(c.entries, e.key)
	c.used -= e.size()
}

// clear removes all entries.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.lru.Init()
	c.used = 0
}

// sameLength reports whether all vectors have the same length.
func sameLength(vectors map[digest.Digest][]float32) bool {
	length := -1
	for _, v := range vectors {
		if length >= 0 && len(v) != length {
			return false
		}
		length = len(v)
	}
	return true
}
