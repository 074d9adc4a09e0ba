package proxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// answer wraps the body of a provider's answer. The end of an answer to a call is held back
// until the outcome is recorded; other answers pass. It fails with errUnrecorded if an empty
// answer cannot be recorded though it must be.
func (p *Proxy) answer(resp *http.Response) error {
	c := callOf(resp.Request.Context())
	if !c.model {
		resp.Body = &timedBody{resp.Body, c}
		return nil
	}
	h := &heldBody{
		call: c, body: resp.Body, status: resp.StatusCode,
		tap: wire.NewTap(c.dialect, resp.Header.Get("Content-Type"), strings.Join(resp.Header["Content-Encoding"], ", ")),
	}
	resp.Body = h
	if resp.ContentLength == 0 && !h.settle(io.EOF) { // its headers are its end
		return errUnrecorded
	}
	return nil
}

// timedBody is the body of an answer that the proxy does not read. Each piece resets the idle timer.
type timedBody struct {
	io.ReadCloser

	call *call
}

// Read implements [io.Reader].
func (w *timedBody) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.call.resetIdle()
	return n, err
}

// heldBody is the body of an answer to a call. It gives out its end only after the outcome of the
// call is recorded.
type heldBody struct {
	call   *call
	body   io.ReadCloser
	tap    *wire.Tap
	status int

	first              time.Time // when the first byte came
	came, passed, pass int64     // bytes received, bytes passed on, bytes that may be passed on
	back               []byte    // received, not passed on yet
	settled            bool      // settle was called
	between            bool      // when settle was called, the answer stood between two events
	err                error     // Read returns it after all bytes
}

// maxHeld is the largest number of bytes that are held back: the last ones of the answer.
const maxHeld = 1 << 20

// Read implements [io.Reader]. Before the end of the answer it waits for the record of the outcome.
func (h *heldBody) Read(b []byte) (int, error) {
	for len(b) > 0 {
		if n := int(min(h.pass-h.passed, int64(len(h.back)), int64(len(b)))); n > 0 {
			copy(b, h.back[:n])
			h.back = h.back[n:]
			h.passed += int64(n)
			return n, nil
		}
		if h.err != nil {
			return 0, h.err
		}
		if n := h.next(b); n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// next reads a piece into b and returns how many of its first bytes may pass at once. It appends
// the rest to h.back.
func (h *heldBody) next(b []byte) int {
	n, err := h.body.Read(b)
	h.call.resetIdle()
	if h.came += int64(n); n > 0 && h.first.IsZero() {
		h.first = h.call.proxy.opts.Now()
	}
	mayEnd := true
	if !h.settled {
		if n > 0 {
			h.pass = h.tap.Feed(b[:n])
		}
		if err != nil || h.tap.Whole() {
			mayEnd = h.settle(err)
		}
	}
	if !mayEnd {
		h.cut(b[:n])
		return 0
	}
	if h.settled {
		h.pass = h.came
	}
	h.err = err
	direct := 0
	if len(h.back) == 0 {
		direct = int(min(max(0, h.pass-h.passed), int64(n)))
		h.passed += int64(direct)
	}
	h.back = append(h.back, b[direct:n]...)
	h.pass = max(h.pass, h.passed+int64(len(h.back))-maxHeld)
	return direct
}

// errUnrecorded ends an answer whose outcome could not be recorded, if Options.Required is set.
var errUnrecorded = errors.New("proxy: the outcome of the call could not be recorded")

// settle records the outcome when the answer ended, whole or with err. It reports whether the
// client may get the end of the answer.
func (h *heldBody) settle(err error) (mayEnd bool) {
	h.settled, h.between = true, h.tap.Between()
	out := &outcome{state: store.CallDone, status: h.status, bytes: h.came, first: h.first}
	out.answer = *h.tap.End(err != nil && !errors.Is(err, io.EOF))
	out.answer.Status = h.status
	if h.call.rounds != nil {
		h.call.rounds.last(out)
	}
	if !out.answer.Whole || out.answer.Error != "" || h.status >= http.StatusBadRequest {
		out.state = store.CallFailed
	}
	mayEnd = h.call.finish(out)
	h.call.good = mayEnd && out.state == store.CallDone
	return mayEnd
}

// cut ends the answer as failed after the bytes that may pass. It drops the end that the
// provider sent, and adds an error event if the answer stands between two events.
func (h *heldBody) cut(last []byte) {
	h.back = append(h.back, last...)
	h.back = h.back[:min(int64(len(h.back)), max(0, h.pass-h.passed))]
	if h.between {
		h.back = append(h.back, refusedOutcome.event(h.call.dialect)...)
	}
	h.pass, h.err = h.passed+int64(len(h.back)), errUnrecorded
}

// finish records the outcome of the call at the first time it is called, and reports whether the
// client may get the end of the answer. Later calls do nothing and return true, whatever the first
// one returned. It does nothing for requests that are no calls.
func (c *call) finish(out *outcome) (mayEnd bool) {
	mayEnd = true
	if !c.model {
		return mayEnd
	}
	c.over.Do(func() {
		began := c.proxy.opts.Now()
		if c.prepared != nil {
			answer := &out.answer
			if c.rounds != nil && c.rounds.first != nil {
				answer = c.rounds.first // the first round was sent with the prepared body
			}
			c.mu.Lock()
			c.prepared.last = lastSent{c.id, c.intent.Sent}
			c.mu.Unlock()
			c.proxy.opts.Manager.Done(&c.parts.req, c.prepared, answer)
		}
		mayEnd = c.end(c.ctx, out)
		c.proxy.addOverhead(c.own + max(0, c.proxy.opts.Now().Sub(began)))
	})
	return mayEnd
}

// Close implements [io.Closer].
func (h *heldBody) Close() error {
	err := h.body.Close()
	if !h.settled { // the client is gone, or the copy failed
		_ = h.settle(errGone) // the client gets no end either way
	}
	h.tap.Close()
	return err
}

// errGone means that the client disconnected before the end of the answer.
var errGone = errors.New("proxy: the client disconnected")
