package upstream

import (
	"crypto/sha256"
	"slices"
	"time"
)

// A Usage is the cost of a request in tokens. Input, Read, Write and Write1 sum to the length
// of the request.
type Usage struct {
	Input  int // neither read from a cache nor written to one
	Read   int // read from a cache
	Write  int // written to a cache, to be kept for some minutes
	Write1 int // written to a cache, to be kept for an hour
	Output int
}

// Total returns the length of the request.
func (u Usage) Total() int { return u.Input + u.Read + u.Write + u.Write1 }

// Cost returns the cost in billionths of a dollar.
func (u Usage) Cost(p Price) int {
	return (1000*u.Input+p.Read*u.Read+p.Write*u.Write+p.Write1*u.Write1)*p.Input/1000 + u.Output*p.Output
}

// A Prefix compares a request with that earlier request of its session that shares the
// longest beginning with it. If several do, it is the latest of these.
type Prefix struct {
	Kept  int    // tokens of the common beginning
	Lost  int    // tokens of the earlier request after the common beginning
	Broke string // place of the first difference, such as "messages.4.content.0"; empty if the earlier request is a beginning of this one
}

// An entry is a cached prefix.
type entry struct {
	model string
	sum   [sha256.Size]byte
}

// A stay is the lifetime of an entry.
type stay struct {
	life  time.Duration
	until time.Time
}

// A memory holds what a server remembers of earlier requests: the entries of its cache, and the
// requests of each session.
type memory struct {
	entries  map[entry]stay
	sessions map[string][]chain
}

func newMemory() *memory {
	return &memory{entries: make(map[entry]stay), sessions: make(map[string][]chain)}
}

// lookBack is how many units the service checks for a cached prefix that ends there. It begins at
// the unit with the cache mark, which counts, and goes back.
const lookBack = 20

// use stores the prefixes that a request writes to the cache. It returns the numbers of tokens
// that the request reads from the cache and writes to it; the field Output is 0.
func (m *memory) use(of Model, model string, c chain, now time.Time) Usage {
	if of.Cache.Automatic {
		return m.useAutomatic(of, model, c, now)
	}
	hit := m.longest(model, c, now)
	u := Usage{Read: c.total(hit + 1)}
	from := hit + 1
	for i, unit := range c {
		if unit.mark == 0 || i <= hit || c.total(i+1) < of.Cache.Minimum {
			continue
		}
		m.put(model, unit, unit.mark, now)
		n := c.total(i+1) - c.total(from)
		if unit.mark == time.Hour {
			u.Write1 += n
		} else {
			u.Write += n
		}
		from = i + 1
	}
	u.Input = c.total(len(c)) - c.total(from)
	return u
}

// longest returns the index of the last unit of the longest cached prefix that a cache mark
// of the request can find, or -1. It renews the entry of that prefix.
func (m *memory) longest(model string, c chain, now time.Time) int {
	for i, u := range slices.Backward(c) {
		if u.mark == 0 {
			continue
		}
		for j := i; j >= 0 && j > i-lookBack; j-- {
			if m.has(model, c[j], now) {
				return j
			}
		}
	}
	return -1
}

// has reports whether the cache has the prefix that ends in a unit, and renews it.
func (m *memory) has(model string, u unit, now time.Time) bool {
	s, ok := m.entries[entry{model, u.sum}]
	if !ok || !now.Before(s.until) {
		return false
	}
	m.put(model, u, s.life, now)
	return true
}

func (m *memory) put(model string, u unit, life time.Duration, now time.Time) {
	m.entries[entry{model, u.sum}] = stay{life: life, until: now.Add(life)}
}

// useAutomatic does the same as use for a cache without marks.
func (m *memory) useAutomatic(of Model, model string, c chain, now time.Time) Usage {
	read := 0
	for i := len(c) - 1; i >= 0 && read == 0; i-- {
		if n := c.total(i + 1); n >= of.Cache.Minimum && m.has(model, c[i], now) {
			read = n / of.Cache.Step * of.Cache.Step
		}
	}
	all := c.total(len(c))
	for i := range c {
		if c.total(i+1) >= of.Cache.Minimum {
			m.put(model, c[i], of.Cache.Life, now)
		}
	}
	if of.Cache.Writes && all >= of.Cache.Minimum {
		return Usage{Read: read, Write: all - read}
	}
	return Usage{Read: read, Input: all - read}
}

// follow compares a request with the earlier ones of its session, and stores it.
func (m *memory) follow(session string, c chain) Prefix {
	c = c.fixed()
	var best chain
	common := -1
	for _, was := range m.sessions[session] {
		n := 0
		for n < min(len(was), len(c)) && was[n].sum == c[n].sum {
			n++
		}
		if n >= common {
			best, common = was, n
		}
	}
	m.sessions[session] = append(m.sessions[session], c)
	if common < 0 {
		return Prefix{}
	}
	p := Prefix{Kept: c.total(common), Lost: best.total(len(best)) - best.total(common)}
	if common < len(best) {
		p.Broke = best[common].path
	}
	return p
}
