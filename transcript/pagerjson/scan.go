package pagerjson

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/transcript"
)

// maxDepth is the maximum nesting of skipped values.
const maxDepth = 1000

// A scanner reads JSON. Texts without escapes are parts of the data, not
// copies. Its methods panic with a *transcript.SyntaxError, which [catch]
// returns.
type scanner struct {
	name string
	data []byte
	at   int
}

// catch turns the panic of a scanner into an error.
func catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case *transcript.SyntaxError:
		*err = e
	default:
		panic(e)
	}
}

// fail panics with a syntax error at an offset.
func (s *scanner) fail(offset int, format string, args ...any) {
	panic(s.fault(offset, "", "", format, args...))
}

// fault returns a syntax error at an offset.
func (s *scanner) fault(offset int, field, hint, format string, args ...any) *transcript.SyntaxError {
	return &transcript.SyntaxError{
		Name:  s.name,
		Line:  transcript.LineOf(s.data, offset),
		Field: field,
		Text:  fmt.Sprintf(format, args...),
		Hint:  hint,
	}
}

// peek skips space and returns the byte after it, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// here describes the character at the cursor.
func (s *scanner) here() string {
	if s.at >= len(s.data) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(s.data[s.at:])
	return strconv.QuoteRune(r)
}

// more reports whether a list or object has another value, and moves to it. At the first call,
// first is true and the cursor is after the opening bracket.
func (s *scanner) more(first bool, end byte) bool {
	c := s.peek()
	switch {
	case c == end:
		s.at++
		return false
	case first:
		return true
	case c != ',':
		s.fail(s.at, "want ',' or %q, got %s", end, s.here())
	}
	s.at++
	if s.peek() == end {
		s.fail(s.at, "there is nothing after the comma")
	}
	return true
}

// key reads a key and its colon.
func (s *scanner) key() []byte {
	if s.peek() != '"' {
		s.fail(s.at, "want a key in quotation marks, got %s", s.here())
	}
	k, _ := s.text()
	if s.peek() != ':' {
		s.fail(s.at, "want ':' after the key %q, got %s", k, s.here())
	}
	s.at++
	return k
}

// text reads a string. The result lone is true if the string has half of a surrogate pair, which
// becomes U+FFFD.
func (s *scanner) text() (text []byte, lone bool) {
	start := s.at + 1
	end, plain := s.plain(start)
	if plain {
		s.at = end + 1
		return s.data[start:end:end], false
	}
	return s.escaped(start, end)
}

// plain looks for the end of a string that begins at i. It reports false at an escape,
// and returns the position of the end or of the escape.
func (s *scanner) plain(i int) (int, bool) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	data, start, wide := s.data, i, uint64(0)
	for {
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			quote, slash := w^(low*'"'), w^(low*'\\')
			// The lowest set bit marks the first quote, backslash or control
			// character; bits above it may be wrong.
			stop := ((quote-low)&^quote | (slash-low)&^slash | (w-low*' ')&^w) & high
			if stop != 0 {
				n := bits.TrailingZeros64(stop) &^ 7
				wide |= w & (1<<n - 1)
				i += n / 8
				break
			}
			wide |= w
			i += 8
		}
		if i >= len(data) {
			s.fail(start, "the text that begins here has no closing quotation mark")
		}
		c := data[i]
		if c == '"' || c == '\\' {
			if wide&high != 0 && !utf8.Valid(data[start:i]) {
				s.fail(start, "a text is not UTF-8: convert the file")
			}
			return i, c == '"'
		}
		if c < ' ' {
			s.fail(i, "a text has the control character %U", c)
		}
		wide |= uint64(c)
		i++
	}
}

// escaped reads a string that has its first escape at i.
func (s *scanner) escaped(start, i int) (text []byte, lone bool) {
	for {
		text = append(text, s.data[start:i]...)
		if s.data[i] == '"' {
			s.at = i + 1
			return text, lone
		}
		r := s.escape(i)
		i += 2
		if s.data[i-1] == 'u' {
			i += 4
			if pair := s.pair(r, i); pair != 0 {
				r = pair
				i += 6
			} else if r >= 0xd800 && r < 0xe000 {
				r, lone = utf8.RuneError, true
			}
		}
		text = utf8.AppendRune(text, r)
		start = i
		i, _ = s.plain(i)
	}
}

// escape returns the character, or the half of a surrogate pair, of the escape at i.
func (s *scanner) escape(i int) rune {
	if i+1 < len(s.data) {
		switch c := s.data[i+1]; c {
		case '"', '\\', '/':
			return rune(c)
		case 'b':
			return '\b'
		case 'f':
			return '\f'
		case 'n':
			return '\n'
		case 'r':
			return '\r'
		case 't':
			return '\t'
		case 'u':
			if r, ok := s.hex(i + 2); ok {
				return r
			}
		}
	}
	s.fail(i, "a text has an escape that JSON does not know")
	return 0
}

// pair returns the character of the surrogate pair that begins with high and
// ends with the escape at i, or 0.
func (s *scanner) pair(high rune, i int) rune {
	if high < 0xd800 || high >= 0xdc00 || !bytes.HasPrefix(s.data[i:], []byte(`\u`)) {
		return 0
	}
	low, _ := s.hex(i + 2)
	if low < 0xdc00 || low >= 0xe000 {
		return 0
	}
	return 0x10000 + (high-0xd800)<<10 + (low - 0xdc00)
}

// hex reads four hexadecimal digits.
func (s *scanner) hex(i int) (rune, bool) {
	if i+4 > len(s.data) {
		return 0, false
	}
	var r rune
	for _, c := range s.data[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// number returns the text of a number.
func (s *scanner) number() []byte {
	start := s.at
	digits := func() {
		from := s.at
		for s.at < len(s.data) && s.data[s.at]-'0' <= 9 {
			s.at++
		}
		if s.at == from {
			s.fail(start, "a number is not written as in JSON, such as 12 or 0.5")
		}
	}
	is := func(set string) bool {
		ok := s.at < len(s.data) && strings.IndexByte(set, s.data[s.at]) >= 0
		if ok {
			s.at++
		}
		return ok
	}
	is("-")
	if !is("0") {
		digits()
	}
	if is(".") {
		digits()
	}
	if is("eE") {
		is("+-")
		digits()
	}
	return s.data[start:s.at]
}

// toNumber parses a number. The text in problem says what is wrong with the number. It is empty if
// nothing is.
func toNumber(text []byte) (n Number, problem string) {
	if !bytes.ContainsAny(text, ".eE") {
		i, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || i > maxWhole || i < -maxWhole {
			return n, "is beyond ±2⁵²"
		}
		return Number{Value: float64(i), Whole: true}, ""
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return n, "is too large"
	}
	return Number{Value: f}, ""
}

// skip skips a value and returns its type in words, such as "a list".
func (s *scanner) skip(depth int) string {
	switch c := s.peek(); {
	case c == '"':
		s.text()
		return "a text"
	case c == '{' || c == '[':
		if depth == maxDepth {
			s.fail(s.at, "values are nested more than %d deep", maxDepth)
		}
		s.at++
		what, end := "a list", byte(']')
		if c == '{' {
			what, end = "an object", '}'
		}
		for first := true; s.more(first, end); first = false {
			if c == '{' {
				s.key()
			}
			s.skip(depth + 1)
		}
		return what
	case c == '-' || c-'0' <= 9:
		s.number()
		return "a number"
	}
	for _, literal := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(s.data[s.at:], []byte(literal)) {
			s.at += len(literal)
			return literal
		}
	}
	s.fail(s.at, "want a value, got %s", s.here())
	return ""
}
