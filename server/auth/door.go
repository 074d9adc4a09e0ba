package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// A Verifier returns the grant of a credential. It fails with [api.ErrUnauthenticated] if the
// credential is not valid. An [Authority] is a Verifier.
type Verifier interface {
	Verify(ctx context.Context, credential string) (*governance.Grant, error)
}

// DoorOptions configures a [Door]. A zero field, and a nil *DoorOptions, mean the defaults.
type DoorOptions struct {
	// Listen is the address at which the server listens, host:port. Its host is a name for the
	// header Host, and so are localhost and loopback addresses, all with this port only. By
	// default localhost and loopback addresses are names with any port.
	Listen string

	// Hosts are other names of the server for the header Host, each with its port, or
	// without one for any port: "carrel.example.org", "10.0.0.7:7333".
	Hosts []string

	// Origins are origins of pages that may send requests, besides the server's own:
	// "https://carrel.example.org". As there is no CORS, a browser lets such a page read
	// answers only if it treats the page as of the same origin.
	Origins []string

	// Open are the paths that need no credential. Each is compared with the whole path of the
	// URL: it is no prefix and no pattern. The default is none.
	Open []string

	// Credential returns the credential of a request. The default reads the header
	// Authorization with the scheme Bearer.
	Credential func(*http.Request) (text string, ok bool)

	// Unknown answers a request without a valid credential. The default sends a problem
	// document with status 401 and the reason.
	Unknown func(w http.ResponseWriter, r *http.Request, reason error)

	// Methods are the allowed methods. The default is GET, HEAD, POST, PUT and DELETE.
	Methods []string

	// MaxBody is the largest body of a request in bytes. The default is 32 MiB.
	MaxBody int64

	// MaxURL is the longest URL in bytes, without host. The default is 8 KiB.
	MaxURL int

	// Limits bound how much the Door passes on.
	Limits DoorLimits

	// Limited is called for each request that a limit refuses, with its name, such as
	// [LimitAddressRate], or "guesses" for Failures. The default does nothing.
	Limited func(limit string)

	// Failures is the number of invalid credentials from one address in a minute after which
	// the Door checks only credentials from there that were valid before. The default is 30.
	Failures int

	// Recheck is the interval at which the credential of a running request is checked again.
	// The default is [DefaultRecheck].
	Recheck time.Duration

	// Now returns the time. The default is time.Now.
	Now func() time.Time

	// Ticker returns a channel that ticks for Recheck, and a function that stops it. The
	// default uses time.NewTicker.
	Ticker func(time.Duration) (<-chan time.Time, func())
}

// A Door checks requests before a handler gets them, see [Door.Guard]. It is safe for concurrent
// use.
type Door struct {
	verifier       Verifier
	names          *names
	origins        []string
	open           []string
	methods        []string
	maxBody        int64
	maxURL         int
	credentials    gauge
	addresses      gauge
	credentialRate meter
	addressRate    meter
	failures       failures
	limited        func(string)
	credential     func(*http.Request) (string, bool)
	unknown        func(http.ResponseWriter, *http.Request, error)
	interval       time.Duration // at which credentials are checked again
	now            func() time.Time
	ticker         func(time.Duration) (<-chan time.Time, func())
}

// NewDoor returns a Door that checks credentials with v. It fails if Listen or Hosts are invalid.
func NewDoor(v Verifier, opts *DoorOptions) (*Door, error) {
	var o DoorOptions
	if opts != nil {
		o = *opts
	}
	names, err := newNames(o.Listen, o.Hosts)
	if err != nil {
		return nil, err
	}
	usual := DefaultDoorLimits()
	d := &Door{
		verifier: v, names: names, origins: slices.Clone(o.Origins), open: slices.Clone(o.Open), methods: slices.Clone(o.Methods),
		maxBody: orElse(o.MaxBody, 32<<20), maxURL: orElse(o.MaxURL, 8<<10),
		credentials: gauge{most: orElse(o.Limits.PerCredential, usual.PerCredential)}, addresses: gauge{most: orElse(o.Limits.PerAddress, usual.PerAddress)},
		credentialRate: meter{per: cmp.Or(o.Limits.CredentialRate, usual.CredentialRate)}, addressRate: meter{per: cmp.Or(o.Limits.AddressRate, usual.AddressRate)}, limited: o.Limited,
		failures: failures{most: orElse(o.Failures, 30), per: time.Minute}, now: o.Now,
		interval: orElse(o.Recheck, DefaultRecheck), ticker: o.Ticker, credential: o.Credential, unknown: o.Unknown,
	}
	if d.limited == nil {
		d.limited = func(string) {}
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

// Guard returns a handler that passes admitted requests to next. It answers other requests with
// a problem document that says only which rule the request broke.
//
// The cheapest checks come first: method, length of the URL, Host, size of the body, origin, and
// only then the credential. The request that next gets has no credential and no cookies; its
// context has the grant, except for Open paths. The context ends when the grant is lost, see
// [Lost] and [Recheck]. Reading more than MaxBody bytes of the body fails, by
// [http.MaxBytesReader].
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

// admit checks the rules that do not depend on the credential. It returns the status and the
// error for a request that breaks one, or a nil error.
func (d *Door) admit(r *http.Request) (status int, err error) {
	switch {
	case !slices.Contains(d.methods, r.Method):
		return http.StatusMethodNotAllowed, fmt.Errorf("%w: use one of %s", errMethod, strings.Join(d.methods, ", "))
	case len(r.RequestURI) > d.maxURL:
		return http.StatusRequestURITooLong, fmt.Errorf("%w: at most %d bytes are accepted", errURL, d.maxURL)
	case !d.names.called(r):
		return http.StatusMisdirectedRequest, errHost
	case r.ContentLength > d.maxBody:
		return http.StatusRequestEntityTooLarge, fmt.Errorf("%w: at most %d bytes are accepted", errBody, d.maxBody)
	}
	if err := checkOrigin(r, d.origins); err != nil {
		return http.StatusForbidden, err
	}
	return 0, nil
}

// The reasons for a refusal, beside errHost and errOrigin.
var (
	errMethod = errors.New("the method is not allowed")
	errURL    = errors.New("the URL is too long")
	errBody   = errors.New("the body is too large")
)

// authenticate passes a request to the handler next if it has a valid
// credential, and refuses it otherwise.
func (d *Door) authenticate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	address := addressOf(r.RemoteAddr)
	if !d.addresses.enter(address) {
		d.overdone(w, LimitAddressRequests, time.Second)
		return
	}
	defer d.addresses.leave(address)
	now := d.now()
	if wait, ok := d.addressRate.take(address, now); !ok {
		d.overdone(w, LimitAddressRate, wait)
		return
	}

	text, ok := d.credential(r)
	if !ok {
		d.unknown(w, r, api.ErrUnauthenticated)
		return
	}
	if wait, many := d.failures.tooMany(address, text, now); many {
		d.overdone(w, limitGuesses, wait)
		return
	}
	grant, err := d.verifier.Verify(r.Context(), text)
	switch {
	case errors.Is(err, api.ErrUnauthenticated):
		d.failures.failed(address)
		d.unknown(w, r, err)
		return
	case err != nil:
		kind := api.KindOf(err) // the text of the error is not for a client without a credential
		answer(w, &api.Problem{Type: api.TypePrefix + kind.Slug, Title: kind.Title, Status: kind.Status, Detail: "the credential could not be checked: try again"})
		return
	}
	d.failures.passed(text)
	if wait, ok := d.credentialRate.take(grant.ID, now); !ok {
		d.overdone(w, LimitCredentialRate, wait)
		return
	}
	if !d.credentials.enter(grant.ID) {
		d.overdone(w, LimitCredentialRequests, time.Second)
		return
	}
	defer d.credentials.leave(grant.ID)
	d.serve(w, r, next, text, grant)
}

// without returns the request with context ctx and without credentials and cookies.
func without(ctx context.Context, r *http.Request) *http.Request {
	bare := r.WithContext(ctx)
	bare.Header = r.Header.Clone()
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
		bare.Header.Del(name)
	}
	return bare
}

// maxCredentials is the longest header Authorization in bytes.
const maxCredentials = 256

// bearer returns the credential of a request: a single header Authorization with the scheme
// Bearer in any case, blanks, and the credential.
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

// challenge sets the header WWW-Authenticate.
func challenge(w http.ResponseWriter, h http.Header) {
	value := `Bearer realm="carrel"`
	if len(h.Values("Authorization")) > 0 {
		value += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", value)
}

// retry sets the header Retry-After, in whole seconds, at least 1.
func retry(w http.ResponseWriter, after time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((after+time.Second-1)/time.Second)), 10))
}

// refuse answers a request that broke a rule.
func refuse(w http.ResponseWriter, status int, err error) {
	kind := api.Request
	if status == http.StatusUnauthorized {
		kind = api.Unauthenticated
	}
	answer(w, &api.Problem{Type: api.TypePrefix + kind.Slug, Title: kind.Title, Status: status, Detail: err.Error()})
}

// answer writes a problem document and closes the connection, without reading the rest of the
// request.
func answer(w http.ResponseWriter, problem *api.Problem) {
	body, _ := json.Marshal(problem) // a problem has only texts and numbers
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(problem.Status)
	_, _ = w.Write(body)                                               // an error means that the client is gone
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // an error means that w has no connection
}
