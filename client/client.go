// Package client does the engine's jobs on a server: a [Client] has methods of
// [carrel.Engine], with the same arguments, results and errors. It lacks As,
// Bind and Policy, whose result [Client.Whoami] has; Check and FinishJobs,
// which are for the owner of the store; and Begin, End, CloseCalls, NewEpoch,
// KeepRewrite, Rewrites and Follow, which are for a proxy or hook in the
// store's process.
//
//	c, err := client.New("http://127.0.0.1:8787", &client.Options{Credential: credential})
//	...
//	res, err := c.Compress(ctx, scope, &api.CompressRequest{Session: id, Target: api.Target{Tokens: 60000}})
//	if floor, ok := api.FloorOf(err); ok {
//		fmt.Println("the least is", floor.Need)
//	}
//
// # Requests
//
// The client sends the credential only to its server: it follows no redirects
// and uses no proxy from the environment. It sends messages byte for byte. It
// reads lists page by page, to the end or to the limit of the request.
//
// # Retries
//
// A request is sent again if the server is busy or the connection is lost: at
// most [Options.Retries] times, with pauses that double. Every write has an
// idempotency key, so the server makes it once.
//
// # Errors and concurrency
//
// An error reply of the server is an [*Error]. It wraps the engine's errors:
// errors.Is finds [store.ErrNotFound], [carrel.ErrPolicy] and so on, and
// errors.As finds typed errors with their figures. If the server cannot be
// reached, the error is an [ErrUnreachable]. A Client is safe for concurrent
// use. If a context has [carrel.WithProgress], the server's progress is
// reported to it.
//
// The package follows the API of the same version of the server; it may
// change before version 1.0.
package client

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"

	"github.com/carrel-dev/carrel/internal/httpjson"
)

// Options adjusts a [Client]. The zero value of every field selects a
// default, and so does a nil *Options.
type Options struct {
	// Credential is sent with every request. By default none is sent, and
	// servers refuse the request.
	Credential string

	// HTTPClient sends the requests. Its redirect policy and cookies are
	// ignored. The default uses no proxy.
	HTTPClient *http.Client

	// Retries is the number of times that a request is sent again. The
	// default is 3; [NoRetries] is none.
	Retries int

	// UserAgent is the name of the calling program. The default is
	// "carrel-client".
	UserAgent string

	// MaxReply is the largest reply that is read, in bytes. The default is 256 MiB.
	MaxReply int64
}

// NoRetries is the value of [Options.Retries] that sends each request once.
const NoRetries = -1

// A Client does jobs on a server. It is safe for concurrent use.
type Client struct {
	base string // with the path prefix of all operations
	opts Options
	http http.Client

	// Tests replace these.
	tries httpjson.Tries
	key   func() string
}

// New returns a client of the server at url, such as "http://127.0.0.1:8787".
// It sends no request. opts may be nil. New fails if url is no http or https
// URL, has a user or a query, or if an option is invalid.
func New(url string, opts *Options) (*Client, error) {
	base, err := httpjson.ParseBase(url)
	if err != nil {
		return nil, fmt.Errorf("client: URL of the server: %w", err)
	}
	o, err := opts.complete()
	if err != nil {
		return nil, fmt.Errorf("client: options: %w", err)
	}
	c := &Client{base: base, opts: o, key: rand.Text}
	c.tries = httpjson.Tries{More: o.Retries, First: firstPause, Longest: maxPause, Sleep: httpjson.Sleep, Rand: mathrand.Int64N}
	c.http = *o.HTTPClient
	c.http.Jar = nil
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// complete returns o with defaults, or an error if a value is invalid.
func (o *Options) complete() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Retries < NoRetries || c.MaxReply < 0 {
		return Options{}, errors.New("negative number")
	}
	httpjson.SetDefault(&c.Retries, 3)
	httpjson.SetDefault(&c.MaxReply, 256<<20)
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Transport: httpjson.Transport(256)}
	}
	c.UserAgent = cmp.Or(c.UserAgent, "carrel-client")
	if httpjson.CheckKey(c.Credential) != nil {
		return Options{}, errors.New("credential has a character that cannot be sent in a header: want printable ASCII") // never shown
	}
	return c, nil
}
