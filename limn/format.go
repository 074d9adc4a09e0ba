package limn

import "strings"

// Format returns a program with its statements in canonical form, and its
// comments and blank lines in their places. Comments are not indented, except
// in a handler, where they are indented like its body. It fails with the
// first error of a program with errors.
//
// Formatting does not change the meaning, and formatting again changes
// nothing.
func Format(text string, opts *Options) (string, error) {
	p := Parse("", text, opts)
	for _, l := range p.Lines {
		if l.Err != nil {
			return "", l.Err
		}
	}
	statements := place(p)
	var b strings.Builder
	var last int // last line of the most recent handler
	for n, line := range Lines(withoutMark(text)) {
		s, ok := statements[n]
		if ok {
			b.WriteString(s.text)
			last = max(last, s.last)
		} else {
			b.WriteString(comment(line, n < last))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// A placed statement is the canonical text of a line. If the line begins a handler, last
// is the number of the last line of the handler's body.
type placed struct {
	text string
	last int
}

// place returns the canonical form of each statement, by its line number.
func place(p *Program) map[int]placed {
	all := make(map[int]placed, len(p.Lines))
	for _, l := range p.Lines {
		w, ok := l.stmt.(*when)
		if !ok {
			all[l.Pos.Line] = placed{text: l.String()}
			continue
		}
		head := *w
		head.Body = nil
		last := l.Pos.Line
		for _, inner := range w.Body {
			last = inner.Pos.Line
			all[last] = placed{text: bodyIndent + inner.String()}
		}
		all[l.Pos.Line] = placed{canonical(&head), last}
	}
	return all
}

// bodyIndent is the indentation of the body of a handler.
const bodyIndent = "  "

// comment returns a comment with its canonical indentation, or an empty text for a blank
// line. inside reports whether the line is within the body of a handler.
func comment(line string, inside bool) string {
	s := newSource(line, 0)
	text := line[s.indent:]
	if inside && s.indent > 0 && text != "" {
		return bodyIndent + text
	}
	return text
}
