package bpe_test

import (
	"unicode"

	"github.com/carrel-dev/carrel/internal/bpe"
)

// A naive is an encoding as its definition says, with no thought for time: what the
// encodings are tested against. Rune by rune it splits, and of each piece it merges the
// pair of the lowest token, the leftmost first, until there is none.
type naive struct {
	split  splitter
	tokens map[string]uint32
}

func newNaive(e *bpe.Encoding, split splitter) *naive {
	n := &naive{split, make(map[string]uint32)}
	for id := uint32(0); ; id++ {
		text, ok := e.Decode([]uint32{id})
		if !ok {
			return n
		}
		n.tokens[text] = id
	}
}

func (n *naive) encode(text string) (ids []uint32) {
	for rest := []rune(text); len(rest) > 0; {
		size := n.split(rest)
		ids = append(ids, n.merge(string(rest[:size]))...)
		rest = rest[size:]
	}
	return ids
}

func (n *naive) merge(piece string) (ids []uint32) {
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		lowest, at := ^uint32(0), 0
		for i := range len(parts) - 1 {
			if id, ok := n.tokens[parts[i]+parts[i+1]]; ok && id < lowest {
				lowest, at = id, i
			}
		}
		if lowest == ^uint32(0) {
			break
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	for _, part := range parts {
		ids = append(ids, n.tokens[part])
	}
	return ids
}

// A splitter returns the length of the first piece of a text that is not empty, in runes.
type splitter func(text []rune) int

// A class is a set of the properties of a rune that the splitters ask for.
type class uint8

const (
	newline class = 1 << iota
	space
	number
	mark
	lower
	upper

	letter = upper | lower
)

// classOf returns the class of a rune, 0 for punctuation and symbols. Letters
// without case, and marks, may stand in either half of a word.
func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case r == ' ':
		return space
	case r == '\n' || r == '\r':
		return space | newline
	case '0' <= r && r <= '9':
		return number
	case r <= unicode.MaxASCII:
		if '\t' <= r && r <= '\f' {
			return space
		}
		return 0
	case unicode.Is(unicode.Lo, r):
		return upper | lower
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return upper
	case unicode.Is(unicode.Lm, r):
		return upper | lower
	case unicode.Is(unicode.M, r):
		return upper | lower | mark
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

// isLetter reports whether the class is that of a letter, which a mark is not.
func (c class) isLetter() bool { return c&letter != 0 && c&mark == 0 }

// isSymbol reports whether the class is that of neither letter, number nor
// white space.
func (c class) isSymbol() bool { return c&(number|space) == 0 && !c.isLetter() }

// leadsWord reports whether a rune of the class may belong to the piece of the word after
// it, such as the blank, quote or bracket before a word.
func (c class) leadsWord() bool { return c&(number|newline) == 0 && !c.isLetter() }

// run returns how many runes at the start of text have any property of c.
func run(text []rune, c class) int {
	n := 0
	for n < len(text) && classOf(text[n])&c != 0 {
		n++
	}
	return n
}

// splitO200k is the splitter of o200k_base.
func splitO200k(text []rune) int {
	first := classOf(text[0])
	for _, word := range [...]splitter{mixedWord, upperWord} {
		if first.leadsWord() {
			if n := word(text[1:]); n > 0 {
				return 1 + n
			}
		}
		if n := word(text); n > 0 {
			return n
		}
	}
	return splitRest(text, first, true)
}

// mixedWord returns the length of the word at the start of text that is upper
// case and then, by at least one rune, lower case, and of the contraction
// behind it: serverHTTP is two words. It is 0 if there is none.
func mixedWord(text []rune) int {
	up := run(text, upper)
	end := up + run(text[up:], lower)
	if end > up {
		return end + contraction(text[end:])
	}
	// The lower half takes a rune from the upper half that may be either.
	for k := up; k > 0; k-- {
		if classOf(text[k-1])&lower != 0 {
			return k + contraction(text[k:])
		}
	}
	return 0
}

// upperWord returns the length of the upper-case word at the start of text, and
// of the contraction behind it. It is 0 if there is none.
func upperWord(text []rune) int {
	end := run(text, upper)
	if end == 0 {
		return 0
	}
	return end + contraction(text[end:])
}

// splitCl100k is the splitter of cl100k_base.
func splitCl100k(text []rune) int {
	if n := contraction(text); n > 0 {
		return n
	}
	first := classOf(text[0])
	lead := 0
	if first.leadsWord() {
		lead = 1
	}
	if n := plainWord(text[lead:]); n > 0 {
		return lead + n
	}
	return splitRest(text, first, false)
}

// plainWord returns how many letters text begins with.
func plainWord(text []rune) int {
	n := 0
	for n < len(text) && classOf(text[n]).isLetter() {
		n++
	}
	return n
}

// contraction returns the length of the English contraction that text begins
// with, 0 if it begins with none: 's, 't, 'm, 'd, 're, 've or 'll, in either
// case. The long s counts as an s.
func contraction(text []rune) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	second := rune(0)
	switch text[1] {
	case 's', 'S', 'ſ', 't', 'T', 'm', 'M', 'd', 'D':
		return 2
	case 'r', 'R', 'v', 'V':
		second = 'e'
	case 'l', 'L':
		second = 'l'
	default:
		return 0
	}
	if len(text) > 2 && (text[2] == second || text[2] == unicode.ToUpper(second)) {
		return 3
	}
	return 0
}

// splitRest returns the length of the first piece of a text that begins with
// no word, which both encodings see alike: up to three numerals, or symbols
// with the line breaks behind them, or white space. With slashes, those belong
// to the line breaks behind symbols.
func splitRest(text []rune, first class, slashes bool) int {
	if first&number != 0 {
		return run(text[:min(len(text), 3)], number)
	}
	if n := symbols(text, slashes); n > 0 {
		return n
	}
	return blanks(text)
}

// symbols returns the length of the symbols that text begins with, after at
// most one space, together with the line breaks behind them.
func symbols(text []rune, slashes bool) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	end := start
	for end < len(text) && classOf(text[end]).isSymbol() {
		end++
	}
	if end == start {
		return 0
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r' || slashes && text[end] == '/') {
		end++
	}
	return end
}

// blanks returns the length of the piece that the white space at the start of
// text makes. It reaches to the last line break in it. If there is none, it
// leaves the last rune to the word that follows, unless nothing would be left.
func blanks(text []rune) int {
	n, lines := 0, 0
	for n < len(text) {
		c := classOf(text[n])
		if c&space == 0 {
			break
		}
		n++
		if c&newline != 0 {
			lines = n
		}
	}
	switch {
	case lines > 0:
		return lines
	case n == len(text) || n == 1:
		return n
	default:
		return n - 1
	}
}
