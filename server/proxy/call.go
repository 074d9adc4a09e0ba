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

// A call is one request and its answer. It serves also requests that are no calls to a model;
// then model is false.
type call struct {
	proxy   *Proxy
	target  *target
	ctx     context.Context // of the client; ends when the client disconnects
	dialect wire.Dialect    // empty if wire.RouteOf does not know the request
	timer   *time.Timer     // cancels the request when the provider is silent for Options.Idle

	parts    *parts        // the parsed request, or nil
	body     *payload      // the client's body, or nil if it was not read
	plain    []byte        // the body without compression, or nil
	prepared *Prepared     // the manager's decision about parts, or nil
	sent     []byte        // the body to send in place of the client's, or nil
	sending  io.Closer     // the body that is being sent, or nil
	encoding []string      // Content-Encoding of the client's body
	model    bool          // the request is a call: it is recorded, the end of its answer held back
	over     sync.Once     // runs when the outcome is known
	good     bool          // the call succeeded, and the client may get the end of the answer
	own      time.Duration // time that the proxy itself took before the request was sent
	rounds   *rounds       // from the beginning of the answer if the sent tools include ToolRecall, or nil

	estimate *estimate        // the estimate of what managing would have sent, or nil
	sealed   *api.CallAccount // the account of the sent body, until the intent is recorded

	mu     sync.Mutex
	id     string // of the call in the record; empty until the intent is recorded
	intent api.BeginRequest
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// bind returns the request with a context that carries the call. The context ends when the
// client disconnects or when the provider sends nothing for Options.Idle.
func (c *call) bind(r *http.Request) (*http.Request, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), callKey{}, c))
	c.timer = time.AfterFunc(c.proxy.opts.Idle, func() { cancel(errIdle) })
	return r.WithContext(ctx), func(cause error) {
		c.timer.Stop()
		cancel(cause)
	}
}

// resetIdle resets the idle timer, because bytes came from the provider.
func (c *call) resetIdle() { c.timer.Reset(c.proxy.opts.Idle) }

// parts is a parsed request in pooled memory. It counts its readers; each calls release once.
type parts struct {
	doc rawjson.Document
	req wire.Request

	others atomic.Int32 // readers that have not called release, less one
}

var partsPool = sync.Pool{New: func() any { return new(parts) }}

// hold adds a reader.
func (p *parts) hold() *parts {
	p.others.Add(1)
	return p
}

// release removes a reader; the last one returns p to the pool.
func (p *parts) release() {
	if p.others.Add(-1) < 0 {
		p.others.Store(0)
		partsPool.Put(p)
	}
}

// serve records a call, lets the manager decide, and sends it to the provider. If the client
// leaves before its body was read, it panics with http.ErrAbortHandler.
func (c *call) serve(w http.ResponseWriter, r *http.Request, kind wire.Kind) {
	p := c.proxy
	p.stats.running.Add(1)
	defer p.stats.running.Add(-1)
	defer c.close()
	c.model, c.encoding = true, r.Header["Content-Encoding"]
	if !c.read(r) {
		panic(http.ErrAbortHandler) // the client left before it had sent the whole body
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
	defer c.finish(&outcome{state: store.CallFailed}) // does nothing if the answer ended
	if c.prepared != nil && c.prepared.Reply != nil {
		c.reply(w)
		return
	}
	c.load(r)
	p.reverse.ServeHTTP(w, r)
}

// count passes on a request to count tokens. With a manager, it asks the provider to count the body
// that would be sent if no new rewrite were made. If the client leaves before its body was read, it
// panics with http.ErrAbortHandler.
func (c *call) count(w http.ResponseWriter, r *http.Request) {
	if c.proxy.opts.Manager == nil {
		c.proxy.reverse.ServeHTTP(w, r)
		return
	}
	defer c.close()
	c.encoding = r.Header["Content-Encoding"]
	if !c.read(r) {
		panic(http.ErrAbortHandler) // the client left before it had sent the whole body
	}
	c.understand(r, wire.KindCount)
	c.prepare(r.Context())
	c.load(r)
	c.proxy.reverse.ServeHTTP(w, r)
}

// reply sends the manager's own answer to the client, without the provider.
func (c *call) reply(w http.ResponseWriter) {
	r := c.prepared.Reply
	out := &outcome{state: store.CallDone, status: http.StatusOK, bytes: int64(len(r.Body)), first: c.proxy.opts.Now()}
	out.answer = wire.Answer{Status: http.StatusOK, Whole: true}
	if !c.finish(out) {
		refusedOutcome.write(w, c.dialect)
		return
	}
	maps.Copy(w.Header(), r.Header)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(r.Body) // an error means that the client is gone
}

// close gives the request of a successful call to the keeper, and releases the memory.
func (c *call) close() {
	if c.parts != nil && (!c.good || !c.proxy.keeper.keep(c)) {
		c.parts.release()
	}
	if c.sending != nil {
		_ = c.sending.Close() // the reverse proxy does not close it
	}
	if c.body != nil {
		c.body.release()
	}
}

// read reads the client's body if it has at most MaxBody bytes; a larger body will stream. It
// returns false if the client did not send the whole body.
func (c *call) read(r *http.Request) bool {
	body, err := readPayload(r.Body, r.ContentLength, c.proxy.opts.MaxBody)
	c.resetIdle()
	switch {
	case errors.Is(err, errBodyTooLarge):
		c.intent.Bytes, c.intent.SentBytes, c.intent.Reason = int(max(0, r.ContentLength)), int(max(0, r.ContentLength)), tooLarge
		r.Body = &streamedBody{Reader: io.MultiReader(body.reader(), r.Body), rest: r.Body}
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

// tooLarge is the reason why a body of more than MaxBody bytes, compressed or not, is not managed.
const tooLarge = "too large"

// A streamedBody is the body of a request that has more than MaxBody bytes: its beginning,
// which is in memory, and then the rest, which streams.
type streamedBody struct {
	io.Reader

	rest io.Closer
}

// Close implements [io.Closer].
func (l *streamedBody) Close() error { return l.rest.Close() }

// load sets the body, the length and the encoding headers of the request to send.
func (c *call) load(r *http.Request) {
	if c.body == nil {
		return // the body streams
	}
	size, open := c.body.Len(), func() (io.ReadCloser, error) { return c.body.reader(), nil }
	if c.sent != nil {
		sent := c.sent
		size, open = len(sent), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	}
	if c.sending != nil {
		_ = c.sending.Close() // another body is sent now
	}
	delete(r.Header, "Content-Encoding")
	if c.sent == nil && c.encoding != nil {
		r.Header["Content-Encoding"] = c.encoding
	}
	if c.recaller() != nil {
		r.Header["Accept-Encoding"] = []string{"identity"} // the proxy reads the answer, and may change it
	}
	r.ContentLength, r.TransferEncoding, r.Body, r.GetBody = int64(size), nil, http.NoBody, nil
	if size > 0 {
		r.Body, _ = open() // open never fails
		r.GetBody, c.sending = open, r.Body
	}
}

// understand decompresses and parses the body, and fills the intent. If it fails, c.parts is nil,
// the intent has the reason, and the body passes as it came.
func (c *call) understand(r *http.Request, kind wire.Kind) {
	if c.body == nil {
		return
	}
	c.plain = c.body.Bytes()
	if e := strings.ToLower(r.Header.Get("Content-Encoding")); e != "" && e != "identity" {
		plain, err := wire.Unpack(e, bytes.NewReader(c.plain), c.proxy.opts.MaxBody)
		if c.plain = plain; err != nil {
			c.plain, c.intent.Reason = nil, "unreadable encoding"
			if int64(len(plain)) > c.proxy.opts.MaxBody {
				c.intent.Reason = tooLarge
			}
			return
		}
	}
	c.parts, _ = partsPool.Get().(*parts) // the pool has only parts
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

// clientOf returns the client's own id of its session, followed by "/" and the agent's id if
// the two differ.
func clientOf(req *wire.Request) string {
	if req.Agent == "" || req.Agent == req.Session {
		return req.Session
	}
	return req.Session + "/" + req.Agent
}

// unreadable returns why a body could not be parsed, without quoting the body.
func unreadable(err error) string {
	if e, ok := errors.AsType[*rawjson.Error](err); ok && e.Rule != "" {
		return "unreadable: " + string(e.Rule)
	}
	return "unreadable"
}

// prepare asks the manager which body to send, and waits for at most Options.Prepare. After an
// error or a timeout the client's body is sent.
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
			c.abandon() // the manager still reads the request
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

// short returns a word for err, which may quote a conversation and must not be recorded.
func short(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "too slow"
	}
	return "error"
}

// abandon makes sure that the parsed request and the body never return to their pools, because
// the manager may still read them.
func (c *call) abandon() {
	c.parts = nil
	if c.body != nil {
		c.body.hold()
	}
}

// use takes over the manager's decision about the call: it sets the body to send and fills
// the intent.
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

// heldOut reports whether the session of a request belongs to the share Options.Holdout, which
// is not managed, for comparison. The result is the same for all calls of a session.
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

// RoundTrip is for the proxy itself; others call ServeHTTP. It sends a request. If the provider
// refuses a managed body with a 4xx status, it asks the manager what to send then. It implements
// [http.RoundTripper].
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r.Context())
	resp, err := p.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	c.resetIdle()
	if c.sent != nil && resp.StatusCode >= http.StatusBadRequest && resp.StatusCode < http.StatusInternalServerError {
		return c.again(r, resp)
	}
	if c.recaller() != nil && resp.StatusCode == http.StatusOK {
		return c.weave(r, resp)
	}
	return resp, nil
}

// maxRefusal is the largest number of bytes of a refusal that are read.
const maxRefusal = 1 << 20

// again asks the manager about a refusal. It sends the manager's next body, as a call of its own and
// without the key by which the provider would take it for the refused one, and returns that answer.
// If the manager has no next body, again returns the refusal as it came.
func (c *call) again(r *http.Request, resp *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = &streamedBody{Reader: io.MultiReader(bytes.NewReader(text), resp.Body), rest: resp.Body}
	ctx, cancel := context.WithTimeout(r.Context(), c.proxy.opts.Prepare)
	defer cancel()
	says := plainRefusal(strings.Join(resp.Header["Content-Encoding"], ", "), text)
	next, err := c.proxy.opts.Manager.Refused(ctx, &c.parts.req, c.prepared, resp.StatusCode, says)
	if err != nil || next == nil {
		return resp, nil // the refusal passes as it came
	}
	if err := resp.Body.Close(); err != nil {
		return nil, fmt.Errorf("close the body of a refusal: %w", err)
	}
	if err := c.next(r.Context(), c.refused(resp, text), next); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Del("Idempotency-Key")
	c.load(r)
	c.proxy.log.Warn("the provider refused what was sent in place of a request", "status", resp.StatusCode, "now", next.Reason)
	return c.proxy.transport.RoundTrip(r)
}

// refused returns the outcome of a call that the provider refused. text is the body of the refusal, or
// its beginning.
func (c *call) refused(resp *http.Response, text []byte) *outcome {
	tap := wire.NewTap(c.dialect, resp.Header.Get("Content-Type"), strings.Join(resp.Header["Content-Encoding"], ", "))
	tap.Feed(text)
	return &outcome{state: store.CallFailed, status: resp.StatusCode, answer: *tap.End(false), bytes: int64(len(text)), first: c.proxy.opts.Now()}
}

// next records the outcome of what was sent, and the intent of what is sent now. It fails with
// errUnrecorded if a required record fails. It records nothing for a request that is no call.
func (c *call) next(ctx context.Context, out *outcome, p *Prepared) error {
	recorded := !c.model || c.end(ctx, out)
	c.use(p)
	if !c.model {
		return nil
	}
	c.account()
	c.mu.Lock()
	c.id = ""
	c.mu.Unlock()
	c.intent.Bytes = 0 // the client's body came once
	if !recorded || !c.begin(ctx) {
		return errUnrecorded
	}
	return nil
}

// plainRefusal returns a refusal without its compression: its first maxRefusal bytes, or fewer if
// the rest is damaged. It returns text itself if that cannot be decompressed at all.
func plainRefusal(encoding string, text []byte) []byte {
	plain, err := wire.Unpacked(encoding, io.NopCloser(bytes.NewReader(text)))
	if err != nil {
		return text
	}
	defer func() { _ = plain.Close() }() // it is in memory
	if says, _ := io.ReadAll(io.LimitReader(plain, maxRefusal)); len(says) > 0 {
		return says
	}
	return text
}
