package retrieval

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// An Analysis is what [SimilarTo] has to know of a text. It is made once and
// compared with many queries. It does not change, and may be shared.
type Analysis struct {
	stems  []stemCount // by hash
	length int         // in words
	vector Vector
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
	a := &Analysis{vector: NewVector(doc)}
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

// Size returns about how many bytes the analysis takes.
func (a *Analysis) Size() int64 { return 16*int64(len(a.stems)) + 4*Buckets + 64 }

// hashOf returns the 64-bit FNV-1a of a stem.
func hashOf(stem string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(stem) {
		h = (h ^ uint64(stem[i])) * fnvPrime
	}
	return h
}

// SimilarTo returns what [Similar] does, for texts that were analyzed before.
func SimilarTo(query string, docs []*Analysis) []ratio.Ratio {
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
	return blend(query, t.coverage(), func(d int) Vector { return docs[d].vector })
}
