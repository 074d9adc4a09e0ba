package clitest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Commands returns what in a text could command a terminal or is not seen, but for
// the characters that are allowed; or "".
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
