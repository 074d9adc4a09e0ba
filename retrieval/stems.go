package retrieval

import (
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
)

// CountStems returns how often a text has words of each stem. The map has the stems of
// words that are known, and gets those of the others.
func CountStems(said string, known map[string]string) map[string]uint32 {
	counts := make(map[string]uint32)
	for w, n := range postings.Counts(text.Words(said)) { // in any order: numbers are added
		stem, is := known[w]
		if !is {
			stem = text.Stem(w)
			known[w] = stem
		}
		counts[stem] += n
	}
	return counts
}
