// Package text has general functions for texts: they shorten texts, put them on one line, and
// find words, sentences and numbers.
//
// Texts are UTF-8. Each invalid byte counts as a character and stays unchanged; but [Clip]
// removes invalid bytes at the end, and [Line] removes all. Equal arguments give equal results.
// All functions may be called concurrently.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis marks the place where a text was cut.
const Ellipsis = "…"

// Floor returns the last offset up to i at which a character begins. An i outside of the text
// counts as the nearer end of the text.
func Floor(s string, i int) int {
	i = max(i, 0)
	if i >= len(s) {
		return len(s)
	}
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// Ceil returns the first offset from i on at which a character begins, or the end of the text.
// An i outside of the text counts as the nearer end of the text.
func Ceil(s string, i int) int {
	for i = min(max(i, 0), len(s)); i < len(s) && !utf8.RuneStart(s[i]); i++ {
	}
	return i
}

// Head returns the beginning of a text, of at most n bytes, cut between characters.
func Head(s string, n int) string { return s[:Floor(s, n)] }

// Tail returns the end of a text, of at most n bytes, cut between characters.
func Tail(s string, n int) string { return s[Ceil(s, len(s)-max(n, 0)):] }

// Clip returns a text of at most n bytes unchanged. Of a longer text it returns the
// beginning, of at most n bytes, and an ellipsis, which is not counted.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(Head(s, n), "") + Ellipsis
}

// Short returns a text of at most n characters unchanged. It shortens a longer text to n
// characters, the last of which is an ellipsis. n must be 1 or more.
func Short(s string, n int) string {
	end, count := 0, 0
	for i := range s {
		if count++; count > n {
			return s[:end] + Ellipsis
		}
		end = i
	}
	return s
}

// FirstLine returns the first line of a text that is not blank, without white space at its
// ends.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Fold returns a text on one line: each run of white space becomes one space, and white space
// at the ends is removed.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Line returns a text on one line for people: each run of white space, control characters and
// invalid bytes becomes one space, and escape sequences of terminals are removed. A text of
// more than n characters is cut, and an ellipsis is added. The cut is before a word if one
// begins in the second half of the n characters; otherwise it may be within a word.
func Line(s string, n int) string {
	var b strings.Builder
	space, last := false, 0
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escape(s[i:])
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError && size == 1 {
			space = b.Len() > 0
			continue
		}
		if n--; space {
			last = b.Len()
			n--
		}
		if n < 0 {
			text := b.String()
			if last > len(text)/2 {
				text = text[:last]
			}
			return text + Ellipsis
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escape returns the length of the escape sequence at the beginning of s.
func escape(s string) int {
	switch {
	case len(s) < 2:
	case s[1] == '[': // parameters and intermediate bytes, then a final byte
		return final(s, 2, '?')
	case '!' <= s[1] && s[1] <= '/': // intermediate bytes, then a final byte
		return final(s, 2, '/')
	case s[1] == ']': // a text that ends with BEL or ESC \
		end := strings.IndexFunc(s[2:], unicode.IsControl) + 2
		switch {
		case end < 2:
			return len(s)
		case s[end] == '\a':
			return end + 1
		case strings.HasPrefix(s[end:], "\x1b\\"):
			return end + 2
		}
		return end
	}
	return 1
}

// final returns the length of an escape sequence whose bytes from index i on are in the range from
// a space to last, up to the final byte. A sequence without its final byte ends before the first
// other byte.
func final(s string, i int, last byte) int {
	for i < len(s) && ' ' <= s[i] && s[i] <= last {
		i++
	}
	if i < len(s) && last < s[i] && s[i] <= '~' {
		i++
	}
	return i
}
