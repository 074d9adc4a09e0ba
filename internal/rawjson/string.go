package rawjson

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string and returns what it means.
func (r *Reader) String() (string, error) {
	span, escaped, err := r.scan()
	if err != nil {
		return "", err
	}
	inner := r.data[span.Start+1 : span.End-1]
	if !escaped {
		return r.sound(string(inner)), nil
	}
	return r.sound(r.unescape(inner)), nil
}

// sound replaces what is not valid UTF-8.
func (r *Reader) sound(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	r.lossy = true
	return strings.ToValidUTF8(s, "\ufffd")
}

// scan passes over a string, checks it and reports whether it has escapes.
func (r *Reader) scan() (span Span, escaped bool, err error) {
	r.space()
	start := r.pos
	switch {
	case start == len(r.data):
		return span, escaped, r.cut()
	case r.data[start] != '"':
		return span, escaped, r.Fail(start, "%s where a string is expected", r.here())
	}
	for i := start + 1; ; {
		for i < len(r.data) && plain[r.data[i]] {
			i++
		}
		if i == len(r.data) {
			return span, escaped, r.cut()
		}
		switch c := r.data[i]; c {
		case '"':
			r.pos = i + 1
			return Span{start, r.pos}, escaped, nil
		case '\\':
			escaped = true
			n := escapeLen(r.data[i:])
			if n == 0 {
				if !bytes.ContainsRune(r.data[i:], '"') {
					return span, escaped, r.cut()
				}
				return span, escaped, r.Fail(i, "malformed escape in a string")
			}
			i += n
		default:
			return span, escaped, r.Fail(i, "control character %#02x in a string", c)
		}
	}
}

// escapeLen returns the length of the escape that b begins with, 0 if it is
// none.
func escapeLen(b []byte) int {
	if len(b) > 1 {
		switch b[1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return 2
		case 'u':
			if _, ok := hex4(b); ok {
				return 6
			}
		}
	}
	return 0
}

// hex4 reads an escape of the form \u0000.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var v rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}

// unescape returns what the inside of a string means. It has been checked.
func (r *Reader) unescape(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			out.Write(b)
			return out.String()
		}
		out.Write(b[:i])
		b = b[i:]
		if b[1] != 'u' {
			out.WriteByte(short[b[1]])
			b = b[2:]
			continue
		}
		c, _ := hex4(b)
		b = b[6:]
		if utf16.IsSurrogate(c) {
			low, _ := hex4(b)
			if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
				r.lossy = true
			} else {
				b = b[6:]
			}
		}
		out.WriteRune(c)
	}
}

// plain has the bytes that stand for themselves in a string.
var plain = func() (set [256]bool) {
	for c := range set {
		set[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return set
}()

// short has the meaning of the escapes of two characters.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendString appends s as a JSON string. Nothing is escaped that need not
// be, and what is not valid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// Valid reports whether data is one JSON value of a kind that a Reader takes.
func Valid(data []byte) bool {
	r := NewReader(data)
	_, err := r.Skip()
	return err == nil && r.End() == nil
}
