package wire

import "bytes"

// A scanner reads a JSON text in pieces, which may be cut anywhere. It passes the short values
// at the paths that fieldAt knows to the function got, and keeps nothing else. It is not a
// validator: it accepts some invalid JSON.
type scanner struct {
	dialect Dialect
	got     func(f field, raw []byte) // raw is the JSON of the value, valid until got returns

	state   scanState
	open    []byte // the open braces and brackets
	path    []byte // of the current value, with dots between the steps
	ends    []int  // length of the path at each open brace or bracket
	key     bool   // the current string is a key
	escaped bool   // the next byte of the string is escaped
	take    field  // of the current value
	value   []byte // the current value or key, if it is needed
	long    bool   // the value or key is longer than maxValue
	bad     bool   // the text is not JSON
	whole   bool   // the text was read to its end
}

type scanState uint8

const (
	wantValue scanState = iota
	wantFirst           // a value, or the end of a list
	wantKey             // a key, or the end of an object
	wantColon
	wantNext // a comma, or an end
	inString
	inScalar
)

const (
	maxValue = 256 // bytes of a value or key
	maxSteps = 5   // steps of a path
	maxOpen  = 512 // open braces and brackets; a deeper text is bad
)

// reset begins a new text.
func (s *scanner) reset() {
	*s = scanner{dialect: s.dialect, got: s.got, open: s.open[:0], path: s.path[:0], ends: s.ends[:0], value: s.value[:0]}
}

// feed reads the next piece up to the end of the JSON text, and returns how many bytes of the piece
// it read. It finds the end of a text that is only a number or a word not before the byte that
// follows.
func (s *scanner) feed(p []byte) int {
	for i := 0; i < len(p); i++ {
		if s.whole || s.bad {
			return i
		}
		if s.state == inString {
			i = s.inside(p, i)
			continue
		}
		s.step(p[i])
	}
	return len(p)
}

// inside reads the part of a string that begins at the index from of a piece. It returns the
// index of the last byte it read.
func (s *scanner) inside(p []byte, from int) int {
	i := from
	for ; i < len(p); i++ {
		if s.escaped {
			s.escaped = false
			continue
		}
		switch p[i] {
		case '\\':
			s.escaped = true
		case '"':
			s.keep(p[from : i+1])
			s.closeString()
			return i
		}
	}
	s.keep(p[from:])
	return i - 1
}

// keep appends a piece to the current key, or to the current value if the scanner
// looks for that value.
func (s *scanner) keep(p []byte) {
	if !s.key && s.take == noField {
		return
	}
	if len(s.value)+len(p) > maxValue {
		s.long = true
		return
	}
	s.value = append(s.value, p...)
}

func (s *scanner) closeString() {
	if !s.key {
		s.state = wantNext
		s.hand()
		s.close()
		return
	}
	s.state, s.key = wantColon, false
	name := s.value[1 : len(s.value)-min(1, len(s.value)-1)]
	switch {
	case s.long:
		name = []byte("?") // no field has such a long key
	case bytes.IndexByte(name, '\\') >= 0:
		name = []byte(unquote(s.value))
	}
	s.enter(name)
	s.value, s.long = s.value[:0], false
}

// enter makes name the last step of the path.
func (s *scanner) enter(name []byte) {
	s.path = s.path[:s.ends[len(s.ends)-1]]
	if len(s.ends) <= maxSteps {
		s.path = append(s.path, name...)
	}
}

// hand passes the current value to the function got, if the scanner looks for
// that value.
func (s *scanner) hand() {
	if s.take != noField && !s.long {
		s.got(s.take, s.value)
	}
	s.take, s.long, s.value = noField, false, s.value[:0]
}

// close sets whole if no brace or bracket is open.
func (s *scanner) close() {
	s.whole = len(s.open) == 0
}

// step reads one byte outside of strings.
func (s *scanner) step(c byte) {
	if s.state == inScalar {
		switch c {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			s.state = wantNext
			s.hand()
			s.close()
			if s.whole {
				return
			}
		default:
			s.keep([]byte{c})
			return
		}
	}
	switch c {
	case ' ', '\t', '\n', '\r':
		return
	}
	switch {
	case c == '}' && s.in('{') && (s.state == wantNext || s.state == wantKey),
		c == ']' && s.in('[') && (s.state == wantNext || s.state == wantFirst):
		s.open, s.ends = s.open[:len(s.open)-1], s.ends[:len(s.ends)-1]
		s.state = wantNext
		s.close()
	case s.state == wantNext && c == ',' && s.in('{'):
		s.state = wantKey
	case s.state == wantNext && c == ',': // in a list, as something is open
		s.state = wantValue
	case s.state == wantColon && c == ':':
		s.state = wantValue
	case s.state == wantKey && c == '"':
		s.state, s.key = inString, true
		s.keep([]byte{c})
	case s.state == wantValue, s.state == wantFirst:
		s.begin(c)
	default:
		s.bad = true
	}
}

// in reports whether c is the innermost open brace or bracket.
func (s *scanner) in(c byte) bool { return len(s.open) > 0 && s.open[len(s.open)-1] == c }

// begin begins a value.
func (s *scanner) begin(c byte) {
	if s.in('[') {
		s.enter([]byte("*"))
	}
	switch {
	case c == '{' || c == '[':
		if len(s.open) == maxOpen {
			s.bad = true
			return
		}
		if len(s.open) > 0 && len(s.ends) <= maxSteps {
			s.path = append(s.path, '.')
		}
		s.open, s.ends = append(s.open, c), append(s.ends, len(s.path))
		s.state = wantKey
		if c == '[' {
			s.state = wantFirst
		}
		return
	case c == '"':
		s.state = inString
	case c == '-', '0' <= c && c <= '9', c == 't', c == 'f', c == 'n':
		s.state = inScalar
	default:
		s.bad = true
		return
	}
	if len(s.ends) <= maxSteps {
		s.take = fieldAt(s.dialect, s.path)
	}
	s.keep([]byte{c})
}
