package retrieval

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// An Analysis is what [Similar] has to know of a text. It is made once and
// compared with many queries. It does not change, and may be shared.
type Analysis struct {
	stems  []stemCount // by hash
	length int         // in words
	vector vector
}

// A stemCount says how often a stem is in a text. Two stems with one hash count
// as one: of a million, that may happen to two with a chance of one in ten
// million.
type stemCount struct {
	hash  uint64
	count int
}

// Analyze returns the analysis of a text. It takes about 16 bytes for each
// different word, and 2 KB.
func Analyze(doc string) *Analysis {
	a := &Analysis{vector: newVector(doc)}
	counts := make(map[string]int)
	for w := range text.Words(doc) {
		counts[w]++
		a.length++
	}
	for w, n := range counts { // in any order: they are sorted
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

// Similar returns, for each text in turn, how much it is like the query, from 0 to 1,
// without any model:
//
//	0.7 · coverage + 0.3 · max(0, cosine)
//
// The coverage is the score of the text by [Rank] as a share of what a text would score
// that had every word of the query without end. The cosine is that of vectors of pieces
// of words: the letters of each word, three to five at a time, so that the forms of a
// word are neighbors, and so are its misspellings. A text that shares no word with the
// query can have 0.3 at most. By the coverage, a result depends on the texts that it is
// taken among.
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

// The weights of [Similar]. They were chosen beforehand and not fitted to
// anything: whole words say more than their pieces, which are there for other
// forms and for slips.
const (
	wordWeight  = 7 * ratio.One / 10
	pieceWeight = 3 * ratio.One / 10
)
