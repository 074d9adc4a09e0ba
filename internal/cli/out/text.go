package out

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Visible returns s on one line, with escapes for control characters, line ends, invisible
// characters and characters that change the direction of writing.
func Visible(s string) string {
	return oneLine.Replace(Readable(s))
}

// oneLine escapes the characters that Readable keeps.
var oneLine = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\ufffd", `\ufffd`)

// Readable escapes the same as Visible in text of several lines, but keeps tabs and line ends. It
// also keeps joiners that a script or an emoji needs.
func Readable(s string) string {
	s, _ = assembly.ReplaceForbidden(s, escaped)
	return strings.ReplaceAll(s, "\r", `\r`)
}

// escaped returns the escape of a code point, or of a byte that is not UTF-8. Code points that a
// JSON string may contain get JSON escapes.
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

// A screen is a terminal that escapes control sequences in what is written to it, unless raw is
// true. It calls the function before ahead of each write.
type screen struct {
	to     io.Writer
	raw    *bool
	before func()
}

func (s *screen) Write(text []byte) (int, error) {
	s.before()
	if *s.raw {
		return s.to.Write(text)
	}
	if _, err := io.WriteString(s.to, Readable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Guard returns a writer that always escapes control sequences.
func Guard(w io.Writer) io.Writer { return &screen{w, new(bool), func() {}} }

// Unguarded returns the writer that w writes to if w escapes control sequences, and w otherwise. It
// is for text that is already escaped and has colors, and for programs that draw on the terminal.
func Unguarded(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.to
	}
	return w
}

// Columns returns the number of terminal columns that s takes.
func Columns(s string) int {
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

// Cut returns s cut to at most n columns, with an ellipsis if it was cut.
func Cut(s string, n int) string {
	if Columns(s) <= n {
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

// cutCell returns s cut to at most n columns. If s ends with a path, it keeps the end of the
// path: "…/pkg/x/y.go".
func cutCell(s string, n int) string {
	const least = 8 // the fewest columns of a path worth keeping
	if Columns(s) <= n {
		return s
	}
	head, path := s[:strings.LastIndexByte(s, ' ')+1], s[strings.LastIndexByte(s, ' ')+1:]
	if room := n - Columns(head) - 1; strings.Contains(path, "/") && room >= least {
		cut, left := len(path), room
		for cut > 0 {
			r, size := utf8.DecodeLastRuneInString(path[:cut])
			if left -= runeColumns(r); left < 0 {
				break
			}
			cut -= size
		}
		path = path[cut:]
		if i := strings.IndexByte(path, '/'); i >= 0 && len(path)-i >= least {
			path = path[i:] // keep a name whole or not at all
		}
		return head + "…" + path
	}
	return Cut(s, n)
}

// hangs is the largest indent of the continuation of a broken line, in columns.
const hangs = 60

// wrapped breaks lines between words to at most n columns. Continuations are indented to the
// column at which the text of the line begins.
func wrapped(lines string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		text := strings.TrimSuffix(line, "\n")
		if columnsPainted(text) <= n {
			b.WriteString(line)
			continue
		}
		gap := max(strings.LastIndex(text[:min(len(text), hangs)], "  "), 0)
		indent := len(text) - len(strings.TrimLeft(text[gap:], " "))
		at := columnsPainted(text[:indent])
		b.WriteString(text[:indent])
		hang, column := strings.Repeat(" ", at), at
		for i, word := range strings.Split(text[indent:], " ") {
			w := columnsPainted(word)
			switch {
			case i == 0:
			case column+1+w > n && column > at:
				b.WriteString("\n" + hang)
				column = at
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += w
		}
		b.WriteByte('\n')
	}
	return trailing.Replace(b.String())
}

// trailing removes the blanks that are left at the ends of lines where a text was broken.
var trailing = strings.NewReplacer("   \n", "\n", "  \n", "\n", " \n", "\n")

// columnsPainted returns the columns of text that may contain color sequences.
func columnsPainted(s string) int {
	n := 0
	for {
		before, color, found := strings.Cut(s, "\x1b[")
		n += Columns(before)
		if !found {
			return n
		}
		_, s, _ = strings.Cut(color, "m")
	}
}

// MessageWords returns the words for a message of a request: its index, which counts from 0 as in
// the fields of JSON. The index -1 is the request as a whole.
func MessageWords(index int) string {
	if index < 0 {
		return "the request"
	}
	return fmt.Sprintf("message %d", index)
}

// Thousands formats a number with separators, such as 12,904.
func Thousands[N ~int | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural returns the word in one if n is 1, and otherwise the word in many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Short returns the short form of a session id. It is the first eight characters of a UUID, or of
// the hash with which an id ends that Carrel made.
func Short(id transcript.SessionID) string {
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

// ShortRef returns the short form of the id of an artifact, a block or a manifest. Commands
// accept it.
func ShortRef(id string) string {
	name, isManifest := strings.CutPrefix(id, "m_")
	switch {
	case len(name) != 16 || strings.Trim(name, "0123456789abcdef") != "":
		return id
	case isManifest:
		return id[:10]
	}
	return id[:8]
}

// Milli formats a score with three decimals.
func Milli(r ratio.Ratio) string {
	s := r.String()
	return s[:len(s)-3]
}

// Percent formats the ratio of n to all as a rounded percentage.
func Percent(n, all token.Count) string {
	return fmt.Sprintf("%d%%", (200*int64(n)+int64(all))/(2*max(int64(all), 1)))
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	return Thousands(n) + " " + Plural(n, noun, noun+"s")
}

// WordList formats words as a list: one, two and three.
func WordList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
