package origin

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A hostRule allows one host, or all hosts below a name, at one port or at the default
// ports.
type hostRule struct {
	name  string // in lower case; an address in its canonical form
	below bool   // allows the hosts below name, but not name itself
	port  string // empty: 80 for http and 443 for https
}

// parseHost reads "example.org", "example.org:8443", "*.example.org",
// "192.0.2.1" or "[2001:db8::1]:8443".
func parseHost(s string) (hostRule, error) {
	var r hostRule
	name := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		name, r.port = s[:i], s[i+1:]
		if !validPort(r.port) {
			return hostRule{}, fmt.Errorf("%q is not a port: want a number from 1 to 65535", r.port)
		}
	}
	name, r.below = strings.CutPrefix(name, "*.")
	var err error
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if name = inner; !ok || !strings.Contains(name, ":") || r.below {
			return hostRule{}, errors.New("only an IPv6 address may stand in brackets")
		}
	} else if strings.Contains(name, ":") {
		return hostRule{}, errors.New("want a host, or host:port; an IPv6 address stands in brackets")
	}
	r.name, err = canonicalHost(name)
	return r, err
}

// canonicalHost returns a host in the form for comparing rules and URLs: an IPv6 address
// in its shortest form, anything else in lower case. It accepts ASCII names of letters,
// digits, "-", "_" and single dots inside, and refuses names that Unicode folding would change
// and names that end in a dot.
func canonicalHost(host string) (string, error) {
	if strings.Contains(host, ":") {
		ip, err := netip.ParseAddr(host)
		if err != nil || ip.Zone() != "" {
			return "", fmt.Errorf("%q is not an IPv6 address without a zone", host)
		}
		return ip.String(), nil
	}
	host = strings.ToLower(host)
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("%q is not a host name in ASCII", host)
		}
	}
	return host, nil
}

// validPort reports whether s is a port number in its usual notation.
func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

func (r hostRule) allows(host, port string, usual bool) bool {
	if r.port != port && (r.port != "" || !usual) {
		return false
	}
	if r.below {
		return strings.HasSuffix(host, "."+r.name)
	}
	return host == r.name
}

// usualPorts are the default ports of the allowed schemes.
var usualPorts = map[string]string{"http": "80", "https": "443"}

// checkURL returns the reason for which the rules forbid u, or nil.
func checkURL(rules []hostRule, u *url.URL) error {
	usual, ok := usualPorts[u.Scheme]
	switch {
	case !ok:
		return fmt.Errorf("the scheme is %q, not http or https", u.Scheme)
	case u.User != nil:
		return errors.New("the URL has a user or a password in it: remove them, because no credential is sent")
	case u.Opaque != "" || u.Host == "":
		return errors.New("the URL has no host")
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return err
	}
	port := cmp.Or(u.Port(), usual)
	if !validPort(port) {
		return fmt.Errorf("%q is not a port: want a number from 1 to 65535", port)
	}
	if !slices.ContainsFunc(rules, func(r hostRule) bool { return r.allows(host, port, port == usual) }) {
		return fmt.Errorf("add %q to %s to allow it", hostPort(host, port, usual), SettingHosts)
	}
	return nil
}

// hostPort returns the entry of [Options.Hosts] that would allow a host at a port.
func hostPort(host, port, usual string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == usual {
		return host
	}
	return host + ":" + port
}

// sameOrigin reports whether two URLs that passed checkURL have the same
// scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return usualPorts[u.Scheme]
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}
