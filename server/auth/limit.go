package auth

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// gauge counts what is going on at once, by what it is counted for.
type gauge struct {
	most int

	mu  sync.Mutex
	now map[string]int // nothing that is 0
}

// enter reports whether there is room for one more. If so, leave must be called.
func (g *gauge) enter(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now[key] >= g.most {
		return false
	}
	if g.now == nil {
		g.now = make(map[string]int)
	}
	g.now[key]++
	return true
}

func (g *gauge) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now[key]--; g.now[key] == 0 {
		delete(g.now, key)
	}
}

// The most that failures remember: a flood of addresses or credentials takes no more
// memory than this.
const (
	maxAddresses = 4096
	maxKnown     = 1024
)

// failures counts who brings credentials that are none. From an address with too many, only
// credentials that were good before are looked at: so somebody who guesses cannot keep out
// others behind the same address, and costs no more than that.
type failures struct {
	most int
	per  time.Duration

	mu    sync.Mutex
	since time.Time
	count map[string]int
	known map[[sha256.Size]byte]bool // hashes of credentials that were good
}

// tooMany reports whether a credential from an address is not to be looked at, and when it
// will be again.
func (f *failures) tooMany(address, credential string, now time.Time) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.since); age >= f.per || age < 0 {
		f.since, f.count = now, make(map[string]int)
	}
	if f.count[address] < f.most && len(f.count) < maxAddresses || f.known[sha256.Sum256([]byte(credential))] {
		return 0, false
	}
	return f.per - now.Sub(f.since), true
}

// failed says that a credential was none.
func (f *failures) failed(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count != nil {
		f.count[address]++
	}
}

// passed says that a credential was good.
func (f *failures) passed(credential string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= maxKnown {
		f.known = make(map[[sha256.Size]byte]bool)
	}
	f.known[sha256.Sum256([]byte(credential))] = true
}

// addressOf returns who is at the other end, as one is counted: an address, or of
// IPv6 the network, of which anybody has many.
func addressOf(remote string) string {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	addr := peer.Addr().Unmap().WithZone("")
	if addr.Is4() || addr.IsLoopback() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return addr.String()
	}
	return network.String()
}
