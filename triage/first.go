package triage

import (
	"cmp"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
)

// First is the result of pass one.
type First struct {
	Admitted []Candidate // by Fused, best first; then by First; then the lower row
	Tally    Tally

	deep  int    // number of Admitted that pass two scores
	codes []code // of every row
}

// A Candidate is a row that pass one has admitted, with what it was judged by.
type Candidate struct {
	Row        int
	Class      provenance.Class
	Recency    ratio.Ratio // R
	Provenance ratio.Ratio // P
	First      ratio.Ratio // score of pass one
	Hit        int         // rank among the hits that could enter, from 1; 0 if it is none
	Fused      ratio.Ratio // reciprocal ranks by First among the admitted and by Hit, summed
}

// Reason returns what became of a row of the table, or "absent" if there
// was no such row. It takes the same time for every row.
func (f *First) Reason(row int) Reason {
	if row < 0 || row >= len(f.codes) {
		return reasonAbsent
	}
	return reasons[f.codes[row]]
}

// Bits says which rows have a reason: bit i of byte j, counted from the least
// significant, is for row 8j+i.
func (f *First) Bits(reason Reason) []byte {
	bits := make([]byte, (len(f.codes)+7)/8)
	want := code(slices.Index(reasons[:], reason))
	for row, c := range f.codes {
		var bit byte
		if c == want { // without a branch: which rows have it is anybody's guess
			bit = 1
		}
		bits[row>>3] |= bit << (row & 7)
	}
	return bits
}

// Shortlist returns the candidates that pass two scores, in the order of
// Admitted.
func (f *First) Shortlist() []Candidate { return f.Admitted[:f.deep:f.deep] }

// First makes pass one over a table at a time. The hits are the rows with the
// best lexical evidence, best first. Rows among them that may not enter or do
// not exist are passed over, as are those that come twice and those after the
// p.Admit best.
//
// Three fifths of the places, rounded up, go to the rows with the best scores.
// The others go to the best hits that have no place yet, and what the hits
// leave, to scores again. The admitted are then put in the order of their
// reciprocal ranks by score and by hit.
//
// Beyond what the places cost, First takes a few nanoseconds and one byte of
// memory a row.
func (p *Policy) First(t *Table, now time.Time, hits []int) *First {
	s := newScan(p, t, now)
	s.prime()
	s.run()

	list := s.unite(s.hits(hits))
	fuse(list)
	f := &First{
		Admitted: make([]Candidate, len(list)),
		deep:     min(max(p.Deep, 0), len(list)),
		codes:    s.codes,
	}
	for i, a := range list {
		f.Admitted[i] = s.candidate(a)
	}
	for _, c := range f.Admitted[f.deep:] {
		f.codes[c.Row] = notScored
	}
	s.count[crowded] -= len(f.Admitted)
	s.count[admitted] = f.deep
	s.count[notScored] = len(f.Admitted) - f.deep
	f.Tally = tallyOf(&s.count)
	return f
}

// An admission is a row that is admitted, with what decides its order. It has
// no pointers, which makes it quick to sort.
type admission struct {
	row   int
	hit   int // as Candidate.Hit
	score ratio.Ratio
	fused ratio.Ratio
}

// unite chooses the admitted, given the hits that may enter, best first.
func (s *scan) unite(hits []int) []admission {
	rank := make(map[int]int, len(hits))
	for i, row := range hits {
		rank[row] = i + 1
	}
	places := min(s.best.places, s.count[crowded])
	list := make([]admission, 0, places)
	admit := func(row int) {
		if len(list) < places && s.codes[row] != admitted {
			s.codes[row] = admitted
			list = append(list, admission{row: row, hit: rank[row], score: s.score(row)})
		}
	}

	sure := min(s.best.places-s.best.places*2/5, places)
	for _, e := range s.best.list[:sure] {
		admit(e.row)
	}
	for _, row := range hits {
		admit(row)
	}
	for _, e := range s.best.list[sure:] {
		admit(e.row)
	}
	return list
}

// smoothing is the constant of reciprocal rank fusion (Cormack, Clarke and
// Büttcher, SIGIR 2009): how little the first ranks differ.
const smoothing = 60

// fuse sets what is fused of each admission and sorts them by it.
func fuse(list []admission) {
	byScore := func(a, b admission) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row))
	}
	slices.SortFunc(list, byScore)
	for i := range list {
		a := &list[i]
		a.fused = ratio.Of(1, smoothing+1+i)
		if a.hit > 0 {
			a.fused += ratio.Of(1, smoothing+a.hit)
		}
	}
	slices.SortFunc(list, func(a, b admission) int {
		return cmp.Or(cmp.Compare(b.fused, a.fused), byScore(a, b))
	})
}

// candidate returns an admission as a candidate.
func (s *scan) candidate(a admission) Candidate {
	r := s.scorer(a.row)
	return Candidate{
		Row:        a.row,
		Class:      classes[s.table.kinds[a.row]&noClass],
		Recency:    r.clock.recency(s.age(a.row)),
		Provenance: r.rank,
		First:      a.score,
		Hit:        a.hit,
		Fused:      a.fused,
	}
}
