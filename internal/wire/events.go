package wire

import "bytes"

// events reads a stream of server-sent events (WHATWG HTML, 9.2) in pieces and finds the event
// that ends the answer. It keeps only the name of an event and short values of its data.
type events struct {
	dialect Dialect
	data    scanner // of the data of the event

	at     int64 // bytes read
	begin  int64 // offset of the first byte that may not pass yet
	found  bool  // the current event ends the answer
	plain  bool  // the current event does not end the answer
	failed bool  // the current event is an error, by its name or type
	done   bool  // the event that ends the answer was read to its end

	part    linePart
	name    []byte // name of the line's field; then the value of "event", or the first bytes of data
	seen    int    // bytes of data in this event
	ready   bool   // the event has a data line, which the next data line continues
	cr      bool   // the last byte was a carriage return
	torn    bool   // a part of the event that ends the answer has passed
	hasStop bool   // the answer has a stop reason, maybe from the current event
	hadStop bool   // the answer had a stop reason when an event ended
}

// A linePart is the part of a line that the next byte is in.
type linePart uint8

const (
	atStart linePart = iota
	inName
	atSpace // behind the colon of data
	inEvent
	inData
	inOther
)

// maxUndecided is the number of bytes of an event's data after which an event without a type
// so far counts as one that does not end the answer.
const maxUndecided = 8 << 10

// ends reports whether events of this name end an answer.
func (e *events) ends(name []byte) bool {
	switch string(name) {
	case "message_stop":
		return e.dialect == Anthropic
	case "response.completed", "response.incomplete", "response.failed":
		return e.dialect == Responses
	}
	return false
}

// feed reads the next piece of the stream. It returns how many bytes may pass, counted from
// the beginning of the stream.
func (e *events) feed(p []byte) (pass int64) {
	for i := 0; i < len(p) && !e.done; i++ {
		c := p[i]
		if c == '\n' && e.cr { // the second half of one end of line
			e.cr = false
			e.at++
			if !e.found && e.begin == e.at-1 {
				e.begin = e.at
			}
			continue
		}
		if e.cr = c == '\r'; e.cr || c == '\n' {
			e.at++
			e.endLine()
			continue
		}
		if e.part == inData {
			n := bytes.IndexAny(p[i:], "\r\n")
			if n < 0 {
				n = len(p) - i
			}
			e.take(p[i : i+n])
			e.at += int64(n)
			i += n - 1
			continue
		}
		e.at++
		e.byte(c)
	}
	if e.found || !e.plain && e.begin < e.at {
		return e.begin
	}
	return e.at
}

// byte reads the byte c of a line: of the field's name, of the space after the colon, or of the
// value of a field other than data.
func (e *events) byte(c byte) {
	if e.part == inEvent {
		e.hold(c)
		return
	}
	if e.part == atSpace {
		if e.part = inData; c != ' ' {
			e.take([]byte{c})
		}
		return
	}
	if e.part == inOther {
		return
	}
	if c != ':' {
		e.part = inName
		e.hold(c)
		return
	}
	name := string(e.name)
	e.name = e.name[:0]
	switch name {
	case "data":
		e.part = atSpace
		if e.ready {
			e.data.feed([]byte{'\n'})
		}
		e.ready = true
	case "event":
		e.part = inEvent
	default:
		e.part = inOther
	}
}

// hold appends a byte to e.name, up to 64 bytes.
func (e *events) hold(c byte) {
	if len(e.name) < 64 {
		e.name = append(e.name, c)
	}
}

// take reads bytes of the event's data.
func (e *events) take(p []byte) {
	if e.dialect == Chat && !e.plain && !e.found {
		if e.name = append(e.name, p[:min(len(p), len(doneMark)+1-len(e.name))]...); !bytes.HasPrefix([]byte(doneMark), e.name) {
			e.plain = true
		}
	}
	if e.seen += len(p); e.seen > maxUndecided {
		e.plain = !e.found
	}
	e.data.feed(p)
}

// doneMark is the data of the last event of a chat stream.
const doneMark = "[DONE]"

// typed decides by the type in the event's data whether the event ends the answer, and whether
// it is an error.
func (e *events) typed(raw []byte) {
	name := bytes.Trim(raw, `"`)
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(raw))
	}
	e.failed = e.failed || string(name) == "error"
	if e.ends(name) {
		e.end()
	} else {
		e.plain = !e.found
	}
}

// end notes that the current event ends the answer. If e.plain was set, its bytes before e.at may
// have passed already; then only the rest of the event is held back.
func (e *events) end() {
	if e.plain {
		e.begin, e.plain, e.torn = e.at, false, true
	}
	e.found = true
}

// endLine reads the end of a line.
func (e *events) endLine() {
	switch e.part {
	case atStart: // an empty line ends the event
		if e.found {
			e.done = true
			return
		}
		e.data.reset()
		e.hadStop = e.hadStop || e.hasStop
		e.name, e.seen, e.ready, e.plain, e.failed, e.begin = e.name[:0], 0, false, false, false, e.at
		return
	case inEvent:
		name := bytes.TrimPrefix(e.name, []byte(" "))
		e.failed = e.failed || string(name) == "error"
		if e.ends(name) {
			e.end()
		} else if e.dialect != Chat && len(name) > 0 {
			e.plain = !e.found
		}
	case inData, atSpace:
		if e.dialect == Chat && string(e.name) == doneMark {
			e.end()
		}
	case inOther, inName:
		if !e.found && !e.ready {
			e.begin = e.at // a comment or another field, without data yet: it may pass
		}
	}
	e.part, e.name = atStart, e.name[:0]
}
