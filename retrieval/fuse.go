package retrieval

import (
	"cmp"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/ratio"
)

// Fuse joins rankings into one by reciprocal rank fusion (Cormack, Clarke and
// Büttcher, 2009). Each ranking has the indexes of candidates, best first; a
// candidate may be missing from it, and scores
//
//	sum over the rankings that have it: 1/(k + rank)
//
// with the first rank being 1. The larger k, the less the first places count
// over the others; its authors use 60, and below 0 it is taken as 0. An index
// counts once in a ranking, where it comes first. The result has every index of
// any ranking once; ties go by index, lower first.
//
// The terms are integers, in parts of 2⁴⁰, rounded down.
func Fuse(k int, rankings ...[]int) []int {
	k = min(max(k, 0), 1<<30)
	scores := make(map[int]uint64)
	for _, ranking := range rankings {
		seen := make(map[int]bool, len(ranking))
		for i, index := range ranking {
			if !seen[index] {
				seen[index] = true
				scores[index] += 1 << 40 / uint64(k+i+1)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(x, y int) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y))
	})
}

// The weights of [Similar]. They were chosen beforehand and not fitted to
// anything: whole words say more than their pieces, which are there for other
// forms and for slips.
const (
	wordWeight  = 7 * ratio.One / 10
	pieceWeight = 3 * ratio.One / 10
)

// Similar returns, for each document in turn, how much it is like the query,
// from 0 to 1, without any model:
//
//	0.7 · [Coverage] + 0.3 · max(0, cosine of the [Vector]s)
//
// Like Coverage it depends on the documents it is taken among. A document that
// shares no word with the query can have 0.3 at most.
func Similar(query string, docs []Document) []ratio.Ratio {
	return blend(query, Coverage(query, docs), func(d int) Vector { return NewVector(docs[d].Text) })
}

// blend adds the likeness of the pieces of words to that of the words.
func blend(query string, scores []ratio.Ratio, vector func(d int) Vector) []ratio.Ratio {
	q := NewVector(query)
	for d := range scores {
		pieces := max(q.Cosine(vector(d)), 0)
		scores[d] = min(wordWeight.Mul(scores[d])+pieceWeight.Mul(pieces), ratio.One)
	}
	return scores
}
