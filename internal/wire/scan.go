package wire

import "bytes"

// A scanner reads a JSON text in pieces, cut wherever they are, and hands out the short
// values that stand at the paths it looks for. It keeps nothing else. It is no judge of
// JSON: what only a strict reader refuses it may pass over.
type scanner struct {
	dialect Dialect
	got     func(f field, raw []byte) // raw is the value as it is written, good until got returns

	state   scanState
	open    []byte // the braces and brackets that are open
	path    []byte // of the value that is read, with a dot behind each step
	ends    []int  // where the path of each open one ends
	key     bool   // the string that is read is a key
	escaped bool   // the next byte of it is
	take    field  // of the value that is read
	value   []byte // of it or of the key, as far as it is kept
	long    bool   // it is longer than that
	bad     bool   // this is no JSON
	whole   bool   // the text was read to its end
}

type scanState uint8

const (
	wantValue scanState = iota
	wantFirst           // a value, or the end of a list
	wantKey             // or the end of an object
	wantColon
	wantNext // a comma, or an end
	inString
	inScalar
)

const (
	maxValue = 256 // bytes of a value or key that are kept
	maxSteps = 5   // of a path that are kept
	maxOpen  = 512 // levels
)

// reset begins a new text.
func (s *scanner) reset() {
	*s = scanner{dialect: s.dialect, got: s.got, open: s.open[:0], path: s.path[:0], ends: s.ends[:0], value: s.value[:0]}
}

// feed reads the next piece up to the end of the text, and returns how much of it that
// was. Of a text that is a number alone nobody knows the end.
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

// inside reads on in a string from a place, and returns the place of the last byte that it
// took.
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

// keep keeps a piece of a value or a key, if it is looked for and short.
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
		name = []byte("?") // none that is looked for
	case bytes.IndexByte(name, '\\') >= 0:
		name = []byte(unquote(s.value))
	}
	s.enter(name)
	s.value, s.long = s.value[:0], false
}

// enter makes a key the last step of the path.
func (s *scanner) enter(name []byte) {
	s.path = s.path[:s.ends[len(s.ends)-1]]
	if len(s.ends) <= maxSteps {
		s.path = append(s.path, name...)
	}
}

// hand gives out the value that was read, if it is looked for.
func (s *scanner) hand() {
	if s.take != noField && !s.long && len(s.value) > 0 {
		s.got(s.take, s.value)
	}
	s.take, s.long, s.value = noField, false, s.value[:0]
}

// close notes that the whole text is read, if nothing is open.
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
	case s.state == wantNext && c == ',' && s.in('['):
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

// in reports whether the innermost that is open is an object or a list.
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
