package intent

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// phrases maps the first word of phrases to the phrases that begin with it, longer ones first.
type phrases[T any] map[string][]phrase[T]

type phrase[T any] struct {
	words []string
	value T
}

// add adds phrases, which are separated by commas. A word may have
// alternatives, as in "how do/can i/we". A "#" stands for any number.
func (p phrases[T]) add(value T, list string) {
	for text := range strings.SplitSeq(list, ",") {
		for _, words := range spellings(strings.Fields(text)) {
			p[words[0]] = append(p[words[0]], phrase[T]{words, value})
		}
	}
}

// index returns the table of phrases that have no alternatives.
func index[T any](list map[string]T) phrases[T] {
	p := make(phrases[T])
	for text, value := range list { // in any order: phrases that differ do not meet
		words := strings.Fields(text)
		p[words[0]] = append(p[words[0]], phrase[T]{words, value})
	}
	return p.sorted()
}

// sorted puts longer phrases first, and returns p.
func (p phrases[T]) sorted() phrases[T] {
	for _, list := range p {
		slices.SortStableFunc(list, func(a, b phrase[T]) int { return len(b.words) - len(a.words) })
	}
	return p
}

// spellings returns every choice among alternatives.
func spellings(words []string) [][]string {
	all := [][]string{nil}
	for _, w := range words {
		var longer [][]string
		for _, head := range all {
			for alt := range strings.SplitSeq(w, "/") {
				longer = append(longer, append(slices.Clone(head), alt))
			}
		}
		all = longer
	}
	return all
}

// at returns the value of the longest phrase at the beginning of tokens, and its number of words.
// The number is 0 if no phrase fits.
func (p phrases[T]) at(tokens []token) (value T, n int) {
	if len(tokens) == 0 || tokens[0].kind != word {
		return value, 0
	}
	for _, first := range []string{tokens[0].low, "#"} {
		for _, ph := range p[first] {
			if begins(tokens, ph.words) {
				return ph.value, len(ph.words)
			}
		}
	}
	return value, 0
}

func begins(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if t := tokens[i]; t.kind != word || t.low != w && (w != "#" || !isNumber(t.low)) {
			return false
		}
	}
	return true
}

// isNumber reports whether a word is a number or begins with one.
func isNumber(w string) bool {
	w = strings.TrimLeft(w, "$€£")
	return w != "" && '0' <= w[0] && w[0] <= '9' || numbers.Get()[w]
}

var numbers = lazy.Words("one two three four five six seven eight nine ten twelve twenty fifty hundred")
