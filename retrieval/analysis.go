package retrieval

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// An Analysis is a text prepared for [Similar]. It is immutable and may be
// shared.
type Analysis struct {
	stems  []stemCount // by hash
	length int         // in words
	vector vector
}

// A stemCount is the number of occurrences of a stem in a text. Two stems with the same
// hash count as one: among a million stems, two have the same hash with a probability of
// about one in forty million.
type stemCount struct {
	hash  uint64
	count int
}

// Analyze prepares a text for [Similar]. An Analysis takes about 16 bytes for
// each distinct word plus 2 KB.
func Analyze(doc string) *Analysis {
	a := &Analysis{vector: newVector(doc)}
	counts := make(map[string]int)
	for w := range text.Words(doc) {
		counts[w]++
		a.length++
	}
	for w, n := range counts { // in any order: the stems are sorted below
		a.stems = append(a.stems, stemCount{hashOf(text.Stem(w)), n})
	}
	slices.SortFunc(a.stems, func(x, y stemCount) int { return cmp.Compare(x.hash, y.hash) })
	merged := a.stems[:0]
	for _, s := range a.stems {
		if n := len(merged); n > 0 && merged[n-1].hash == s.hash {
			merged[n-1].count += s.count
		} else {
			merged = append(merged, s)
		}
	}
	a.stems = slices.Clip(merged)
	return a
}

// hashOf returns the 64-bit FNV-1a of a stem.
func hashOf(stem string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(stem) {
		h = (h ^ uint64(stem[i])) * fnvPrime
	}
	return h
}

// Similar returns the similarity of each text to the query, from 0 to 1,
// without a model:
//
//	0.7 · coverage + 0.3 · max(0, cosine)
//
// The coverage is the text's score by [Rank] divided by the largest possible
// score, that of a text with every word of the query arbitrarily often. The
// cosine compares vectors of letter n-grams: three to five letters of each
// word, so that inflections and misspellings are similar. A text that shares
// no word with the query has at most 0.3. The coverage, and so the result,
// depends on the other texts in docs.
func Similar(query string, docs []*Analysis) []ratio.Ratio {
	t, stems := newTally(query, len(docs))
	hashes := make([]uint64, len(t.terms))
	for stem, i := range stems {
		hashes[i] = hashOf(stem)
	}
	for d, a := range docs {
		counts := make([]int, len(hashes))
		for i, h := range hashes {
			if at, ok := slices.BinarySearchFunc(a.stems, h, func(s stemCount, h uint64) int { return cmp.Compare(s.hash, h) }); ok {
				counts[i] = a.stems[at].count
			}
		}
		t.set(d, a.length, counts)
	}
	scores, q := t.coverage(), newVector(query)
	for d, words := range scores {
		pieces := max(q.cosine(docs[d].vector), 0)
		scores[d] = min(wordWeight.Mul(words)+pieceWeight.Mul(pieces), ratio.One)
	}
	return scores
}

// The weights of [Similar]. They were chosen, not fitted: whole words are
// stronger evidence than n-grams, which serve for inflections and
// misspellings.
const (
	wordWeight  = 7 * ratio.One / 10
	pieceWeight = 3 * ratio.One / 10
)
