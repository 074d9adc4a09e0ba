// Package retrieval ranks texts by the words that they share with a query.
//
// It ranks candidates that somebody else found; it keeps no index and does no
// I/O. Scores are compared in whole millionths, so that the order is the same
// on every processor.
package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/carrel-dev/carrel/ratio"
)

// A Document is a candidate.
type Document struct {
	ID   string // ties are broken by it
	Text string
}

// A Hit is a document with its score.
type Hit struct {
	Index int         // in the documents given
	Score ratio.Ratio // of a bag of words: any number from 0 up
	Terms []string    // words of the query that it has, in the query's order
}

// Parameters of BM25 as its authors give them as usual (Robertson and
// Zaragoza, "The Probabilistic Relevance Framework", section 3.6).
const (
	k1 = 1.2
	b  = 0.75
)

// Rank returns the documents that share a word with the query, best first, by
// BM25 with the idf of the documents given:
//
//	sum over words: ln(1+(N-n+½)/(n+½)) · tf·(k1+1)/(tf+k1·(1-b+b·len/avg))
//
// Words are stemmed as English. A word of the query counts once. Ties go by id.
func Rank(query string, docs []Document) []Hit {
	terms := Terms(query)
	stems := make(map[string]int, len(terms)) // stem → index in terms
	for i, t := range terms {
		if _, ok := stems[Stem(t)]; !ok {
			stems[Stem(t)] = i
		}
	}
	counts := make([][]int, len(docs)) // how often each term is in a document
	lengths := make([]int, len(docs))
	having := make([]int, len(terms)) // documents that have a term
	total := 0
	memo := make(map[string]string)
	for d := range docs {
		counts[d] = make([]int, len(terms))
		eachWord(docs[d].Text, func(w string) {
			lengths[d]++
			s, ok := memo[w]
			if !ok {
				s = Stem(w)
				memo[w] = s
			}
			if i, ok := stems[s]; ok {
				counts[d][i]++
			}
		})
		total += lengths[d]
		for i, n := range counts[d] {
			if n > 0 {
				having[i]++
			}
		}
	}
	var hits []Hit
	for d := range docs {
		if h, ok := score(terms, counts[d], having, float64(lengths[d])*float64(len(docs))/float64(max(total, 1)), len(docs)); ok {
			h.Index = d
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(docs[x.Index].ID, docs[y.Index].ID))
	})
	return hits
}

// score returns the score of a document of a relative length.
func score(terms []string, counts, having []int, length float64, docs int) (Hit, bool) {
	var h Hit
	for i, tf := range counts {
		if tf == 0 {
			continue
		}
		idf := math.Log(1 + (float64(docs-having[i])+0.5)/(float64(having[i])+0.5))
		part := idf * float64(tf) * (k1 + 1) / (float64(tf) + k1*(1-b+b*length))
		h.Score += ratio.Ratio(math.Round(part * float64(ratio.One)))
		h.Terms = append(h.Terms, terms[i])
	}
	return h, len(h.Terms) > 0
}

// Terms returns the words of a query in lower case, each once, in order.
func Terms(query string) []string {
	var terms []string
	seen := make(map[string]bool)
	eachWord(query, func(w string) {
		if !seen[w] {
			seen[w] = true
			terms = append(terms, w)
		}
	})
	return terms
}

// Stem returns the stem of a word in lower case (Snowball, English). A word
// with a digit or an underscore is a name and is its own stem.
func Stem(word string) string {
	if strings.ContainsAny(word, "0123456789_") {
		return word
	}
	return english.Stem(word, false)
}

// eachWord calls f for each run of letters, digits and underscores, in lower
// case.
func eachWord(text string, f func(string)) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		f(strings.ToLower(w))
	}
}
