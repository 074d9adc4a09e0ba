package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

// A call is one request on its way and its answer.
type call struct {
	proxy   *Proxy
	target  *target
	ctx     context.Context // of the client; ends when it leaves
	dialect wire.Dialect    // empty if it is no call
	timer   *time.Timer     // for a provider that says nothing

	parts    *parts        // the request as it was read, or nil
	body     *payload      // as it came, or nil if it was not read
	plain    []byte        // unpacked, or nil
	prepared *Prepared     // what the manager decided, or nil
	sent     []byte        // in place of what came, or nil
	sending  io.Closer     // the body as it is sent, or nil
	encoding []string      // of the body as it came
	model    bool          // it is for a model: recorded, and held back at its end
	over     sync.Once     // its outcome is known
	good     bool          // it ended well, and the client learned of it
	own      time.Duration // that the proxy itself took
	rounds   *rounds       // if what is sent has a tool of Carrel's, from when the answer began

	reckoning *reckoning       // of what managing would have done, or nil
	sealed    *api.CallAccount // of what is sent, until the intent is recorded

	mu     sync.Mutex
	id     string // in the record
	intent api.BeginRequest
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// bind returns the request with a context that has the call, and ends with the client, or
// when nothing comes from the provider for too long.
func (c *call) bind(r *http.Request) (*http.Request, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), callKey{}, c))
	c.timer = time.AfterFunc(c.proxy.opts.Idle, func() { cancel(errIdle) })
	return r.WithContext(ctx), func(cause error) {
		c.timer.Stop()
		cancel(cause)
	}
}

// heard notes that something came from the provider.
func (c *call) heard() { c.timer.Reset(c.proxy.opts.Idle) }

// parts are what is used again to read requests.
// Several may read them, and each lets go once.
type parts struct {
	doc rawjson.Document
	req wire.Request

	others atomic.Int32 // that have not let go, but for one
}

var partsPool = sync.Pool{New: func() any { return new(parts) }}

// hold adds a reader.
func (p *parts) hold() *parts {
	p.others.Add(1)
	return p
}

// release takes a reader away.
func (p *parts) release() {
	if p.others.Add(-1) < 0 {
		p.others.Store(0)
		partsPool.Put(p)
	}
}

// serve passes a call on.
func (c *call) serve(w http.ResponseWriter, r *http.Request, kind wire.Kind) {
	p := c.proxy
	p.stats.running.Add(1)
	defer p.stats.running.Add(-1)
	defer c.close()
	c.model, c.encoding = true, r.Header["Content-Encoding"]
	if !c.read(r) {
		panic(http.ErrAbortHandler) // the client left before it had said all
	}
	began := p.opts.Now()
	c.understand(r, kind)
	c.prepare(r.Context())
	c.account()
	if !c.begin(r.Context()) {
		p.count(c, &outcome{state: store.CallFailed})
		if c.ctx.Err() == nil {
			refusedIntent.write(w, c.dialect)
		}
		return
	}
	c.own = p.opts.Now().Sub(began)
	defer c.finish(&outcome{state: store.CallFailed}) // if the answer was left in the middle
	if c.prepared != nil && c.prepared.Reply != nil {
		c.reply(w)
		return
	}
	c.load(r)
	p.reverse.ServeHTTP(w, r)
}

// count passes on the question how many tokens a request has. Where calls are managed, it is
// about what would be sent for that request.
func (c *call) count(w http.ResponseWriter, r *http.Request) {
	if c.proxy.opts.Manager == nil {
		c.proxy.reverse.ServeHTTP(w, r)
		return
	}
	defer c.close()
	c.encoding = r.Header["Content-Encoding"]
	if !c.read(r) {
		panic(http.ErrAbortHandler) // the client left before it had said all
	}
	c.understand(r, wire.KindCount)
	c.prepare(r.Context())
	c.load(r)
	c.proxy.reverse.ServeHTTP(w, r)
}

// reply answers without the provider.
func (c *call) reply(w http.ResponseWriter) {
	r := c.prepared.Reply
	out := &outcome{state: store.CallDone, status: http.StatusOK, bytes: int64(len(r.Body)), first: c.proxy.opts.Now()}
	out.answer = wire.Answer{Status: http.StatusOK, Whole: true}
	if !c.finish(out) {
		refusedOutcome.write(w, c.dialect)
		return
	}
	maps.Copy(w.Header(), r.Header)
	_, _ = w.Write(r.Body) // whoever does not wait for it has no use for it
}

// close frees what the call took, and hands what it said to the keeper.
func (c *call) close() {
	if c.parts != nil && (!c.good || !c.proxy.keeper.keep(c)) {
		c.parts.release()
	}
	if c.sending != nil {
		_ = c.sending.Close() // the reverse proxy leaves that to whoever made it
	}
	if c.body != nil {
		c.body.release()
	}
}

// read takes the body in, up to the bound. It reports whether the client sent it.
func (c *call) read(r *http.Request) bool {
	body, err := readPayload(r.Body, r.ContentLength, c.proxy.opts.MaxBody)
	c.heard()
	switch {
	case errors.Is(err, errBodyTooLarge):
		c.intent.Bytes, c.intent.SentBytes, c.intent.Reason = int(max(0, r.ContentLength)), int(max(0, r.ContentLength)), "too large"
		r.Body = &larger{Reader: io.MultiReader(body.reader(), r.Body), rest: r.Body}
		body.release()
		return true
	case err != nil:
		body.release()
		return false
	}
	c.body = body
	c.intent.Bytes, c.intent.SentBytes = body.Len(), body.Len()
	return true
}

// A larger body is read by whoever sends it.
type larger struct {
	io.Reader

	rest io.Closer
}

// Close implements [io.Closer].
func (l *larger) Close() error { return l.rest.Close() }

// load puts what is to be sent into a request.
func (c *call) load(r *http.Request) {
	if c.body == nil {
		return // it streams
	}
	size, open := c.body.Len(), func() (io.ReadCloser, error) { return c.body.reader(), nil }
	if c.sent != nil {
		sent := c.sent
		size, open = len(sent), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	}
	if c.sending != nil {
		_ = c.sending.Close() // something else is sent now
	}
	delete(r.Header, "Content-Encoding")
	if c.sent == nil && c.encoding != nil {
		r.Header["Content-Encoding"] = c.encoding
	}
	if c.recaller() != nil {
		r.Header["Accept-Encoding"] = []string{"identity"} // the answer is read, and may be changed
	}
	r.ContentLength, r.TransferEncoding, r.Body, r.GetBody = int64(size), nil, http.NoBody, nil
	if size > 0 {
		r.Body, _ = open() // it never fails
		r.GetBody, c.sending = open, r.Body
	}
}

// understand reads what the request says. What cannot be read passes all the same.
func (c *call) understand(r *http.Request, kind wire.Kind) {
	if c.body == nil {
		return
	}
	c.plain = c.body.Bytes()
	if e := strings.ToLower(r.Header.Get("Content-Encoding")); e != "" && e != "identity" {
		var err error
		if c.plain, err = wire.Unpack(e, bytes.NewReader(c.plain), c.proxy.opts.MaxBody); err != nil {
			c.plain, c.intent.Reason = nil, "unreadable encoding"
			return
		}
	}
	c.parts, _ = partsPool.Get().(*parts) // it has nothing else
	req := &c.parts.req
	err := c.parts.doc.Read(c.plain)
	if err == nil {
		err = req.Read(c.dialect, kind, r.Header, &c.parts.doc)
	}
	if err != nil {
		c.parts.release()
		c.parts, c.intent.Reason = nil, unreadable(err)
		return
	}
	in := &c.intent
	in.Model, in.Messages, in.Frame = word(req.Model), len(req.Messages), req.Frame
	if n := len(req.Messages); n > 0 {
		in.Chain = req.Messages[n-1].Chain
	}
	in.Sent = in.Chain
	in.Client, in.Compacts = word(clientOf(req)), req.Compacts
	if req.Summary() >= 0 && !req.Remote {
		in.Thread = req.Thread()
		req.Root = c.proxy.root(r.Context(), req, in.Client)
	}
	if !req.Side && !req.Remote {
		in.Session = c.proxy.keeper.session(req)
	}
}

// clientOf returns what the client calls its session, with the agent in it if that is
// another.
func clientOf(req *wire.Request) string {
	if req.Agent == "" || req.Agent == req.Session {
		return req.Session
	}
	return req.Session + "/" + req.Agent
}

// unreadable returns why a body could not be read: a word, no text of it.
func unreadable(err error) string {
	if e, ok := errors.AsType[*rawjson.Error](err); ok && e.Rule != "" {
		return "unreadable: " + string(e.Rule)
	}
	return "unreadable"
}

// prepare asks the manager what to send.
func (c *call) prepare(ctx context.Context) {
	p := c.proxy
	if p.opts.Manager == nil || c.parts == nil {
		return
	}
	req := &c.parts.req
	if p.heldOut(req) {
		c.intent.Reason, c.intent.Holdout = "holdout", true
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.opts.Prepare)
	type result struct {
		prepared *Prepared
		err      error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		prepared, err := p.opts.Manager.Prepare(ctx, req)
		done <- result{prepared, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done:
		default:
			r.err = ctx.Err()
			c.abandon() // the manager still reads it
		}
	}
	switch {
	case r.err != nil:
		c.intent.Reason = "not managed: " + short(r.err)
		p.log.Warn("a call is not managed", "reason", r.err)
	case r.prepared != nil:
		c.use(r.prepared)
	}
}

// short returns a word for an error that may have a text of a conversation in it.
func short(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "too slow"
	}
	return "error"
}

// abandon leaves the request to whoever still reads it: neither it nor the body is used
// again.
func (c *call) abandon() {
	c.parts = nil
	if c.body != nil {
		c.body.hold()
	}
}

// use takes what the manager decided.
func (c *call) use(prepared *Prepared) {
	c.prepared, c.sent = prepared, prepared.Body
	in := &c.intent
	in.Reason, in.Epoch, in.Managed = prepared.Reason, prepared.Epoch, prepared.Body != nil
	in.Sent, in.SentBytes, in.Recall = in.Chain, in.Bytes, prepared.Recall
	if prepared.Reply != nil {
		in.Managed, in.SentBytes = true, 0
		return
	}
	if in.Managed {
		in.Sent, in.SentBytes = prepared.Sent, len(prepared.Body)
	}
}

// heldOut reports whether the session of a request is one that is not managed, for
// comparison. It is the same for all calls of a session.
func (p *Proxy) heldOut(req *wire.Request) bool {
	if p.opts.Holdout <= 0 {
		return false
	}
	thread := req.Thread()
	if req.Session != "" {
		thread = digest.Of([]byte("holdout/v1\x00" + req.Session))
	}
	return ratio.Ratio(binary.BigEndian.Uint64(thread[:8])%uint64(ratio.One)) < p.opts.Holdout
}

// RoundTrip sends a request, and what the manager wants to send after a refusal. It
// implements [http.RoundTripper].
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r.Context())
	resp, err := p.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	c.heard()
	if c.sent != nil && c.parts != nil && resp.StatusCode >= http.StatusBadRequest && resp.StatusCode < http.StatusInternalServerError {
		return c.again(r, resp)
	}
	if c.recaller() != nil && resp.StatusCode == http.StatusOK {
		return c.weave(r, resp)
	}
	return resp, nil
}

// maxRefusal is how many bytes of a refusal are read.
const maxRefusal = 1 << 20

// again asks the manager about a refusal, and sends what it says.
func (c *call) again(r *http.Request, resp *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = &larger{Reader: io.MultiReader(bytes.NewReader(text), resp.Body), rest: resp.Body}
	ctx, cancel := context.WithTimeout(r.Context(), c.proxy.opts.Prepare)
	defer cancel()
	next, err := c.proxy.opts.Manager.Refused(ctx, &c.parts.req, c.prepared, resp.StatusCode, text)
	if err != nil || next == nil {
		return resp, nil // the refusal passes as it came
	}
	if err := resp.Body.Close(); err != nil {
		return nil, fmt.Errorf("close a refusal: %w", err)
	}
	c.use(next)
	r = r.Clone(r.Context())
	c.load(r)
	c.proxy.log.Warn("the provider refused what was sent in place of a request", "status", resp.StatusCode, "now", next.Reason)
	return c.proxy.transport.RoundTrip(r)
}
