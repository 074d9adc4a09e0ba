package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// String reads a string and returns its value.
func (r *Reader) String() (string, error) {
	span, has, err := r.scan()
	if err != nil {
		return "", err
	}
	inner := r.data[span.Start+1 : span.End-1]
	var s string
	switch {
	case has&escapes != 0:
		s = r.unescape(inner)
	case r.Shared:
		s = unsafe.String(unsafe.SliceData(inner), len(inner))
	default:
		s = string(inner)
	}
	if has&wide == 0 {
		return s, nil
	}
	return r.sound(s), nil
}

// sound returns s with invalid UTF-8 replaced by U+FFFD. It sets r.lossy if there was any.
func (r *Reader) sound(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	r.lossy = true
	return strings.ToValidUTF8(s, "\ufffd")
}

// marks are the kinds of bytes in a string other than plain ASCII.
type marks uint8

const (
	escapes marks = 1 << iota
	wide          // bytes that are not ASCII
	halves        // halves of surrogate pairs, escaped
)

// scan skips a string, checks it and returns its span and marks.
func (r *Reader) scan() (span Span, has marks, err error) {
	r.space()
	start := r.pos
	switch {
	case start == len(r.data):
		return span, has, r.cut()
	case r.data[start] != '"':
		return span, has, r.Fail(start, "found %s, and a string is expected", r.here())
	}
	at, has, ok := closing(r.data, start+1)
	if !ok {
		return span, has, r.unclosed(at)
	}
	r.pos = at + 1
	span = Span{start, r.pos}
	if r.strict && has&^escapes != 0 {
		err = r.unicode(span, has)
	}
	return span, has, err
}

// unclosed returns the error for a string in which [closing] stopped at an offset.
func (r *Reader) unclosed(at int) error {
	switch {
	case at == len(r.data) || r.data[at] == '\\' && !bytes.ContainsRune(r.data[at:], '"'):
		return r.cut()
	case r.data[at] == '\\':
		return r.Fail(at, "malformed escape in a string")
	}
	return r.Fail(at, "control character %#02x in a string", r.data[at])
}

// closing returns the offset of the quotation mark that ends the string whose content
// begins at i, and the marks of the string. If ok is false, the offset is that of the first
// invalid byte, or the end of data.
func closing(data []byte, i int) (at int, has marks, ok bool) {
	var all uint64
	for near := i + 24; ; {
		if i >= near {
			i, all, has = leap(data, i, all, has)
		}
		for len(data)-i >= 8 {
			w := binary.LittleEndian.Uint64(data[i:])
			all |= w
			if found := stops(w); found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		for len(data)-i < 8 && i < len(data) && plain[data[i]] {
			all |= uint64(data[i])
			i++
		}
		if i == len(data) || data[i] < ' ' {
			return i, has, false
		}
		if data[i] == '"' {
			if all&high != 0 {
				has |= wide
			}
			return i, has, true
		}
		n, half := escapeLen(data[i:])
		if n == 0 {
			return i, has, false
		}
		has |= escapes
		if half {
			has |= halves
		}
		i += n
	}
}

// leap skips blocks of 64 bytes in a string from offset i, and stops at a byte that is neither
// plain nor part of an escape of two characters. This makes long strings with many escapes fast,
// because the processor mispredicts few branches. The argument all collects the bits of all bytes,
// so that the caller can find out whether a byte is not ASCII.
func leap(data []byte, i int, all uint64, has marks) (int, uint64, marks) {
	for len(data)-i >= 64 {
		block := (*[64]byte)(data[i:])
		w0, w1 := binary.LittleEndian.Uint64(block[0:]), binary.LittleEndian.Uint64(block[8:])
		w2, w3 := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		w4, w5 := binary.LittleEndian.Uint64(block[32:]), binary.LittleEndian.Uint64(block[40:])
		w6, w7 := binary.LittleEndian.Uint64(block[48:]), binary.LittleEndian.Uint64(block[56:])
		all |= w0 | w1 | w2 | w3 | w4 | w5 | w6 | w7
		w0, w1, w2, w3, w4, w5, w6, w7 = stops(w0), stops(w1), stops(w2), stops(w3), stops(w4), stops(w5), stops(w6), stops(w7)
		if w0|w1|w2|w3|w4|w5|w6|w7 == 0 {
			i += 64
			continue
		}
		found := first(w0) | first(w1)<<8 | first(w2)<<16 | first(w3)<<24 |
			first(w4)<<32 | first(w5)<<40 | first(w6)<<48 | first(w7)<<56
		for found != 0 {
			n := bits.TrailingZeros64(found) & 63
			switch c := block[n]; {
			case c == '\\' && n < 63 && short[block[n+1]] != 0:
				has |= escapes
				found &^= 3 << n
			case plain[c]: // stops has set the bit of a plain byte
				found &^= 1 << n
			default:
				return i + n, all, has
			}
		}
		i += 64
	}
	return i, all, has
}

// first collects the highest bit of each of the eight bytes of w, as [stops] has set them. They are
// the lowest eight bits of the result; bit 0 comes from the lowest byte.
func first(w uint64) uint64 { return w * 0x0002040810204081 >> 56 }

const low, high = 0x0101010101010101, 0x8080808080808080

// stops sets the highest bit of each byte of w that is a control character, a quotation
// mark or a backslash. It may also set the bit of bytes above such a byte.
//
// Taking n from a byte borrows from its highest bit if the byte is below n and that bit was
// not set. With the second bit turned, a quotation mark is next to the control characters.
// See Mycroft's test in Knuth, The Art of Computer Programming 4A, 7.1.3 (90).
func stops(w uint64) uint64 {
	return ((w ^ low*2 - low*('"'-1)) | (w ^ low*'\\' - low)) &^ w & high
}

// escapeLen returns the length of the escape at the beginning of b, or 0 if it is invalid. A
// surrogate pair counts as one escape. half is true if the escape is one half of a pair without the
// other.
func escapeLen(b []byte) (n int, half bool) {
	if len(b) > 1 && short[b[1]] != 0 {
		return 2, false
	}
	c, ok := hex4(b)
	switch {
	case !ok:
		return 0, false
	case !utf16.IsSurrogate(c):
		return 6, false
	}
	if low, ok := hex4(b[6:]); ok && utf16.DecodeRune(c, low) != utf8.RuneError {
		return 12, false
	}
	return 6, true
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

// unescape returns the value of a string's content, which scan has checked.
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
		n, half := escapeLen(b)
		switch {
		case half:
			c, r.lossy = utf8.RuneError, true
		case n == 12:
			low, _ := hex4(b[6:])
			c = utf16.DecodeRune(c, low)
		}
		out.WriteRune(c)
		b = b[n:]
	}
}

// plain marks the bytes that stand for themselves in a string.
var plain = func() (set [256]bool) {
	for c := range set {
		set[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return set
}()

// short holds the values of the escapes of two characters.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendString appends s as a JSON string. It escapes only where JSON requires it,
// and replaces invalid UTF-8 by U+FFFD.
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

// Valid reports whether data is one JSON value that [Reader.Skip] accepts. Objects in it may have a
// key twice.
func Valid(data []byte) bool {
	r := NewReader(data)
	_, err := r.Skip()
	return err == nil && r.End() == nil
}
