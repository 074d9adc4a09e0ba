package seed

import (
	"math"
	"strconv"
	"unicode/utf16"

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

// AppendRecords appends a line for each record.
func (r *Result) AppendRecords(dst []byte) []byte {
	for i := range r.Records {
		dst = append(r.Records[i].AppendJSON(dst), '\n')
	}
	return dst
}

// AppendJSON appends a record as the original prints it:
//
//	{"block": "block-0x04", "kind": "resolved", "similarity": 0.1667, "delta_t": 7, "R": 0.2141, "action": "page"}
//
// Similarity and R have at most four decimals, and what is not ASCII is
// escaped.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"block": `...), r.Block)
	dst = append(dst, `, "kind": `...)
	if r.Kind == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, *r.Kind)
	}
	dst = appendRounded(append(dst, `, "similarity": `...), r.Similarity)
	dst = r.Age.Append(append(dst, `, "delta_t": `...))
	dst = appendRounded(append(dst, `, "R": `...), r.Score)
	dst = append(append(dst, `, "action": "`...), r.Directive...)
	return append(dst, `"}`...)
}

// appendRounded appends f, which is not negative, to the nearest of four
// decimals. Zeros at the end are left out, but for the first decimal.
func appendRounded(dst []byte, f float64) []byte {
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
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r >= ' ' && r < 0x7f:
			dst = append(dst, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendHex(appendHex(dst, high), low)
		default:
			dst = appendHex(dst, r)
		}
	}
	return append(dst, '"')
}

// appendHex appends the escape of a character of the first plane.
func appendHex(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
