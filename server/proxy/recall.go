package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/weave"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// Bounds of the recalls within one call of a client, and the results above them.
const (
	maxRounds   = 8         // further requests to the provider
	maxRecalls  = 384 << 10 // bytes of all results; later results are tooMuch
	maxWhole    = 64 << 20  // bytes of an answer that is no stream
	pingEvery   = 10 * time.Second
	tooMuch     = "[carrel: no more can be recalled in this answer; go on with what is here]"
	notTogether = "[carrel: the original is too long to be recalled here]"
)

// recaller returns the Recaller that answers calls of ToolRecall, or nil if the tools of the sent
// request do not include it.
func (c *call) recaller() Recaller {
	if c.prepared == nil || !c.prepared.Recall {
		return nil
	}
	r, _ := c.proxy.opts.Manager.(Recaller)
	return r
}

// rounds is one call of a client as a sequence of rounds. A round is a request to the provider
// and its answer; each round after the first has the results of the recalls of the one before.
type rounds struct {
	call    *call
	weaver  *weave.Weaver
	request *http.Request // as it was sent
	body    []byte        // of the newest request with a 200 answer
	ctx     context.Context
	cancel  context.CancelCauseFunc

	n     int // index of the newest round
	bytes int // recalled in all rounds

	first  *wire.Answer // of the first round, if another followed
	tap    *wire.Tap    // reads the answer of the newest round
	status int          // status of that answer
	came   int64        // bytes of that answer so far
	began  time.Time    // when the first byte of that answer came
	closed bool         // the outcome of the newest round is recorded
}

// weave replaces the body of an answer by one that answers calls of ToolRecall in further rounds
// and joins the rounds into one answer for the client. An answer that is neither an event
// stream nor JSON, or has an unknown encoding, passes as it came.
func (c *call) weave(r *http.Request, resp *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/event-stream" && kind != "application/json" {
		return resp, nil // this media type has no tool calls
	}
	if e := strings.Join(resp.Header["Content-Encoding"], ", "); e != "" && e != "identity" {
		plain, err := wire.Unpacked(e, resp.Body)
		if errors.Is(err, wire.ErrEncoding) {
			return resp, nil // unknown encoding: pass unread
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the answer cannot be read: %w", err), resp.Body.Close())
		}
		resp.Body = plain
		resp.Header.Del("Content-Encoding")
	}
	s := &rounds{call: c, weaver: weave.New(c.dialect, ToolRecall), request: r, body: c.sent}
	s.ctx, s.cancel = context.WithCancelCause(r.Context())
	s.open(resp)
	c.rounds = s
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	if kind == "application/json" {
		return s.whole(resp)
	}
	resp.Body = &joinedBody{rounds: s, from: resp.Body}
	return resp, nil
}

// open begins to read the answer of a round.
func (s *rounds) open(resp *http.Response) {
	s.tap = wire.NewTap(s.call.dialect, resp.Header.Get("Content-Type"), "")
	s.status, s.came, s.began, s.closed = resp.StatusCode, 0, time.Time{}, false
}

// feed reads a piece of the answer for the record.
func (s *rounds) feed(p []byte) {
	if len(p) == 0 {
		return
	}
	if s.began.IsZero() {
		s.began = s.call.proxy.opts.Now()
	}
	s.came += int64(len(p))
	s.tap.Feed(p)
}

// last changes out, the outcome of the joined answer, to that of the newest round, because each
// round has its own record.
func (s *rounds) last(out *outcome) {
	out.answer = *s.tap.End(!out.answer.Whole)
	out.answer.Status, out.status, out.bytes, out.first = s.status, s.status, s.came, s.began
	s.closed = true
}

// whole reads an answer that is no stream, and runs further rounds until an answer has no
// recall left. It returns the joined answer; if the provider refuses a round, the refusal.
func (s *rounds) whole(resp *http.Response) (*http.Response, error) {
	for {
		data, err := io.ReadAll(io.LimitReader(&timedBody{resp.Body, s.call}, maxWhole+1))
		s.feed(data)
		err = errors.Join(err, resp.Body.Close())
		if err == nil && len(data) > maxWhole {
			err = fmt.Errorf("the answer has more than %d bytes", maxWhole)
		}
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(data))
		if resp.StatusCode == http.StatusOK {
			err = s.weaver.Whole(data)
		}
		if resp.StatusCode != http.StatusOK || err != nil {
			return resp, nil //nolint:nilerr // what cannot be read passes to the client
		}
		if !s.weaver.Round().Waits() {
			s.keep(true)
			resp.Body = io.NopCloser(bytes.NewReader(s.weaver.Joined()))
			return resp, nil
		}
		if resp, err = s.next(); err != nil {
			return nil, err
		}
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
	}
}

var errRounds = fmt.Errorf("the model recalled originals in more than %d rounds of one answer", maxRounds)

// roundRefusal returns the refusal that says why an answer could not go on after a recall.
func roundRefusal(err error) *refusal {
	f := *refusedRound
	if errors.Is(err, errRounds) {
		f.text = errRounds.Error()
	}
	return &f
}

// next runs a further round: it recalls the originals that the newest round asks for, and sends
// them to the provider. If the provider finds the request too large, next sends a short text in
// place of each original. It fails with errRounds after maxRounds.
func (s *rounds) next() (*http.Response, error) {
	if s.n++; s.n > maxRounds {
		return nil, errRounds
	}
	results := s.recall()
	resp, err := s.send(results)
	if err == nil && (resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusRequestEntityTooLarge) {
		for i := range results { // the originals may be too long for the window
			results[i] = notTogether
		}
		if err = resp.Body.Close(); err == nil {
			resp, err = s.send(results)
		}
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		s.weaver.Next(results)
	}
	return resp, nil
}

// recall returns the results of the calls of the newest round.
func (s *rounds) recall() (results []string) {
	for _, c := range s.weaver.Round().Calls {
		text := s.call.recaller().Recall(s.ctx, c.Input)
		if s.bytes += len(text); s.bytes > maxRecalls {
			text = tooMuch
		}
		results = append(results, text)
	}
	return results
}

// send sends the newest request again, with the reply of the newest round and the results
// behind its messages. It records the outcome of that round and the intent of the new one.
func (s *rounds) send(results []string) (*http.Response, error) {
	more, err := s.weaver.Round().Messages(results)
	if err != nil {
		return nil, err
	}
	var doc rawjson.Document
	var q wire.Request
	body, err := appended(&doc, &q, s.call.dialect, s.body, more)
	if err != nil {
		return nil, err
	}
	if err := s.turn(&q, body); err != nil {
		return nil, err
	}
	r := s.request.Clone(s.ctx)
	r.Header.Del("Idempotency-Key")
	r.ContentLength, r.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	waits := time.AfterFunc(s.call.proxy.opts.Idle, func() { s.cancel(errIdle) })
	resp, err := s.call.proxy.transport.RoundTrip(r)
	waits.Stop()
	if err != nil {
		return nil, err
	}
	s.call.resetIdle()
	s.open(resp)
	if resp.StatusCode == http.StatusOK {
		s.body = body
	}
	return resp, nil
}

// appended returns the body with more messages at its end, parsed into doc and q.
func appended(doc *rawjson.Document, q *wire.Request, d wire.Dialect, body []byte, more [][]byte) ([]byte, error) {
	read := func() error {
		if err := doc.Read(body); err != nil {
			return err
		}
		return q.Read(d, wire.KindCall, nil, doc)
	}
	if err := read(); err != nil {
		return nil, err
	}
	if doc.Kind(q.List) == rawjson.String {
		doc.Replace(q.List, fmt.Appendf(nil, `[{"role":"user","content":%s},%s]`, doc.Raw(q.List), bytes.Join(more, []byte(","))))
	}
	for _, m := range more {
		doc.Append(q.List, m)
	}
	body = bytes.Join(doc.Segments(), nil)
	return body, read()
}

// turn records the outcome of the newest round and the intent of the next, whose request is q
// with the given body. It fails with errUnrecorded if a required record fails.
func (s *rounds) turn(q *wire.Request, body []byte) error {
	c := s.call
	if !s.closed {
		out := &outcome{state: store.CallDone, status: s.status, bytes: s.came, first: s.began, answer: *s.tap.End(false)}
		if out.answer.Status = s.status; s.status != http.StatusOK || !out.answer.Whole || out.answer.Error != "" {
			out.state = store.CallFailed
		}
		if s.first == nil {
			s.first = new(out.answer)
		}
		s.closed = true
		if !c.end(s.ctx, out) {
			return errUnrecorded
		}
	}
	c.mu.Lock()
	before := c.id
	c.id = ""
	c.mu.Unlock()
	in := &c.intent
	in.Follows = cmp.Or(in.Follows, before)
	last := lastSent{before, in.Sent}
	in.Reason, in.Bytes, in.SentBytes, in.Sent = "recall", 0, len(body), q.Messages[len(q.Messages)-1].Chain
	c.sealed = accountOf(partsOf(q), body, last)
	s.tap, s.status, s.came, s.began, s.closed = wire.NewTap(c.dialect, "", ""), 0, 0, time.Time{}, false
	if !c.begin(s.ctx) {
		return errUnrecorded
	}
	return nil
}

// keep stores the messages of the answer that the client does not get, so that later requests
// have them. over reports whether the answer is complete; if it was cut off, keep stores the
// messages that are complete.
func (s *rounds) keep(over bool) {
	if !s.weaver.HidesCalls() {
		return
	}
	var results []string
	if last := s.weaver.Round(); over && len(last.Calls) > 0 && len(last.Own) > 0 {
		results = s.recall()
	}
	reply, err := s.weaver.Reply(results)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.call.proxy.opts.Wait)
		defer cancel()
		err = s.call.recaller().Recalled(ctx, &s.call.parts.req, s.call.prepared, reply)
	}
	if err != nil {
		s.call.proxy.log.Warn("the recalled messages of an answer are not stored: later calls go without them", "reason", err)
	}
}
