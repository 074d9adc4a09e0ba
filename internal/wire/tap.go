package wire

import (
	"mime"
	"strings"
)

// A Tap reads the answer to a call as it passes, in pieces cut anywhere, and says how much
// of it may pass on. It holds back what tells a client that the answer is whole: the event
// message_stop, [DONE], response.completed, response.incomplete or response.failed, or the
// last brace of a JSON answer. So whoever forwards an answer can write down how it ended
// before the client learns that it did.
//
// It collects what [Answer] has and keeps nothing of the text. An answer that is
// compressed is decompressed beside; then the whole piece in which the end comes is held.
// Of one that cannot be read the last byte is held. A Tap is for one goroutine; Close ends
// it.
type Tap struct {
	dialect Dialect
	answer  Answer
	figures figures

	unpack *unpacker // nil if the answer is not compressed
	events *events   // nil if it is no stream of events
	json   *scanner
	blind  bool // it cannot be read

	fed   int64 // bytes of the answer as it passes
	pass  int64 // of these may pass
	plain int64 // bytes that were read, unpacked
	ready int64 // of these may pass
}

// NewTap returns a tap for an answer with a content type and an encoding, as its headers
// give them.
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

// got takes a value that was looked for.
func (t *Tap) got(f field, raw []byte) {
	if f == fieldType {
		if t.events != nil {
			t.events.typed(raw)
		}
		return
	}
	t.answer.note(&t.figures, f, raw)
	if t.events != nil {
		t.events.says = t.answer.Stop != ""
	}
}

// Feed reads the next piece, and returns how many bytes of the whole answer, from its
// beginning, may pass on. It never returns less than before.
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
		if t.ready == t.plain && !t.Whole() && !t.unpack.behind() {
			t.pass = t.fed // and otherwise the piece is held in which the end may come
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
		t.ready = t.plain + int64(n) - 1 // the last brace is held
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

// Between reports whether what may pass ends between two events, so that another event
// could be written behind it.
func (t *Tap) Between() bool {
	return t.events != nil && t.unpack == nil && t.pass == t.events.begin && !t.events.plain && !t.events.torn
}

// End notes that there is no more of the answer and returns what is known of it. Cut tells
// that it did not end by itself.
func (t *Tap) End(cut bool) *Answer {
	t.Close()
	a := &t.answer
	a.settle(t.dialect, &t.figures)
	switch {
	case cut:
		a.Whole = false
	case t.blind:
		a.Whole = true // as far as anybody can tell
	case t.events != nil && t.dialect == Chat:
		a.Whole = t.events.done || t.events.found || t.events.said // some servers send no [DONE]
	default:
		a.Whole = t.Whole()
	}
	return a
}

// Close frees what the tap took. It may be called again.
func (t *Tap) Close() {
	if t.unpack != nil {
		t.unpack.close()
	}
}
