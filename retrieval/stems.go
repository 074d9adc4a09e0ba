package retrieval

import (
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
)

// CountStems returns the number of words of each stem in a text. It adds to known, a cache from
// words to stems, which must not be nil.
func CountStems(said string, known map[string]string) map[string]uint32 {
	counts := make(map[string]uint32)
	for w, n := range postings.Counts(text.Words(said)) { // in any order: sums do not depend on it
		stem, is := known[w]
		if !is {
			stem = text.Stem(w)
			known[w] = stem
		}
		counts[stem] += n
	}
	return counts
}
