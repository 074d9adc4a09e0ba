// Package text has what the packages of Carrel do with text that is about no subject of
// theirs: to shorten it, to put it into one line, to read digits.
//
// Texts are UTF-8; bytes that are none count as a character each and stay as they are,
// but for [Clip], which leaves none of them at the end. Equal arguments give equal
// results. All functions may be used by several goroutines at once.
package text

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis stands where a text was cut.
const Ellipsis = "…"

// Head returns the beginning of a text, of n bytes at most, that ends between characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip returns a text of n bytes at most as it is, and of a longer one its head and an
// ellipsis, which is not counted.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(Head(s, n), "") + Ellipsis
}

// Fold returns a text in one line: each run of white space is one space, and there is none
// at its ends.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Digits returns how many digits of ASCII a text begins with.
func Digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// AreDigits reports whether a text is digits of ASCII alone, one at least.
func AreDigits(s string) bool { return s != "" && Digits(s) == len(s) }

// HasWord reports whether a list, whose words are parted by white space, has a word.
// No list has the empty one.
func HasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}
