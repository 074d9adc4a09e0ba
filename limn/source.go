package limn

import "strings"

// A source is a line of text before it is cut into lexemes.
type source struct {
	text   string
	start  int  // byte offset of the line in the program
	indent int  // bytes of white space at the beginning of the line
	depth  int  // number of spaces at the beginning, before any other character
	tab    int  // offset of the first tab in the indentation, or -1
	skip   bool // the line is blank or a comment
}

// withoutMark returns a program without the byte order mark that some editors put before a text.
func withoutMark(text string) string { return strings.TrimPrefix(text, "\ufeff") }

// newSource measures the indentation of a line.
func newSource(line string, start int) source {
	s := source{text: line, start: start, tab: -1}
	for s.indent < len(line) {
		c := line[s.indent]
		if c > ' ' && c < 0x80 {
			break
		}
		n := space(line[s.indent:])
		if n == 0 {
			break
		}
		if c == '\t' && s.tab < 0 {
			s.tab = s.indent
		}
		if c == ' ' && s.depth == s.indent {
			s.depth++
		}
		s.indent += n
	}
	rest := line[s.indent:]
	s.skip = rest == "" || len(rest) > 1 && rest[:2] == "--"
	return s
}

// advance moves to the next line that is neither blank nor a comment, and reports
// whether there is one.
func (p *parser) advance() bool {
	for p.rest != "" {
		var line string
		start := len(p.text) - len(p.rest)
		line, p.rest = cutLine(p.rest)
		p.number++
		if p.src = newSource(line, start); !p.src.skip {
			return true
		}
	}
	return false
}

// within moves to the next line if it is indented by at least depth spaces or has a tab in
// its indentation, and reports whether it did. The caller reports the tab as an error.
func (p *parser) within(depth int) bool {
	here := *p
	if p.advance() && (p.src.depth >= depth || p.src.tab >= 0) {
		return true
	}
	p.rest, p.number, p.src = here.rest, here.number, here.src
	return false
}
