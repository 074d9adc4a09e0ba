package token

import (
	"crypto/sha256"
	"sync"
)

// Memo returns a Counter that remembers the counts of about the last limit texts
// that c counted, and has the encoding of c. The messages of a conversation are
// sent again with every request: with a Memo each costs one hash from the
// second time on. A limit below 2 keeps two.
//
// A text is remembered by 128 bits of its SHA-256, 16 bytes whatever its
// length. What was not asked for during the last limit/2 new texts is forgotten
// first.
func Memo(c Counter, limit int) Counter {
	return &memo{
		Counter: c,
		half:    max(limit/2, 1),
		young:   make(map[key]Count),
	}
}

type key [16]byte

// A memo keeps two generations. New counts go to the young one; when that is
// full it becomes the old one, and the old one is dropped.
type memo struct {
	Counter
	half int // entries of a full generation

	mu    sync.Mutex // guards what follows
	young map[key]Count
	old   map[key]Count
}

func (m *memo) Count(text string) Count {
	sum := sha256.Sum256([]byte(text))
	k := key(sum[:16])
	n, ok := m.lookup(k)
	if !ok {
		n = m.Counter.Count(text)
		m.store(k, n)
	}
	return n
}

// lookup returns a remembered count, and keeps it from being forgotten soon.
func (m *memo) lookup(k key) (Count, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.young[k]; ok {
		return n, true
	}
	n, ok := m.old[k]
	if ok {
		m.put(k, n)
	}
	return n, ok
}

func (m *memo) store(k key, n Count) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, n)
}

// put adds a count to the young generation. The caller holds the lock.
func (m *memo) put(k key, n Count) {
	if len(m.young) >= m.half {
		m.old, m.young = m.young, make(map[key]Count, m.half)
	}
	m.young[k] = n
}
