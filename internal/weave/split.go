package weave

import (
	"bytes"
	"fmt"
)

// An event is a server-sent event of a stream (WHATWG HTML, 9.2).
type event struct {
	raw  []byte // the bytes of the event, with the empty line after it
	name string
	data []byte // the lines of data, joined by line feeds
}

// written returns the encoding of an event that has the name of e and the given data. Each line
// of the data gets a line of its own.
func (e *event) written(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))
	if e.name == "" {
		return fmt.Appendf(nil, "data: %s\n\n", data)
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.name, data)
}

// maxEvent is the largest size of an event in bytes.
const maxEvent = 64 << 20

// A splitter cuts a stream into events.
type splitter struct {
	buf  []byte
	from int // offset in buf of the first unread byte
	line int // offset in buf of the current line
}

// feed appends a piece of the stream, and returns the events that are now complete.
func (s *splitter) feed(p []byte) (events []event) {
	s.buf = append(s.buf, p...)
	begin := 0
	for s.from < len(s.buf) {
		c := s.buf[s.from]
		if c != '\n' && c != '\r' {
			s.from++
			continue
		}
		end := s.from + 1
		if c == '\r' {
			if end == len(s.buf) {
				break // a line feed may follow
			}
			if s.buf[end] == '\n' {
				end++
			}
		}
		empty := s.from == s.line
		s.from, s.line = end, end
		if empty {
			events = append(events, parse(s.buf[begin:end]))
			begin = end
		}
	}
	if begin > 0 { // the events refer to the old buffer
		s.buf = append([]byte(nil), s.buf[begin:]...)
		s.from, s.line = s.from-begin, s.line-begin
	}
	return events
}

// rest returns the bytes after the last complete event.
func (s *splitter) rest() []byte { return s.buf }

// parse parses the bytes of an event.
func parse(raw []byte) event {
	e := event{raw: raw}
	some := false
	for line := range bytes.Lines(bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			e.data, some = append(e.data, value...), true
		}
	}
	return e
}
