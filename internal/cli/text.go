package cli

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/transcript"
)

// visible returns s with what could command a terminal, or break a line of a
// table, in escapes: control characters, line ends, and marks that change the
// direction of writing.
func visible(s string) string {
	clean := true
	for _, r := range s {
		if commands(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\x` + string("0123456789abcdef"[s[i]>>4]) + string("0123456789abcdef"[s[i]&15]))
		case commands(r):
			quoted := strconv.QuoteToASCII(string(r))
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// commands reports whether r does something to a terminal.
func commands(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError ||
		r == '\u2028' || r == '\u2029' || r == '\u061c' || r == '\u200e' || r == '\u200f' ||
		r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// columns returns how many columns of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// wide are the ranges of characters that take two columns.
var wide = [...][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1faff},
	{0x20000, 0x3fffd},
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// cut returns s in at most n columns, with an ellipsis where it was cut.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := runeColumns(r)
		if used+w > n-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// thousands returns n with separators, such as 12,904.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// short returns the form of a session's id that a terminal shows: eight
// characters of a uuid, and of the hash at the end of an id that Carrel made.
func short(id transcript.SessionID) string {
	s := string(id)
	if len(s) == 36 && s[8] == '-' && s[13] == '-' {
		return s[:8]
	}
	at := strings.LastIndexByte(s, '-')
	if hash := s[at+1:]; len(hash) == 16 && strings.Trim(hash, "0123456789abcdef") == "" {
		return s[:at+9]
	}
	return s
}
