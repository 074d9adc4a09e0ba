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

// answer lets the answer of a provider pass, but for its end.
func (p *Proxy) answer(resp *http.Response) error {
	c := callOf(resp.Request.Context())
	if !c.model {
		resp.Body = &watched{resp.Body, c}
		return nil
	}
	h := &held{
		call: c, body: resp.Body, status: resp.StatusCode,
		tap: wire.NewTap(c.dialect, resp.Header.Get("Content-Type"), strings.Join(resp.Header["Content-Encoding"], ", ")),
	}
	resp.Body = h
	if resp.ContentLength == 0 && !h.settle(io.EOF) { // its headers are its end
		return errUnrecorded
	}
	return nil
}

// watched is the body of an answer that nobody reads here.
type watched struct {
	io.ReadCloser

	call *call
}

// Read implements [io.Reader].
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.call.heard()
	return n, err
}

// held is the body of an answer to a call, whose end comes when it is recorded.
type held struct {
	call   *call
	body   io.ReadCloser
	tap    *wire.Tap
	status int

	first              time.Time // when its first byte came
	came, passed, pass int64     // bytes that came, that were passed on, and that may be
	back               []byte
	settled            bool
	between            bool  // when it was, the answer stood between two events
	err                error // with which the answer ends
}

// maxHeld is how many bytes of an end are held back. Of a longer one the last are.
const maxHeld = 1 << 20

// Read implements [io.Reader]. It waits where the end of the answer is not recorded yet.
func (h *held) Read(b []byte) (int, error) {
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

// next reads a piece into b. What of it may pass at once stays there, and its length is
// returned; the rest is held back.
func (h *held) next(b []byte) int {
	n, err := h.body.Read(b)
	h.call.heard()
	if h.came += int64(n); n > 0 && h.first.IsZero() {
		h.first = h.call.proxy.opts.Now()
	}
	told := true
	if !h.settled {
		if n > 0 {
			h.pass = h.tap.Feed(b[:n])
		}
		if err != nil || h.tap.Whole() {
			told = h.settle(err)
		}
	}
	if !told {
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

// errUnrecorded ends an answer whose outcome could not be recorded though it has to be.
var errUnrecorded = errors.New("proxy: the outcome of the call could not be recorded")

// settle records the outcome, now that it is known: the end of the answer came, or err
// did. It reports whether the client may learn of it.
func (h *held) settle(err error) (told bool) {
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
	told = h.call.finish(out)
	h.call.good = told && out.state == store.CallDone
	return told
}

// cut ends the answer as failed, after the last piece: in words where they have a place,
// and in any case without the end that the provider gave it.
func (h *held) cut(last []byte) {
	h.back = append(h.back, last...)
	h.back = h.back[:min(int64(len(h.back)), max(0, h.pass-h.passed))]
	if h.between {
		h.back = append(h.back, refusedOutcome.event(h.call.dialect)...)
	}
	h.pass, h.err = h.passed+int64(len(h.back)), errUnrecorded
}

// finish records the outcome of the call, if that was not done. It reports whether the
// client may learn of it.
func (c *call) finish(out *outcome) (told bool) {
	told = true
	if !c.model {
		return told
	}
	c.over.Do(func() {
		began := c.proxy.opts.Now()
		if c.prepared != nil && c.parts != nil {
			answer := &out.answer
			if c.rounds != nil && c.rounds.first != nil {
				answer = c.rounds.first // what was prepared is what the first round is of
			}
			c.mu.Lock()
			c.prepared.last = lastSent{c.id, c.intent.Sent}
			c.mu.Unlock()
			c.proxy.opts.Manager.Done(&c.parts.req, c.prepared, answer)
		}
		told = c.end(c.ctx, out)
		c.proxy.took(c.own + max(0, c.proxy.opts.Now().Sub(began)))
	})
	return told
}

// Close implements [io.Closer].
func (h *held) Close() error {
	err := h.body.Close()
	if !h.settled { // the client is gone, or the copy failed
		_ = h.settle(errGone) // whether or not that can be recorded
	}
	h.tap.Close()
	return err
}

// errGone is that nobody waits for the answer any more.
var errGone = errors.New("proxy: the client left")
