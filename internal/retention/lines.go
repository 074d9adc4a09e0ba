package retention

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// linesOf returns the whole lines of a text as mentions of their normal form.
func linesOf(text string) []mention {
	var lines []mention
	at := 0
	for l := range strings.SplitSeq(text, "\n") {
		if n := NormalLine(l); n != "" {
			lines = append(lines, mention{id: nameOf(n), from: at, to: at + len(l)})
		}
		at += len(l) + 1
	}
	return lines
}

// NormalLine returns the form of a line for comparison: without white space at its ends,
// without the line number of an editor or the place of a search tool in front, and with single
// spaces. It returns "" unless the result has 20 to 400 bytes and two words, one of them with
// two letters in a row.
func NormalLine(s string) string {
	if len(s) < 20 {
		return ""
	}
	s = text.Fold(withoutPlace(strings.TrimSpace(s)))
	if len(s) < 20 || len(s) > 400 || strings.IndexByte(s, ' ') < 0 || !twoLetters(s) {
		return ""
	}
	return s
}

// withoutPlace cuts a prefix such as "12→", "12<tab>", "12:", "12|" or "file:12:" off a line.
func withoutPlace(s string) string {
	n := text.Digits(s)
	if n > 0 {
		for _, sign := range [...]string{"→", "\t", ":", "|"} {
			if rest, ok := strings.CutPrefix(s[n:], sign); ok {
				return rest
			}
		}
		return s
	}
	colon := strings.IndexByte(s, ':')
	if colon <= 0 || strings.ContainsAny(s[:colon], " \t") {
		return s
	}
	n = text.Digits(s[colon+1:])
	if rest, ok := strings.CutPrefix(s[colon+1+n:], ":"); ok && n > 0 {
		return rest
	}
	return s
}

// twoLetters reports whether s has two letters in a row.
func twoLetters(s string) bool {
	for i := 1; i < len(s); i++ {
		if hasLetter(s[i-1:i]) && hasLetter(s[i:i+1]) {
			return true
		}
	}
	return false
}
