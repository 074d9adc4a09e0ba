package static

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
)

// accented has letters without and with accents, a group on each line: the first of
// a group is what is left of the others when the marks are taken off. They are the
// canonical decompositions of Unicode 14 that leave a single letter, without
// the compatibility ideographs. Letters that an editor might change are written
// by number, as in a string of Go.
//
//go:embed accents.txt
var accented string

// plainLetters returns what accented says, by letter.
func plainLetters() map[rune]rune {
	plain := make(map[rune]rune)
	for group := range strings.Lines(accented) {
		var first rune
		for rest := strings.TrimRight(group, "\r\n"); rest != ""; {
			letter, _, tail, err := strconv.UnquoteChar(rest, 0)
			if err != nil {
				panic("static: accents.txt: " + err.Error())
			}
			if first == 0 {
				first = letter
			}
			plain[letter], rest = first, tail
		}
	}
	return plain
}

// Syllables of Hangul are made of two or three letters by arithmetic (The
// Unicode Standard, section 3.12).
const (
	hangulFirst, hangulLast       = 0xAC00, 0xD7A3
	leadBase, vowelBase, tailBase = 0x1100, 0x1161, 0x11A7
	vowels, tails                 = 21, 28
)

// appendPlain appends a letter without its accents, and nothing for a mark.
func appendPlain(dst []rune, plain map[rune]rune, r rune) []rune {
	if r < unicode.MaxASCII {
		return append(dst, r)
	}
	switch p, ok := plain[r]; {
	case ok:
		return append(dst, p)
	case unicode.Is(unicode.Mn, r):
		return dst
	case hangulFirst <= r && r <= hangulLast:
		i := r - hangulFirst
		dst = append(dst, leadBase+i/(vowels*tails), vowelBase+i/tails%vowels)
		if tail := i % tails; tail > 0 {
			dst = append(dst, tailBase+tail)
		}
		return dst
	}
	return append(dst, r)
}
