package retrieval

import (
	"math"
	"math/bits"
	"slices"

	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/ratio"
)

// A Best is a document found in an index.
type Best struct {
	ID    int64       // number of the block, which store.Finder.Numbered resolves
	Score ratio.Ratio // by BM25, from 0 up without a bound
	at    scored
}

// A scored is a document with its score: the document at place of view number view.
type scored struct {
	score int64 // in units of 2^-scoreBits
	view  uint32
	place uint32
}

// Has reports whether the document has the word with the index i in the words that were passed to
// Postings. The argument views is that of [FindBest].
func (d *Best) Has(views []postings.View, i int) bool {
	l := views[d.at.view].Lists[i]
	return l != nil && l.Count(d.at.place) > 0
}

// RankIDF returns the weight of a word in [Rank], ln(1+(N-n+½)/(n+½)), where N is docs, the number
// of documents, and n is having, the number of those that have the word. It is above 0 for every
// word.
func RankIDF(docs, having int) float64 {
	return math.Log(1 + (float64(docs-having)+0.5)/(float64(having)+0.5))
}

// FindBest returns the k documents with the highest BM25 scores, best first. The argument views is
// the result of store.Finder.Postings for the words of a query, such as [Keys] returns: a view has
// the documents of one part of an index, and for each word the documents that have it. The function
// idf weighs a word; pass [RankIDF]. The score of a document is that of [Rank],
//
//	sum over words: idf · tf·(k1+1)/(tf+k1·(1-b+b·len/avg))
//
// with idf and avg over all views together. No document is in two views. Ties go to the smaller id.
//
// The search passes over the documents in stretches with at most one block of
// postings per word. It skips a stretch if the largest counts and the
// smallest lengths in its blocks cannot place any of its documents among the
// best. It takes a few nanoseconds for each posting that it reads.
func FindBest(views []postings.View, k int, idf func(docs, having int) float64) []Best {
	if len(views) == 0 || k <= 0 {
		return nil
	}
	s := takeSearcher()
	defer giveSearcher(s)
	s.begin(views, k, idf)
	for i := range views {
		s.search(&views[i], uint32(i)) //nolint:gosec // there are few
	}
	return s.results(views)
}

const (
	// scoreBits is the number of fractional bits of a score, of 63 bits: sums of integers do
	// not depend on the processor. Each summand is computed in steps that IEEE 754 defines
	// to the last bit; the explicit conversions keep the compiler from fusing the steps.
	scoreBits = 40

	// stretch is the largest number of documents that a search scores in one
	// step.
	stretch = 4096
)

// searchers holds idle searchers, to reuse their memory.
var searchers = make(chan *searcher, 16)

func takeSearcher() *searcher {
	select {
	case s := <-searchers:
		return s
	default:
		return new(searcher)
	}
}

func giveSearcher(s *searcher) {
	select {
	case searchers <- s:
	default:
	}
}

// A searcher is the state of a search.
type searcher struct {
	weights []float64 // of the words: idf·(k1+1), times 2^scoreBits
	slope   float64   // k1·b/avg
	memory  []word
	words   []*word  // the words with unread documents
	best    []scored // the best documents so far; once there are k, a heap with the worst on top
	k       int
	least   int64                // the score that a document must exceed to be among the best
	sums    [stretch]int64       // by offset in the current stretch: the score so far
	found   [stretch / 64]uint64 // a bit for each document of the stretch that has a word
}

// A word is the position of a search in the list of a word of the query.
type word struct {
	postings.Cursor

	weight       float64
	most         int64  // an upper bound of what the current block adds to a score
	low          uint32 // a lower bound of the unread documents
	read         bool   // the current block is decoded to docs and counts
	at, n        int    // position in docs, and number of documents there
	docs, counts [postings.BlockSize]uint32
}

// begin prepares a search.
func (s *searcher) begin(views []postings.View, k int, idf func(docs, having int) float64) {
	docs, total := 0, uint64(0)
	for i := range views {
		docs, total = docs+views[i].Docs(), total+views[i].Words
	}
	s.slope = float64(k1*b) * float64(docs) / float64(max(total, 1))
	s.weights = s.weights[:0]
	for i := range views[0].Lists {
		having := 0
		for v := range views {
			having += views[v].Having(i)
		}
		// Rounding drops the last bits of the logarithm, which differ between processors.
		w := math.Round(idf(docs, having) * (1 << scoreBits))
		s.weights = append(s.weights, float64(w*(k1+1)))
	}
	s.best, s.k, s.least = s.best[:0], k, 0
}

// search scores the documents of views[view], which is v.
func (s *searcher) search(v *postings.View, view uint32) {
	s.memory, s.words = slices.Grow(s.memory[:0], len(v.Lists))[:len(v.Lists)], s.words[:0]
	for i, l := range v.Lists {
		if l == nil {
			continue
		}
		w := &s.memory[i]
		w.Cursor, w.weight = l.Cursor(), s.weights[i]
		if s.next(w) {
			s.words = append(s.words, w)
		}
	}
	for len(s.words) > 0 {
		from, to := s.stretch()
		switch only, promising := s.promising(to); {
		case !promising:
		case only != nil:
			s.scoreSingle(only, v.Lengths, view, from, to)
		default:
			for _, w := range s.words {
				s.add(w, v.Lengths, from, to)
			}
			s.collect(view, from, to)
		}
		s.advance(to)
	}
}

// next moves the word w to its next block, and reports whether there is one.
func (s *searcher) next(w *word) bool {
	if !w.Next() {
		return false
	}
	w.read, w.low = false, w.First
	w.most = s.summand(w.weight, w.MostCount, w.MinLength) + 1 // 1 more for rounding
	if w.Last-w.First > stretch {
		w.decode() // in a long block, most stretches have no document of the word; only docs tells which
	}
	return true
}

func (w *word) decode() {
	w.n, w.at, w.read = w.Decode(&w.docs, &w.counts), 0, true
}

// summand returns what a word of the query adds to the score of a document. The document has
// the given length in words, and has the word count times; weight is that of the word.
func (s *searcher) summand(weight float64, count, length uint32) int64 {
	tf := float64(count)
	return int64(float64(weight*tf) / (tf + float64(k1*(1-b)+float64(s.slope*float64(length)))))
}

// from returns a lower bound of the unread documents of w.
func (w *word) from() uint32 {
	if w.read {
		return w.docs[w.at]
	}
	return w.low
}

// stretch returns the range of the next documents to score: it begins with the document
// from and ends before the document to. Each word has at most one block of postings in
// the range.
func (s *searcher) stretch() (from, to uint32) {
	from, last := uint32(math.MaxUint32), uint32(math.MaxUint32)
	for _, w := range s.words {
		from, last = min(from, w.from()), min(last, w.Last)
	}
	if len(s.words) == 1 {
		return from, last + 1
	}
	return from, min(last-from, stretch-1) + from + 1
}

// promising reports whether an unread document before the document to can be among the
// best. If only one word of the query has documents before that one, promising returns it,
// otherwise nil.
func (s *searcher) promising(to uint32) (only *word, is bool) {
	sum, n := int64(0), 0
	for _, w := range s.words {
		if w.from() < to {
			sum, n, only = sum+w.most, n+1, w
		}
	}
	if n > 1 {
		only = nil
	}
	return only, len(s.best) < s.k || sum > s.least
}

// scoreSingle scores the documents of a stretch in which only the word w occurs.
func (s *searcher) scoreSingle(w *word, lengths []uint32, view, from, to uint32) {
	for w.at = w.begin(from); w.at < w.n && w.docs[w.at] < to; w.at++ {
		doc := w.docs[w.at]
		if length := lengths[doc]; length > 0 {
			s.offer(s.summand(w.weight, w.counts[w.at], length), view, doc)
		}
	}
}

// begin decodes the current block if necessary. It returns the position of the first
// document in the block that is not before the document from.
func (w *word) begin(from uint32) int {
	if !w.read {
		w.decode()
		w.skip(from)
	}
	return w.at
}

// add adds the summands of the word w to the scores of the documents of a stretch.
func (s *searcher) add(w *word, lengths []uint32, from, to uint32) {
	if w.from() >= to {
		return
	}
	for w.at = w.begin(from); w.at < w.n && w.docs[w.at] < to; w.at++ {
		doc := w.docs[w.at]
		if length := lengths[doc]; length > 0 {
			at := (doc - from) % stretch
			s.sums[at] += s.summand(w.weight, w.counts[w.at], length)
			s.found[at/64] |= 1 << (at % 64)
		}
	}
}

// collect passes the documents of a stretch with their scores to [searcher.offer],
// and sets the sums to 0.
func (s *searcher) collect(view, from, to uint32) {
	for i := range (to - from + 63) / 64 {
		found := s.found[i]
		s.found[i] = 0
		for ; found != 0; found &= found - 1 {
			at := 64*i + uint32(bits.TrailingZeros64(found)) //nolint:gosec // it is below 64
			sum := s.sums[at]
			s.sums[at] = 0
			s.offer(sum, view, from+at)
		}
	}
}

// offer keeps a document if it is among the best so far.
func (s *searcher) offer(sum int64, view, place uint32) {
	if len(s.best) < s.k || sum > s.least {
		s.keep(scored{sum, view, place})
	}
}

// keep adds a document to the best, in place of the worst of them if there are k.
func (s *searcher) keep(d scored) {
	if len(s.best) < s.k {
		s.best = append(s.best, d)
		if len(s.best) < s.k {
			return
		}
		for i := s.k/2 - 1; i >= 0; i-- {
			sink(s.best, i)
		}
	} else {
		s.best[0] = d
		sink(s.best, 0)
	}
	s.least = s.best[0].score
}

// sink moves the document at index i of a heap down until no child is worse.
func sink(h []scored, i int) {
	for d := h[i]; ; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].worse(h[child]) {
			child++
		}
		if child >= len(h) || !h[child].worse(d) {
			h[i] = d
			return
		}
		h[i] = h[child]
		i = child
	}
}

// worse reports whether d is ordered after the other document: it has a lower score or, if
// the scores are equal, a later view or place.
func (d scored) worse(than scored) bool {
	if d.score != than.score {
		return d.score < than.score
	}
	return d.view > than.view || d.view == than.view && d.place > than.place
}

// results returns the best documents, best first.
func (s *searcher) results(views []postings.View) []Best {
	h := s.best
	if len(h) < s.k {
		for i := len(h)/2 - 1; i >= 0; i-- {
			sink(h, i)
		}
	}
	best := make([]Best, len(h))
	for n := len(h) - 1; n >= 0; n-- {
		d := h[0]
		h[0] = h[n]
		if h = h[:n]; n > 0 {
			sink(h, 0)
		}
		best[n] = Best{ID: views[d.view].IDs[d.place], Score: millionthsOf(d.score), at: d}
	}
	return best
}

// millionthsOf rounds a score to the nearest millionth.
func millionthsOf(score int64) ratio.Ratio {
	hi, lo := bits.Mul64(uint64(score), uint64(ratio.One)) //nolint:gosec // no score is below 0
	lo, carry := bits.Add64(lo, 1<<(scoreBits-1), 0)
	return ratio.Ratio((hi+carry)<<(64-scoreBits) | lo>>scoreBits) //nolint:gosec // a score has 63 bits at most
}

// skip moves past those documents of the decoded block that are before the
// document from.
func (w *word) skip(from uint32) {
	for w.at < w.n && w.docs[w.at] < from {
		w.at++
	}
}

// advance moves all words past the documents before the document to. It removes the
// words that have no further documents.
func (s *searcher) advance(to uint32) {
	left := s.words[:0]
	for _, w := range s.words {
		w.low = max(w.low, to)
		if w.read {
			w.skip(to)
		}
		if w.Last >= to || s.next(w) {
			left = append(left, w)
		}
	}
	s.words = left
}
