package auth

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
)

// DoorLimits bound the requests that a [Door] passes on, except those for Open paths. A zero
// field means the default. The address of a request is the address of its connection; headers
// that name another are ignored. All addresses of an IPv6 /64 network count as one.
type DoorLimits struct {
	// PerCredential and PerAddress are the most requests at a time with one credential and
	// from one address. The defaults, also for negative numbers, are 128 and 512.
	PerCredential, PerAddress int

	// CredentialRate and AddressRate are the most requests in a second with one credential and
	// from one address, averaged over ten seconds. The defaults are 500 and 2000. Below 0
	// there is no bound.
	CredentialRate, AddressRate int
}

// The names of the limits of [DoorLimits], as [DoorOptions.Limited] gets them.
const (
	LimitAddressRequests    = "address_requests"    // PerAddress
	LimitAddressRate        = "address_rate"        // AddressRate
	LimitCredentialRequests = "credential_requests" // PerCredential
	LimitCredentialRate     = "credential_rate"     // CredentialRate
	limitGuesses            = "guesses"             // invalid credentials in a minute from one address
)

// DefaultDoorLimits returns the defaults of [DoorLimits].
func DefaultDoorLimits() DoorLimits {
	return DoorLimits{PerCredential: 128, PerAddress: 512, CredentialRate: 500, AddressRate: 2000}
}

// overdone answers a request that exceeds the named limit. wait is the time after which it can
// succeed.
func (d *Door) overdone(w http.ResponseWriter, limit string, wait time.Duration) {
	d.limited(limit)
	p := &api.Problem{
		Type: api.TypePrefix + api.Busy.Slug, Title: api.Busy.Title, Status: http.StatusTooManyRequests,
		Hint: "wait as long as Retry-After says; server.limits." + limit + " of the server is the limit",
	}
	switch limit {
	case LimitAddressRequests:
		p.Detail = fmt.Sprintf("too many requests at a time: %d from one address", d.addresses.most)
	case LimitAddressRate:
		p.Detail = fmt.Sprintf("too many requests: %d in a second from one address", d.addressRate.per)
	case LimitCredentialRequests:
		p.Detail = fmt.Sprintf("too many requests at a time: %d with one credential", d.credentials.most)
	case LimitCredentialRate:
		p.Detail = fmt.Sprintf("too many requests: %d in a second with one credential", d.credentialRate.per)
	case limitGuesses:
		p.Detail, p.Hint = "too many invalid credentials", "wait as long as Retry-After says, or send a valid credential from another address"
	}
	retry(w, wait)
	answer(w, p)
}

// A gauge counts the running requests for each key, such as an address or a credential. most is
// the limit for each key.
type gauge struct {
	most int

	mu  sync.Mutex
	now map[string]int // without zeros
}

// enter counts one more running request for a key and returns true; the caller calls leave
// when the request ends. If as many requests as allowed run for the key already, enter returns
// false.
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

// maxRated is the largest number of keys whose rates a meter knows.
const maxRated = 16_384

// window is the time over which a meter averages. After a pause of that length, all requests of
// a window may come at once.
const window = 10 * time.Second

// A meter bounds the rate of requests for each key. On average over a window, a key may have
// as many requests in a second as the field per says. If more than maxRated keys had requests
// within the last window, all further keys share one rate.
type meter struct {
	per int // below 1 for no bound

	mu    sync.Mutex
	owed  map[string]time.Time // by key: the time at which all its requests are paid off; each costs 1/per of a second
	swept time.Time
}

// take counts a request for key and returns true. If there are too many, it returns false and
// the time after which there will be room for another.
func (m *meter) take(key string, now time.Time) (wait time.Duration, ok bool) {
	if m.per < 1 {
		return 0, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.owed[key]; !known && len(m.owed) >= maxRated && !m.sweep(now) {
		key = "" // no address and no credential
	}
	if m.owed == nil {
		m.owed = make(map[string]time.Time)
	}
	debt := max(m.owed[key].Sub(now), 0)
	if debt > window {
		debt = 0 // the clock went back
	}
	if debt += time.Second / time.Duration(m.per); debt > window {
		return debt - window, false
	}
	m.owed[key] = now.Add(debt)
	return 0, true
}

// sweep forgets the keys that owe nothing. It does so at most once in a second, and reports
// whether there is room for another key.
func (m *meter) sweep(now time.Time) bool {
	if age := now.Sub(m.swept); age >= 0 && age < time.Second {
		return false
	}
	m.swept = now
	maps.DeleteFunc(m.owed, func(_ string, until time.Time) bool { return !until.After(now) })
	return len(m.owed) < maxRated
}

// Bounds of the memory of failures, in addresses and in credentials.
const (
	maxAddresses = 4096
	maxKnown     = 1024
)

// failures counts invalid credentials by address. For an address with too many, only credentials
// that were valid before are checked again. So guessing becomes cheap to refuse, and does not lock
// out others behind the same address whose credentials are known. If maxAddresses addresses have
// sent invalid credentials, the same holds for all addresses. The memory of valid credentials is
// emptied when it has maxKnown.
type failures struct {
	most int
	per  time.Duration

	mu    sync.Mutex
	since time.Time
	count map[string]int
	known map[[sha256.Size]byte]bool // hashes of credentials that were valid
}

// tooMany reports whether a credential from an address is refused without a check. If so, it
// also returns the time after which credentials from that address will be checked again.
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
