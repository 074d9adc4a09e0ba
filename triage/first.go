package triage

import (
	"cmp"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
)

// First is the result of the first pass.
type First struct {
	Admitted []Candidate // ordered by Fused, then by First, best first; ties go to the lower row
	Tally    Tally

	deep int // number of rows in Admitted that the second pass scores
	rows int // number of rows of the table
	scan scan
	eligible
	list []admission
}

// A Candidate is a row that the first pass admitted, with the figures of its
// score.
type Candidate struct {
	Row        int
	Class      provenance.Class
	Recency    ratio.Ratio // R
	Provenance ratio.Ratio // P
	First      ratio.Ratio // score of the first pass
	Hit        int         // rank among the hits that may enter, from 1; 0 for no hit
	Fused      ratio.Ratio // sum of the reciprocal ranks by First and by Hit
}

// Reason returns the outcome for a row. It is "absent" for a row with the flag Absent, and for one
// that the table does not have. It takes constant time.
func (f *First) Reason(row int) Reason {
	if row >= 0 && row < f.rows {
		for c := range absent {
			if f.scan.has(c, row) {
				return reasons[c]
			}
		}
	}
	return reasonAbsent
}

// Bits returns the set of rows with a reason: bit i of byte j, counted from
// the least significant, is row 8j+i. Absent rows have no bits. f owns the
// result; callers must not change it.
func (f *First) Bits(reason Reason) []byte {
	if c := slices.Index(reasons[:absent], reason); c >= 0 {
		return f.scan.sets[c][:(f.rows+7)/8]
	}
	return nil
}

// Shortlist returns the candidates that [Policy.Second] scores: the first ones in f.Admitted, at
// most Policy.Deep. The others get no score and no tag.
func (f *First) Shortlist() []Candidate { return f.Admitted[:f.deep:f.deep] }

// First makes the first pass over t at the time now. hits are the rows with
// the best lexical matches, best first. Hits that may not enter, do not
// exist, come twice, or come after the best p.Admit are ignored.
//
// Three fifths of the places, rounded up, go to the rows with the best
// scores. The other places go to the best other hits; if there are too few,
// to the rows with the next best scores. The admitted rows are then ordered
// by the sum of their reciprocal ranks by score and by hit.
//
// Apart from the admitted rows, First takes about a nanosecond and six bits
// of memory a row. If reuse is not nil, it uses the memory of that earlier
// result, which becomes invalid; then it allocates nothing as long as the
// table does not grow.
func (p *Policy) First(t *Table, now time.Time, hits []int, reuse *First) *First {
	f := reuse
	if f == nil {
		f = new(First)
	}
	s := &f.scan
	s.begin(p, t, now)
	s.prime()
	s.run()
	f.rows = t.Len()
	f.takeHits(hits)
	f.admit()
	fuse(f.list)
	f.deep = min(max(p.Deep, 0), len(f.list))
	f.Admitted = slices.Grow(f.Admitted[:0], len(f.list))
	for _, a := range f.list {
		f.Admitted = append(f.Admitted, s.candidate(a))
	}
	for _, c := range f.Admitted[f.deep:] {
		s.move(c.Row, admitted, notScored)
	}
	f.Tally = tallyOf(&s.count)
	s.table = nil
	return f
}

// eligible has the lexical hits whose rows may enter the context.
type eligible struct {
	order []int    // the rows, best first
	ranks [][2]int // pairs of a row and its rank from 1 on, ascending by row
}

// takeHits records the hits that may enter, each once, up to the number of places.
func (f *First) takeHits(hits []int) {
	s := &f.scan
	f.order, f.ranks = f.order[:0], f.ranks[:0]
	for _, row := range hits {
		if len(f.order) == s.best.places {
			break
		}
		if row >= 0 && row < f.rows && s.has(crowded, row) {
			f.order = append(f.order, row)
			s.move(row, crowded, admitted) // so that a second hit on the row is ignored
		}
	}
	for i, row := range f.order {
		f.ranks = append(f.ranks, [2]int{row, i + 1})
		s.move(row, admitted, crowded)
	}
	slices.SortFunc(f.ranks, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
}

// rank returns the rank of a row among the hits, or 0 if it is no hit.
func (h *eligible) rank(row int) int {
	i, is := slices.BinarySearchFunc(h.ranks, row, func(r [2]int, row int) int { return cmp.Compare(r[0], row) })
	if !is {
		return 0
	}
	return h.ranks[i][1]
}

// An admission is an admitted row, with the keys of its order. It has no
// pointers, which makes it quick to sort.
type admission struct {
	row   int
	hit   int // as Candidate.Hit
	score ratio.Ratio
	fused ratio.Ratio
}

// admit chooses the admitted rows from the best scores and the hits.
func (f *First) admit() {
	s := &f.scan
	places := min(s.best.places, s.count[crowded])
	f.list = f.list[:0]
	admit := func(row int) {
		if len(f.list) < places && s.has(crowded, row) {
			s.move(row, crowded, admitted)
			f.list = append(f.list, admission{row: row, hit: f.rank(row), score: s.score(row)})
		}
	}
	sure := min(s.best.places-s.best.places*2/5, places)
	for _, e := range s.best.list[:sure] {
		admit(e.row)
	}
	for _, row := range f.order {
		admit(row)
	}
	for _, e := range s.best.list[sure:] {
		admit(e.row)
	}
}

// smoothing is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
// The larger it is, the less the best ranks differ in their effect.
const smoothing = 60

// fuse sets the fused score of each admission and sorts the list by it.
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

// candidate returns the candidate of an admission.
func (s *scan) candidate(a admission) Candidate {
	r := s.scorer(a.row)
	return Candidate{
		Row:        a.row,
		Class:      classes[s.class(a.row)],
		Recency:    r.clock.recency(s.age(a.row)),
		Provenance: r.rank,
		First:      a.score,
		Hit:        a.hit,
		Fused:      a.fused,
	}
}
