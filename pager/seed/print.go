package seed

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// Summary returns the line that the original prints, such as
//
//	alpha=0.7 beta=0.3  retain=3 page=5 evict=4
//
// without a line end. Weights are in the shortest form that reads back.
func (r *Result) Summary() string {
	out := pagerjson.AppendFloat([]byte("alpha="), r.Options.Alpha)
	out = pagerjson.AppendFloat(append(out, " beta="...), r.Options.Beta)
	out = strconv.AppendInt(append(out, "  retain="...), int64(r.Retained), 10)
	out = strconv.AppendInt(append(out, " page="...), int64(r.Paged), 10)
	out = strconv.AppendInt(append(out, " evict="...), int64(r.Evicted), 10)
	return string(out)
}

// AppendRecords appends a line for each record, as the original prints it:
//
//	{"block": "block-0x04", "kind": "resolved", "similarity": 0.1667, "delta_t": 7, "R": 0.2141, "action": "page"}
func (r *Result) AppendRecords(dst []byte) []byte {
	for i := range r.Records {
		dst = append(r.Records[i].appendJSON(dst), '\n')
	}
	return dst
}

// appendJSON appends a record as the original prints it. Similarity and R have at
// most four decimals, and characters outside ASCII are escaped.
func (r *Record) appendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"block": `...), r.Block)
	dst = append(dst, `, "kind": `...)
	if r.Kind == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendValue(dst, r.Kind)
	}
	dst = appendRounded(append(dst, `, "similarity": `...), r.Similarity)
	dst = r.Age.Append(append(dst, `, "delta_t": `...))
	dst = appendRounded(append(dst, `, "R": `...), r.Score)
	dst = append(append(dst, `, "action": "`...), r.Directive...)
	return append(dst, `"}`...)
}

// appendRounded appends f rounded to four decimals. It leaves out zeros at the end,
// except the first decimal.
func appendRounded(dst []byte, f float64) []byte {
	if math.Signbit(f) {
		dst, f = append(dst, '-'), -f
	}
	if f < 1e6 {
		// The product is exact to 10⁻⁶, so it tells how to round unless it is
		// about halfway.
		n, rest := math.Modf(f * 1e4)
		if rest < 0.4999 || rest > 0.5001 {
			if rest > 0.5 {
				n++
			}
			return appendTenThousandths(dst, uint64(n))
		}
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 4, 64), 64)
	if err != nil {
		rounded = f // not reached: a double's own digits read back
	}
	return pagerjson.AppendFloat(dst, rounded)
}

// appendTenThousandths appends n/10000.
func appendTenThousandths(dst []byte, n uint64) []byte {
	dst = strconv.AppendUint(dst, n/10000, 10)
	n %= 10000
	dst = append(dst, '.', byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
	for dst[len(dst)-1] == '0' && dst[len(dst)-2] != '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendString appends a JSON string in ASCII, escaped as the original does.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return append(append(dst, s...), '"')
	}
	for _, r := range s {
		dst = appendRune(dst, r)
	}
	return append(dst, '"')
}

// appendRune appends a character of a JSON string, or half of a surrogate pair.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\f':
		return append(dst, `\f`...)
	case r == '\b':
		return append(dst, `\b`...)
	case r >= ' ' && r < 0x7f:
		return append(dst, byte(r))
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendHex(appendHex(dst, high), low)
	}
	return appendHex(dst, r)
}

// appendValue appends a JSON value as the original prints it: with white space only
// after commas and colons, in ASCII, and with numbers as appendNumber prints them. A
// number outside the range of doubles stays as it is.
func appendValue(dst, value []byte) []byte {
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"':
			dst, i = appendQuoted(dst, value, i)
			continue
		case c == '-' || c-'0' <= 9:
			n := i + 1
			for n < len(value) && strings.IndexByte("0123456789+-.eE", value[n]) >= 0 {
				n++
			}
			dst, i = appendNumber(dst, value[i:n]), n
			continue
		case c == ',' || c == ':':
			dst = append(dst, c, ' ')
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			dst = append(dst, c)
		}
		i++
	}
	return dst
}

// appendNumber appends a JSON number in the form in which the original pager, a Python program,
// prints it.
func appendNumber(dst, number []byte) []byte {
	if !bytes.ContainsAny(number, ".eE") {
		if string(number) == "-0" {
			return append(dst, '0')
		}
		return append(dst, number...)
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return append(dst, number...)
	}
	return pagerjson.AppendFloat(dst, f)
}

// appendQuoted appends the JSON string that begins at i, and returns the index of its
// end. It reads escapes as single UTF-16 units, so that half of a surrogate pair stays
// as it is.
func appendQuoted(dst, value []byte, i int) (_ []byte, end int) {
	dst = append(dst, '"')
	for i++; i < len(value) && value[i] != '"'; {
		if value[i] != '\\' || i+1 == len(value) {
			r, size := utf8.DecodeRune(value[i:])
			dst, i = appendRune(dst, r), i+size
			continue
		}
		if value[i+1] == 'u' && i+6 <= len(value) {
			if unit, err := strconv.ParseUint(string(value[i+2:i+6]), 16, 16); err == nil {
				dst, i = appendRune(dst, rune(unit)), i+6
				continue
			}
		}
		if value[i+1] == '/' {
			dst = append(dst, '/')
		} else {
			dst = append(dst, value[i:i+2]...)
		}
		i += 2
	}
	return append(dst, '"'), i + 1
}

// appendHex appends the escape of a character up to U+FFFF, such as \u00e9.
func appendHex(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
