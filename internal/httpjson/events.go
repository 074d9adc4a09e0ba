package httpjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// An Event is a server-sent event.
type Event struct {
	Name string // or empty
	ID   string // of this event, or of the last event with an id; a stream is resumed by it
	Data []byte // its lines, joined by line ends; valid until the next event
}

// ReadEvents passes each event of a stream to the function each, until that returns true or an
// error. If source does not begin like an event stream, ReadEvents returns all its bytes.
// ReadEvents limits neither size nor time, so the source must do that.
func ReadEvents(source io.Reader, each func(*Event) (last bool, err error)) ([]byte, error) {
	r := bufio.NewReader(source)
	first, err := begin(r)
	if err != nil {
		return nil, ignoreEOF(err)
	}
	// A line of a stream is a comment or has one of four names: data, event, id,
	// retry. No JSON begins so.
	if !bytes.ContainsRune([]byte(":deir"), rune(first)) {
		return io.ReadAll(r)
	}
	l := &lines{r: r}
	var e Event
	var has bool // the event has data
	for {
		line, ended, err := l.next()
		if err != nil {
			return nil, err
		}
		if len(line) > 0 {
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "event":
				e.Name = string(value)
			case "id":
				e.ID = string(value)
			case "data":
				if has {
					e.Data = append(e.Data, '\n')
				}
				e.Data = append(e.Data, value...)
				has = true
			}
			if !ended {
				continue
			}
		}
		// An empty line ends an event. So does the end of the stream, for servers
		// that forget the line.
		if has {
			if last, err := each(&e); last || err != nil {
				return nil, err
			}
		}
		if ended {
			return nil, nil
		}
		e.Name, e.Data, has = "", e.Data[:0], false
	}
}

// begin skips a byte order mark and white space, and returns the next byte without reading it.
func begin(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte([]byte(" \t\r\n\xef\xbb\xbf"), b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lines reads the lines of a stream, which end in CR, LF or CR LF.
type lines struct {
	r    *bufio.Reader
	line []byte
	cr   bool // the line before ended in CR, so a LF belongs to its end
}

// next returns the next line, which is valid until the next call. At the end of the stream it
// returns the text behind the last line end, which may be empty, and ended is true.
func (l *lines) next() (line []byte, ended bool, err error) {
	l.line = l.line[:0]
	for {
		b, err := l.r.ReadByte()
		switch {
		case err != nil:
			return l.line, true, ignoreEOF(err)
		case b == '\n' && l.cr:
			l.cr = false
		case b == '\n' || b == '\r':
			l.cr = b == '\r'
			return l.line, false, nil
		default:
			l.cr = false
			l.line = append(l.line, b)
		}
	}
}
