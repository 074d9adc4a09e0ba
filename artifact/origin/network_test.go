package origin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A network is an internet in memory. Names are looked up in it and dialed as
// [net.Dialer] does it: control is asked about each address in turn, and the
// first that it lets pass is connected to.
type network struct {
	// names maps a name to its DNS answers, in the order in which they are given;
	// the last one repeats. An answer is a list of addresses, separated by spaces. A name
	// that is missing is read by lenient as an address, or is this machine.
	names map[string][]string

	conns chan net.Conn // to a server; nil refuses connections

	mu      sync.Mutex // guards what follows
	asked   map[string]int
	dials   []dial
	refused int // number of addresses that control refused
}

// A dial is an accepted or refused attempt to connect.
type dial struct {
	name string // host that was dialed, without the port
	to   netip.AddrPort
}

// serve returns a network in which one server has all public addresses.
func serve(t *testing.T, names map[string][]string, handler http.HandlerFunc) *network {
	n := &network{names: names, conns: make(chan net.Conn)}
	l := &listener{conns: n.conns, closed: make(chan struct{})}
	srv := &http.Server{Handler: handler, ErrorLog: quiet}
	done := make(chan error)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("server: %v", err)
		}
	})
	return n
}

type listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

func (n *network) dial(ctx context.Context, _, address string, control func(string, string, syscall.RawConn) error) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	var refusal error
	for _, ip := range n.lookup(name) {
		to := netip.AddrPortFrom(ip, uint16(number))
		kind := "tcp4"
		if ip.Is6() {
			kind = "tcp6"
		}
		if control != nil {
			if err := control(kind, to.String(), nil); err != nil {
				n.mu.Lock()
				n.refused++
				n.mu.Unlock()
				refusal = &net.OpError{Op: "dial", Net: kind, Err: err}
				continue
			}
		}
		n.mu.Lock()
		n.dials = append(n.dials, dial{name, to})
		n.mu.Unlock()
		if n.conns == nil {
			return nil, syscall.ECONNREFUSED
		}
		ours, theirs := net.Pipe()
		select {
		case n.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, refusal
}

func (n *network) lookup(name string) (ips []netip.Addr) {
	if ip, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{ip}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if answers := n.names[name]; len(answers) > 0 {
		if n.asked == nil {
			n.asked = make(map[string]int)
		}
		i := min(n.asked[name], len(answers)-1)
		n.asked[name]++
		for f := range strings.FieldsSeq(answers[i]) {
			ips = append(ips, netip.MustParseAddr(f))
		}
		return ips
	}
	return []netip.Addr{lenient(name)}
}

// made returns the dials since the last call.
func (n *network) made() []dial {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.dials
	n.dials = nil
	return d
}

// lenient reads an IPv4 address as the C library does: one to four numbers,
// decimal, octal or hexadecimal, the last of which fills the remaining bytes. Any other text
// is this machine.
func lenient(name string) netip.Addr {
	here := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	parts := strings.Split(strings.TrimSuffix(name, "."), ".")
	if len(parts) > 4 {
		return here
	}
	var b [4]byte
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return here
		}
		if i < len(parts)-1 {
			b[i] = byte(v)
			continue
		}
		for j := 3; j >= i; j-- {
			b[j] = byte(v)
			v >>= 8
		}
	}
	return netip.AddrFrom4(b)
}

// forbidden reports whether dialing ip is forbidden by default. It does not use the tables
// of the guard.
func forbidden(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	b := ip.As16()
	if ip.Is4() {
		b := ip.As4()
		return !ip.IsGlobalUnicast() || ip.IsPrivate() || b[0] == 0 || b[0] >= 224 ||
			b[0] == 100 && b[1]>>6 == 1 || b[0] == 198 && b[1]>>1 == 9 || b[0] == 192 && b[1] == 0 && b[2] == 0
	}
	if b[0] == 0 && b[1] == 0x64 { // NAT64
		return b[2] != 0xff || b[3] != 0x9b || b[4] != 0 || b[5] != 0 || forbidden(netip.AddrFrom4([4]byte(b[12:])))
	}
	teredo := b[0] == 0x20 && b[1] == 1 && b[2] == 0 && b[3] == 0
	sixToFour := b[0] == 0x20 && b[1] == 2
	return b[0]>>5 != 1 || teredo || sixToFour
}

func TestLenient(t *testing.T) {
	for in, want := range map[string]string{
		"2130706433": "127.0.0.1", "0x7f.1": "127.0.0.1", "0177.0.0.1": "127.0.0.1", "10.5": "10.0.0.5",
		"172.16.1": "172.16.0.1", "169.254.0xa9fe": "169.254.169.254", "8.8.8.8.": "8.8.8.8", "example.org": "127.0.0.1",
	} {
		if got := lenient(in).String(); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
	public := []string{"8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"}
	for _, s := range append(slices.Clone(public), "127.0.0.1", "64:ff9b::7f00:1", "2002:808:808::1", "100.64.0.1", "::1") {
		if got, want := forbidden(netip.MustParseAddr(s)), !slices.Contains(public, s); got != want {
			t.Errorf("forbidden(%s) = %t, want %t", s, got, want)
		}
	}
}
