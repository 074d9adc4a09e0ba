package origin

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/carrel-dev/carrel/artifact"
)

// A guard decides which addresses may be dialed. It checks addresses, never names, so
// that changing DNS answers cannot bypass it.
type guard struct {
	private bool
	allow   []netip.Prefix
}

// special lists ranges that look public but are not: local and reserved ranges,
// ranges for documentation, and ranges that embed another address.
var special = prefixes(
	// RFC 6890 and what came after it, for IPv4.
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	// For IPv6, inside 2000::/3: Teredo, benchmarks, ORCHID and other protocols;
	// documentation; 6to4; documentation again.
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// home lists the ranges that [Options.AllowPrivate] allows. It excludes link-local addresses,
// and the IPv6 address with the same purpose, because there clouds serve credentials
// to any caller.
var (
	home     = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
	metadata = netip.MustParsePrefix("fd00:ec2::/32")
)

var (
	global6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(list))
	for i, s := range list {
		ps[i] = netip.MustParsePrefix(s)
	}
	return ps
}

// permits reports whether ip may be dialed. An IPv4 address embedded in
// IPv6, by mapping or NAT64, is checked as the IPv4 address.
func (g guard) permits(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	if nat64.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	in := func(p netip.Prefix) bool { return p.Contains(ip) }
	switch {
	case !ip.IsValid():
		return false
	case slices.ContainsFunc(g.allow, in):
		return true
	case g.private && slices.ContainsFunc(home, in) && !metadata.Contains(ip):
		return true
	}
	return (ip.Is4() || global6.Contains(ip)) && !slices.ContainsFunc(special, in)
}

// control refuses a connection before it is made. It is a value for the field Control of
// [net.Dialer].
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fail(artifact.ErrForbidden, address, "%w", err)
	}
	if !g.permits(to.Addr()) {
		return fail(artifact.ErrForbidden, to.Addr().String(),
			"the address is not a public one; %s or %s may allow it", SettingPrivate, SettingAllow)
	}
	return nil
}

// A dialer connects, and calls control with each address before it dials the address.
type dialer func(ctx context.Context, network, address string, control func(string, string, syscall.RawConn) error) (net.Conn, error)

func netDial(ctx context.Context, network, address string, control func(string, string, syscall.RawConn) error) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, Control: control}
	return d.DialContext(ctx, network, address)
}

// transport returns a transport whose connections g checks. It ignores proxies of
// the environment, which would dial unchecked, and does not decompress.
func (g guard) transport(dial dialer) *http.Transport {
	if dial == nil {
		dial = netDial
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, address, g.control)
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}
