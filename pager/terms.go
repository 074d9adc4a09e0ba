package pager

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// Terms is a set of search terms.
type Terms []string

// NewIntent returns the terms of texts: runs of ASCII letters, digits and
// underscores in lower case, each once, without stop words and single characters.
// The texts may be the keywords of an intent of package intent.
func NewIntent(texts ...string) Terms {
	var in Terms
	seen := make(map[string]bool)
	for _, said := range texts {
		for term := range text.Terms(said) {
			if len(term) > 1 && !stop.Get()[term] && !seen[term] {
				seen[term] = true
				in = append(in, strings.Clone(term))
			}
		}
	}
	return in
}

// Focus returns the n terms that occur in the fewest texts, but at least in one: a term in
// every text does not discriminate, and a term in no text cannot match. Among terms that occur
// in equally many texts, the order of the receiver decides.
func (in Terms) Focus(texts []string, n int) Terms {
	count := make(map[string]int, len(in))
	for _, k := range in.found(texts) {
		count[in[k]]++
	}
	return in.FocusBy(count, n)
}

// Spread returns, for each word in texts, the number of texts that have it.
func Spread(texts []string) map[string]int {
	count, last := make(map[string]int), make(map[string]int) // last has the number of a text, from 1
	for i, said := range texts {
		for term := range text.Terms(said) {
			if last[term] != i+1 {
				last[term] = i + 1
				count[term]++
			}
		}
	}
	return count
}

// FocusBy is like [Terms.Focus]. It takes the result of [Spread], so that the texts are read
// only once for several queries.
func (in Terms) FocusBy(count map[string]int, n int) Terms {
	kept := slices.DeleteFunc(slices.Clone(in), func(term string) bool { return count[term] == 0 })
	slices.SortStableFunc(kept, func(a, b string) int { return cmp.Compare(count[a], count[b]) })
	return kept[:min(n, len(kept))]
}

// Hits returns the number of terms in each text.
func (in Terms) Hits(texts []string) []int {
	hits := make([]int, len(texts))
	for i := range in.found(texts) {
		hits[i]++
	}
	return hits
}

// found yields the index of each text with the index of each term that occurs in it.
func (in Terms) found(texts []string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if len(in) == 0 {
			return
		}
		at := make(map[string]int, len(in))
		for k, term := range in {
			at[term] = k
		}
		last := make([]int, len(in)) // number of the text, from 1, in which each term was last found
		for i, said := range texts {
			for term := range text.Terms(said) {
				k, ok := at[term]
				if !ok || last[k] == i+1 {
					continue
				}
				last[k] = i + 1
				if !yield(i, k) {
					return
				}
			}
		}
	}
}

// stop lists words that do not tell the subject of a text.
var stop = lazy.Words(`a about after all also am an and any are as at be because been before being but by
	can could did do does doing done don each else for from get go got had has have having he her here his how
	i if in into is it its just let like ll make may me might more most must my need no not now of off ok okay on
	once one only or other our out over own please re run s same see she should so some such sure t than that the
	their them then there these they this those through to too under up us use ve very want was we were what when
	where which while who why will with would yes you your`)
