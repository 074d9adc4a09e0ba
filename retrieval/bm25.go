// Package retrieval ranks texts by their similarity to a query.
//
//		hits := retrieval.Rank("rotate api keys", docs)
//
//	  - [Rank] orders texts by the words that they share with the query, by BM25.
//	  - [Similar] rates on a fixed scale how similar texts are to a query, by words
//	    and letter n-grams, without a dictionary or a model.
//	  - [CosineFloats] compares embeddings.
//	  - [FindBest] finds the best of very many texts in an index, by BM25.
//	  - [Dialog] ranks the turns of a dialog, in which an answer follows its question.
//
// The package does no I/O.
//
// # Determinism
//
// Scores are integers in millionths, and cosines are computed in integers, so
// that scores and orders are equal on every processor. Ties are broken by id
// or index. Functions may be called concurrently, except that calls of
// [CountStems] must not share their cache.
package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// A Document is a text to rank.
type Document struct {
	ID   string // breaks ties
	Text string
}

// A Hit is a document with its score.
type Hit struct {
	Index int         // index in the documents or turns that were ranked
	Score ratio.Ratio // from 0 up without a bound
	Terms []string    // words of the query that the document has, in the query's order
}

// The usual parameters of BM25 (Robertson and Zaragoza, "The Probabilistic
// Relevance Framework", section 3.6).
const (
	k1 = 1.2
	b  = 0.75
)

// Rank returns the documents that share a word with the query, best first, by
// BM25 over the given documents:
//
//	sum over words: ln(1+(N-n+½)/(n+½)) · tf·(k1+1)/(tf+k1·(1-b+b·len/avg))
//
// N documents are given, and n of them have the word; tf is how often the document has it, len the
// number of the document's words, and avg the mean of len; k1 is 1.2, and b is 0.75. Words are
// stemmed as English. A repeated word of the query counts once. Ties go to the smaller id.
func Rank(query string, docs []Document) []Hit {
	t := count(query, docs)
	var hits []Hit
	for d := range docs {
		if h := t.hit(d); len(h.Terms) > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(docs[x.Index].ID, docs[y.Index].ID))
	})
	return hits
}

// coverage returns for each document the share of the query that it covers, from 0 to 1:
// its score by [Rank] divided by the score of a document with every word of the query
// arbitrarily often,
//
//	sum over words of the query: idf · (k1+1)
//
// A document that shares no word with the query has 0. A document of average length
// that has every word once has 0.45, three times 0.71; none reaches 1. A word that no
// document has counts like a word that one document has.
//
// Unlike the scores of Rank, the coverages of queries of different length are comparable.
// They still depend on the other documents, by the idf.
func (t *tally) coverage() []ratio.Ratio {
	var most ratio.Ratio
	for i := range t.terms {
		most += millionths(t.idf(max(t.having[i], 1)) * (k1 + 1))
	}
	shares := make([]ratio.Ratio, len(t.counts))
	for d := range t.counts {
		shares[d] = min(ratio.Of(int64(t.hit(d).Score), int64(most)), ratio.One)
	}
	return shares
}

// A tally counts the words of a query in documents.
type tally struct {
	terms   []string // of the query, one for each stem
	counts  [][]int  // by document, then by term
	lengths []int    // of the documents, in words
	total   int      // sum of the lengths
	having  []int    // by term: number of documents that have it
}

// newTally returns an empty tally of n documents, and the index of the term of
// each stem.
func newTally(query string, n int) (t *tally, stems map[string]int) {
	t = &tally{counts: make([][]int, n), lengths: make([]int, n)}
	stems = make(map[string]int)
	for _, w := range Terms(query) {
		s := text.Stem(w)
		if _, known := stems[s]; !known {
			stems[s] = len(t.terms)
			t.terms = append(t.terms, w)
		}
	}
	t.having = make([]int, len(t.terms))
	return t, stems
}

// set sets the length in words and the counts by term of document d.
func (t *tally) set(d, length int, counts []int) {
	t.counts[d], t.lengths[d] = counts, length
	t.total += length
	for i, n := range counts {
		if n > 0 {
			t.having[i]++
		}
	}
}

// count counts the words of a query in docs.
func count(query string, docs []Document) *tally {
	t, stems := newTally(query, len(docs))
	memo := make(map[string]string)
	for d := range docs {
		counts, length := make([]int, len(t.terms)), 0
		for w := range text.Words(docs[d].Text) {
			length++
			s, ok := memo[w]
			if !ok {
				s = text.Stem(w)
				memo[w] = s
			}
			if i, ok := stems[s]; ok {
				counts[i]++
			}
		}
		t.set(d, length, counts)
	}
	return t
}

// hit returns the document with the index d as a hit.
func (t *tally) hit(d int) Hit {
	h := Hit{Index: d}
	length := float64(t.lengths[d]) * float64(len(t.counts)) / float64(max(t.total, 1)) // relative to the average
	for i, tf := range t.counts[d] {
		if tf == 0 {
			continue
		}
		h.Score += millionths(t.idf(t.having[i]) * float64(tf) * (k1 + 1) / (float64(tf) + k1*(1-b+b*length)))
		h.Terms = append(h.Terms, t.terms[i])
	}
	return h
}

// idf returns the weight of a term. The argument having is the number of
// documents that have the term.
func (t *tally) idf(having int) float64 {
	return RankIDF(len(t.counts), having)
}

// millionths rounds x to the nearest millionth. That drops the last bits, which
// differ between processors.
func millionths(x float64) ratio.Ratio {
	return ratio.Ratio(math.Round(x * float64(ratio.One)))
}

// Terms returns the words of a query in lower case, each once, in order.
func Terms(query string) []string {
	var terms []string
	seen := make(map[string]bool)
	for w := range text.Words(query) {
		if !seen[w] {
			seen[w] = true
			terms = append(terms, w)
		}
	}
	return terms
}

// termsAndStems returns the words of a query in lower case and their stems,
// one word for each stem.
func termsAndStems(query string) (terms, stems []string) {
	seen := make(map[string]bool)
	for _, w := range Terms(query) {
		if s := text.Stem(w); !seen[s] {
			seen[s] = true
			terms, stems = append(terms, w), append(stems, s)
		}
	}
	return terms, stems
}

// Stems returns the distinct stems of a text's words, in order.
func Stems(said string) []string {
	_, stems := termsAndStems(said)
	return stems
}

// ContentTermsAndStems is [termsAndStems] without function words, which nearly every text
// has. A query of only function words keeps them.
func ContentTermsAndStems(query string) (terms, stems []string) {
	all, stemsOfAll := termsAndStems(query)
	for i, s := range stemsOfAll {
		if !functionWords.Get()[s] {
			terms, stems = append(terms, all[i]), append(stems, s)
		}
	}
	if len(terms) == 0 {
		return all, stemsOfAll
	}
	return terms, stems
}

// Keys returns the stems of a query without those of function words. A query of only function
// words keeps them.
func Keys(query string) []string {
	_, stems := ContentTermsAndStems(query)
	return stems
}

// functionWords are the stems of common English words with little meaning of their own.
var functionWords = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(`a an the this that these those there here it its he she they them we us our you your i my me
		is am are was were be been being do does did done have has had will would can could shall should may might must
		and or but not no nor so if then than as of in on at by to for from with without into onto over under about
		who whom whose what which when where why how any some all each every please`) {
		words[text.Stem(w)] = true
	}
	return words
}}
