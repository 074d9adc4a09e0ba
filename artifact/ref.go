package artifact

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Ref names the origin of an artifact: a scheme, a colon, and a rest that the source of the
// scheme interprets. These are the refs of package artifact/origin, where func is for a source of
// the caller:
//
//	file:docs/policy.md             below one of origin.Options.Files
//	file:/srv/docs/policy.md#L1-L9  some lines; the path is absolute
//	https://host/path
//	mcp:server/resource-uri         server is a key of origin.Options.Servers
//	func:name/rest                  fetched by origin.Options.Sources["func"]
type Ref string

// maxRef is the length of the longest ref, in bytes.
const maxRef = 4096

// ParseRef checks a ref: a scheme of letters, digits, "+", "-" and "." that
// begins with a letter, a colon, and at least one more character; valid UTF-8
// without control characters, at most 4096 bytes.
func ParseRef(s string) (Ref, error) {
	r := Ref(s)
	shown, _, _ := strings.Cut(s, "?") // a query may hold a secret
	switch {
	case len(s) > maxRef:
		return "", fmt.Errorf("ref of %d bytes: want %d at most", len(s), maxRef)
	case !utf8.ValidString(s):
		return "", fmt.Errorf("ref %q is not valid UTF-8", shown)
	case strings.ContainsFunc(s, control):
		return "", fmt.Errorf("ref %q has a control character", shown)
	case r.Scheme() == "":
		return "", fmt.Errorf("ref %q has no scheme: want one like file:path or https://host/path", shown)
	case r.Rest() == "":
		return "", fmt.Errorf("ref %q names nothing after the scheme", shown)
	}
	return r, nil
}

// control reports whether r is a control character of ASCII or Latin-1.
func control(r rune) bool { return r < ' ' || 0x7f <= r && r <= 0x9f }

// Scheme returns the text before the first colon in lower case, or "" if that
// is not a scheme.
func (r Ref) Scheme() string {
	s, _, ok := strings.Cut(string(r), ":")
	if !ok || s == "" || !letter(s[0]) {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return ""
		}
	}
	return strings.ToLower(s)
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Rest returns the text after the first colon.
func (r Ref) Rest() string {
	_, rest, _ := strings.Cut(string(r), ":")
	return rest
}

// Split separates a ref from its line range: "#L10-L20", "#L10-20" or "#L10"
// at its end. A ref with any other ending is returned unchanged, with all
// lines.
func (r Ref) Split() (Ref, Lines) {
	i := strings.LastIndex(string(r), "#L")
	if i < 0 {
		return r, Lines{}
	}
	first, last, ranged := strings.Cut(string(r[i+2:]), "-")
	var l Lines
	if l.First = line(first); l.First == 0 {
		return r, Lines{}
	}
	l.Last = l.First
	if ranged {
		l.Last = line(strings.TrimPrefix(last, "L"))
	}
	if l.Last < l.First {
		return r, Lines{}
	}
	return r[:i], l
}

// line returns the number of a line as a ref has it: one to nine digits, the
// first of them not 0. It returns 0 for any other text.
func line(s string) int {
	if s == "" || len(s) > 9 || s[0] == '0' || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, _ := strconv.Atoi(s) // cannot fail: nine digits
	return n
}

// Lines is a range of lines, both ends included, counted from 1. The zero
// value is the whole text.
type Lines struct {
	First, Last int
}

// String returns the range in the form of a ref, or "" for all lines.
func (l Lines) String() string {
	switch {
	case l == Lines{}:
		return ""
	case l.First == l.Last:
		return fmt.Sprintf("#L%d", l.First)
	}
	return fmt.Sprintf("#L%d-L%d", l.First, l.Last)
}

// Cut returns the lines of content in the range, with their line ends; it shares memory with
// content. A range beyond the end is cut there. If content does not have the first line, it fails
// with [ErrGone]. A range whose Last is below First is empty.
//
// A line ends with a line feed or with the text, so "a\nb" and "a\nb\n" have
// two lines and "" has none.
func (l Lines) Cut(content []byte) ([]byte, error) {
	if l == (Lines{}) {
		return content, nil
	}
	rest, lines := content, 0 // what follows that many lines
	for lines < l.First-1 && len(rest) > 0 {
		rest = rest[lineLen(rest):]
		lines++
	}
	if len(rest) == 0 {
		return nil, fmt.Errorf("line %d: %w: the text has %d lines", l.First, ErrGone, lines)
	}
	n := 0
	for ; lines < l.Last && n < len(rest); lines++ {
		n += lineLen(rest[n:])
	}
	return rest[:n:n], nil
}

// lineLen returns the length of the first line of b with its end, in bytes.
func lineLen(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}
