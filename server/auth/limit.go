package auth

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// gauge counts running requests by key, such as an address or a credential, up to most for each.
type gauge struct {
	most int

	mu  sync.Mutex
	now map[string]int // without zeros
}

// enter counts one more for key, or reports false if there are most already. After true, call
// leave.
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

// Bounds of the memory of failures, in addresses and in credentials.
const (
	maxAddresses = 4096
	maxKnown     = 1024
)

// failures counts invalid credentials by address. For an address with too many, only credentials
// that were valid before are checked again. So guessing becomes cheap to refuse, and does not
// lock out others behind the same address.
type failures struct {
	most int
	per  time.Duration

	mu    sync.Mutex
	since time.Time
	count map[string]int
	known map[[sha256.Size]byte]bool // hashes of credentials that were valid
}

// tooMany reports whether a credential from an address is refused unchecked, and after which
// time credentials will be checked again.
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

// failed counts an invalid credential.
func (f *failures) failed(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count != nil {
		f.count[address]++
	}
}

// passed remembers a valid credential.
func (f *failures) passed(credential string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= maxKnown {
		f.known = make(map[[sha256.Size]byte]bool)
	}
	f.known[sha256.Sum256([]byte(credential))] = true
}

// addressOf returns the key under which the requests of a client are counted: its IPv4 address, or
// its IPv6 /64 network, because one client may use many addresses of that.
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
