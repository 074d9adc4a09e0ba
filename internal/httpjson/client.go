package httpjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Errors are the errors that a [Client] wraps in its own. Each must be set.
type Errors struct {
	Unavailable error // the server does not answer now, but may later
	Refused     error // the server refuses the request, and will again
	Reply       error // the reply of the server cannot be used
}

// Options configures a [Client]. All fields but Authorize, NoStream and HTTPClient must be set;
// [Options.Complete] sets all but Errors.
type Options struct {
	// Authorize adds the credentials to the header of each request.
	Authorize func(http.Header)

	Errors   Errors
	Timeout  time.Duration // of each request, including the reading of the reply
	Idle     time.Duration // longest time between two pieces of a stream
	NoStream bool          // no reply is a stream, so Idle does not apply
	Retries  int           // how often a request is sent again; NoRetries means never
	MaxReply int64         // largest reply, in bytes

	// HTTPClient sends the requests. Its redirect policy is not used. The default
	// keeps a few connections open and uses no proxy.
	HTTPClient *http.Client

	// Sleep waits for a time, or until the context is done, whose error it then returns.
	Sleep func(context.Context, time.Duration) error

	// Rand returns a random number from 0 to n-1.
	Rand func(n int64) int64
}

// NoRetries is the value of [Options.Retries] with which a client sends each request only once.
const NoRetries = -1

// Complete sets fields that are zero: Retries to 2, the fields Timeout, Idle and MaxReply to the
// arguments, and the others to their defaults. It fails if a number is negative.
func (o *Options) Complete(timeout, idle time.Duration, maxReply int64) error {
	if o.Timeout < 0 || o.Idle < 0 || o.Retries < NoRetries || o.MaxReply < 0 {
		return errors.New("timeout, idle time, retries and largest reply must not be negative")
	}
	SetDefault(&o.Timeout, timeout)
	SetDefault(&o.Idle, idle)
	SetDefault(&o.Retries, 2)
	SetDefault(&o.MaxReply, maxReply)
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.Rand == nil {
		o.Rand = rand.Int64N
	}
	return nil
}

// SetDefault sets a field that is zero.
func SetDefault[T ~int | ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// A Client posts JSON to one server.
type Client struct {
	opts  Options
	tries Tries
	http  http.Client
}

// New returns a client with complete options.
func New(o Options) *Client {
	c := &Client{opts: o, tries: Tries{
		More: o.Retries, First: 500 * time.Millisecond, Longest: 30 * time.Second, Sleep: o.Sleep, Rand: o.Rand,
	}}
	if o.HTTPClient != nil {
		c.http = *o.HTTPClient
	} else {
		c.http.Transport = Transport(4)
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Open completes o with [Options.Complete] and returns a client and the base URL from
// [ParseBase]. It fails if the URL or the options are invalid, the model is empty, or the key
// cannot be sent. It only checks the key: o.Authorize must send it.
func Open(baseURL, model, key string, o Options, timeout, idle time.Duration, maxReply int64) (base string, c *Client, err error) {
	base, err = ParseBase(baseURL)
	if err != nil {
		return "", nil, fmt.Errorf("base URL: %w", err)
	}
	if model == "" {
		return "", nil, errors.New("no model: name the model to use")
	}
	if err := errors.Join(CheckKey(key), o.Complete(timeout, idle, maxReply)); err != nil {
		return "", nil, fmt.Errorf("options: %w", err)
	}
	return base, New(o), nil
}

// Transport returns a transport that keeps up to idle unused connections open. Unlike the default
// of package http, it uses no proxy from the environment.
func Transport(idle int) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ParseBase returns the base URL of an API in canonical form, which ends in "/v1". Its errors do
// not quote the URL, which may have a password.
func ParseBase(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("is not a URL: want one such as http://localhost:11434/v1") // the cause may quote a password
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", errors.New("must begin with http:// or https:// and a host")
	case u.User != nil:
		return "", errors.New("must not have a user or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("must not have a query or fragment")
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1") + "/v1", nil
}

// Label returns s if s can be shown as a name, that is, if it has at most 128 characters, all of
// them printable ASCII and no blanks. Otherwise it returns "".
func Label(s string) string {
	if len(s) > 128 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// CheckKey returns an error if a key has characters that cannot be sent in a header. Without it
// the HTTP client would refuse each request.
func CheckKey(key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the key has a space or another character that cannot be sent in a header: remove it")
	}
	return nil
}

// Post sends a request and returns the body of the reply.
func (c *Client) Post(ctx context.Context, url string, body []byte) (reply []byte, err error) {
	err = c.send(ctx, url, body, &exchange{accept: "application/json", read: func(b *content) (err error) {
		reply, err = io.ReadAll(b)
		return err
	}})
	return reply, err
}

// Stream sends a request and passes each event of the reply to the function each. It ends when the
// stream ends, when each returns true or an error, or when another error occurs. It returns an
// error of each unchanged. Some servers do not stream; if the reply is not an event stream, Stream
// returns the reply like Post. It does not check whether a stream is complete.
func (c *Client) Stream(ctx context.Context, url string, body []byte, each func(*Event) (last bool, err error)) (reply []byte, err error) {
	err = c.send(ctx, url, body, &exchange{accept: "text/event-stream, application/json", stream: true, read: func(b *content) (err error) {
		reply, err = ReadEvents(b, each)
		return err
	}})
	return reply, err
}

// An exchange says how a request asks for its reply, and how the client reads the reply.
type exchange struct {
	accept string
	stream bool
	read   func(*content) error
}

// send sends a request, and sends it again after errors that may pass.
func (c *Client) send(ctx context.Context, url string, body []byte, x *exchange) error {
	tried := 0
	err := c.tries.Do(ctx, func() error {
		tried++
		return c.try(ctx, url, body, x)
	})
	if again, ok := errors.AsType[*AgainError](err); ok && tried <= c.tries.More { // the pause would be too long
		return fmt.Errorf("%w; the server asks for a pause of %v: try again after it", err, again.After)
	}
	return err
}

// errIdle is the cause with which an idle stream is canceled.
var errIdle = errors.New("idle")

// try sends a request once.
func (c *Client) try(ctx context.Context, url string, body []byte, x *exchange) error {
	timed, stop := context.WithTimeout(ctx, c.opts.Timeout)
	defer stop()
	limited, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(limited, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the base URL cannot be used: check it") // unreachable: ParseBase has checked it
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", x.accept)
	req.Header.Set("User-Agent", "carrel")
	if c.opts.Authorize != nil {
		c.opts.Authorize(req.Header)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.transportError(ctx, limited, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.statusError(resp)
	}
	b := &content{source: resp.Body, left: c.opts.MaxReply, heard: func() {}}
	if x.stream && !c.opts.NoStream {
		idle := time.AfterFunc(c.opts.Idle, func() { cancel(errIdle) })
		defer idle.Stop()
		b.heard = func() { idle.Reset(c.opts.Idle) }
	}
	err = x.read(b)
	switch {
	case err == nil || b.err == nil:
		return err // nil, or the error of the caller's function
	case errors.Is(b.err, errTooLong):
		return c.badReply("more than %d bytes", c.opts.MaxReply)
	case errors.Is(b.err, io.ErrUnexpectedEOF):
		return c.badReply("cut off after %d bytes", b.length)
	}
	err = c.transportError(ctx, limited, b.err)
	if again, ok := errors.AsType[*AgainError](err); ok && x.stream {
		return again.Err
	}
	return err
}

// errTooLong means that a reply is longer than MaxReply.
var errTooLong = errors.New("too long")

// A content reads the body of a reply. It fails if the body is longer than allowed.
type content struct {
	source io.Reader
	left   int64  // number of bytes that may still be read
	length int64  // number of bytes read so far
	heard  func() // called after each piece
	err    error  // error of reading other than io.EOF
}

func (b *content) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.source.Read(p[:min(int64(len(p)), b.left+1)])
	b.left -= int64(n)
	b.length += int64(n)
	if n > 0 {
		b.heard()
	}
	if b.left < 0 {
		err = errTooLong
	}
	if !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// Status returns the error for a status other than 200, without the text of the server.
func (e *Errors) Status(code int) error {
	text := strings.TrimSpace(fmt.Sprintf("status %d %s", code, http.StatusText(code)))
	switch {
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return fmt.Errorf("%s: %w", text, e.Unavailable)
	case code < 300:
		return fmt.Errorf("%w: %s", e.Reply, text)
	case code < 400:
		return fmt.Errorf("%s, and redirects are not followed: set the URL that the server names: %w", text, e.Refused)
	}
	return fmt.Errorf("%s: %w", text, e.Refused)
}

// statusError returns the error for the status of a reply. For the statuses 429 and 5xx this is an
// AgainError.
func (c *Client) statusError(resp *http.Response) error {
	err := c.opts.Errors.Status(resp.StatusCode)
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		return &AgainError{err, RetryAfter(resp.Header)}
	}
	return err
}

// transportError returns the error for a missing reply. Errors of package http may quote bytes of
// the server, so it shows only known harmless ones.
func (c *Client) transportError(ctx, limited context.Context, err error) error {
	unavailable := c.opts.Errors.Unavailable
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(context.Cause(limited), errIdle) {
		return fmt.Errorf("nothing more of the reply within %v: %w", c.opts.Idle, unavailable)
	}
	if t, ok := errors.AsType[net.Error](err); limited.Err() != nil || ok && t.Timeout() {
		return fmt.Errorf("no reply within %v: %w", c.opts.Timeout, unavailable)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return fmt.Errorf("%w: %w", op, unavailable)
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
		return &AgainError{Err: fmt.Errorf("connection dropped by the server: %w", unavailable)}
	}
	return fmt.Errorf("connection broke: %w", unavailable)
}

// badReply returns the error for an unusable reply, with the reason.
func (c *Client) badReply(format string, args ...any) error {
	return fmt.Errorf("%w: %s", c.opts.Errors.Reply, fmt.Sprintf(format, args...))
}
