// Package text has what the packages of Carrel do with text that is about no subject of
// theirs: to shorten it, to put it into one line, to find its words, its sentences and
// its numbers.
//
// Texts are UTF-8; bytes that are none count as a character each and stay as they are,
// but for [Clip], which leaves none of them at the end, and [Line], which leaves none.
// Equal arguments give equal results. All functions may be used by several goroutines at
// once.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands where a text was cut.
const Ellipsis = "…"

// Floor returns the last offset up to i at which a character begins; an i outside of the
// text counts as the end of the text that is nearer.
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

// Ceil returns the first offset from i on at which a character begins, or the end of the
// text; an i outside of the text counts as the end of the text that is nearer.
func Ceil(s string, i int) int {
	for i = min(max(i, 0), len(s)); i < len(s) && !utf8.RuneStart(s[i]); i++ {
	}
	return i
}

// Head returns the beginning of a text, of n bytes at most, that ends between characters.
func Head(s string, n int) string { return s[:Floor(s, n)] }

// Tail returns the end of a text, of n bytes at most, that begins between characters.
func Tail(s string, n int) string { return s[Ceil(s, len(s)-max(n, 0)):] }

// Clip returns a text of n bytes at most as it is, and of a longer one its head and an
// ellipsis, which is not counted.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(Head(s, n), "") + Ellipsis
}

// Short returns a text of n characters at most, n being 1 or more: as it is if it has no
// more than that, and else its beginning and an ellipsis, which is one of the n.
func Short(s string, n int) string {
	end, count := 0, 0
	for i := range s {
		if count++; count == n {
			end = i
		} else if count > n {
			return s[:end] + Ellipsis
		}
	}
	return s
}

// FirstLine returns the first line of a text with something in it, without the white
// space at its ends.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Fold returns a text in one line: each run of white space is one space, and there is none
// at its ends.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Line returns a text in one line as a person is to see it: runs of white space, control
// characters and bytes that are no UTF-8 are single spaces, escape sequences of terminals
// are gone. What is longer than n characters ends in an ellipsis, which is not counted,
// and between words if one ends in its second half.
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

// escape returns the length of the escape sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if '@' <= s[i] && s[i] <= '~' {
			return i + 1
		}
	}
	return len(s)
}
