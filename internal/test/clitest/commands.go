package clitest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Commands returns the first character or invalid byte of a text that could control a terminal
// or is invisible, or "" if there is none. It skips the characters that the string allowed
// contains.
func Commands(text, allowed string) string {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case strings.ContainsRune(allowed, r):
		case r == utf8.RuneError && size == 1, unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\u200b', r == '\ufeff',
			r == '\u00ad', unicode.Is(unicode.Bidi_Control, r), r >= 0xe0000 && r <= 0xe007f:
			return text[i : i+size]
		}
	}
	return ""
}
