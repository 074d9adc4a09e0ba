package facts

import (
	"math/bits"
	"slices"

	"github.com/carrel-dev/carrel/internal/bins"
)

// A vocabulary records properties of the words of a conversation. Its arrays are indexed
// by the 16-bit hash of a word; different words may share a hash.
type vocabulary struct {
	lines [1 << 16]uint16 // number of occurrences, up to 65,535: about the number of lines with the word
	asked [1 << 16]bool   // the word is in the newest user message, the newest reply or the newest plan
	done  [1 << 16]bool   // the word is in the arguments of the last calls
}

// A wordWeights has sums of the weights of the different words of a line: of the words that
// vocabulary.asked marks, of those that vocabulary.done marks, and of all. A rarer word has
// a greater weight.
type wordWeights struct{ asked, done, all int32 }

// maxCallWords is the number of words of a call's arguments that indexWords marks as done.
const maxCallWords = 200

// indexWords fills in the vocabulary: it counts the words, and marks those of the newest
// messages and plan and of the last calls. Then it computes the wordWeights of each line.
func (e *estimator) indexWords() {
	plan, lines := -1, 0
	for i := range e.pieces {
		p := &e.pieces[i]
		if p.source == sourcePlan {
			plan = i
		}
		lines += len(p.Lines)
		for _, w := range p.words {
			e.words.lines[w] += uint16(bins.Flag(e.words.lines[w] < 1<<16-1))
		}
	}
	for i := range e.pieces {
		p := &e.pieces[i]
		if p.source == sourceNewest || p.source == sourceNewestReply || i == plan {
			for _, w := range p.words {
				e.words.asked[w] = true
			}
		}
		if p.source.arguments() && e.callCount-e.calls[i] <= hotCalls {
			for _, w := range p.words[:min(len(p.words), maxCallWords)] {
				e.words.done[w] = true
			}
		}
	}
	all := make([]wordWeights, lines)
	for i := range e.pieces {
		p := &e.pieces[i]
		e.wordWeights[i], all = all[:len(p.Lines):len(p.Lines)], all[len(p.Lines):]
		for k := range p.Lines {
			e.wordWeights[i][k] = e.words.weigh(p.words[p.Lines[k].words:p.Lines[k].wordsEnd], lines)
		}
	}
}

// weigh returns the weights of words. The weight of a word is the bit length of the number
// of lines divided by one more than the occurrences of the word.
func (v *vocabulary) weigh(words []uint16, lines int) wordWeights {
	var s wordWeights
	for k, w := range words {
		if slices.Contains(words[:k], w) {
			continue
		}
		n := int32(bits.Len32(uint32(lines / (int(v.lines[w]) + 1))))
		s.all += n
		if v.asked[w] {
			s.asked += n
		}
		if v.done[w] {
			s.done += n
		}
	}
	return s
}

// surroundings has, for each line of a piece, values that the features of the lines near
// it are computed from.
type surroundings struct {
	chances []Chance // the chance of the likeliest name in the line
	sums    []Chance // the sum of the chances of all names in the lines before this one
	weights []wordWeights
	within  []uint8 // the declarationHeat of the declaration that has the line, 0 for none
}

// fill computes the surroundings of piece i. Its slices reuse their memory.
func (s *surroundings) fill(e *estimator, i int) {
	p, ids := &e.pieces[i], e.need.Marks[i]
	s.chances, s.within, s.weights = s.chances[:0], s.within[:0], e.wordWeights[i]
	s.sums = append(s.sums[:0], 0)
	within, sum := uint8(0), Chance(0)
	for k := range p.Lines {
		l := &p.Lines[k]
		names := ids[l.First:l.End]
		likeliest := Chance(0)
		for _, id := range names {
			c := e.need.Names[id].Chance
			sum += c
			likeliest = max(likeliest, c)
		}
		if l.indent == 0 && l.shape == shapeDeclaration {
			within = e.declarationHeat(names)
		}
		s.chances, s.sums, s.within = append(s.chances, likeliest), append(s.sums, sum), append(s.within, within)
	}
}

// declarationHeat returns 3 if one of the names of a declaration is in the newest messages,
// 2 if one is hot (see [estimator.hot]), and 1 otherwise.
func (e *estimator) declarationHeat(names []int32) uint8 {
	most := uint8(1)
	for _, id := range names {
		switch n := &e.names[id]; {
		case n.named():
			return 3
		case e.hot(n):
			most = 2
		}
	}
	return most
}

// nameChances returns the sum of the chances of the names in up to four lines before line k
// and up to four lines after it.
func (s *surroundings) nameChances(k int) Chance {
	from, to := max(k-4, 0), min(k+5, len(s.chances))
	return s.sums[to] - s.sums[k+1] + s.sums[k] - s.sums[from]
}

// askedAround returns the bin of the share, by weight, that asked words have among the words
// of up to five lines before line k and up to five lines after it.
func (s *surroundings) askedAround(k int) uint8 {
	n, of := int32(0), int32(1)
	for j := max(k-5, 0); j < min(k+6, len(s.weights)); j++ {
		if j != k {
			n += s.weights[j].asked
			of += s.weights[j].all
		}
	}
	return bins.Of(int32(100*int64(n)/int64(of)), 1, 5, 10, 15, 20, 30, 40)
}
