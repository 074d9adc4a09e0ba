package static

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
)

// accented has letters without and with accents, a group on each line. The first letter of a
// group is the base letter of the others. These are the canonical decompositions of Unicode 14
// to a single letter, except compatibility ideographs. Letters that an editor might change are
// written by number, as in a Go string.
//
//go:embed accents.txt
var accented string

// plainLetters maps each letter of accented to its base letter.
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

// Syllables of Hangul are composed of two or three letters by arithmetic (The Unicode Standard,
// section 3.12).
const (
	hangulFirst, hangulLast       = 0xAC00, 0xD7A3
	leadBase, vowelBase, tailBase = 0x1100, 0x1161, 0x11A7
	vowels, tails                 = 21, 28
)

// appendPlain appends a letter without its accents. For a combining mark it appends nothing.
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
