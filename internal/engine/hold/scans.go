package hold

import (
	"hash/maphash"
	"maps"
	"sync"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// PiecesOf returns the texts of a conversation, each with its scan, that is, with what package
// facts finds in it.
func (e *Desk) PiecesOf(scope governance.Scope, msgs []transcript.Message, blocks []transcript.Block) []facts.Piece {
	return e.pieces(msgs, blocks, func(text string) *facts.Scan { return e.Scans.Scan(scope, text) })
}

// PiecesOfSession returns the texts of a session, with their scans. Scans take more memory than the
// texts. So they are cached only if the session is small enough for a [SessionCache].
func (e *Desk) PiecesOfSession(scope governance.Scope, h *Snapshot) []facts.Piece {
	if h.Head.Bytes > maxKeptSession {
		return e.pieces(h.Session.Messages, h.Blocks, facts.NewScan)
	}
	return e.PiecesOf(scope, h.Session.Messages, h.Blocks)
}

func (e *Desk) pieces(msgs []transcript.Message, blocks []transcript.Block, scan func(text string) *facts.Scan) []facts.Piece {
	return facts.History(msgs, blocks, &facts.HistoryOptions{
		Tools:  e.Opts.Tools,
		Scan:   func(_, _ int, text string) *facts.Scan { return scan(text) },
		Person: func(i int) bool { return pager.Instructs(msgs, &blocks[i]) },
	})
}

// A ScanCache caches the scans of texts, so that each text is scanned once. The engine works
// without it.
type ScanCache struct {
	mu       sync.Mutex
	seed     maphash.Seed
	new, old *scans
}

// scans is one generation of a [ScanCache].
type scans struct {
	texts map[scanKey]*facts.Scan
	bytes int // total length of texts
}

type scanKey struct {
	scope governance.Scope
	hash  uint64
}

// maxScanned is the size of one generation in bytes. The cache keeps two generations, so it holds
// at most twice as many bytes of text.
const maxScanned = 64 << 20

func newScans() *scans {
	return &scans{texts: make(map[scanKey]*facts.Scan)}
}

// key returns the key of a text. The caller holds the lock.
func (c *ScanCache) key(scope governance.Scope, text string) scanKey {
	if c.new == nil {
		c.new, c.old, c.seed = newScans(), newScans(), maphash.MakeSeed()
	}
	return scanKey{scope, maphash.String(c.seed, text)}
}

// keeps counts bytes of text and starts a new generation if the present one is full. The caller
// holds the lock.
func (c *ScanCache) keeps(bytes int) {
	if c.new.bytes += bytes; c.new.bytes > maxScanned {
		c.old, c.new = c.new, newScans()
		c.new.bytes = bytes
	}
}

// Scan returns the scan of a text, from the cache if possible.
func (c *ScanCache) Scan(scope governance.Scope, text string) *facts.Scan {
	c.mu.Lock()
	key := c.key(scope, text)
	s := c.new.texts[key]
	if s == nil {
		s = c.old.texts[key]
	}
	c.mu.Unlock()
	if s == nil || s.Text != text {
		s = facts.NewScan(text)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.keeps(len(text))
		c.new.texts[key] = s
	}
	return s
}

// forget removes all scans of a scope. It is called after an erasure in the scope.
func (c *ScanCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new == nil {
		return
	}
	for _, s := range [...]*scans{c.new, c.old} {
		maps.DeleteFunc(s.texts, func(k scanKey, _ *facts.Scan) bool { return k.scope == scope })
	}
}
