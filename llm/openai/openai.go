// Package openai embeds texts by the interface of OpenAI, POST /v1/embeddings,
// which Ollama, llama.cpp, vLLM and Text Embeddings Inference serve, too.
//
// # What is sent, and where
//
// Texts go in batches, one request at a time, to one origin and nowhere else:
// no redirect is followed and no proxy is taken from the environment, so that
// the key and the texts reach only who they are meant for.
//
// # What comes back
//
// A reply is checked before it is used: as many vectors as texts, each at its
// index, all of one length, every component a finite number. Replies are read
// up to a number of bytes. What a server says beside that, in errors above all,
// is dropped: it may repeat a text or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, if the server says that
// it is overloaded (429) or broken (5xx), or drops the connection. The pauses
// double, are shortened at random, and follow the server's Retry-After; if that
// asks for more patience than there is, the call fails at once.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/carrel-dev/carrel/llm"
)

// Options adjusts a [Client]. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Key is sent as a bearer token. The default is to send none.
	Key llm.Secret

	// Dimensions is the length of the vectors to ask for, of a model that has
	// a choice. A reply of another length is refused. The default is to take
	// what comes.
	Dimensions int

	// Batch is the largest number of texts in a request. The default is 32.
	Batch int

	// BatchBytes is the largest size of the texts of a request together; one
	// that is larger goes alone. The default is 256 KiB.
	BatchBytes int

	// Timeout bounds each request, the reading of the reply included. The
	// default is 30 seconds.
	Timeout time.Duration

	// Retries is how often a request is sent again. The default is 2;
	// NoRetries sends each once.
	Retries int

	// MaxReply is the largest reply to read, in bytes. The default is 32 MiB.
	MaxReply int64

	// HTTPClient sends the requests. Its redirect policy is not used. The
	// default keeps a few connections open and uses no proxy.
	HTTPClient *http.Client

	// Sleep waits for a time or until the context is done, whose error it then
	// returns. The default is to do just that.
	Sleep func(context.Context, time.Duration) error

	// Rand returns a random number from 0 to before n. The default is
	// rand.Int64N.
	Rand func(n int64) int64
}

// NoRetries is the [Options.Retries] that sends each request once.
const NoRetries = -1

// The pauses before a request is sent again.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
)

// A Client is an [llm.Embedder]. It is safe for concurrent use.
type Client struct {
	url   string // of the embeddings
	name  string
	model string
	opts  Options
}

// New returns a client of the server at a base URL, such as
// "http://localhost:11434" or "https://api.openai.com/v1", for one of its
// models. The URL may end in "/v1" or not. It sends nothing.
func New(baseURL, model string, opts *Options) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, fmt.Errorf("openai: base URL: %w", err)
	}
	if model == "" {
		return nil, errors.New("openai: no model")
	}
	o, err := opts.complete()
	if err != nil {
		return nil, fmt.Errorf("openai: options: %w", err)
	}
	c := &Client{url: base + "/embeddings", model: model, opts: o, name: model + "@" + base}
	if o.Dimensions > 0 {
		c.name = fmt.Sprintf("%s/%d@%s", model, o.Dimensions, base)
	}
	return c, nil
}

// parseBase returns a base URL in one spelling, which ends in "/v1".
func parseBase(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("not a URL") // the cause would show a password
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

// complete returns o with its defaults filled in, or why it makes no sense.
func (o *Options) complete() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	// Go's HTTP client, too, refuses such a key, but with each request.
	if strings.ContainsFunc(c.Key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Options{}, errors.New("key has a space or another character that cannot be sent")
	}
	if c.Dimensions < 0 || c.Batch < 0 || c.BatchBytes < 0 || c.Timeout < 0 || c.Retries < NoRetries || c.MaxReply < 0 {
		return Options{}, errors.New("negative number")
	}
	setDefault(&c.Batch, 32)
	setDefault(&c.BatchBytes, 256<<10)
	setDefault(&c.Timeout, 30*time.Second)
	setDefault(&c.Retries, 2)
	setDefault(&c.MaxReply, 32<<20)
	c.Retries = max(c.Retries, 0)
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Rand == nil {
		c.Rand = rand.Int64N
	}
	client := http.Client{Transport: transport()}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.HTTPClient = &client
	return c, nil
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// transport returns one that, unlike the default of package http, takes no
// proxy from the environment.
func transport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           4,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Name returns the model, the dimensions if they were chosen, and the base URL,
// such as "all-minilm@http://localhost:11434/v1".
func (c *Client) Name() string { return c.name }

// Embed implements [llm.Embedder]. An empty text is sent as one space, since
// some servers refuse to embed nothing.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := c.batch(texts)
		batch, err := c.embed(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", c.name, err)
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, fmt.Errorf("embed with %s: %w", c.name, badReply("vectors of %d components after those of %d", len(batch[0]), len(vectors[0])))
		}
		vectors = append(vectors, batch...)
		texts = texts[n:]
	}
	return vectors, nil
}

// batch returns how many of the texts go into the next request.
func (c *Client) batch(texts []string) int {
	size := len(texts[0])
	n := 1
	for n < len(texts) && n < c.opts.Batch && size+len(texts[n]) <= c.opts.BatchBytes {
		size += len(texts[n])
		n++
	}
	return n
}

// request is the body of a request.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// embed embeds the texts of one request, which it sends again if need be.
func (c *Client) embed(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		input[i] = t
		if t == "" {
			input[i] = " "
		}
	}
	body, err := json.Marshal(request{c.model, input, "float", c.opts.Dimensions})
	if err != nil {
		return nil, err // not reached: strings and numbers can be encoded
	}
	for attempt := 0; ; attempt++ {
		reply, err := c.post(ctx, body)
		if err == nil {
			return parseReply(reply, len(texts), c.opts.Dimensions)
		}
		again, ok := errors.AsType[*againError](err)
		if !ok || attempt == c.opts.Retries {
			return nil, err
		}
		pause := again.after
		if pause > maxPause {
			return nil, fmt.Errorf("%w; it asks for a pause of %v", err, pause)
		}
		// The pause is at least what the server asks for and half of ours.
		full := min(firstPause<<min(attempt, 10), maxPause)
		pause = max(pause, full/2+time.Duration(c.opts.Rand(int64(full/2))))
		if err := c.opts.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// post sends a request once and returns the body of the reply.
func (c *Client) post(ctx context.Context, body []byte) (_ []byte, err error) {
	limited, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("base URL cannot be used") // not reached: New has parsed it
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "carrel")
	if !c.opts.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.opts.Key.Reveal())
	}
	resp, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, limited, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp)
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, c.opts.MaxReply+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, badReply("cut off after %d bytes", len(reply))
	case err != nil:
		return nil, c.transportError(ctx, limited, err)
	case int64(len(reply)) > c.opts.MaxReply:
		return nil, badReply("more than %d bytes", c.opts.MaxReply)
	}
	return reply, nil
}

// An againError is [llm.ErrUnavailable] that may pass.
type againError struct {
	text  string
	after time.Duration // what the server asks for
}

func (e *againError) Error() string { return e.text + ": " + llm.ErrUnavailable.Error() }
func (e *againError) Unwrap() error { return llm.ErrUnavailable }

// statusError says what a status other than 200 means.
func statusError(resp *http.Response) error {
	code := resp.StatusCode
	text := strings.TrimSpace(fmt.Sprintf("status %d %s", code, http.StatusText(code)))
	switch {
	case code == http.StatusTooManyRequests || code >= 500:
		return &againError{text, retryAfter(resp.Header)}
	case code == http.StatusRequestTimeout:
		return fmt.Errorf("%s: %w", text, llm.ErrUnavailable)
	case code < 300:
		return badReply("%s", text)
	case code < 400:
		return fmt.Errorf("%s, and redirects are not followed: %w", text, llm.ErrRefused)
	}
	return fmt.Errorf("%s: %w", text, llm.ErrRefused)
}

// retryAfter returns how long the server asks to wait: a number of seconds, or
// a time, which is taken against the server's own clock.
func retryAfter(h http.Header) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// transportError says why there is no reply. What package http reports may
// repeat what the server sent, so only what is known to be harmless is shown.
func (c *Client) transportError(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t, ok := errors.AsType[net.Error](err); limited.Err() != nil || ok && t.Timeout() {
		return fmt.Errorf("no reply within %v: %w", c.opts.Timeout, llm.ErrUnavailable)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return fmt.Errorf("%w: %w", op, llm.ErrUnavailable)
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
		return &againError{text: "connection dropped by the server"}
	}
	return fmt.Errorf("connection broke: %w", llm.ErrUnavailable)
}
