package retrieval

import (
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
)

// An Index finds the documents of one scope by their words, in memory. A document has an
// id, and is added behind those with smaller ids. The zero value is empty. It may be
// searched by several goroutines at once while nobody changes it.
//
// Words are taken as they are. It needs about two bytes for each different word of each
// document, twelve for each document, and 150 for each different word.
type Index struct{ postings postings.Index }

// Add adds a document behind all others. One without words is not found by anything.
func (x *Index) Add(id int64, said string) {
	x.postings.Add(id, postings.Counts(text.Words(said)))
}

// Remove takes a document out.
func (x *Index) Remove(id int64) { x.postings.Remove(id) }

// Search returns the k documents that have the highest scores for some words, as
// [FindBest] does. A word that is there twice counts twice.
func (x *Index) Search(words []string, k int, idf IDF) []Best {
	return FindBest([]postings.View{x.postings.View(words)}, k, idf)
}

// A Stemmer counts stems, and remembers those of the words that it has seen. The zero
// value is ready.
type Stemmer struct{ stems map[string]string }

// Count returns how often a text has words of each stem.
func (s *Stemmer) Count(said string) map[string]uint32 {
	if s.stems == nil {
		s.stems = make(map[string]string)
	}
	counts := make(map[string]uint32)
	for w, n := range postings.Counts(text.Words(said)) { // in any order: numbers are added
		stem, known := s.stems[w]
		if !known {
			stem = text.Stem(w)
			s.stems[w] = stem
		}
		counts[stem] += n
	}
	return counts
}
