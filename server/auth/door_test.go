package auth_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
)

// A room is the handler behind a door in these tests. It counts its requests.
type room struct {
	http.Handler // the door
	credential   string
	id           string // of the credential
	authority    *auth.Authority
	store        store.Database
	entered      atomic.Int64
	healthy      atomic.Int64

	visit func(w http.ResponseWriter, r *http.Request) // for who comes in
}

func newRoom(t testing.TB, opts *auth.DoorOptions) *room {
	t.Helper()
	rm := &room{store: memory.New(), visit: func(http.ResponseWriter, *http.Request) {}}
	if opts.Now == nil {
		opts.Now = clock
	}
	opts.Open = []string{"/healthz"}
	rm.authority = auth.NewAuthority(rm.store, newKey(t), &auth.AuthorityOptions{Now: opts.Now})
	text, credential := mint(t, rm.authority, request())
	rm.credential, rm.id = text, credential.ID
	door, err := auth.NewDoor(rm.authority, opts)
	if err != nil {
		t.Fatal(err)
	}
	rm.Handler = door.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			rm.healthy.Add(1)
			return
		}
		rm.entered.Add(1)
		rm.visit(w, r)
	}))
	return rm
}

// A caller is a request, as somebody may make it.
type caller struct {
	method, target, host string
	header               http.Header
	body                 io.Reader
	remote               string
}

// An answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// call makes a request and returns what is answered.
func (rm *room) call(c caller) answer {
	method, target := c.method, c.target
	if method == "" {
		method = http.MethodGet
	}
	if target == "" {
		target = "/v1/sessions"
	}
	r := httptest.NewRequestWithContext(context.Background(), method, target, c.body)
	r.Host, r.RemoteAddr = "localhost:7333", "127.0.0.1:50000"
	if c.host != "" {
		r.Host = c.host
	}
	if c.remote != "" {
		r.RemoteAddr = c.remote
	}
	if c.header != nil {
		r.Header = c.header
	}
	w := httptest.NewRecorder()
	rm.ServeHTTP(w, r)
	return answer{w.Code, w.Result().Header, w.Body.String()}
}

// bearing returns the headers of a request with a credential.
func bearing(credential string) http.Header {
	return http.Header{"Authorization": {"Bearer " + credential}}
}

// A trial is a part of a request, and whether it is as it should be.
type trial struct {
	values []string // nil for none
	good   bool
	first  bool // of those that are good
}

// trials returns parts that are good, and parts that are not.
func trials(good, bad [][]string) (all []trial) {
	for i, v := range good {
		all = append(all, trial{v, true, i == 0})
	}
	for _, v := range bad {
		all = append(all, trial{values: v})
	}
	return all
}

// one returns each text as the only value of a header.
func one(texts ...string) (all [][]string) {
	for _, text := range texts {
		all = append(all, []string{text})
	}
	return all
}

// Every Host with every origin, every method and every form of a credential: who is not
// allowed in does not come in, who is does, and a refusal shows no credential.
func TestHeaderMatrix(t *testing.T) {
	rm := newRoom(t, &auth.DoorOptions{
		Listen: "127.0.0.1:7333", Hosts: []string{"Carrel.Example.org:443", "10.0.0.7", "[fd00::7]:7333"}, Origins: []string{"https://carrel.example.org"},
		Failures: 1 << 30,
	})
	revoked, gone := mint(t, rm.authority, request())
	if _, err := rm.authority.Revoke(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	hosts := trials(
		one("localhost:7333", "LOCALHOST:7333", "127.0.0.1:7333", "127.8.9.1:7333", "[::1]:7333", "[::ffff:127.0.0.1]:7333",
			"carrel.example.org:443", "CARREL.example.ORG:443", "10.0.0.7:1", "10.0.0.7", "[fd00::7]:7333", "[fd00:0::7]:7333"),
		one("localhost", "localhost:7334", "localhost:07333", "localhost:7333 ", "localhost.:7333", "127.0.0.1", "127.0.0.1:80", "[::1]", "::1", "::1:7333",
			"[::1]7333", "[::1:7333", "evil.example:7333", "evil.example", "127.0.0.1.evil.example:7333", "localhost.evil.example:7333",
			"evil.example@127.0.0.1:7333", "127.0.0.1:7333@evil.example", "127.0.0.1:7333,evil.example", "carrel.example.org", "carrel.example.org:7333",
			"10.0.0.8", "10.0.0.7.", "[fd00::7]", "[fd00::8]:7333", "127.1:7333", "2130706433:7333", "0x7f000001:7333", "0.0.0.0:7333", "[::]:7333",
			"[::1%25lo]:7333", "[127.0.0.1]:7333", "localhost:+7333", "localhost:", ":7333", ":", "localhost:7333:7333", "localhost\x00:7333", "lоcalhost:7333", "*"))
	origins := trials(
		append(one("https://carrel.example.org"), nil),
		append(one("null", "", "http://evil.example", "https://evil.example:7333", "http://localhost:3000", "http://localhost", "https://carrel.example.org:444",
			"https://carrel.example.org/", "http://carrel.example.org", "HTTPS://CARREL.EXAMPLE.ORG.evil.example", "file://", "chrome-extension://abc", "*"),
			[]string{"https://carrel.example.org", "https://evil.example"}))
	sites := trials(append(one("none", "same-origin"), nil), append(one("cross-site", "same-site", "", "SAME-ORIGIN ", "whatever"), []string{"none", "cross-site"}))
	methods := trials(one("GET", "HEAD", "POST", "PUT", "DELETE"), one("OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "PROPFIND", "POST2"))
	credentials := trials(
		one("Bearer "+rm.credential, "bearer "+rm.credential, "BEARER  "+rm.credential),
		append(one("", "Bearer", "Bearer ", rm.credential, "Basic "+rm.credential, "Bearer:"+rm.credential, "Bearer\t"+rm.credential, "Bearer "+rm.credential+" ", "Bearer "+rm.credential+" x",
			"Bearer "+rm.credential+",Bearer "+rm.credential, "Bearer \""+rm.credential+"\"", "Bearer "+rm.credential[:len(rm.credential)-1], "Bearer "+rm.credential+"A", "Bearer "+revoked,
			"Bearer "+strings.Repeat("A", 4096), "Bearer "+rm.credential+"\x00", "Credential "+rm.credential, " Bearer "+rm.credential, "Bearer null"),
			nil, []string{"Bearer " + rm.credential, "Bearer " + rm.credential}))

	calls, allowed := 0, int64(0)
	for _, host := range hosts {
		for _, origin := range origins {
			for _, site := range sites {
				for _, method := range methods {
					for _, credential := range credentials {
						wrong, plain := faults(host, origin, site, method, credential)
						if wrong > 3 || wrong > 0 && !plain {
							continue
						}
						calls++
						h := http.Header{}
						set(h, "Origin", origin)
						set(h, "Sec-Fetch-Site", site)
						set(h, "Authorization", credential)
						before := rm.entered.Load()
						res := rm.call(caller{method: method.values[0], host: host.values[0], header: h})
						want := wrong == 0
						if want {
							allowed++
						}
						if entered := rm.entered.Load() == before+1; entered != want || want != (res.status == http.StatusOK) {
							t.Fatalf("%s %q from %q, %q with %d values of Authorization: %d, came in is %t, want %t",
								method.values[0], host.values[0], origin.values, site.values, len(credential.values), res.status, entered, want)
						}
						if !want {
							inspect(t, rm, res, method.good && host.good && origin.good && site.good)
						}
					}
				}
			}
		}
	}
	if allowed == 0 || rm.entered.Load() != allowed {
		t.Errorf("%d came in, of %d calls %d were allowed", rm.entered.Load(), calls, allowed)
	}
	t.Logf("%d calls, %d of them allowed, 0 others came in", calls, allowed)
}

// faults returns how many parts are wrong, and whether the others are the plainest that
// there are: so all that is right is tried together, and all that is wrong by itself, in
// pairs, and by three.
func faults(parts ...trial) (wrong int, plain bool) {
	plain = true
	for _, p := range parts {
		if !p.good {
			wrong++
		} else if !p.first {
			plain = false
		}
	}
	return wrong, plain
}

// set sets a header to the values of a trial, if it has any.
func set(h http.Header, name string, t trial) {
	if t.values != nil {
		h[name] = t.values
	}
}

// inspect checks that a refusal is a problem document which shows no credential, and says
// what is missing if it is only that.
func inspect(t *testing.T, rm *room, res answer, credential bool) {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal([]byte(res.body), &p); err != nil || p.Status != res.status || p.Detail == "" || !strings.HasPrefix(p.Type, api.TypePrefix) {
		t.Fatalf("a refusal is %s, %v", res.body, err)
	}
	if got := res.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("a refusal is of type %q", got)
	}
	if challenge := res.header.Get("WWW-Authenticate"); credential != strings.HasPrefix(challenge, `Bearer realm="carrel"`) || credential != (p.Status == http.StatusUnauthorized) {
		t.Fatalf("status %d with the challenge %q", p.Status, challenge)
	}
	if shown := fmt.Sprint(res.header) + res.body; strings.Contains(shown, rm.credential[len(auth.Prefix)+9:]) || strings.Contains(shown, rm.id) {
		t.Fatalf("a refusal shows a credential")
	}
	for name := range res.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Fatalf("a refusal has the header %s", name)
		}
	}
}

// Pages of the server itself may send requests, under all its names.
func TestOwnOrigin(t *testing.T) {
	rm := newRoom(t, &auth.DoorOptions{Listen: "127.0.0.1:7333", Hosts: []string{"carrel.example.org"}})
	for _, tt := range []struct {
		host, origin string
		want         int
	}{
		{"localhost:7333", "http://localhost:7333", http.StatusOK},
		{"carrel.example.org", "https://carrel.example.org", http.StatusOK},
		{"localhost:7333", "http://127.0.0.1:7333", http.StatusForbidden},
		{"localhost:7333", "http://localhost:7334", http.StatusForbidden},
		{"evil.example:7333", "http://evil.example:7333", http.StatusMisdirectedRequest},
	} {
		h := bearing(rm.credential)
		h.Set("Origin", tt.origin)
		if res := rm.call(caller{host: tt.host, header: h}); res.status != tt.want {
			t.Errorf("%s from %s: %d, want %d", tt.host, tt.origin, res.status, tt.want)
		}
	}
}

// A server that listens on all interfaces has no name by that; one that listens on one
// has its address; and names that are none are refused from the start.
func TestNames(t *testing.T) {
	long := strings.Repeat("a", 253) // as long as a name may be
	for _, tt := range []struct {
		listen, host string
		want         int
	}{
		{"0.0.0.0:7333", "0.0.0.0:7333", http.StatusMisdirectedRequest},
		{"[::]:7333", "10.0.0.7:7333", http.StatusMisdirectedRequest},
		{":7333", "localhost:7333", http.StatusOK},
		{"10.0.0.7:7333", "10.0.0.7:7333", http.StatusOK},
		{"10.0.0.7:7333", "10.0.0.7:7334", http.StatusMisdirectedRequest},
		{"[FD00::7]:80", "[fd00::7]", http.StatusOK},
		{"Server.example:80", "server.example", http.StatusOK},
		{"127.0.0.1:0", "127.0.0.1:12345", http.StatusOK},
		{"", "localhost:12345", http.StatusOK},
		{"", "evil.example", http.StatusMisdirectedRequest},
		{long + ":80", long, http.StatusOK},
	} {
		rm := newRoom(t, &auth.DoorOptions{Listen: tt.listen})
		if res := rm.call(caller{host: tt.host, header: bearing(rm.credential)}); res.status != tt.want {
			t.Errorf("%q at %q: %d, want %d", tt.host, tt.listen, res.status, tt.want)
		}
	}
	for _, opts := range []*auth.DoorOptions{
		{Listen: "localhost"}, {Listen: "::1"}, {Hosts: []string{""}}, {Hosts: []string{"https://a"}}, {Hosts: []string{"*"}}, {Hosts: []string{"a:0"}}, {Hosts: []string{"a:65536"}}, {Hosts: []string{long + "a"}},
	} {
		if _, err := auth.NewDoor(nil, opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}

// A request that is admitted has a grant in its context, and no credential.
func TestWhatTheHandlerSees(t *testing.T) {
	rm := newRoom(t, &auth.DoorOptions{})
	rm.visit = func(_ http.ResponseWriter, r *http.Request) {
		grant, ok := auth.GrantFrom(r.Context())
		if !ok || grant.ID != rm.id || grant.Actor != "ci" || !slices.Equal(grant.Scopes, []governance.ScopePattern{"acme/*"}) {
			t.Errorf("grant is %+v, %t", grant, ok)
		}
		if shown := fmt.Sprint(r.Header, r.Context()); strings.Contains(shown, rm.credential) || strings.Contains(shown, "biscuit") {
			t.Error("the handler sees credentials")
		}
		if r.Header.Get("Carrel-Scope") != "acme/web" {
			t.Error("the handler does not see the other headers")
		}
	}
	h := bearing(rm.credential)
	h.Set("Cookie", "biscuit=1")
	h.Set("Proxy-Authorization", "Basic biscuit")
	h.Set("Carrel-Scope", "acme/web")
	if res := rm.call(caller{header: h}); res.status != http.StatusOK || rm.entered.Load() != 1 || h.Get("Cookie") == "" {
		t.Errorf("status %d, %d came in; the caller's headers are %v", res.status, rm.entered.Load(), h)
	}
	if _, ok := auth.GrantFrom(t.Context()); ok {
		t.Error("there is a grant where nobody came in")
	}
	if _, ok := auth.GrantFrom(auth.WithGrant(t.Context(), nil)); ok {
		t.Error("no grant is one")
	}
}

// A path that is open needs no credential, but everything else; a path that only looks like
// it is not open.
func TestOpenPaths(t *testing.T) {
	rm := newRoom(t, &auth.DoorOptions{Limits: auth.DoorLimits{PerAddress: 1}})
	for _, tt := range []struct {
		c    caller
		want int
	}{
		{caller{target: "/healthz"}, http.StatusOK},
		{caller{target: "/healthz?x=1"}, http.StatusOK},
		{caller{target: "/healthz", header: bearing("wrong")}, http.StatusOK},
		{caller{target: "/healthz", host: "evil.example"}, http.StatusMisdirectedRequest},
		{caller{target: "/healthz", header: http.Header{"Origin": {"null"}}}, http.StatusForbidden},
		{caller{target: "/healthz", method: http.MethodOptions}, http.StatusMethodNotAllowed},
		{caller{target: "/healthz/"}, http.StatusUnauthorized},
		{caller{target: "/Healthz"}, http.StatusUnauthorized},
		{caller{target: "//healthz"}, http.StatusUnauthorized},
		{caller{target: "/x/../healthz"}, http.StatusUnauthorized},
		{caller{target: "/v1/sessions?access_token=" + rm.credential}, http.StatusUnauthorized},
		{caller{target: "/v1/sessions?credential=" + rm.credential, header: http.Header{"Cookie": {"credential=" + rm.credential}}}, http.StatusUnauthorized},
	} {
		if res := rm.call(tt.c); res.status != tt.want {
			t.Errorf("%s at %q: %d, want %d", tt.c.target, tt.c.host, res.status, tt.want)
		}
	}
	if rm.entered.Load() != 0 {
		t.Errorf("%d came in", rm.entered.Load())
	}
}

// spy counts the credentials that it verifies.
type spy struct {
	auth.Verifier
	asked atomic.Int64
}

func (s *spy) Verify(ctx context.Context, text string) (*governance.Grant, error) {
	s.asked.Add(1)
	return s.Verifier.Verify(ctx, text)
}

// What is too large is refused before anybody looks at the credential, and what turns out to
// be too large ends there.
func TestSizes(t *testing.T) {
	rm := newRoom(t, &auth.DoorOptions{})
	verifier := &spy{Verifier: rm.authority}
	door, err := auth.NewDoor(verifier, &auth.DoorOptions{MaxBody: 10, MaxURL: 20, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	var failed error
	rm.Handler = door.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, failed = io.ReadAll(r.Body)
	}))
	for _, tt := range []struct {
		target, body string
		want         int
	}{
		{"/v1/x", "0123456789", http.StatusOK},
		{"/v1/x", "0123456789+", http.StatusRequestEntityTooLarge},
		{"/" + strings.Repeat("a", 19), "", http.StatusOK},
		{"/" + strings.Repeat("a", 20), "", http.StatusRequestURITooLong},
		{"/?" + strings.Repeat("a", 20), "", http.StatusRequestURITooLong},
	} {
		before := verifier.asked.Load()
		res := rm.call(caller{method: http.MethodPost, target: tt.target, body: strings.NewReader(tt.body), header: bearing(rm.credential)})
		if asked := verifier.asked.Load() > before; res.status != tt.want || asked != (tt.want == http.StatusOK) {
			t.Errorf("%s with %d bytes: %d, want %d; the credential was looked at is %t", tt.target, len(tt.body), res.status, tt.want, asked)
		}
	}
	unknown := struct{ io.Reader }{strings.NewReader("0123456789+")} // whose length nobody says
	rm.call(caller{method: http.MethodPost, target: "/v1/x", body: unknown, header: bearing(rm.credential)})
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](failed); !ok || tooLarge.Limit != 10 || string(got) != "0123456789" {
		t.Errorf("of a body that is too large the handler reads %q, %v", got, failed)
	}
}

// occupied calls with one request while another is served.
func occupied(t *testing.T, rm *room, first, second caller) (during, after answer) {
	t.Helper()
	in, out, done := make(chan struct{}), make(chan struct{}), make(chan int)
	rm.visit = func(http.ResponseWriter, *http.Request) {
		close(in)
		<-out
	}
	go func() { done <- rm.call(first).status }()
	<-in
	rm.visit = func(http.ResponseWriter, *http.Request) {}
	during = rm.call(second)
	if res := rm.call(caller{target: "/healthz"}); res.status != http.StatusOK {
		t.Errorf("the health route answers %d meanwhile", res.status)
	}
	close(out)
	if status := <-done; status != http.StatusOK {
		t.Errorf("the first request ends with %d", status)
	}
	return during, rm.call(second)
}

// The numbers of requests at a time with one credential and from one address are bounded.
func TestAtATime(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opts   auth.DoorOptions
		remote string // of the second
		other  bool   // it has another credential
		want   int
	}{
		{"the same credential, another address", auth.DoorOptions{Limits: auth.DoorLimits{PerCredential: 1}}, "10.0.0.8:1", false, http.StatusTooManyRequests},
		{"another credential, the same address", auth.DoorOptions{Limits: auth.DoorLimits{PerCredential: 1}}, "127.0.0.1:2", true, http.StatusOK},
		{"the same address, another credential", auth.DoorOptions{Limits: auth.DoorLimits{PerAddress: 1}}, "127.0.0.1:2", true, http.StatusTooManyRequests},
		{"another address", auth.DoorOptions{Limits: auth.DoorLimits{PerAddress: 1}}, "10.0.0.8:2", true, http.StatusOK},
		{"room for two", auth.DoorOptions{Limits: auth.DoorLimits{PerAddress: 2, PerCredential: 2}}, "127.0.0.1:2", false, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rm := newRoom(t, &tt.opts)
			second := rm.credential
			if tt.other {
				second, _ = mint(t, rm.authority, request())
			}
			during, after := occupied(t, rm, caller{header: bearing(rm.credential)}, caller{header: bearing(second), remote: tt.remote})
			if during.status != tt.want || after.status != http.StatusOK {
				t.Errorf("meanwhile %d, want %d; afterwards %d", during.status, tt.want, after.status)
			}
			if limited := tt.want == http.StatusTooManyRequests; limited != (during.header.Get("Retry-After") == "1") {
				t.Errorf("Retry-After is %q", during.header.Get("Retry-After"))
			}
		})
	}
}

// Of many addresses in one network, as anybody has them with IPv6, there is one.
func TestAddressesOfANetwork(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		want          int
	}{
		{"[2001:db8::1]:1", "[2001:db8::ffff:2]:1", http.StatusTooManyRequests},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", http.StatusOK},
		{"10.0.0.1:1", "[::ffff:10.0.0.1]:2", http.StatusTooManyRequests},
		{"10.0.0.1:1", "10.0.0.2:1", http.StatusOK},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", http.StatusTooManyRequests},
		{"[::1]:1", "[::2]:1", http.StatusOK},
		{"@", "@", http.StatusTooManyRequests},
	} {
		rm := newRoom(t, &auth.DoorOptions{Limits: auth.DoorLimits{PerAddress: 1}})
		during, _ := occupied(t, rm, caller{header: bearing(rm.credential), remote: tt.first}, caller{header: bearing(rm.credential), remote: tt.second})
		if during.status != tt.want {
			t.Errorf("%s after %s: %d, want %d", tt.second, tt.first, during.status, tt.want)
		}
	}
}

// After too many invalid credentials from an address, further ones are refused unchecked for a
// while, but credentials from there that were valid before are still accepted.
func TestFailures(t *testing.T) {
	now := epoch
	rm := newRoom(t, &auth.DoorOptions{Failures: 3, Now: func() time.Time { return now }})
	fresh, _ := mint(t, rm.authority, request())
	wrong := func(i int) http.Header { return bearing(fmt.Sprintf("%s%08d_%043d", auth.Prefix, i, i)) }
	status := func(h http.Header, remote string) int {
		return rm.call(caller{header: h, remote: remote}).status
	}
	if got := status(bearing(rm.credential), ""); got != http.StatusOK {
		t.Fatalf("a good credential: %d", got)
	}
	for i := range 5 {
		want := http.StatusUnauthorized
		if i >= 3 {
			want = http.StatusTooManyRequests
		}
		if got := status(wrong(i), ""); got != want {
			t.Errorf("credential %d that is none: %d, want %d", i+1, got, want)
		}
	}
	for _, tt := range []struct {
		name   string
		h      http.Header
		remote string
		want   int
	}{
		{"a credential that was good before", bearing(rm.credential), "", http.StatusOK},
		{"a good credential that nobody has seen", bearing(fresh), "", http.StatusTooManyRequests},
		{"no credential", nil, "", http.StatusUnauthorized},
		{"another address", wrong(9), "10.0.0.8:1", http.StatusUnauthorized},
	} {
		if got := status(tt.h, tt.remote); got != tt.want {
			t.Errorf("meanwhile, %s: %d, want %d", tt.name, got, tt.want)
		}
	}
	now = now.Add(20 * time.Second)
	if res := rm.call(caller{header: wrong(9)}); res.header.Get("Retry-After") != "40" {
		t.Errorf("Retry-After is %q after 20 seconds, want 40", res.header.Get("Retry-After"))
	}
	if _, err := rm.authority.Revoke(t.Context(), rm.id); err != nil {
		t.Fatal(err)
	}
	if got := status(bearing(rm.credential), ""); got != http.StatusUnauthorized {
		t.Errorf("a credential that was good before and is revoked: %d", got)
	}
	now = now.Add(40 * time.Second)
	if got := status(bearing(fresh), ""); got != http.StatusOK {
		t.Errorf("a minute later, a good credential that nobody has seen: %d", got)
	}
}

// broke is a verifier whose store does not answer.
type broke struct{ err error }

func (b broke) Verify(context.Context, string) (*governance.Grant, error) { return nil, b.err }

// If a credential cannot be checked, the answer says so, but not the cause.
func TestDoorWithoutAStore(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("/home/ada/carrel.db: %w", store.ErrBusy), http.StatusServiceUnavailable},
		{fmt.Errorf("/home/ada/carrel.db: %w", store.ErrCorrupt), http.StatusInternalServerError},
		{errors.New("/home/ada/carrel.db"), http.StatusInternalServerError},
	} {
		door, err := auth.NewDoor(broke{tt.err}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rm := &room{Handler: door.Guard(nil)}
		res := rm.call(caller{header: bearing("some")})
		if res.status != tt.want || strings.Contains(res.body, "ada") {
			t.Errorf("%v: %d with %s, want %d", tt.err, res.status, res.body, tt.want)
		}
	}
}

// For any header Authorization, only a valid credential with the scheme Bearer is admitted.
func FuzzAuthorization(f *testing.F) {
	rm := newRoom(f, &auth.DoorOptions{Failures: 1 << 30})
	for _, seed := range []string{"", "Bearer T", "bearer  T", "Bearer T ", "Basic T", "T", "Bearer\tT", "Bearer T,T", "Bearer \x00T", "BEARER T\n", "Bearer" + strings.Repeat(" ", 250-len(rm.credential)) + "T", "Bearer" + strings.Repeat(" ", 251-len(rm.credential)) + "T"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.ReplaceAll(value, "T", rm.credential)
		before := rm.entered.Load()
		res := rm.call(caller{header: http.Header{"Authorization": {value}}})
		scheme, rest, _ := strings.Cut(value, " ")
		want := strings.ToLower(scheme) == "bearer" && strings.Trim(rest, " ") == rm.credential && strings.HasSuffix(value, rm.credential) && len(value) <= 256
		if entered := rm.entered.Load() > before; entered != want {
			t.Errorf("%q: came in is %t, status %d", value, entered, res.status)
		}
	})
}

// For any header Host, only names of this server are admitted.
func FuzzHost(f *testing.F) {
	rm := newRoom(f, &auth.DoorOptions{Listen: "127.0.0.1:7333"})
	for _, seed := range []string{"localhost:7333", "[::1]:7333", "127.0.0.1:7333", "evil:7333", "[", "]:", ":1", "[]:7333", "[::1]", "a:b:c", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if host == "" {
			return // stands for the default
		}
		before := rm.entered.Load()
		rm.call(caller{host: host, header: bearing(rm.credential)})
		if rm.entered.Load() == before {
			return
		}
		inner, ok := strings.CutSuffix(strings.ToLower(host), ":7333")
		addr, err := netip.ParseAddr(strings.Trim(inner, "[]"))
		if !ok || inner != "localhost" && (err != nil || !addr.Unmap().IsLoopback()) {
			t.Errorf("%q comes in", host)
		}
	})
}

// Who sends too much in a time is refused until there is room again, by credential and by address,
// and told so. Others are not. Headers that say where a request comes from change nothing.
func TestRates(t *testing.T) {
	now := epoch
	var limited []string
	rm := newRoom(t, &auth.DoorOptions{
		Limits: auth.DoorLimits{CredentialRate: 2, AddressRate: 4}, Now: func() time.Time { return now },
		Limited: func(limit string) { limited = append(limited, limit) },
	})
	second, _ := mint(t, rm.authority, request())
	ask := func(credential, remote string, forwarded int) answer {
		h := bearing(credential)
		h.Set("X-Forwarded-For", fmt.Sprintf("10.1.1.%d", forwarded))
		h.Set("Forwarded", fmt.Sprintf("for=10.1.1.%d", forwarded))
		return rm.call(caller{header: h, remote: remote})
	}
	const a, b, c = "10.0.0.1:1", "[2001:db8::1]:1", "[2001:db8::ffff:2]:1"
	for i := range 20 { // for ten seconds at once
		if got := ask(rm.credential, a, i); got.status != http.StatusOK {
			t.Fatalf("request %d: %d %s", i+1, got.status, got.body)
		}
	}
	for _, tt := range []struct {
		name               string
		credential, remote string
		after              time.Duration // since the case before
		want               int
		limit, retry       string
	}{
		{"one more with the credential", rm.credential, a, 0, http.StatusTooManyRequests, auth.LimitCredentialRate, "1"},
		{"from another address, too", rm.credential, b, 0, http.StatusTooManyRequests, auth.LimitCredentialRate, "1"},
		{"another credential, the same address", second, a, 0, http.StatusOK, "", ""},
		{"when a share of a second has passed", rm.credential, a, 500 * time.Millisecond, http.StatusOK, "", ""},
		{"but only one", rm.credential, a, 0, http.StatusTooManyRequests, auth.LimitCredentialRate, "1"},
		{"when the clock went back", rm.credential, a, -time.Hour, http.StatusOK, "", ""},
	} {
		now = now.Add(tt.after)
		limited = nil
		got := ask(tt.credential, tt.remote, 0)
		if got.status != tt.want || got.header.Get("Retry-After") != tt.retry || strings.Join(limited, " ") != tt.limit {
			t.Errorf("%s: %d, Retry-After %q, limits %q, want %d, %q, %q", tt.name, got.status, got.header.Get("Retry-After"), limited, tt.want, tt.retry, tt.limit)
		}
		if tt.limit != "" && !strings.Contains(got.body, "server.limits."+tt.limit) {
			t.Errorf("%s: %s does not tell the limit", tt.name, got.body)
		}
	}
	now = now.Add(time.Minute)
	for i := range 40 { // credentials that are none count for the address, as far as they are checked
		if got := rm.call(caller{header: http.Header{}, remote: b}); got.status != http.StatusUnauthorized {
			t.Fatalf("request %d without a credential: %d", i+1, got.status)
		}
	}
	for _, remote := range []string{b, c} {
		limited = nil
		if got := ask(rm.credential, remote, 0); got.status != http.StatusTooManyRequests || strings.Join(limited, " ") != auth.LimitAddressRate {
			t.Errorf("from %s: %d, limits %q", remote, got.status, limited)
		}
	}
	if got := rm.call(caller{target: "/healthz", remote: b}); got.status != http.StatusOK {
		t.Errorf("what needs no credential: %d", got.status)
	}
	if got := ask(rm.credential, a, 0); got.status != http.StatusOK {
		t.Errorf("from another address: %d", got.status)
	}
}

// Whoever needs no credential asks for a path, under a name of the server, and is no page.
func TestLocal(t *testing.T) {
	local, err := auth.Local("127.0.0.1:7333", nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		method, target, host, name, value string
		want                              int
	}{
		{http.MethodPost, "/v1/messages", "localhost:7333", "Sec-Fetch-Site", "none", http.StatusOK},
		{http.MethodPost, "/v1/messages", "localhost:7333", "Sec-Fetch-Site", "same-origin", http.StatusForbidden},
		{http.MethodPost, "/v1/messages", "localhost:7333", "Origin", "http://localhost:7333", http.StatusForbidden},
		{http.MethodPost, "/v1/messages", "evil.example", "", "", http.StatusMisdirectedRequest},
		{http.MethodOptions, "*", "localhost:7333", "", "", http.StatusMethodNotAllowed},
		{http.MethodConnect, "localhost:7333", "localhost:7333", "", "", http.StatusMethodNotAllowed},
		{http.MethodConnect, "/v1/messages", "localhost:7333", "", "", http.StatusMethodNotAllowed},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, nil)
		if r.Host = tt.host; tt.name != "" {
			r.Header.Set(tt.name, tt.value)
		}
		w := httptest.NewRecorder()
		if local.ServeHTTP(w, r); w.Code != tt.want || tt.want != http.StatusOK && w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s at %s with %s %q: %d, want %d", tt.method, tt.target, tt.host, tt.name, tt.value, w.Code, tt.want)
		}
	}
}

// Clients leave the default port out of the header Host: 443 over TLS, and else 80.
func TestHostWithoutAPort(t *testing.T) {
	for _, tt := range []struct {
		opts   auth.DoorOptions
		host   string
		secure bool
		want   int
	}{
		{auth.DoorOptions{Listen: "10.0.0.7:443"}, "10.0.0.7", true, http.StatusOK},
		{auth.DoorOptions{Listen: "10.0.0.7:443"}, "10.0.0.7", false, http.StatusMisdirectedRequest},
		{auth.DoorOptions{Listen: "10.0.0.7:80"}, "10.0.0.7", false, http.StatusOK},
		{auth.DoorOptions{Listen: "10.0.0.7:80"}, "10.0.0.7", true, http.StatusMisdirectedRequest},
		{auth.DoorOptions{Listen: "[fd00::7]:443"}, "[fd00::7]", true, http.StatusOK},
		{auth.DoorOptions{Listen: "127.0.0.1:443"}, "localhost", true, http.StatusOK},
		{auth.DoorOptions{Listen: "127.0.0.1:443"}, "localhost", false, http.StatusMisdirectedRequest},
		{auth.DoorOptions{Listen: "127.0.0.1:7333"}, "localhost", true, http.StatusMisdirectedRequest},
		{auth.DoorOptions{Listen: "0.0.0.0:443", Hosts: []string{"carrel.example.org"}}, "carrel.example.org", true, http.StatusOK},
		{auth.DoorOptions{Listen: "0.0.0.0:443", Hosts: []string{"carrel.example.org:443"}}, "carrel.example.org", true, http.StatusOK},
		{auth.DoorOptions{Listen: "0.0.0.0:443", Hosts: []string{"carrel.example.org:443"}}, "carrel.example.org:443", true, http.StatusOK},
		{auth.DoorOptions{Listen: "0.0.0.0:443", Hosts: []string{"carrel.example.org:443"}}, "carrel.example.org:80", true, http.StatusMisdirectedRequest},
		{auth.DoorOptions{Listen: "0.0.0.0:443", Hosts: []string{"carrel.example.org:443"}}, "evil.example", true, http.StatusMisdirectedRequest},
	} {
		tt.opts.Open = []string{"/healthz"}
		door, err := auth.NewDoor(nil, &tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		local, err := auth.Local(tt.opts.Listen, tt.opts.Hosts, http.NotFoundHandler())
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
		r.Host = tt.host
		if tt.secure {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		door.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%q at %s with %q, TLS %t: %d, want %d", tt.host, tt.opts.Listen, tt.opts.Hosts, tt.secure, w.Code, tt.want)
		}
		w = httptest.NewRecorder()
		local.ServeHTTP(w, r)
		if (w.Code == http.StatusMisdirectedRequest) != (tt.want == http.StatusMisdirectedRequest) {
			t.Errorf("%q at %s with %q, TLS %t, no credentials: %d", tt.host, tt.opts.Listen, tt.opts.Hosts, tt.secure, w.Code)
		}
	}
}
