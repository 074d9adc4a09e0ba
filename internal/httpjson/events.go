package httpjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// An Event is one of a stream of server-sent events.
type Event struct {
	Name string // empty if it has none
	ID   string // of this event or of the last one that had one, by which a stream is resumed
	Data []byte // its lines joined; valid until the next event
}

// ReadEvents hands over the events of a stream until one is the last. What does
// not begin like a stream is read to its end and returned. It limits neither how
// much is read nor for how long: that is for source to do.
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
	var has bool // data
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

// begin skips a byte order mark and white space, and returns the byte after it,
// which is still to be read.
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

// lines are those of a stream, which end in CR, LF or both.
type lines struct {
	r    *bufio.Reader
	line []byte
	cr   bool // the line before ended in CR: a LF belongs to that
}

// next returns the next line, which is valid until the one after it, and whether
// it is the last and has no end of its own.
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
