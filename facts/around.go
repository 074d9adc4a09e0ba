package facts

import (
	"math/bits"
	"slices"

	"github.com/carrel-dev/carrel/internal/bins"
)

// A vocabulary has the words of a conversation, by their numbers.
type vocabulary struct {
	lines       [1 << 16]uint16 // pieces' lines with the word, about
	asked, done [1 << 16]bool   // it is in the newest words or plan, in the last calls
}

// A sense is what the words of a line say, the more the rarer they are: of those that
// are asked for, of those that the last calls have, and of all.
type sense struct{ asked, done, all int32 }

// mostDone is how many words of a call are looked at.
const mostDone = 200

// listen counts words, and finds those of the newest words and plan and of the last
// calls. Then it finds what the words of each line say.
func (e *estimator) listen() {
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
		if p.source.arguments() && e.asked-e.calls[i] <= hotCalls {
			for _, w := range p.words[:min(len(p.words), mostDone)] {
				e.words.done[w] = true
			}
		}
	}
	all := make([]sense, lines)
	for i := range e.pieces {
		p := &e.pieces[i]
		e.senses[i], all = all[:len(p.Lines):len(p.Lines)], all[len(p.Lines):]
		for k := range p.Lines {
			e.senses[i][k] = e.words.sense(p.words[p.Lines[k].words:p.Lines[k].wordsEnd], lines)
		}
	}
}

// sense returns what words say, of so many lines.
func (v *vocabulary) sense(words []uint16, lines int) sense {
	var s sense
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

// surroundings are what is known of the lines around each line of a piece.
type surroundings struct {
	chances []Chance // of the likeliest name
	sums    []Chance // of the chances of all lines before
	senses  []sense
	within  []uint8 // what the declaration around it names
}

// look fills in the surroundings of a piece.
func (s *surroundings) look(e *estimator, i int) {
	p, ids := &e.pieces[i], e.need.Marks[i]
	s.chances, s.within, s.senses = s.chances[:0], s.within[:0], e.senses[i]
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
			within = e.declares(names)
		}
		s.chances, s.sums, s.within = append(s.chances, likeliest), append(s.sums, sum), append(s.within, within)
	}
}

// declares returns how near to the work the names of a declaration are.
func (e *estimator) declares(names []int32) uint8 {
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

// around returns the sum of the chances of the names in up to four lines before and
// behind a line.
func (s *surroundings) around(k int) Chance {
	from, to := max(k-4, 0), min(k+5, len(s.chances))
	return s.sums[to] - s.sums[k+1] + s.sums[k] - s.sums[from]
}

// askedAround returns the bin of how much of the words in up to five lines before and
// behind a line is asked for.
func (s *surroundings) askedAround(k int) uint8 {
	n, of := int32(0), int32(1)
	for j := max(k-5, 0); j < min(k+6, len(s.senses)); j++ {
		if j != k {
			n += s.senses[j].asked
			of += s.senses[j].all
		}
	}
	return bins.Of(int32(100*int64(n)/int64(of)), 1, 5, 10, 15, 20, 30, 40)
}
