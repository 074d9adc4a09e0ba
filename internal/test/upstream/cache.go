package upstream

import (
	"crypto/sha256"
	"slices"
	"time"
)

// A Usage is what a request cost, in tokens. The length of the request is the sum of Input,
// Read, Write and Write1.
type Usage struct {
	Input  int // neither read from a cache nor written to one
	Read   int // from a cache
	Write  int // to a cache, for minutes
	Write1 int // to a cache, for an hour
	Output int
}

// Total returns how long the request was.
func (u Usage) Total() int { return u.Input + u.Read + u.Write + u.Write1 }

// Cost returns what it costs, in billionths of a dollar.
func (u Usage) Cost(p Price) int {
	return (1000*u.Input+p.Read*u.Read+p.Write*u.Write+p.Write1*u.Write1)*p.Input/1000 + u.Output*p.Output
}

// A Prefix says how a request goes on from what its session sent before. It is compared
// with the earlier request that it has most in common with, the later of two.
type Prefix struct {
	Kept  int    // tokens that it has in common with the other, from the beginning
	Lost  int    // tokens of the other behind those
	Broke string // the place at which the two differ, such as "messages.4.content.0"; empty if the other one is the beginning of this one
}

// An entry is a prefix that the cache has.
type entry struct {
	model string
	sum   [sha256.Size]byte
}

// A stay is how long an entry stays.
type stay struct {
	life  time.Duration
	until time.Time
}

// A memory is what a server knows of earlier requests.
type memory struct {
	entries  map[entry]stay
	sessions map[string][]chain
}

func newMemory() *memory {
	return &memory{entries: make(map[entry]stay), sessions: make(map[string][]chain)}
}

// lookBack is how many units before a mark an entry is looked for.
const lookBack = 20

// use reads a request from the cache and writes it there. The usage has no output yet.
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

// longest returns the last unit of the longest prefix that the cache has and a mark leads
// to, -1 if there is none. It lives on from now.
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

// has reports whether the cache has what ends in a unit, and lets it live on.
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

// useAutomatic is use for a cache that needs no marks.
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

// follow says how a request goes on from what its session sent before, and keeps it.
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
