package assembly

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize returns a text in the form in which duplicates are equal: letters
// without case, each run of white space as one space and none at the ends, and
// without the code points that [Neutralize] looks at. Normalizing twice changes
// nothing more.
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

// foldCase returns the code point that stands for all that differ from r in case
// only.
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

// A wording is the words of a text, in order, without case or punctuation.
type wording struct {
	text string // the words, with a space before and behind each
	ends []int  // of the words in text
}

// wordsOf returns the wording of a text. In scripts that are written without
// spaces, each letter is a word.
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

// start returns the start of a word.
func (w wording) start(i int) int {
	if i == 0 {
		return 1
	}
	return w.ends[i-1] + 1
}

// shingles calls f with each run of shingleWords words.
func (w wording) shingles(f func(string)) {
	for i := shingleWords; i <= len(w.ends); i++ {
		f(w.text[w.start(i-shingleWords):w.ends[i-1]])
	}
}

// within reports whether other repeats w: if w is long, whether at least 80
// percent of its different shingles are in other; if it is short, whether all of
// it is, in one piece.
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

// long reports whether a wording has five shingles or more. A shorter one is too
// small for a share of it to mean something.
func (w wording) long() bool { return len(w.ends) >= shingleWords+4 }
