package facts

import (
	"strings"
	"unicode/utf8"
)

// The length of a quoted string, in characters.
const (
	minQuote = 3
	maxQuote = 80
)

// eachQuote calls f for every quoted string of text and the byte offset of its first
// character, in order: a string between backticks, double quotes, single quotes or
// „these“ and “these”, on one line, 3 to 80 characters long. Quotes escaped by a
// backslash count, so that JSON within JSON is read. The strings share memory with text;
// escapes in them stay unchanged.
//
// A mark opens a quotation if no letter is before it and no space after it, and closes
// one if no space is before it and no letter after it; so an apostrophe does neither.
// Two or more backticks in a row, as in code fences, quote nothing.
func eachQuote(text string, f func(quote string, at int)) {
	for i := 0; i < len(text); i++ {
		opening := quoteMarks[text[i]]
		if opening == 0 {
			continue
		}
		if text[i] == '`' {
			if n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`")); n > 1 {
				i += n - 1
				continue
			}
		}
		size, end := closingOf(text, i)
		if size == 0 || !opens(text, i, size) {
			i += max(size, 1) - 1
			continue
		}
		to := quoted(text, i+size, end)
		if to < 0 {
			continue
		}
		from := i + size
		i = to + len(end) - 1
		if n := utf8.RuneCountInString(text[from:to]); n >= minQuote && n <= maxQuote {
			f(text[from:to], from)
		}
	}
}

// quoteMarks has 1 for the first bytes of quotation marks, and 0 for others.
var quoteMarks = func() (table [256]byte) {
	for _, c := range []byte("\"'`\xe2\\") {
		table[c] = 1
	}
	return table
}()

// closingOf returns the length in bytes of the quotation mark at i, and its closing mark.
// The length is 0 if no mark is at i.
func closingOf(s string, i int) (size int, end string) {
	switch s[i] {
	case '"', '\'', '`':
		return 1, s[i : i+1]
	case '\\':
		if i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'') {
			return 2, s[i : i+2]
		}
	case 0xe2:
		switch {
		case i+3 > len(s):
		case s[i:i+3] == "“":
			return 3, "”"
		case s[i:i+3] == "„":
			return 3, "“"
		}
	}
	return 0, ""
}

// opens reports whether the mark at i, of size bytes, opens a quotation. A \n or \t before
// it is white space in JSON, no letter.
func opens(s string, i, size int) bool {
	if i+size >= len(s) || s[i+size] <= ' ' {
		return false
	}
	if i == 0 {
		return true
	}
	c := s[i-1]
	if s[i] == '"' && strings.IndexByte("bfru", c) >= 0 && (i == 1 || !letter(s[i-2]) && s[i-2] != '\\') {
		return true // f"…" of Python
	}
	if c == 'n' || c == 't' {
		return i > 1 && s[i-2] == '\\'
	}
	return !letter(c) && c != ')' && c != ']' && c != '.' && c != '?'
}

// quoted returns the offset of the closing mark of the quotation that begins at from, or
// -1 if the quotation does not end on its line or is too long.
func quoted(s string, from int, mark string) int {
	for k := from; k < len(s) && k-from <= utf8.UTFMax*maxQuote; k++ {
		switch c := s[k]; {
		case c == '\n' || c == '\r':
			return -1
		case c == mark[0] && strings.HasPrefix(s[k:], mark):
			if k == from || closesQuote(s, k, len(mark)) {
				return k
			}
		case c == '\\' && len(mark) == 1 && k+1 < len(s) && s[k+1] > ' ':
			k++
		}
	}
	return -1
}

// closesQuote reports whether the mark at k, of size bytes, closes a quotation.
func closesQuote(s string, k, size int) bool {
	return s[k-1] > ' ' && (k+size == len(s) || !letter(s[k+size]) || s[k+size] == '\'')
}
