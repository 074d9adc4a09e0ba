package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// A Verifier turns a credential into what it allows. An [Authority] is one. It fails with
// [api.ErrUnauthenticated] if the credential is none.
type Verifier interface {
	Verify(ctx context.Context, credential string) (*governance.Grant, error)
}

// DoorOptions adjusts a [Door]. The zero value of every field is a sensible default, so
// a nil *DoorOptions is too.
type DoorOptions struct {
	// Listen is the address at which the server listens, host:port. Of the loopback
	// names only those with this port are its own. By default any port is.
	Listen string

	// Hosts are other names that the server has, each with the port by which clients
	// call it, or without one for any: "carrel.example.org", "10.0.0.7:7333".
	Hosts []string

	// Origins are those of pages that may ask, besides those of the server itself:
	// "https://carrel.example.org". As there is no CORS, a browser lets them only where
	// it takes them for the same.
	Origins []string

	// Open are the paths that need no credential. There are none by default.
	Open []string

	// Credential returns the credential that a request brings. The default is that of one
	// header Authorization with the scheme Bearer.
	Credential func(*http.Request) (text string, ok bool)

	// Unknown answers a request that brings no valid credential. The default is a problem
	// document with the status 401 and the reason.
	Unknown func(w http.ResponseWriter, r *http.Request, reason error)

	// Methods are those that there are. The default is GET, HEAD, POST, PUT and DELETE.
	Methods []string

	// MaxBody is how many bytes the body of a request has at most. The default is
	// 32 MiB.
	MaxBody int64

	// MaxURL is how many bytes a URL has at most, without host. The default is 8 KiB.
	MaxURL int

	// PerCredential and PerAddress are how many requests with one credential, and from one
	// address, are served at a time. The defaults are 128 and 512. Paths that are open
	// do not count.
	PerCredential, PerAddress int

	// Failures is how many credentials that are none may come from one address in a minute
	// before no new ones are looked at. The default is 30.
	Failures int

	// Recheck is how often the credential of a request that is being served is looked at
	// again. The default is [DefaultRecheck].
	Recheck time.Duration

	// Now tells the time. The default is time.Now.
	Now func() time.Time

	// Ticker ticks for Recheck, and is stopped by the function it returns. The default
	// is time.NewTicker.
	Ticker func(time.Duration) (<-chan time.Time, func())
}

// A Door stands in front of handlers: see [Door.Guard]. It is safe for concurrent use.
type Door struct {
	verifier    Verifier
	names       *names
	origins     []string
	open        []string
	methods     []string
	maxBody     int64
	maxURL      int
	credentials gauge
	addresses   gauge
	failures    failures
	credential  func(*http.Request) (string, bool)
	unknown     func(http.ResponseWriter, *http.Request, error)
	interval    time.Duration // at which credentials are looked at again
	now         func() time.Time
	ticker      func(time.Duration) (<-chan time.Time, func())
}

// NewDoor returns a door that is opened by the credentials that v knows.
func NewDoor(v Verifier, opts *DoorOptions) (*Door, error) {
	var o DoorOptions
	if opts != nil {
		o = *opts
	}
	names, err := newNames(o.Listen, o.Hosts)
	if err != nil {
		return nil, err
	}
	d := &Door{
		verifier: v, names: names, origins: slices.Clone(o.Origins), open: slices.Clone(o.Open), methods: slices.Clone(o.Methods),
		maxBody: orElse(o.MaxBody, 32<<20), maxURL: orElse(o.MaxURL, 8<<10),
		credentials: gauge{most: orElse(o.PerCredential, 128)}, addresses: gauge{most: orElse(o.PerAddress, 512)},
		failures: failures{most: orElse(o.Failures, 30), per: time.Minute}, now: o.Now,
		interval: orElse(o.Recheck, DefaultRecheck), ticker: o.Ticker, credential: o.Credential, unknown: o.Unknown,
	}
	if d.credential == nil {
		d.credential = func(r *http.Request) (string, bool) { return bearer(r.Header) }
	}
	if d.unknown == nil {
		d.unknown = func(w http.ResponseWriter, r *http.Request, reason error) {
			challenge(w, r.Header)
			refuse(w, http.StatusUnauthorized, reason)
		}
	}
	if len(d.methods) == 0 {
		d.methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete}
	}
	if d.now == nil {
		d.now = time.Now //nolint:forbidigo // this is the default clock
	}
	if d.ticker == nil {
		d.ticker = func(every time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(every)
			return t.C, t.Stop
		}
	}
	return d, nil
}

// orElse returns n, or a default if n is not above 0.
func orElse[T ~int | ~int64](n, otherwise T) T {
	if n > 0 {
		return n
	}
	return otherwise
}

// Guard returns a handler that passes to next what may come in. Everything else it
// answers itself, with a problem document that tells nothing but which rule it broke.
//
// What costs least is checked first: method, length of the URL, Host, origin, size of
// the body, and only then the credential. The handler next sees neither credential nor cookies,
// and has the grant in the context of the request, but for paths that are open. The
// context ends when the grant is lost, see [Lost] and [Recheck]. It
// must not read more of the body than there may be: [http.MaxBytesReader] sees to it.
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if status, err := d.admit(r); err != nil {
			if status == http.StatusMethodNotAllowed {
				w.Header().Set("Allow", strings.Join(d.methods, ", "))
			}
			refuse(w, status, err)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, d.maxBody)
		if slices.Contains(d.open, r.URL.Path) {
			next.ServeHTTP(w, without(r.Context(), r))
			return
		}
		d.authenticate(w, r, next)
	})
}

// admit returns why a request is refused whoever makes it, and with which status, or
// nil.
func (d *Door) admit(r *http.Request) (status int, err error) {
	switch {
	case !slices.Contains(d.methods, r.Method):
		return http.StatusMethodNotAllowed, errMethod
	case len(r.RequestURI) > d.maxURL:
		return http.StatusRequestURITooLong, errURL
	case !d.names.has(r.Host):
		return http.StatusMisdirectedRequest, errHost
	case r.ContentLength > d.maxBody:
		return http.StatusRequestEntityTooLarge, errBody
	}
	if err := checkOrigin(r, d.origins); err != nil {
		return http.StatusForbidden, err
	}
	return 0, nil
}

// The other reasons for which a request is refused.
var (
	errMethod   = errors.New("there is no such method")
	errURL      = errors.New("the URL is too long")
	errBody     = errors.New("the body is too large")
	errMany     = errors.New("too many requests at a time")
	errFailures = errors.New("too many credentials that are none")
)

// authenticate passes a request to next if it has a credential.
func (d *Door) authenticate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	address := addressOf(r.RemoteAddr)
	if !d.addresses.enter(address) {
		retry(w, time.Second)
		refuse(w, http.StatusTooManyRequests, errMany)
		return
	}
	defer d.addresses.leave(address)

	text, ok := d.credential(r)
	if !ok {
		d.unknown(w, r, api.ErrUnauthenticated)
		return
	}
	now := d.now()
	if wait, many := d.failures.tooMany(address, text, now); many {
		retry(w, wait)
		refuse(w, http.StatusTooManyRequests, errFailures)
		return
	}
	grant, err := d.verifier.Verify(r.Context(), text)
	switch {
	case errors.Is(err, api.ErrUnauthenticated):
		d.failures.failed(address)
		d.unknown(w, r, err)
		return
	case err != nil:
		kind := api.KindOf(err) // whatever it is, the rest is no business of who has no credential
		answer(w, &api.Problem{Type: api.TypePrefix + kind.Slug, Title: kind.Title, Status: kind.Status, Detail: "the credential could not be looked at"})
		return
	}
	d.failures.passed(text)
	if !d.credentials.enter(grant.ID) {
		retry(w, time.Second)
		refuse(w, http.StatusTooManyRequests, errMany)
		return
	}
	defer d.credentials.leave(grant.ID)
	d.serve(w, r, next, text, grant)
}

// without returns a request with another context that has no credentials any more.
func without(ctx context.Context, r *http.Request) *http.Request {
	bare := r.WithContext(ctx)
	bare.Header = r.Header.Clone()
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
		bare.Header.Del(name)
	}
	return bare
}

// maxCredentials is how many bytes a header with a credential has at most.
const maxCredentials = 256

// bearer returns the credential that a request brings: one header Authorization, the scheme
// Bearer in any case, blanks, the credential.
func bearer(h http.Header) (text string, ok bool) {
	values := h.Values("Authorization")
	if len(values) != 1 || len(values[0]) > maxCredentials {
		return "", false
	}
	scheme, text, ok := strings.Cut(values[0], " ")
	text = strings.TrimLeft(text, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || text == "" || strings.Trim(text, secretLetters+"~+/.=") != "" {
		return "", false
	}
	return text, true
}

// challenge says what it takes to come in.
func challenge(w http.ResponseWriter, h http.Header) {
	value := `Bearer realm="carrel"`
	if len(h.Values("Authorization")) > 0 {
		value += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", value)
}

// retry says when to come again.
func retry(w http.ResponseWriter, after time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((after+time.Second-1)/time.Second)), 10))
}

// refuse answers that a request broke a rule.
func refuse(w http.ResponseWriter, status int, err error) {
	kind := api.Request
	switch status {
	case http.StatusUnauthorized:
		kind = api.Unauthenticated
	case http.StatusTooManyRequests:
		kind = api.Busy
	}
	answer(w, &api.Problem{Type: api.TypePrefix + kind.Slug, Title: kind.Title, Status: status, Detail: err.Error()})
}

// answer writes a problem document, and ends the connection: whatever else the client
// meant to send, nobody reads or waits for.
func answer(w http.ResponseWriter, problem *api.Problem) {
	body, err := json.Marshal(problem)
	if err != nil {
		body = nil // it has nothing but texts and numbers
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(problem.Status)
	_, _ = w.Write(body)                                               // whoever does not wait for it has no use for it
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // where there is a connection
}
