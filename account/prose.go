package account

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/text"
)

// A passage is a sentence, an entry of a list, or some lines of code.
type passage struct {
	text  string
	same  bool // it goes on in the line of the one before
	title bool
	code  bool
}

// Lengths in bytes.
const (
	longLine     = 200 // from which on a line is split into sentences
	leastLine    = 40  // that a sentence has before the line is split behind it
	mostUnit     = 420 // of a unit, about
	mostCode     = 160 // of lines of code that are one unit
	leastOutput  = 3   // of a line of an output, or of a file, that says something
	mostArgument = 120 // of an argument that stands in the line of its call
	mostCommand  = 300 // of the first line of a command
)

// passages splits prose. Empty lines, and those that fence code, are left out.
func passages(prose string) []passage {
	var out []passage
	var code []string
	size, fenced := 0, false
	goesOn := false // an entry of a list
	flush := func() {
		if len(code) > 0 {
			out = append(out, passage{text: strings.Join(code, "\n"), code: true})
		}
		code, size = nil, 0
	}
	for line := range strings.SplitSeq(prose, "\n") {
		bare := strings.TrimSpace(line)
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		goesOn = goesOn && bare != "" && !fenced
		switch {
		case strings.HasPrefix(bare, "```"):
			flush()
			fenced = !fenced
		case bare == "":
			flush()
		case fenced:
			if size+len(line) > mostCode {
				flush()
			}
			code = append(code, text.Clip(line, mostUnit))
			size += len(line)
		case goesOn && len(out[len(out)-1].text)+len(line) <= mostUnit && strings.HasPrefix(line, "  ") && !entry(line):
			out[len(out)-1].text += "\n" + line
		default:
			out = append(out, sentences(line)...)
			goesOn = entry(line) && len(line) <= longLine
		}
	}
	flush()
	return out
}

// sentences splits a line of prose that is long.
func sentences(line string) []passage {
	if len(line) <= longLine {
		return []passage{{text: line, title: strings.HasPrefix(strings.TrimSpace(line), "#")}}
	}
	var out []passage
	for rest := line; rest != ""; {
		n := sentenceEnd(rest)
		out = append(out, passage{text: strings.TrimRight(rest[:n], " "), same: len(out) > 0})
		rest = strings.TrimLeft(rest[n:], " ")
	}
	return out
}

// sentenceEnd returns how many bytes the first sentence of a line has. One that goes on and
// on ends between two words, or, if it has no words, between two characters.
func sentenceEnd(line string) int {
	for i := range len(line) {
		switch c := line[i]; {
		case (c == '.' || c == '!' || c == '?') && i >= leastLine && strings.HasPrefix(line[i+1:], " "):
			return i + 1
		case c == ' ' && i >= mostUnit:
			return i
		case i >= 2*mostUnit:
			return len(text.Head(line, i))
		}
	}
	return len(line)
}
