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

// joinedBody is the body of a stream that is made of those of the rounds.
type joinedBody struct {
	*rounds

	from    io.ReadCloser // of the newest round, nil between two
	out     []byte        // that the client gets next
	err     error         // with which it ends
	pending chan turned   // the next round, while it is waited for
	kept    bool
	buf     [bufferSize]byte
}

type turned struct {
	resp *http.Response
	err  error
}

// Read implements [io.Reader]. While nothing comes for the client since something is recalled,
// it gets a ping.
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

// read reads a piece of the round.
func (w *joinedBody) read() {
	n, err := w.from.Read(w.buf[:])
	w.call.heard()
	w.heard(w.buf[:n])
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
		w.onward()
	case w.weaver.Over():
		w.finish(true)
		w.out, w.err = append(w.out, w.weaver.End()...), io.EOF
	case err != nil:
		w.err = err // it ends as cut
	}
}

// onward has the next round begin beside.
func (w *joinedBody) onward() {
	from := w.from
	w.from, w.pending = nil, make(chan turned, 1)
	go func(to chan<- turned) {
		_ = from.Close() // all that is wanted of it is read
		resp, err := w.next()
		to <- turned{resp, err}
	}(w.pending)
}

// ping is what keeps a connection alive and says nothing, in a dialect.
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
		w.took(t)
	}
}

// took goes on with the next round, or ends the stream as failed.
func (w *joinedBody) took(t turned) {
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
		w.call.proxy.log.Warn("an answer could not go on behind what was recalled", "reason", t.err)
		if errors.Is(t.err, errRounds) {
			f.text = errRounds.Error()
		}
	default:
		text, _ := io.ReadAll(io.LimitReader(t.resp.Body, maxRefusal))
		w.heard(text)
		_ = t.resp.Body.Close() // its beginning is what is told
		f = refusalOf(t.resp.StatusCode, text)
	}
	w.out = f.event(w.call.dialect)
}

// finish keeps what the client does not get, once.
func (w *joinedBody) finish(over bool) {
	if !w.kept {
		w.kept = true
		w.keep(over)
	}
}

// Close implements [io.Closer]. Of an answer that was left in the middle what is whole is kept,
// as clients keep that, too.
func (w *joinedBody) Close() error {
	w.cancel(errGone)
	if w.pending != nil {
		if t := <-w.pending; t.resp != nil {
			_ = t.resp.Body.Close() // nobody reads it
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

// refusalOf returns what a provider says when it refuses to go on, as a refusal of the proxy's:
// the status cannot be told any more.
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

// errorText returns a text of the error in a body, or nothing.
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
