package wire

import (
	"mime"
	"strings"
)

// A Tap reads the answer to a call as it passes, in pieces cut anywhere, and returns how many
// bytes may pass on. It holds back the end by which a client knows that the answer is whole: the
// event message_stop, [DONE], response.completed, response.incomplete or response.failed, or the
// last brace of a JSON answer. So a proxy can record the outcome before the client gets the end.
//
// A Tap collects the fields of [Answer] and keeps no text. It decompresses a copy of a compressed
// answer; then it holds back the whole piece that contains the end. If the Tap cannot read the
// answer, it holds back the last byte. A Tap is for one goroutine; call Close at the end.
type Tap struct {
	dialect Dialect
	answer  Answer
	figures figures

	unpack *unpacker // nil if the answer is not compressed
	events *events   // nil if the answer is not an event stream
	json   *scanner  // nil if the answer is not JSON
	blind  bool      // the answer cannot be read

	fed   int64 // bytes of the answer so far
	pass  int64 // of these, bytes that may pass
	plain int64 // decompressed bytes so far
	ready int64 // of these, bytes that may pass
}

// NewTap returns a Tap for an answer; contentType and encoding are the values of its headers
// Content-Type and Content-Encoding.
func NewTap(d Dialect, contentType, encoding string) *Tap {
	t := &Tap{dialect: d}
	scan := scanner{dialect: d, got: func(f field, raw []byte) { t.got(f, raw) }}
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && kind == "text/event-stream":
		t.events = &events{dialect: d, data: scan}
	case err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")):
		t.json = &scan
	default:
		t.blind = true
	}
	if e := strings.ToLower(strings.TrimSpace(encoding)); e != "" && e != "identity" && !t.blind {
		t.unpack = newUnpacker(e, t.read)
		t.blind = t.unpack == nil
	}
	return t
}

// got receives the value of a field from the scanner and notes it in the
// answer.
func (t *Tap) got(f field, raw []byte) {
	if f == fieldType {
		if t.events != nil {
			t.events.typed(raw)
		}
		return
	}
	if f == fieldCode {
		if t.events != nil && !t.events.failed {
			return // code that the model wrote
		}
		f = fieldError
	}
	t.answer.note(&t.figures, f, raw)
	if t.events != nil {
		t.events.hasStop = t.answer.Stop != ""
	}
}

// Feed reads the next piece, and returns how many bytes of the answer, from its beginning, may
// pass on. The number never decreases.
func (t *Tap) Feed(p []byte) (pass int64) {
	t.fed += int64(len(p))
	switch {
	case t.blind:
	case t.unpack == nil:
		t.read(p)
		if t.blind = t.json != nil && t.json.bad; !t.blind {
			t.pass = max(t.pass, t.ready)
		}
	default:
		t.blind = !t.unpack.feed(p)
		if t.blind = t.blind || t.json != nil && t.json.bad; t.blind {
			break
		}
		if t.ready == t.plain && !t.unpack.behind() {
			t.pass = t.fed // otherwise the piece may contain the end, and is held back
		}
	}
	if t.blind {
		t.pass = max(t.pass, t.fed-1)
	}
	return t.pass
}

// read reads a piece that is not compressed.
func (t *Tap) read(p []byte) {
	if t.events != nil {
		t.plain += int64(len(p))
		t.ready = t.events.feed(p)
		return
	}
	whole := t.json.whole
	n := t.json.feed(p)
	switch {
	case whole:
	case t.json.whole:
		t.ready = t.plain + int64(n) - 1 // without the last brace
	default:
		t.ready = t.plain + int64(len(p))
	}
	t.plain += int64(len(p))
}

// Whole reports whether the end of the answer was read.
func (t *Tap) Whole() bool {
	switch {
	case t.blind:
		return false
	case t.events != nil:
		return t.events.done
	}
	return t.json.whole
}

// Between reports whether the bytes that may pass end between two events, so that another event
// can be written behind them.
func (t *Tap) Between() bool {
	return t.events != nil && t.unpack == nil && t.pass == t.events.begin && !t.events.torn
}

// End closes the Tap at the end of the answer and returns its description. Set cut if the answer
// was interrupted.
func (t *Tap) End(cut bool) *Answer {
	t.Close() // the decoder may give the last text only now
	t.blind = t.blind || t.json != nil && t.json.bad
	a := &t.answer
	a.settle(t.dialect, &t.figures)
	switch {
	case cut:
		a.Whole = false
	case t.blind:
		a.Whole = true // it cannot be read, but it was not cut
	case t.events != nil && t.dialect == Chat:
		a.Whole = t.events.found || t.events.hadStop // some servers send no [DONE]
	default:
		a.Whole = t.Whole()
	}
	return a
}

// Close releases the decoder. It may be called again.
func (t *Tap) Close() {
	if t.unpack != nil {
		t.unpack.close()
	}
}
