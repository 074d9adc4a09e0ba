package origin

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/artifact"
)

func TestGuard(t *testing.T) {
	const never, private, public = "never", "private", "public"
	allow := []netip.Prefix{netip.MustParsePrefix("198.18.7.0/24"), netip.MustParsePrefix("fe80::/16")}
	for ip, want := range map[string]string{
		"8.8.8.8": public, "93.184.216.34": public, "100.63.255.255": public, "100.128.0.0": public, "172.15.255.255": public,
		"172.32.0.0": public, "192.167.255.255": public, "198.17.255.255": public, "198.20.0.0": public, "223.255.255.255": public,
		"2606:2800:220:1::1": public, "2a00:1450::1": public, "::ffff:8.8.8.8": public, "64:ff9b::8.8.8.8": public, "2001:200::1": public,
		"127.0.0.1": private, "127.255.255.255": private, "10.0.0.0": private, "10.255.255.255": private, "172.16.0.0": private,
		"172.31.255.255": private, "192.168.0.1": private, "::1": private, "fc00::1": private, "fdff::1": private,
		"::ffff:127.0.0.1": private, "::ffff:10.0.0.1": private, "64:ff9b::10.0.0.1": private, "::1%lo": private,
		"0.0.0.0": never, "0.1.2.3": never, "100.64.0.0": never, "100.127.255.255": never, "169.254.169.254": never, "192.0.0.1": never,
		"192.0.2.1": never, "192.88.99.1": never, "198.18.0.1": never, "198.19.255.255": never, "198.51.100.1": never, "203.0.113.1": never,
		"224.0.0.1": never, "239.255.255.255": never, "240.0.0.1": never, "255.255.255.255": never, "::ffff:169.254.169.254": never,
		"::": never, "::127.0.0.1": never, "::2": never, "64:ff9b::169.254.169.254": never, "64:ff9b:1::8.8.8.8": never, "100::1": never,
		"2001::1": never, "2001:0:4136:e378:8000:63bf:3fff:fdd2": never, "2001:2::1": never, "2001:10::1": never, "2001:20::1": never,
		"2001:db8::1": never, "2002:808:808::1": never, "3fff::1": never, "5f00::1": never, "fe90::1": never, "fec0::1": never,
		"ff02::1": never, "fd00:ec2::254": never,
		"198.18.7.1": "allowed", "fe80::1": "allowed", "fe80::1%eth0": "allowed", "64:ff9b::198.18.7.1": "allowed", "::ffff:198.18.7.1": "allowed",
	} {
		a := netip.MustParseAddr(ip)
		for _, g := range []struct {
			name  string
			guard guard
			want  bool
		}{
			{"by default", guard{}, want == public},
			{"with private ones", guard{private: true}, want == public || want == private},
			{"with a list", guard{allow: allow}, want == public || want == "allowed"},
		} {
			if got := g.guard.permits(a); got != g.want {
				t.Errorf("%s permitted %s: %t, want %t", ip, g.name, got, g.want)
			}
		}
	}
	if (guard{private: true}).permits(netip.Addr{}) {
		t.Error("no address is permitted")
	}
	for _, address := range []string{"", "localhost:80", "10.0.0.1:80", "93.184.216.34"} {
		if err := (guard{}).control("tcp", address, nil); !errors.Is(err, artifact.ErrForbidden) {
			t.Errorf("control of %q = %v, want ErrForbidden", address, err)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		rule      string
		allowed   string // URLs
		forbidden string
	}{
		{
			"example.org",
			"http://example.org/ https://example.org/x http://example.org:80/ https://EXAMPLE.org:443/ http://example.org:/",
			"http://example.org:443/ https://example.org:80/ http://example.org:8080/ http://a.example.org/ http://example.org./ " +
				"http://example.com/ http://u@example.org/ http://u" + ":p@example.org/ ftp://example.org/ //example.org/ http:example.org " +
				"http:///example.org http://exam%70le.org.evil/ http://example.org:080/ http://example.org:65536/",
		},
		{"Example.Org:8443", "http://example.org:8443/ https://example.org:8443/", "https://example.org/ https://example.org:443/ https://example.org:84430/"},
		{
			"*.example.org", "http://a.example.org/ https://a.b.example.org/ https://xn--bcher-kva.example.org/",
			"http://example.org/ http://aexample.org/ http://.example.org/ http://a..example.org/ http://a.example.org.evil/ http://bücher.example.org/ http://a.example.org:8080/",
		},
		{"*.example.org:81", "http://a.example.org:81/", "http://a.example.org/ http://example.org:81/"},
		{"192.0.2.1", "http://192.0.2.1/", "http://192.0.2.2/ http://[::ffff:192.0.2.1]/ http://3221225985/ http://192.0.2.01/ http://192.0.513/"},
		{"example.org:1", "http://example.org:1/", "http://example.org/"},
		{"[2001:DB8::1]", "http://[2001:db8::1]/ https://[2001:db8:0:0:0:0:0:1]:443/", "http://[2001:db8::2]/ http://[2001:db8::1]:8080/ http://[2001:db8::1%25eth0]/"},
		{"[::1]:8080", "http://[::1]:8080/ http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]/ http://127.0.0.1:8080/"},
	} {
		rule, err := parseHost(tt.rule)
		if err != nil {
			t.Errorf("rule %q: %v", tt.rule, err)
			continue
		}
		for want, list := range map[bool]string{true: tt.allowed, false: tt.forbidden} {
			for s := range strings.FieldsSeq(list) {
				u, err := url.Parse(s)
				if err == nil {
					err = checkURL([]hostRule{rule}, u)
				}
				if (err == nil) != want {
					t.Errorf("rule %q, URL %q: %v, want allowed %t", tt.rule, s, err, want)
				}
			}
		}
	}
	for _, s := range []string{
		"", "*", "*.", "a.*", "*.*.org", "a*.org", "https://example.org", "example.org/", "example.org:", "example.org:http", "example.org:0",
		"example.org:080", "example.org:65536", "::1", "[::1", "[2001:db8::1:80", "::1]", "[::1]x", "[example.org]", "*.[::1]", "[fe80::1%eth0]", "a b", "bücher.example",
		"example.org.", ".example.org", "u@example.org",
	} {
		if r, err := parseHost(s); err == nil {
			t.Errorf("rule %q is taken for %+v, want an error", s, r)
		}
	}
}

// An invalid rule makes every fetch fail, so that the mistake is noticed.
func TestHTTPSaysWhichRuleIsBad(t *testing.T) {
	h := newWeb(Options{Hosts: []string{"example.org", "https://docs.example.org"}}.complete(), new(network).dial)
	for range 2 {
		f, err := h.Fetch(t.Context(), "https://example.org/", nil)
		check(t, f, err, "", artifact.ErrForbidden, "https://docs.example.org")
	}
}

func gzipped(size int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, size))
	_ = w.Close()
	return b.Bytes()
}

func TestHTTP(t *testing.T) {
	const etag, modified = `"v1"`, "Wed, 21 Oct 2015 07:28:00 GMT"
	bomb := gzipped(1 << 20)
	mux := http.NewServeMux()
	text := func(path, content string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	}
	text("/plain", "plain")
	text("/full", strings.Repeat("x", 100))
	text("/big", strings.Repeat("x", 101))
	text("/binary", "\x89PNG\r\n\xff")
	text("/nul", "a\x00b")
	for _, code := range []int{204, 206, 304, 400, 401, 403, 404, 410, 429, 500, 503, 599} {
		mux.HandleFunc(fmt.Sprintf("/status/%d", code), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	mux.HandleFunc("/tagged", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		w.Header().Set("Last-Modified", modified)
		if r.Header.Get("If-None-Match") == etag || r.Header.Get("If-Modified-Since") == modified {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "tagged")
	})
	mux.HandleFunc("/terse", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 1 << 10 {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("the server is offered %q, want nothing compressed", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "50")
		_, _ = w.Write([]byte("half"))
	})
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscan(r.PathValue("n"), &n)
		to := fmt.Sprintf("/hop/%d", n-1)
		if n == 1 {
			to = "/tagged"
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://h:bad/x?"+r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	n := serve(t, names(), mux.ServeHTTP)
	h := newWeb(Options{Hosts: []string{"docs.example.org"}, Limit: 100}.complete(), n.dial)
	defer h.Close()

	for _, tt := range []struct {
		name string
		path string
		have *artifact.Have
		want string
		kind error
		says string
	}{
		{"text", "/plain", nil, "plain", nil, ""},
		{"text that the caller has", "/plain", has("plain"), "=", nil, ""},
		{"text that the caller has no longer", "/plain", has("older"), "plain", nil, ""},
		{"a tag that is current", "/tagged", &artifact.Have{ETag: etag}, "=", nil, ""},
		{"a tag that is not", "/tagged", &artifact.Have{ETag: `"v0"`}, "tagged", nil, ""},
		{"a date that is current", "/tagged", &artifact.Have{Modified: modified}, "=", nil, ""},
		{"a tag through a redirect", "/hop/1", &artifact.Have{ETag: etag}, "=", nil, ""},
		{"as much as the limit", "/full", nil, strings.Repeat("x", 100), nil, ""},
		{"more than the limit, as announced", "/big", nil, "", artifact.ErrForbidden, SettingLimit},
		{"more than the limit, without an end", "/endless", nil, "", artifact.ErrForbidden, SettingLimit},
		{"what is not text", "/binary", nil, "", artifact.ErrForbidden, "not text"},
		{"what has a zero byte", "/nul", nil, "", artifact.ErrForbidden, "not text"},
		{"an encoding that nobody asked for", "/bomb", nil, "", artifact.ErrUnavailable, "gzip"},
		{"a body that ends early", "/short", nil, "", artifact.ErrUnavailable, "unexpected EOF"},
		{"not found", "/missing", nil, "", artifact.ErrGone, "404 Not Found"},
		{"gone", "/status/410", nil, "", artifact.ErrGone, "410 Gone"},
		{"no content", "/status/204", nil, "", artifact.ErrUnavailable, "204"},
		{"a part", "/status/206", nil, "", artifact.ErrUnavailable, "206"},
		{"not modified since nothing", "/status/304", nil, "", artifact.ErrUnavailable, "304"},
		{"a bad request", "/status/400", nil, "", artifact.ErrUnavailable, "400"},
		{"unauthorized", "/status/401", nil, "", artifact.ErrUnavailable, "401"},
		{"forbidden by the server", "/status/403", nil, "", artifact.ErrUnavailable, "403"},
		{"too many requests", "/status/429", nil, "", artifact.ErrUnavailable, "429"},
		{"an error of the server", "/status/500", nil, "", artifact.ErrUnavailable, "500"},
		{"a server that is busy", "/status/503", nil, "", artifact.ErrUnavailable, "503"},
		{"a status without a name", "/status/599", nil, "", artifact.ErrUnavailable, "599"},
		{"five redirects", "/hop/5", nil, "tagged", nil, ""},
		{"six redirects", "/hop/6", nil, "", artifact.ErrUnavailable, "more than 5 redirects"},
		{"a redirect to nowhere", "/nowhere", nil, "", artifact.ErrUnavailable, "302"},
		{"a tag that is no header", "/plain", &artifact.Have{ETag: "a\r\nX: y"}, "", artifact.ErrUnavailable, "header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := h.Fetch(t.Context(), artifact.Ref("http://docs.example.org"+tt.path), tt.have)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}

	t.Run("an answer that repeats the query", func(t *testing.T) {
		f, err := h.Fetch(t.Context(), "http://docs.example.org/echo?token=hidden", nil)
		check(t, f, err, "", artifact.ErrUnavailable, "not valid HTTP")
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("the error quotes the query: %v", err)
		}
	})
	t.Run("tag and date come back", func(t *testing.T) {
		for _, have := range []*artifact.Have{nil, {ETag: etag}} {
			f, err := h.Fetch(t.Context(), "http://docs.example.org/tagged", have)
			if err != nil || f.ETag != etag || f.Modified != modified {
				t.Errorf("got %+v, %v, want tag %s and date %s", f, err, etag, modified)
			}
		}
		f, err := h.Fetch(t.Context(), "http://docs.example.org/terse", &artifact.Have{ETag: etag, Modified: modified})
		if err != nil || !f.Unchanged || f.ETag != etag || f.Modified != modified {
			t.Errorf("got %+v, %v, want what the caller had", f, err)
		}
	})
	t.Run("lines", func(t *testing.T) {
		r := &Router{sources: map[string]artifact.Source{"http": h}}
		f, err := r.Fetch(t.Context(), "http://docs.example.org/tagged#L1", &artifact.Have{ETag: etag})
		check(t, f, err, "=", nil, "")
		f, err = r.Fetch(t.Context(), "http://docs.example.org/plain#L2", nil)
		check(t, f, err, "", artifact.ErrGone, "http://docs.example.org/plain: line 2")
	})
}

// An ETag, a date or a referring page of one site is not sent to another site.
func TestRedirectsToOtherOrigins(t *testing.T) {
	n := serve(t, names(), func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("ETag", `"redirect"`)
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"other"`)
		fmt.Fprintf(w, "%s tag=%s date=%s referer=%s", r.Host, r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since"), r.Header.Get("Referer"))
	})
	h := newWeb(Options{Hosts: []string{"docs.example.org", "docs.example.org:8080", "a.example.com"}}.complete(), n.dial)
	defer h.Close()
	have := &artifact.Have{ETag: `"mine"`, Modified: "Wed, 21 Oct 2015 07:28:00 GMT"}
	for to, want := range map[string]string{
		"/x":                              `docs.example.org tag="mine" date=Wed, 21 Oct 2015 07:28:00 GMT referer=`,
		"http://docs.example.org:80/x":    `docs.example.org:80 tag="mine" date=Wed, 21 Oct 2015 07:28:00 GMT referer=`,
		"http://a.example.com/x":          "a.example.com tag= date= referer=",
		"http://docs.example.org:8080/":   "docs.example.org:8080 tag= date= referer=",
		"http://a.example.com/?to=/again": "a.example.com tag= date= referer=",
		"http://a.example.com/?to=http://docs.example.org:8080/": "docs.example.org:8080 tag= date= referer=",
	} {
		f, err := h.Fetch(t.Context(), artifact.Ref("http://docs.example.org/?to="+url.QueryEscape(to)), have)
		check(t, f, err, want, nil, "")
		wantTag := ""
		if strings.HasPrefix(want, "docs.example.org tag") || strings.HasPrefix(want, "docs.example.org:80 ") {
			wantTag = `"other"`
		}
		if err == nil && f.ETag != wantTag {
			t.Errorf("redirect to %s: tag %q, want %q", to, f.ETag, wantTag)
		}
	}
	f, err := h.Fetch(t.Context(), "http://docs.example.org/?to=http://other.example/secret?q=1", nil)
	check(t, f, err, "", artifact.ErrForbidden, "redirect to http://other.example/secret")
}

// A proxy in the environment is not used.
func TestHTTPUsesNoProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://proxy.example:3128")
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	n := serve(t, names(), bounce)
	h := newWeb(Options{Hosts: []string{"docs.example.org"}}.complete(), n.dial)
	defer h.Close()
	if h.client.Transport.(*http.Transport).Proxy != nil { // the environment is read once in a process, perhaps before this test
		t.Error("the transport looks for a proxy")
	}
	f, err := h.Fetch(t.Context(), "http://docs.example.org/", nil)
	check(t, f, err, "public", nil, "")
	for _, d := range n.made() {
		if d.name != "docs.example.org" {
			t.Errorf("dialed %q", d.name)
		}
	}
}

// These tests use the system's dialer over the loopback interface.

// counted starts a server that counts its connections.
func counted(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	var conns atomic.Int64
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, &conns
}

func TestHTTPOverLoopback(t *testing.T) {
	srv, conns := counted(t, bounce)
	host := strings.TrimPrefix(srv.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	hosts := []string{host, "localhost:" + port}
	for _, tt := range []struct {
		name string
		h    *web
		want error
	}{
		{"by default", newWeb(Options{Hosts: hosts}.complete(), nil), artifact.ErrForbidden},
		{"another range allowed", newWeb(Options{Hosts: hosts, Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}.complete(), nil), artifact.ErrForbidden},
		{"private ones allowed", newWeb(Options{Hosts: hosts, AllowPrivate: true}.complete(), nil), nil},
		{"the range allowed", newWeb(Options{Hosts: hosts, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.complete(), nil), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conns.Store(0)
			f, err := tt.h.Fetch(t.Context(), artifact.Ref(srv.URL+"/x"), nil)
			check(t, f, err, "public", tt.want, SettingPrivate)
			if tt.want != nil {
				f, err = tt.h.Fetch(t.Context(), artifact.Ref("http://localhost:"+port), nil)
				check(t, f, err, "", tt.want, SettingPrivate)
			}
			if err := tt.h.Close(); err != nil {
				t.Error(err)
			}
			if got := conns.Load(); got != 0 && tt.want != nil {
				t.Errorf("the server got %d connections, want none", got)
			}
		})
	}
}

// No redirect leads from https to http, even to a host that is listed.
func TestHTTPDoesNotLeaveTLS(t *testing.T) {
	plain, conns := counted(t, bounce)
	secure := httptest.NewTLSServer(http.HandlerFunc(bounce))
	defer secure.Close()
	h := newWeb(Options{Hosts: []string{strings.TrimPrefix(plain.URL, "http://"), strings.TrimPrefix(secure.URL, "https://")}, AllowPrivate: true}.complete(), nil)
	defer h.Close()
	h.client.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig

	f, err := h.Fetch(t.Context(), artifact.Ref(secure.URL+"/?to="+plain.URL), nil)
	check(t, f, err, "", artifact.ErrForbidden, "leaves https")
	if got := conns.Load(); got != 0 {
		t.Errorf("the plain server got %d connections, want none", got)
	}
	f, err = h.Fetch(t.Context(), artifact.Ref(plain.URL+"/?to="+secure.URL), nil)
	check(t, f, err, "public", nil, "")
	f, err = h.Fetch(t.Context(), artifact.Ref(secure.URL+"/?to="+secure.URL), nil)
	check(t, f, err, "public", nil, "")
}

// A certificate without a trusted issuer is an error.
func TestHTTPChecksCertificates(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(bounce))
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	defer srv.Close()
	h := newWeb(Options{Hosts: []string{strings.TrimPrefix(srv.URL, "https://")}, AllowPrivate: true}.complete(), nil)
	defer h.Close()
	f, err := h.Fetch(t.Context(), artifact.Ref(srv.URL), nil)
	check(t, f, err, "", artifact.ErrUnavailable, "certificate")
}

// A fetch ends when its context is canceled or its timeout passes, even if the server has
// not answered.
func TestHTTPGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv, _ := counted(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	hosts := []string{strings.TrimPrefix(srv.URL, "http://")}
	h := newWeb(Options{Hosts: hosts, AllowPrivate: true}.complete(), nil)
	defer h.Close()
	f, err := h.Fetch(ctx, artifact.Ref(srv.URL), nil)
	check(t, f, err, "", artifact.ErrUnavailable, "canceled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it to wrap %v", err, context.Canceled)
	}

	h = newWeb(Options{Hosts: hosts, AllowPrivate: true, Timeout: time.Nanosecond}.complete(), nil)
	defer h.Close()
	f, err = h.Fetch(t.Context(), artifact.Ref(srv.URL), nil)
	check(t, f, err, "", artifact.ErrUnavailable, "deadline")

	srv.Close()
	h = newWeb(Options{Hosts: hosts, AllowPrivate: true}.complete(), nil)
	f, err = h.Fetch(t.Context(), artifact.Ref(srv.URL), nil)
	check(t, f, err, "", artifact.ErrUnavailable, "")
}

// FuzzURL checks that each accepted URL is dialed by a configured name.
func FuzzURL(f *testing.F) {
	for _, s := range wrappings("127.0.0.1") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := &network{names: names()}
		h := newWeb(Options{Hosts: []string{"docs.example.org", "*.example.com"}}.complete(), n.dial)
		defer h.Close()
		if _, err := h.Fetch(t.Context(), artifact.Ref(s), nil); err == nil {
			t.Fatalf("%q: no error from a network without servers", s)
		}
		for _, d := range n.made() {
			if name := strings.ToLower(d.name); name != "docs.example.org" && !strings.HasSuffix(name, ".example.com") || forbidden(d.to.Addr()) {
				t.Fatalf("%q: dialed %q at %v", s, d.name, d.to)
			}
		}
	})
}

// The error about a forbidden URL names the rule that would allow it.
func TestHostsNameTheRule(t *testing.T) {
	for s, want := range map[string]string{
		"http://example.org/x":        `add "example.org" to `,
		"https://example.org:443/":    `add "example.org" to `,
		"https://EXAMPLE.org:80/":     `add "example.org:80" to `,
		"http://[2001:DB8::1]/":       `add "[2001:db8::1]" to `,
		"http://[2001:db8::1]:8080/":  `add "[2001:db8::1]:8080" to `,
		"http:///x":                   "the URL has no host",
		"http:example.org":            "the URL has no host",
		"http://example.org:070/":     `"070" is not a port`,
		"ftp://example.org/":          `the scheme is "ftp"`,
		"http://someone@example.org/": "the URL has a user",
		"http://b\u00fccher.example/": "is not a host name in ASCII",
	} {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkURL(nil, u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", s, err, want)
		}
	}
	opaque := &url.URL{Scheme: "http", Opaque: "example.org/x", Host: "example.org"}
	if err := checkURL([]hostRule{{name: "example.org"}}, opaque); err == nil {
		t.Error("a URL that is opaque may be fetched")
	}
}

// Two URLs have the same origin if scheme, host and port are equal.
func TestSameOrigin(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"http://a.org/x", "http://A.org:80/y", true},
		{"https://a.org/", "https://a.org:443/", true},
		{"http://a.org:443/", "https://a.org/", false},
		{"http://a.org/", "http://b.org/", false},
		{"http://a.org/", "http://a.org:81/", false},
	} {
		a, err := url.Parse(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := url.Parse(tt.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameOrigin(a, b); got != tt.want {
			t.Errorf("%s and %s: %t, want %t", tt.a, tt.b, got, tt.want)
		}
	}
}

// A response is "unchanged" only for a conditional request, and an encoded response is an error.
func TestHTTPReads(t *testing.T) {
	u, err := url.Parse("https://example.org/x")
	if err != nil {
		t.Fatal(err)
	}
	have := &artifact.Have{ETag: `"1"`, Modified: "then"}
	for _, tt := range []struct {
		name   string
		code   int
		header http.Header
		asked  string // the header of the request
		body   string
		want   *artifact.Fetched
		kind   error
	}{
		{"a text", 200, http.Header{}, "", "text", &artifact.Fetched{Content: []byte("text")}, nil},
		{"a text as it is", 200, http.Header{"Content-Encoding": {"identity"}}, "", "text", &artifact.Fetched{Content: []byte("text")}, nil},
		{"a text in an encoding", 200, http.Header{"Content-Encoding": {"gzip"}}, "", "text", nil, artifact.ErrUnavailable},
		{"unchanged", 304, http.Header{}, "If-None-Match", "", &artifact.Fetched{Unchanged: true, ETag: `"1"`, Modified: "then"}, nil},
		{"unchanged since", 304, http.Header{}, "If-Modified-Since", "", &artifact.Fetched{Unchanged: true, ETag: `"1"`, Modified: "then"}, nil},
		{"unchanged, with another tag", 304, http.Header{"Etag": {`"2"`}}, "If-None-Match", "", &artifact.Fetched{Unchanged: true, ETag: `"2"`}, nil},
		{"unchanged, with another time", 304, http.Header{"Last-Modified": {"now"}}, "If-None-Match", "", &artifact.Fetched{Unchanged: true, Modified: "now"}, nil},
		{"unchanged, unasked", 304, http.Header{}, "", "", nil, artifact.ErrUnavailable},
		{"gone, asked if it is unchanged", 410, http.Header{}, "If-None-Match", "", nil, artifact.ErrGone},
	} {
		req := &http.Request{URL: u, Header: http.Header{}}
		if tt.asked != "" {
			req.Header.Set(tt.asked, "x")
		}
		resp := &http.Response{StatusCode: tt.code, Header: tt.header, Body: io.NopCloser(strings.NewReader(tt.body)), Request: req}
		got, err := (&web{Options: Options{}.complete()}).read("it", u, resp, have)
		if !errors.Is(err, tt.kind) || (err == nil) != (tt.kind == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.kind)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Each step of a connection has a timeout, and the size of response headers is limited.
func TestTransportIsBounded(t *testing.T) {
	tr := (guard{}).transport(nil)
	if tr.TLSHandshakeTimeout < time.Second || tr.IdleConnTimeout < time.Second || tr.MaxResponseHeaderBytes <= 0 || !tr.DisableCompression || tr.Proxy != nil {
		t.Errorf("the transport is %+v", tr)
	}
}

// A text of exactly the limit is accepted, and one byte more is not, for the default limit too.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limit   int64
		content string
		want    error
	}{
		{1, "x", nil},
		{1, "xx", artifact.ErrForbidden},
		{3, "xyz", nil},
		{3, "wxyz", artifact.ErrForbidden},
		{0, "xyz", nil},
		{-1, "xyz", nil},
		{9, "\x00xyz", artifact.ErrForbidden},
		{9, "xyz\x00", artifact.ErrForbidden},
	} {
		limit := Options{Limit: tt.limit}.complete().Limit
		content, err := readAll(strings.NewReader(tt.content), limit)
		if err != nil {
			t.Fatal(err)
		}
		f, err := answer("it", limit, &artifact.Fetched{Content: content}, nil)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || err == nil && string(f.Content) != tt.content {
			t.Errorf("%q within %d: %v, %v, want %v", tt.content, tt.limit, f, err, tt.want)
		}
	}
}
