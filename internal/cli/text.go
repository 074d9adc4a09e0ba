package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/transcript"
)

// visible returns s with what could command a terminal, or break a line of a
// table, in escapes: control characters, line ends, and what nobody sees or what
// changes the direction of writing.
func visible(s string) string {
	return oneLine.Replace(readable(s))
}

// oneLine escapes what may stand in a text of several lines.
var oneLine = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\ufffd", `\ufffd`)

// readable returns a text of several lines with the same in escapes, but for tabs
// and line ends. Joiners stay where a script or an emoji needs them.
func readable(s string) string {
	s, _ = assembly.ReplaceForbidden(s, escaped)
	return strings.ReplaceAll(s, "\r", `\r`)
}

// escaped returns the escape of a code point, or of a byte that is not UTF-8. The
// escapes of all that JSON may hold in a string are escapes of JSON.
func escaped(code string) string {
	switch r, size := utf8.DecodeRuneInString(code); {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, code[0])
	case r < ' ':
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	default:
		return fmt.Sprintf(`\u%04x`, r)
	}
}

// A screen is a terminal. What is written to it is made readable first, so that no
// content can command it, unless raw says otherwise.
type screen struct {
	to  io.Writer
	raw *bool
}

func (s *screen) Write(text []byte) (int, error) {
	if *s.raw {
		return s.to.Write(text)
	}
	if _, err := io.WriteString(s.to, readable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// screens returns the environment with terminals that no content can command.
func (env *Env) screens(raw *bool) *Env {
	safe := *env
	if env.StdoutTerminal {
		safe.Stdout = &screen{env.Stdout, raw}
	}
	if env.StderrTerminal {
		safe.Stderr = &screen{env.Stderr, raw}
	}
	return &safe
}

// unguarded returns what is behind a screen, for text whose content is escaped and
// that has colors, or other commands of our own.
func unguarded(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.to
	}
	return w
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
