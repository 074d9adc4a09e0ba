// Package client does the engine's jobs on a server: it has the methods of
// [carrel.Engine], with the same arguments, results and errors.
//
//	c, err := client.New("http://127.0.0.1:8787", &client.Options{Credential: credential})
//	...
//	res, err := c.Compress(ctx, scope, &api.CompressRequest{Session: id, Target: api.Target{Tokens: 60000}})
//	if floor, ok := api.Floor(err); ok {
//		fmt.Println("the least is", floor.Need)
//	}
//
// What goes where in a request is in the table of operations that server and
// client share, so that no method here says it again.
//
// # What is sent, and where
//
// A credential goes to the server that it was given for and nowhere else: no redirect is
// followed and no proxy is taken from the environment. Messages are sent byte for
// byte. Lists that come in pages are read to the end, or to the limit that was asked
// for.
//
// # Trying again
//
// What the server was too busy for, and what was lost with a connection, is sent
// again, a bounded number of times, with pauses that double. Every write has a key of
// its own, so that it is made once, however often it is sent.
//
// # Errors and concurrency
//
// What a server says about a job that it did not do is an [*Error]. It is what the
// engine's error is: errors.Is finds [store.ErrNotFound], [carrel.ErrPolicy] and so
// on, and the figures are there. A server that cannot be reached is an
// [ErrUnreachable]. A Client is safe for concurrent use. If a context has
// [carrel.WithProgress], the server tells how far a job is.
package client

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"

	"github.com/carrel-dev/carrel/internal/httpjson"
)

// Options adjusts a [Client]. The zero value of every field is a sensible default,
// so a nil *Options is too.
type Options struct {
	// Credential says who asks. The default is nobody, whom servers refuse.
	Credential string

	// HTTPClient sends the requests. Its redirect policy and its cookies are not used.
	// The default keeps as many connections open as it needs and uses no proxy.
	HTTPClient *http.Client

	// Retries is how often a request is sent again. The default is 3; NoRetries is
	// never.
	Retries int

	// UserAgent says what program asks. The default is "carrel-client".
	UserAgent string

	// MaxReply is the largest reply that is read, in bytes. The default is 256 MiB.
	MaxReply int64
}

// NoRetries is the [Options.Retries] that sends each request once.
const NoRetries = -1

// A Client does jobs on a server.
type Client struct {
	base string // ends in the prefix of all paths
	opts Options
	http http.Client

	// What tests replace.
	tries httpjson.Tries
	key   func() string
}

// New returns a client of the server at a URL, such as "http://127.0.0.1:8787". It
// does not ask the server for anything yet.
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

// complete returns o with its defaults filled in, or why it makes no sense.
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
	if c.UserAgent == "" {
		c.UserAgent = "carrel-client"
	}
	if httpjson.CheckKey(c.Credential) != nil {
		return Options{}, errors.New("credential has a character that cannot be sent") // and is not shown
	}
	return c, nil
}
