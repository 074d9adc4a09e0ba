package proxy

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/wire"
)

// joinedBody is the body of an event stream that joins the streams of all rounds into one.
type joinedBody struct {
	*rounds

	from    io.ReadCloser  // body of the newest round, nil between two rounds
	out     []byte         // the next bytes for the client
	err     error          // Read returns it after out
	pending chan nextRound // gives the next round, or nil if none is awaited
	kept    bool           // keep was called
	buf     [bufferSize]byte
}

type nextRound struct {
	resp *http.Response
	err  error
}

// Read implements [io.Reader]. While it waits for the next round, it returns a ping every
// pingEvery.
func (w *joinedBody) Read(b []byte) (int, error) {
	for len(w.out) == 0 {
		switch {
		case w.err != nil:
			return 0, w.err
		case w.pending != nil:
			w.wait()
		default:
			w.read()
		}
	}
	n := copy(b, w.out)
	w.out = w.out[n:]
	return n, nil
}

// read reads a piece of the newest round.
func (w *joinedBody) read() {
	n, err := w.from.Read(w.buf[:])
	w.call.resetIdle()
	w.feed(w.buf[:n])
	out, e := w.weaver.Feed(w.buf[:n])
	w.out = append(w.out, out...)
	if err == nil {
		err = e
	}
	if errors.Is(err, io.EOF) {
		w.out = append(w.out, w.weaver.Rest()...)
	}
	switch {
	case w.weaver.Over() && w.weaver.Round().Waits():
		w.startRound()
	case w.weaver.Over():
		w.finish(true)
		w.out, w.err = append(w.out, w.weaver.End()...), io.EOF
	case err != nil:
		w.err = err // the client gets a cut answer
	}
}

// startRound starts the next round in a goroutine.
func (w *joinedBody) startRound() {
	from := w.from
	w.from, w.pending = nil, make(chan nextRound, 1)
	go func(to chan<- nextRound) {
		_ = from.Close() // the answer is read to its end
		resp, err := w.next()
		to <- nextRound{resp, err}
	}(w.pending)
}

// ping returns an event that keeps the connection alive and has no content.
func ping(d wire.Dialect) []byte {
	if d == wire.Anthropic {
		return []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")
	}
	return []byte(": ping\n\n")
}

func (w *joinedBody) wait() {
	tick := time.NewTimer(pingEvery)
	defer tick.Stop()
	select {
	case <-tick.C:
		w.out = ping(w.call.dialect)
	case t := <-w.pending:
		w.pending = nil
		w.resume(t)
	}
}

// resume continues with the next round, or ends the stream with an error event.
func (w *joinedBody) resume(t nextRound) {
	if t.err == nil && t.resp.StatusCode == http.StatusOK && strings.HasPrefix(t.resp.Header.Get("Content-Type"), "text/event-stream") {
		w.from = t.resp.Body
		return
	}
	w.err = io.EOF
	f := *refusedRound
	switch {
	case errors.Is(t.err, errUnrecorded):
		f, w.err = *refusedOutcome, errUnrecorded
	case t.err != nil:
		w.call.proxy.log.Warn("an answer could not go on after a recall", "reason", t.err)
		f = *roundRefusal(t.err)
	default:
		text, _ := io.ReadAll(io.LimitReader(t.resp.Body, maxRefusal))
		w.feed(text)
		_ = t.resp.Body.Close() // the error event has the beginning only
		f = refusalOf(t.resp.StatusCode, text)
	}
	w.out = f.event(w.call.dialect)
}

// finish stores the hidden messages, once.
func (w *joinedBody) finish(over bool) {
	if !w.kept {
		w.kept = true
		w.keep(over)
	}
}

// Close implements [io.Closer]. If the client left in the middle, Close stores the whole messages
// of the answer, because clients keep those, too.
func (w *joinedBody) Close() error {
	w.cancel(errGone)
	if w.pending != nil {
		if t := <-w.pending; t.resp != nil {
			_ = t.resp.Body.Close() // the client is gone
		}
		w.pending = nil
	}
	if w.n > 0 {
		w.finish(false)
	}
	w.tap.Close()
	if w.from == nil {
		return nil
	}
	return w.from.Close()
}

// refusalOf returns a provider's error for a later round as a refusal of the proxy. The client
// already has the status of the first round.
func refusalOf(status int, body []byte) refusal {
	f := *refusedRound
	f.status = status
	for _, key := range [...]string{"type", "message"} {
		if v := errorText(body, key); v != "" {
			if key == "type" {
				f.kind = word(v)
			} else {
				f.text += ": " + v
			}
		}
	}
	return f
}

// errorText returns the string at key of the error object in a body, or "".
func errorText(body []byte, key string) string {
	var said struct {
		Error map[string]json.RawMessage `json:"error"`
	}
	var text string
	if json.Unmarshal(body, &said) != nil || json.Unmarshal(said.Error[key], &text) != nil {
		return ""
	}
	return text
}
