package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/internal/ops"
)

// do runs one operation.
func do[Req, Res any](ctx context.Context, c *Client, scope governance.Scope, op *ops.Op[Req, Res], req *Req) (_ *Res, err error) {
	defer during(op.Name, &err)

	if req == nil {
		req = new(Req)
	}
	m, err := newMessage(&op.Operation, req)
	if err != nil {
		return nil, err
	}
	m.scope = string(scope)
	if op.Writes() {
		m.key = c.key()
	}
	data, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	res := new(Res)
	if err := json.Unmarshal(data, res); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReply, err)
	}
	return res, nil
}

// The first and the longest pause before a retry, and the longest pause that
// a server may ask for.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// send sends a request, with retries, and returns the body of the reply. The
// idempotency key keeps a repeated write from being made twice.
func (c *Client) send(ctx context.Context, m *message) (data []byte, err error) {
	err = c.tries.Do(ctx, func() error {
		data, err = c.try(ctx, m)
		return err
	})
	return data, final(err)
}

// try sends a request once.
func (c *Client) try(ctx context.Context, m *message) ([]byte, error) {
	req, err := c.request(ctx, m)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, lost(ctx, err)
	}
	defer resp.Body.Close()
	body := http.MaxBytesReader(nil, resp.Body, c.opts.MaxReply)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 != 2:
		return nil, passing(errorOf(resp, body), httpjson.RetryAfter(resp.Header))
	case kind == eventStream:
		return follow(ctx, body)
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, lost(ctx, err)
	}
	return data, nil
}

const eventStream = "text/event-stream"

// request returns the http.Request of m.
func (c *Client) request(ctx context.Context, m *message) (*http.Request, error) {
	if _, err := governance.ParseScope(m.scope); err != nil && m.scope != "" { // as the server says, but a header may be refused or trimmed before
		return nil, &api.FieldError{Field: api.HeaderScope, Text: "is no scope such as acme/support"}
	}
	var body io.Reader
	if m.body != nil {
		body = bytes.NewReader(m.body)
	}
	req, err := http.NewRequestWithContext(ctx, m.op.Method, c.base+m.path, body)
	if err != nil {
		return nil, errors.New("internal error, please report it: the URL of the request is invalid") // unreachable, because both parts are URLs; the cause might show content
	}
	req.Header.Set("Accept", "application/json")
	if api.ProgressFrom(ctx) != nil {
		req.Header.Set("Accept", eventStream+", application/json")
	}
	req.Header.Set("User-Agent", c.opts.UserAgent)
	set := func(key, value string) {
		if value != "" {
			req.Header.Set(key, value)
		}
	}
	set(api.HeaderScope, m.scope)
	set(api.HeaderIdempotency, m.key)
	if c.opts.Credential != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Credential)
	}
	if m.body != nil {
		req.Header.Set("Content-Type", m.kind)
	}
	return req, nil
}

// passing marks err, the error of an error reply, as temporary if a retry may
// succeed. after is the time that the server asks to wait before it.
func passing(err error, after time.Duration) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Problem.Status != http.StatusServiceUnavailable && e.Problem.Status != http.StatusTooManyRequests {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err // a retry would take as long
	}
	return &httpjson.AgainError{Err: err, After: after}
}

// lost returns the error of a missing or partial reply, without the URL,
// which may hold words of a query.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("%w: more than %d bytes", ErrReply, e.Limit)
	}
	out := fmt.Errorf("%w: %w", ErrUnreachable, err)
	op, ok := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case ok && op.Op == "dial" && !unknown, // nothing was sent
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &httpjson.AgainError{Err: out}
	}
	return out
}

// follow reads a stream of events: progress, then the result or an error.
func follow(ctx context.Context, body io.Reader) ([]byte, error) {
	var result []byte
	var done bool
	tell := api.ProgressFrom(ctx)
	_, err := httpjson.ReadEvents(body, func(e *httpjson.Event) (bool, error) {
		switch e.Name {
		case "progress":
			var p struct {
				Job         string
				Done, Total int
			}
			if err := json.Unmarshal(e.Data, &p); err == nil && tell != nil {
				tell(p.Job, p.Done, p.Total)
			}
		case "result":
			result, done = bytes.Clone(e.Data), true
		case "problem":
			done = true
			return true, passing(problemOf(e.Data), 0)
		}
		return done, nil
	})
	switch {
	case done:
		return result, err
	case err == nil:
		err = io.ErrUnexpectedEOF // the stream ended without result or error
	}
	return nil, lost(ctx, err)
}

// during prefixes *errp with the name of the job op, unless the error is an
// [*Error], whose text the server has prefixed.
func during(op string, errp *error) {
	if _, said := errors.AsType[*Error](*errp); *errp != nil && !said {
		*errp = fmt.Errorf("%s: %w", strings.ReplaceAll(op, "-", " "), *errp)
	}
}
