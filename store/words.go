package store

import (
	"iter"
	"strings"
	"unicode"
)

// Words yields the words of a text as [Finder.Candidates] finds them: the runs
// of letters, digits and "_", in lower case. The order is that of the text.
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, separates) {
			if !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

func separates(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
