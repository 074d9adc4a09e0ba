package economy

import (
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/token"
)

// A Link is one block of a prompt, after which a breakpoint may stand.
type Link struct {
	Digest digest.Digest // of its bytes, without breakpoints
	Tokens token.Count
}

// A Breakpoint asks the provider to cache everything before it.
type Breakpoint struct {
	After int  // index of the link before the breakpoint
	Long  bool // request the long lifetime
}

// A Submission is the prompt of a call.
type Submission struct {
	At    time.Time
	Model string       // models do not share caches
	Links []Link       // in the order of the prompt: tools, system, messages
	Marks []Breakpoint // by rising After, all for the long lifetime before the others; none if the provider sets them itself
}

// A Cache is a model of the cache that a provider has for one account. It follows the
// vendors' documentation: it finds the longest cached prefix by looking back a number of
// blocks from each breakpoint, caches the prefix before each breakpoint unless it is shorter
// than the minimum, and drops a prefix that was not used for its lifetime. An automatic cache
// caches every prefix.
//
// A real cache may read less than the model, never more: a provider may drop a prefix
// earlier, a prefix can be read only after the first answer to it has begun, and a request
// may be sent to a machine without the prefix. A Cache is not safe for concurrent use.
type Cache struct {
	rules   Rules
	entries map[digest.Digest]entry
}

// An entry is a cached prefix.
type entry struct {
	until time.Time
	long  bool
}

// NewCache returns an empty cache with the rules r.
func NewCache(r Rules) *Cache { return &Cache{rules: r, entries: make(map[digest.Digest]entry)} }

// Send caches a prompt, and returns how many of its tokens are read, written and neither.
// Prompts must be sent in the order of their times; Send does not keep them. The parts sum to
// the tokens of the links; the output is 0. Breakpoints beyond the number that the rules
// allow, and those without a link before them, are ignored.
func (c *Cache) Send(p *Submission) Spend {
	prefixes := chain(p)
	marks := c.marks(p)
	hit := -1 // index of the last link of the longest cached prefix
	for _, m := range marks {
		if at := c.find(prefixes, m.After, p.At); at >= 0 {
			hit = max(hit, at)
			c.refresh(prefixes[at].digest, p.At)
		}
	}
	u := Spend{}
	if hit >= 0 {
		u.Read = prefixes[hit].tokens
		if c.rules.Step > 0 {
			u.Read -= u.Read % c.rules.Step
		}
	}
	paid := u.Read
	for _, m := range marks {
		upTo := prefixes[m.After].tokens
		if upTo < max(c.rules.Minimum, 1) {
			continue
		}
		if n := upTo - paid; n > 0 && !c.rules.FreeWrite {
			if m.Long && c.rules.Long > 0 {
				u.Write1h += n
			} else {
				u.Write5m += n
			}
			paid = upTo
		}
		c.keep(prefixes, m, p.At)
	}
	if n := len(prefixes); n > 0 {
		u.Uncached = prefixes[n-1].tokens - paid
	}
	return u
}

// A prefix is the beginning of a prompt up to and including a link.
type prefix struct {
	digest digest.Digest
	tokens token.Count
}

// chain returns the prefixes of a prompt, one for each link. The digest of a prefix depends
// on the model and all links of the prefix.
func chain(p *Submission) []prefix {
	prefixes := make([]prefix, len(p.Links))
	last := prefix{digest: digest.Of([]byte(p.Model))}
	var both [2 * digest.Size]byte
	for i, s := range p.Links {
		copy(both[:], last.digest[:])
		copy(both[digest.Size:], s.Digest[:])
		last = prefix{digest: digest.Of(both[:]), tokens: last.tokens + s.Tokens}
		prefixes[i] = last
	}
	return prefixes
}

// marks returns the valid breakpoints of a prompt, as many as the rules allow. For an
// automatic cache it adds one after the last link.
func (c *Cache) marks(p *Submission) []Breakpoint {
	var marks []Breakpoint
	for _, m := range p.Marks {
		if m.After >= 0 && m.After < len(p.Links) && len(marks) < c.rules.Marks {
			marks = append(marks, m)
		}
	}
	if c.rules.Automatic && len(p.Links) > 0 {
		marks = append(marks, Breakpoint{After: len(p.Links) - 1})
	}
	return marks
}

// find looks for a cached prefix that ends at the link with the index from, or at most LookBack
// links before it. It returns the index of the last link of the longest one, or -1. An automatic
// cache looks back to the first link.
func (c *Cache) find(prefixes []prefix, from int, now time.Time) int {
	reach := c.rules.LookBack
	if c.rules.Automatic {
		reach = len(prefixes)
	}
	for at := from; at >= max(0, from-reach); at-- {
		if e, ok := c.entries[prefixes[at].digest]; ok && now.Before(e.until) && prefixes[at].tokens >= c.rules.Minimum {
			return at
		}
	}
	return -1
}

// refresh restarts the lifetime of a cached prefix.
func (c *Cache) refresh(d digest.Digest, now time.Time) {
	e := c.entries[d]
	e.until = now.Add(c.rules.Lifetime(e.long))
	c.entries[d] = e
}

// keep caches the prefix before a breakpoint; an automatic cache caches every prefix up to it.
func (c *Cache) keep(prefixes []prefix, m Breakpoint, now time.Time) {
	from := m.After
	if c.rules.Automatic {
		from = 0
	}
	for _, p := range prefixes[from : m.After+1] {
		e, ok := c.entries[p.digest]
		long := m.Long || ok && e.long && now.Before(e.until)
		c.entries[p.digest] = entry{until: now.Add(c.rules.Lifetime(long)), long: long}
	}
}
