package auth

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A name is a name of this server in the header Host.
type name struct {
	host string // in lower case, an address in its shortest form
	port string // or "" for any
}

// names are all names of this server. Other names are refused, which protects from DNS
// rebinding: a page of another site whose name suddenly resolves to this machine.
type names struct {
	all  []name
	port string // of the loopback names, or "" for any
}

// newNames returns the names of a server: the address at which it listens, and the
// names in others.
func newNames(listen string, others []string) (*names, error) {
	n := &names{}
	if listen != "" {
		host, port, err := net.SplitHostPort(listen)
		if err != nil {
			return nil, fmt.Errorf("address %q: want host:port", listen)
		}
		if port != "0" {
			n.port = port
		}
		if addr, err := netip.ParseAddr(host); host != "" && (err != nil || !addr.IsUnspecified()) {
			n.all = append(n.all, name{canonical(host), n.port})
		}
	}
	for _, text := range others {
		one, ok := parseName(text)
		if !ok {
			return nil, fmt.Errorf("host %q: want a name or an address, and perhaps a port", text)
		}
		n.all = append(n.all, one)
	}
	return n, nil
}

// parseName reads the value of a header Host.
func parseName(text string) (name, bool) {
	host, port := text, ""
	if at := strings.LastIndexByte(text, ':'); at > 0 && (text[0] == '[') == (text[at-1] == ']') {
		host, port = text[:at], text[at+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return name{}, false
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return name{}, false
		}
		return name{addr.String(), port}, true
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789.-_"
	host = strings.ToLower(host)
	if host == "" || len(host) > 253 || strings.Trim(host, letters) != "" {
		return name{}, false
	}
	return name{host, port}, true
}

// canonical returns a host in the form in which parseName returns it.
func canonical(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.String()
	}
	return strings.ToLower(host)
}

// called reports whether the header Host of a request is a name of the server. Without a port it
// means the default one: 443 over TLS, and else 80.
func (n *names) called(r *http.Request) bool {
	called, ok := parseName(r.Host)
	if !ok {
		return false
	}
	switch {
	case called.port != "":
	case r.TLS != nil:
		called.port = "443"
	default:
		called.port = "80"
	}
	if loopback(called.host) && (n.port == "" || n.port == called.port) {
		return true
	}
	return slices.ContainsFunc(n.all, func(own name) bool {
		return own.host == called.host && (own.port == "" || own.port == called.port)
	})
}

// loopback reports whether a host is "localhost" or a loopback address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// The reasons for a refusal because of the headers Host and Origin.
var (
	errHost   = errors.New("the header Host is not a name of this server: use localhost, or for carrel serve a name in server.hosts")
	errOrigin = errors.New("pages of other sites may not send requests")
)

// checkOrigin returns errOrigin if a page of another site may have made the request. A request that
// no page has made has no Origin; a request of a page of this server has the server's origin or one
// in allowed. If the header Sec-Fetch-Site says that the page is of another origin, the request is
// refused even if that origin is in allowed.
func checkOrigin(r *http.Request, allowed []string) error {
	switch site := r.Header.Values("Sec-Fetch-Site"); {
	case len(site) == 0:
	case len(site) > 1, site[0] != "none" && site[0] != "same-origin":
		return errOrigin
	}
	origin := r.Header.Values("Origin")
	switch {
	case len(origin) == 0:
		return nil
	case len(origin) > 1:
		return errOrigin
	case slices.Contains(allowed, origin[0]):
		return nil
	case strings.EqualFold(origin[0], "http://"+r.Host), strings.EqualFold(origin[0], "https://"+r.Host):
		return nil // the Host was checked before
	}
	return errOrigin
}
