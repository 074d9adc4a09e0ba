package handoff

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// encode replaces characters that Markdown or an editor would change by decimal
// character references: white space around a text and at the end of a line,
// control characters other than tab and line feed, the & of a text that looks
// like a reference, and the first character of a tag; see [transcript.IsTag].
func encode(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	for i, r := range s {
		rest := s[i+utf8.RuneLen(r):]
		if transcript.IsTag(s[i:]) || mustEncode(r, rest, i == 0 || rest == "") {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mustEncode reports whether encode must replace the character r by a reference. The text after r
// is in rest. If edge is true, r is the first or the last character of the text.
func mustEncode(r rune, rest string, edge bool) bool {
	switch r {
	case '\n':
		return edge
	case ' ', '\t':
		return edge || rest[0] == '\n'
	case '&':
		return strings.HasPrefix(rest, "#")
	case '\u2028', '\u2029', '\ufeff': // line separators, byte order mark
		return true
	}
	return unicode.IsControl(r)
}

var reference = lazy.Regexp(`&#([0-9]{1,7});`)

// decode undoes encode. A reference to a number that is no character stays as it
// is.
func decode(s string) string {
	if !strings.Contains(s, "&#") {
		return s
	}
	return reference.Get().ReplaceAllStringFunc(s, func(ref string) string {
		n, _ := strconv.Atoi(ref[2 : len(ref)-1]) // at most seven digits
		if !utf8.ValidRune(rune(n)) {
			return ref
		}
		return string(rune(n))
	})
}

// A guard protects lines of a text that a reader would take for Markdown, such as a heading: it
// puts a backslash before each line that matches the field line. A line that already begins with
// such backslashes gets one more. The field guarded matches lines from which a backslash is removed
// when they are read.
type guard struct{ line, guarded *lazy.Pattern }

var (
	proseGuard  = guard{lazy.Regexp(`^\\*(?:## |\[carrel)`), lazy.Regexp(`^\\+(?:## |\[carrel)`)}
	bulletGuard = guard{lazy.Regexp(`^\\*-( |$)`), lazy.Regexp(`^\\+-( |$)`)}
)

func (g guard) add(line string) string {
	if g.line.Get().MatchString(line) {
		return `\` + line
	}
	return line
}

func (g guard) remove(line string) string {
	if g.guarded.Get().MatchString(line) {
		return line[1:]
	}
	return line
}

// proseOut writes a text as paragraphs.
func proseOut(s string) string {
	lines := strings.Split(encode(s), "\n")
	for i, l := range lines {
		lines[i] = proseGuard.add(l)
	}
	return strings.Join(lines, "\n")
}

// proseIn reads paragraphs.
func proseIn(lines []string) string {
	plain := make([]string, len(lines))
	for i, l := range lines {
		plain[i] = proseGuard.remove(l)
	}
	return joined(plain)
}

// itemOut writes a text after a label or a bullet. It indents all lines but the
// first.
func itemOut(s, indent string) string {
	lines := strings.Split(encode(s), "\n")
	for i, l := range lines {
		if i > 0 && l != "" {
			lines[i] = indent + bulletGuard.add(l)
		}
	}
	return strings.Join(lines, "\n")
}

// itemIn reads the lines that itemOut wrote, after their indentation is removed.
func itemIn(lines []string) string {
	plain := make([]string, len(lines))
	for i, l := range lines {
		if plain[i] = l; i > 0 {
			plain[i] = bulletGuard.remove(l)
		}
	}
	return joined(plain)
}

// joined joins lines to a text, trims it and decodes it.
func joined(lines []string) string {
	return decode(strings.Trim(strings.Join(lines, "\n"), " \t\n"))
}

// pipeOut and lineOut stand for a pipe and a line feed in a cell of a table.
const (
	pipeOut = `\|`
	lineOut = "<br>"
)

// cellOut writes a text as a cell of a table.
func cellOut(s string) string {
	s = strings.ReplaceAll(encode(s), lineOut, "&#60;br>")
	s = backslashes.Get().ReplaceAllStringFunc(s, func(m string) string {
		return strings.Repeat("&#92;", len(m)-1) + "|"
	})
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", pipeOut), "\n", lineOut)
}

// backslashes matches a pipe and the backslashes before it.
var backslashes = lazy.Regexp(`\\+\|`)

// cellIn reads the text of a cell. The function cells has already removed the backslashes before
// the pipes.
func cellIn(s string) string {
	return decode(strings.ReplaceAll(strings.Trim(s, " \t"), lineOut, "\n"))
}

// cells splits a row of a table into its cells. It reports false if line is not
// a row.
func cells(line string) ([]string, bool) {
	if len(line) < 2 || line[0] != '|' {
		return nil, false
	}
	var (
		list []string
		cell strings.Builder
	)
	for i := 1; i < len(line); i++ {
		switch {
		case strings.HasPrefix(line[i:], pipeOut):
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			list = append(list, cell.String())
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return list, cell.Len() == 0
}
