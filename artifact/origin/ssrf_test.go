package origin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/artifact"
)

// spellings returns notations of an IPv4 address as a host.
func spellings(s string) []string {
	ip := netip.MustParseAddr(s)
	b := ip.As4()
	n := binary.BigEndian.Uint32(b[:])
	f := fmt.Sprintf
	replace := func(digits, dots string) string {
		r := []rune(digits)
		return strings.Map(func(c rune) rune {
			if c == '.' {
				return []rune(dots)[0]
			}
			return r[c-'0']
		}, s)
	}
	var percent strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&percent, "%%%02x", c)
	}
	return []string{
		s, s + ".", s + "..", f("%d", n), f("0x%x", n), f("0X%X", n), f("0%o", n), f("%d", uint64(n)+1<<32),
		f("%#x.%#x.%#x.%#x", b[0], b[1], b[2], b[3]), f("%#o.%#o.%#o.%#o", b[0], b[1], b[2], b[3]),
		f("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), f("%#x.%d.%#o.%d", b[0], b[1], b[2], b[3]),
		f("%d.%d", b[0], n&0xffffff), f("%d.%d.%d", b[0], b[1], n&0xffff), f("%#x.%#o", b[0], n&0xffffff),
		f("[::ffff:%s]", s), f("[::ffff:%x:%x]", n>>16, n&0xffff), f("[0:0:0:0:0:ffff:%s]", s), f("[::%s]", s),
		f("[::ffff:0:%s]", s), f("[64:ff9b::%s]", s), f("[64:ff9b:1::%s]", s), f("[2002:%x:%x::1]", n>>16, n&0xffff),
		f("[2001:0:4136:e378:8000:63bf:%x:%x]", ^n>>16, ^n&0xffff), f("[::ffff:%s%%25eth0]", s), f("[%s]", s),
		percent.String(), strings.ReplaceAll(s, ".", "%2e"), s + "%00.docs.example.org", s + "%2f.docs.example.org",
		replace("０１２３４５６７８９", "."), replace("⓪①②③④⑤⑥⑦⑧⑨", "."), replace("0123456789", "。"),
		replace("0123456789", "．"), replace("0123456789", "｡"), s + ".nip.io", "xn--" + s,
	}
}

// wrappings returns URLs that contain a host where a parser may mistake it for
// another.
func wrappings(h string) []string {
	const good = "docs.example.org"
	return []string{
		"http://" + h + "/", "https://" + h + "/", "HTTP://" + h, "http://" + h + ":80/", "http://" + h + ":8080/", "https://" + h + ":443/x",
		"http://" + good + "@" + h + "/", "http://" + h + "@" + good + "/", "http://" + good + ":pw@" + h + "/", "http://@" + h + "/",
		`http://` + good + `\@` + h + "/", `http://` + h + `\.` + good + "/", `http:\\` + h + "/", `http:/\` + h + "/",
		"http://" + good + "#@" + h + "/", "http://" + good + "?@" + h + "/", "http://" + good + "/@" + h + "/", "http://" + h + "#" + good,
		"http:///" + h + "/", "http:" + h + "/", "http:/" + h + "/", "//" + h + "/", "http://" + h + "." + good + "/", "http://" + good + "." + h + "/",
		"http:// " + h + "/", "http://\t" + h + "/", "http://" + h + "\r\n/", "http://" + good + "\x00@" + h + "/", "http://" + good + ":80@" + h + ":80/",
		"http://" + h + ":" + good + "/", "http://" + good + ":" + h + "/", "http://" + h + ":0/", "http://" + h + ":080/", "http://" + h + ":65616/",
		"ftp://" + h + "/", "file://" + h + "/etc/passwd", "gopher://" + h + ":70/_", "data:text/plain,http://" + h, "jar:http://" + h + "!/",
	}
}

// corpus returns URLs that lead, or seem to lead, to forbidden addresses.
func corpus() []string {
	hosts := []string{
		"localhost", "localhost.", "LOCALHOST", "localhost.localdomain", "ip6-localhost", "metadata.google.internal", "metadata", "kubernetes.default.svc",
		"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhoſt", "xn--localhost-", "docs.example.org.", "docs.example.org..", ".docs.example.org", "docs。example。org", "DOCS.EXAMPLE.ORG",
		"docs.example.org%00", "ｄocs.example.org", "xdocs.example.org", "docs.example.org.evil.example", "docs-example.org", "example.com", "a.example.com",
		"a..example.com", "evilexample.com", "*.example.com", "a.example.com.", "rebind.example.com", "inside.example.com", "both.example.com",
		"[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::1%25lo]", "[::1%lo]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]",
		"[fec0::1]", "[ff02::1]", "[2001::1]", "[2001:2::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[100::1]", "::1", "[::1", "::1]", "[]", "", "0", "127.1",
	}
	var urls []string
	for _, ip := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.5", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"100.100.100.200", "198.18.0.1", "192.0.0.192", "224.0.0.1", "240.0.0.1", "255.255.255.255",
	} {
		for _, h := range spellings(ip) {
			urls = append(urls, "http://"+h+"/", "https://"+h+":8443/", "http://docs.example.org@"+h+"/")
		}
	}
	hosts = append(hosts, spellings("169.254.169.254")...)
	for _, h := range hosts {
		urls = append(urls, wrappings(h)...)
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// names are the names of the corpus that resolve to an address.
func names() map[string][]string {
	return map[string][]string{
		"docs.example.org": {"93.184.216.34"}, "DOCS.EXAMPLE.ORG": {"93.184.216.34"}, "a.example.com": {"2606:2800:220:1::1"},
		"rebind.example.com": {"93.184.216.34", "127.0.0.1", "93.184.216.34", "10.0.0.1"}, "inside.example.com": {"192.168.1.1"},
		"both.example.com": {"10.0.0.1 169.254.169.254 93.184.216.34"},
	}
}

// bounce redirects to the URL in its query.
func bounce(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("to"); to != "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return
	}
	_, _ = w.Write([]byte("public"))
}

// For no URL, given as a ref or as the target of a redirect, is an address
// dialed that is not public, or a host that is not configured.
func TestCorpus(t *testing.T) {
	urls := corpus()
	if len(urls) < 2000 {
		t.Fatalf("the corpus has %d URLs, want 2000 at least", len(urls))
	}
	// The first list is what a careful user writes. The second has every possible host
	// of the corpus, so that only the address check can refuse.
	careful := []string{"docs.example.org", "*.example.com"}
	var careless []string
	for _, s := range append(urls, "http://docs.example.org/") {
		u, err := url.Parse(s)
		if err != nil {
			continue
		}
		for _, host := range []string{u.Host, "[" + strings.Trim(u.Hostname(), "[]") + "]", u.Hostname()} {
			if _, err := parseHost(host); err == nil {
				careless = append(careless, host)
			}
		}
	}
	slices.Sort(careless)
	careless = slices.Compact(careless)

	for name, hosts := range map[string][]string{"some hosts": careful, "all hosts": careless} {
		t.Run(name, func(t *testing.T) {
			n := serve(t, names(), bounce)
			h := newWeb(Options{Hosts: hosts}.complete(), n.dial)
			defer h.Close()
			var made, served, refused int
			fetch := func(s string) {
				f, err := h.Fetch(t.Context(), artifact.Ref(s), nil)
				switch {
				case err == nil && string(f.Content) == "public":
					served++
				case err == nil:
					t.Errorf("%q: got %q", s, f.Content)
				case errors.Is(err, artifact.ErrForbidden):
					refused++
				case !errors.Is(err, artifact.ErrUnavailable):
					t.Errorf("%q: %v, want it forbidden", s, err)
				}
				for _, d := range n.made() {
					made++
					if forbidden(d.to.Addr()) {
						t.Errorf("%q: dialed %v for %q", s, d.to, d.name)
					}
					host := strings.ToLower(d.name)
					if listed := host == "docs.example.org" || strings.HasSuffix(host, ".example.com"); name == "some hosts" && !listed {
						t.Errorf("%q: dialed %q, which is not listed", s, d.name)
					}
				}
			}
			for _, s := range urls {
				fetch(s)
				fetch("http://docs.example.org/?to=" + url.QueryEscape(s))
			}
			t.Logf("%d URLs, direct and by redirect, with %d hosts listed: %d dials, none forbidden; %d addresses refused, %d fetches refused, %d served",
				len(urls), len(hosts), made, n.refused, refused, served)
			if made == 0 || n.refused == 0 || served == 0 {
				t.Errorf("%d dials, %d addresses refused, %d fetches served: want some of each, or nothing was tested", made, n.refused, served)
			}
		})
	}
}

// A name that resolved to a public address is checked again: in the next fetch, and in a
// redirect within one fetch.
func TestRebinding(t *testing.T) {
	ref := artifact.Ref("http://rebind.example.com/")
	for _, tt := range []struct {
		name    string
		answers []string
		refs    []artifact.Ref
		want    string // content of the last fetch; empty if forbidden
	}{
		{"public twice", []string{"93.184.216.34", "93.184.216.35"}, []artifact.Ref{ref, ref}, "public"},
		{"private at the second fetch", []string{"93.184.216.34", "127.0.0.1"}, []artifact.Ref{ref, ref}, ""},
		{"private at the redirect", []string{"93.184.216.34", "169.254.169.254"}, []artifact.Ref{ref + "?to=/again"}, ""},
		{"public at the redirect", []string{"93.184.216.34", "93.184.216.35"}, []artifact.Ref{ref + "?to=/again"}, "public"},
		{"private first, then public in one answer", []string{"10.0.0.1 93.184.216.34"}, []artifact.Ref{ref}, "public"},
		{"several, all private", []string{"10.0.0.1 ::1 fe80::1"}, []artifact.Ref{ref}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := serve(t, map[string][]string{"rebind.example.com": tt.answers}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close") // so that the next request dials
				bounce(w, r)
			})
			h := newWeb(Options{Hosts: []string{"rebind.example.com"}}.complete(), n.dial)
			defer h.Close()
			var f *artifact.Fetched
			var err error
			for _, ref := range tt.refs {
				f, err = h.Fetch(t.Context(), ref, nil)
			}
			if tt.want == "" {
				check(t, f, err, "", artifact.ErrForbidden, SettingAllow)
			} else {
				check(t, f, err, tt.want, nil, "")
			}
			for _, d := range n.made() {
				if forbidden(d.to.Addr()) {
					t.Errorf("dialed %v", d.to)
				}
			}
		})
	}
}
