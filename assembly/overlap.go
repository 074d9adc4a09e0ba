package assembly

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize returns text in a form in which duplicates are equal: in one letter case, each run
// of white space as one space, none at the ends, and without the code points that [Neutralize]
// may replace. Normalizing twice gives the same text as normalizing once.
func Normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case suspect(r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(foldCase(r))
		}
	}
	return b.String()
}

// foldCase returns the same code point for all code points that differ only in case.
func foldCase(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// shingleWords is the number of words in a shingle.
const shingleWords = 5

// A wording is the words of a text, in order, in one case and without punctuation.
type wording struct {
	text string // the words, with a space before and behind each
	ends []int  // end offset of each word in text
}

// wordsOf returns the wording of text. In scripts that are written without spaces, each letter
// counts as a word.
func wordsOf(text string) wording {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	var w wording
	open := false
	end := func() {
		if open {
			w.ends = append(w.ends, b.Len())
			b.WriteByte(' ')
			open = false
		}
	}
	for _, r := range text {
		switch {
		case suspect(r):
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
		default:
			alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
			if alone {
				end()
			}
			b.WriteRune(foldCase(r))
			open = true
			if alone {
				end()
			}
		}
	}
	end()
	w.text = b.String()
	return w
}

// start returns the offset where word i starts.
func (w wording) start(i int) int {
	if i == 0 {
		return 1
	}
	return w.ends[i-1] + 1
}

// shingles calls f with each run of shingleWords consecutive words.
func (w wording) shingles(f func(string)) {
	for i := shingleWords; i <= len(w.ends); i++ {
		f(w.text[w.start(i-shingleWords):w.ends[i-1]])
	}
}

// within reports whether other repeats w. If w is long, at least 80 percent of the different
// shingles of w must be in other; if w is short, all of w must be in other, in one piece.
func (w wording) within(other wording) bool {
	if len(w.ends) == 0 {
		return false
	}
	if !w.long() {
		return strings.Contains(other.text, w.text)
	}
	found := make(map[string]bool) // by shingle of w
	w.shingles(func(s string) { found[s] = false })
	hits := 0
	other.shingles(func(s string) {
		if seen, ok := found[s]; ok && !seen {
			found[s] = true
			hits++
		}
	})
	return hits*100 >= 80*len(found)
}

// long reports whether a wording has at least five shingles. In a shorter wording, a share of
// shingles is not significant.
func (w wording) long() bool { return len(w.ends) >= shingleWords+4 }
