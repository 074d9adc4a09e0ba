package retrieval

import "github.com/carrel-dev/carrel/ratio"

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
