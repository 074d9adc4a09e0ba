package text

import (
	"iter"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// Digits returns the number of ASCII digits at the beginning of a text.
func Digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// AreDigits reports whether a text has only ASCII digits, and at least one.
func AreDigits(s string) bool { return s != "" && Digits(s) == len(s) }

// HasWord reports whether a list of words, separated by white space, contains a word. It
// returns false for the empty word.
func HasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// Words returns the words of a text in lower case: its runs of letters, digits and
// underscores.
func Words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !yield(strings.ToLower(w)) {
				return
			}
		}
	}
}

// Terms returns the terms of a text in lower case: its runs of ASCII letters and digits and
// underscores, as the original context pager finds them. Other letters separate terms. A term
// may share memory with the whole text, so clone it with [strings.Clone] before storing it.
func Terms(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(s); {
			if !InTerm(s[i]) {
				i++
				continue
			}
			start := i
			for i < len(s) && InTerm(s[i]) {
				i++
			}
			if !yield(strings.ToLower(s[start:i])) {
				return
			}
		}
	}
}

// InTerm reports whether a byte can be in a term.
func InTerm(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// Stem returns the stem of a word in lower case (Snowball, English). A word with a digit or
// an underscore is a name and is its own stem.
func Stem(word string) string {
	if strings.ContainsAny(word, "0123456789_") {
		return word
	}
	return english.Stem(word, false)
}

// IsUnit reports whether lower-case letters directly behind a number are a unit or a scale:
// 40ms, 2x.
func IsUnit(letters string) bool {
	switch letters {
	case "ns", "us", "µs", "ms", "s", "sec", "min", "h", "d", "x", "k", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
		"b", "px", "pt", "em", "rem", "hz", "khz", "mhz", "ghz", "fps", "rps", "qps", "tok", "m", "g", "c", "w", "v":
		return true
	}
	return false
}
