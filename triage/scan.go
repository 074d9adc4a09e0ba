package triage

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/ratio"
)

// A scan judges every row of a table and keeps the best of those that may
// enter.
//
// The obvious loop, which scores a row after asking it four questions, loses
// most of its time to mispredicted branches and the rest to the exponential.
// This one avoids both. All questions together are an index into a table of
// verdicts. And as the score of a class never rises with age, a bar for each
// class, the time at or before which a row cannot be among the best, spares
// nearly every row its score; rows that may not enter have the highest bar.
type scan struct {
	table   *Table
	now     int64
	scorers [1 << classBits]scorer
	best    best

	verdicts [numVerdicts]code  // by verdict index
	bars     [numVerdicts]int64 // by verdict index: rows not newer are not scored
	codes    []code             // by row
	count    [numCodes]int
}

// A verdict index is a kind, and whether it is expired.
const numVerdicts = 1 << (kindBits + 1)

// verdict returns the verdict index of a row.
func verdict(kind uint8, expires, now int64) uint8 {
	late := uint8(0)
	if expires <= now {
		late = 1
	}
	return (kind<<1 | late) % numVerdicts
}

func newScan(p *Policy, t *Table, now time.Time) *scan {
	places := min(max(p.Admit, 0), t.Len())
	s := &scan{
		table: t,
		now:   millis(now),
		best:  best{places: places, list: make([]entry, 0, places), bar: math.MinInt64},
		codes: make([]code, t.Len()),
	}
	for i, c := range classes {
		s.scorers[i] = newScorer(p.Curve, p.Classes[c])
	}
	for v := range s.verdicts {
		s.verdicts[v] = s.judge(p, uint8(v))
		s.bars[v] = math.MaxInt64
		if s.verdicts[v] == crowded && places > 0 {
			s.bars[v] = math.MinInt64
		}
	}
	return s
}

// judge returns the code of rows with a verdict index, where crowded stands for
// all that may enter.
func (s *scan) judge(p *Policy, v uint8) code {
	class, flags := v>>1&noClass, Flags(v>>(classBits+1))
	switch {
	case flags&Absent != 0:
		return absent
	case flags&Refuted != 0:
		return refuted
	case v&1 != 0:
		return expired
	case class == noClass:
		return distrusted
	case s.scorers[class].rank < p.Trust && flags&Promoted == 0:
		return distrusted
	}
	return crowded
}

// run judges all rows, and leaves the best of those that may enter in s.best.
func (s *scan) run() {
	var seen [numVerdicts]int
	codes, now := s.codes, s.now
	created, expires := s.table.created[:len(codes)], s.table.expires[:len(codes)]
	for i, kind := range s.table.kinds[:len(codes)] {
		v := verdict(kind, expires[i], now)
		codes[i] = s.verdicts[v]
		seen[v]++
		if created[i] > s.bars[v] && !s.best.offer(s.score(i), i) {
			s.bars[v] = created[i]
		}
	}
	for v, n := range seen {
		s.count[s.verdicts[v]] += n
	}
}

// prime sets the bars of a large table from a sample of its rows: the worst of
// the best of a part is no better than the worst of the best of the whole.
// Without it, a table whose rows get newer and newer, as most do, would have
// all of them scored. The result is the same.
//
// The sample is between one and three times the root of rows times places,
// which balances its cost and that of the rows above the bar.
func (s *scan) prime() {
	rows := len(s.codes)
	if s.best.places == 0 || rows/s.best.places < 256 {
		return
	}
	step := 1 << (bits.Len(uint(rows/s.best.places))/2 - 1)
	for i := step - 1; i < rows; i += step {
		if v := verdict(s.table.kinds[i], s.table.expires[i], s.now); s.verdicts[v] == crowded {
			s.best.offer(s.score(i), i)
		}
	}
	bar := s.best.bar
	s.best.list = s.best.list[:0]
	if bar == math.MinInt64 {
		return // too few in the sample
	}
	s.best.bar = bar - 1 // a row as good as the bar may yet come before it
	var bars [1 << classBits]int64
	for c := range classes {
		bars[c] = s.now - s.scorers[c].reach(s.best.bar) - 1
	}
	for v := range s.bars {
		if s.verdicts[v] == crowded {
			s.bars[v] = bars[v>>1&noClass]
		}
	}
}

// score returns the score of pass one of row i, whose class must exist.
func (s *scan) score(i int) ratio.Ratio {
	return s.scorer(i).first(s.age(i))
}

func (s *scan) scorer(i int) *scorer { return &s.scorers[s.table.kinds[i]&noClass] }

func (s *scan) age(i int) int64 { return s.now - s.table.created[i] }

// hits returns those of the rows that may enter, each once, as far as there are
// places.
func (s *scan) hits(rows []int) []int {
	var list []int
	for _, row := range rows {
		if len(list) == s.best.places {
			break
		}
		if row >= 0 && row < len(s.codes) && s.codes[row] == crowded {
			list = append(list, row)
			s.codes[row] = admitted // no second time
		}
	}
	for _, row := range list {
		s.codes[row] = crowded
	}
	return list
}

// A scorer is a rule, made ready for pass one.
type scorer struct {
	clock   clock
	rank    ratio.Ratio
	recency ratio.Ratio // weight
	fixed   ratio.Ratio // what rank and rounding add, in millionths of a millionth
	weights ratio.Ratio
}

func newScorer(c Curve, r Scoring) scorer {
	weights := max(r.Recency+r.Provenance, 1)
	return scorer{
		clock:   newClock(c, r.HalfLife.Milliseconds()),
		rank:    r.Rank,
		recency: r.Recency,
		fixed:   r.Provenance*r.Rank + weights/2,
		weights: weights,
	}
}

// first returns the score of pass one at an age in milliseconds:
//
//	(wR·R + wP·P)/(wR + wP)
//
// to the nearest millionth. It never rises with age.
func (r *scorer) first(age int64) ratio.Ratio {
	return (r.recency*r.clock.recency(age) + r.fixed) / r.weights
}

// reach returns the highest age at which the score is above
// bar, or -1 if there is none.
func (r *scorer) reach(bar ratio.Ratio) int64 {
	low, high := int64(-1), int64(2*horizon)
	for low < high {
		if mid := high - (high-low)/2; r.first(mid) > bar {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// best keeps the entries with the highest scores of those it is offered in the
// order of their rows.
type best struct {
	places int         // at least 1 when something is offered
	list   []entry     // by score, best first; then the lower row
	bar    ratio.Ratio // scores up to here have no place
}

type entry struct {
	score ratio.Ratio
	row   int
}

// offer reports whether the entry has found a place, if only until a better one
// comes. Entries with equal scores must be offered in the order of their rows.
// Places are tens or hundreds, and few entries find one, so a sorted slice does.
func (b *best) offer(score ratio.Ratio, row int) bool {
	if score <= b.bar {
		return false
	}
	if len(b.list) == b.places {
		b.list = b.list[:b.places-1]
	}
	i, _ := slices.BinarySearchFunc(b.list, score, func(e entry, score ratio.Ratio) int {
		if e.score < score {
			return 1
		}
		return -1 // after its equals
	})
	b.list = slices.Insert(b.list, i, entry{score, row})
	if len(b.list) == b.places {
		b.bar = b.list[b.places-1].score
	}
	return true
}
