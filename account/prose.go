package account

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/text"
)

// A passage is a sentence, an entry of a list, or some lines of code.
type passage struct {
	text  string
	same  bool // continues the line of the passage before
	title bool
	code  bool
}

// Lengths in bytes.
const (
	longLine     = 200 // a longer line is split into sentences
	leastLine    = 40  // least bytes of a sentence before a split
	mostUnit     = 420 // size of a unit, approximately
	mostCode     = 160 // size of a unit of code
	leastOutput  = 3   // shortest line of an output or a file that becomes a unit
	mostArgument = 120 // longest argument on the line of its call
	mostCommand  = 300 // of its first line
)

// passages splits prose into passages, without empty lines and code fences.
func passages(prose string) []passage {
	var out []passage
	var code []string
	size, fenced := 0, false
	goesOn := false // continues an entry of a list
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

// sentences splits a long line of prose into its sentences. A shorter line is one passage.
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

// sentenceEnd returns how many bytes the first sentence of a line has. A sentence that is
// too long for a unit is cut between two words, or, if it has no words, between two
// characters.
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
