package triage

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/ratio"
)

// A scan finds the reason of every row of a table and keeps the best of the
// rows that may enter.
//
// The obvious loop, which tests four conditions of a row and then scores it,
// loses most of its time to mispredicted branches and the rest to the
// exponential. A scan avoids both. It tests the 64 rows of a group at once, with
// a few operations on words that have a bit for each row. It reads the times of
// a group only if the group's bounds do not decide: if some rows have expired
// and others have not, it takes a subtraction for each row. As the score of a
// class never rises with age, each class has a bar, a time of creation: rows
// created then or before cannot be among the best. So most groups are skipped
// and few rows are scored.
type scan struct {
	table    *Table
	after    int64 // the time of the pass plus 1 ms: rows that expire before it are dead
	scorers  [noClass]scorer
	suspects []uint8        // classes that rank below Policy.Trust
	bars     [noClass]int64 // by class: rows created at this time or before are not scored
	best     best
	step     int   // the sample has every step-th group; 0 without a sample
	equal    int64 // 1 while groups are judged in descending order, otherwise 0; see offer

	sets  [numCodes][]byte // by code, except absent: the set of its rows, a bit for each
	count [numCodes]int
}

// begin prepares the scan of a table. It reuses the memory of an earlier scan.
func (s *scan) begin(p *Policy, t *Table, now time.Time) {
	s.table, s.after, s.suspects, s.count = t, millis(now)+1, s.suspects[:0], [numCodes]int{}
	s.best = best{places: min(max(p.Admit, 0), t.Len()), list: s.best.list[:0]}
	for c := range absent {
		s.sets[c] = slices.Grow(s.sets[c][:0], 8*len(t.groups))[:8*len(t.groups)]
		clear(s.sets[c])
	}
	for i, c := range classes {
		s.scorers[i] = newScorer(p.Curve, p.Classes[c])
		if s.scorers[i].rank < p.Trust {
			s.suspects = append(s.suspects, uint8(i)) //nolint:gosec // there are 7
		}
		s.bars[i] = math.MaxInt64
		if s.best.places > 0 {
			s.bars[i] = math.MinInt64
		}
	}
}

// run judges all groups. After it, s.best has the best rows that may enter.
func (s *scan) run() {
	for k := range s.table.groups {
		if s.step == 0 || k%s.step != s.step-1 {
			s.judge(k)
		}
	}
	s.count[absent] = s.table.Len()
	for c := crowded; c < absent; c++ {
		s.count[c] = ones(s.sets[c])
		s.count[absent] -= s.count[c]
	}
}

// judge puts the rows of group k into the sets. All rows that may enter go into the set of the code
// crowded. It offers the rows above their bar to s.best.
func (s *scan) judge(k int) {
	g := &s.table.groups[k]
	late := s.late(k, g)
	of := g.classes()
	var low uint64
	for _, c := range s.suspects {
		low |= of[c&noClass]
	}
	there := g.rows &^ g.planes[planeAbsent]
	live := there &^ g.planes[planeRefuted] &^ late
	open := live &^ (low &^ g.planes[planePromoted]) &^ of[noClass]
	put := func(c code, rows uint64) { binary.LittleEndian.PutUint64(s.sets[c][8*k:], rows) }
	put(crowded, open)
	put(distrusted, live&^open)
	put(expired, there&late&^g.planes[planeRefuted])
	put(refuted, there&g.planes[planeRefuted])

	near, least := uint64(0), int64(math.MaxInt64)
	for c := range noClass {
		if bar := s.bars[c]; g.newest[c] > bar {
			near, least = near|of[c], min(least, bar)
		}
	}
	created := (*[groupSize]int64)(s.table.created[groupSize*k:])
	for near &= open; near != 0; near &= near - 1 {
		if i := bits.TrailingZeros64(near); created[i%groupSize] > least {
			s.offer(groupSize*k + i)
		}
	}
}

// late returns the set of the expired rows of the group g, which has the number k.
func (s *scan) late(k int, g *group) uint64 {
	switch {
	case g.soonest >= s.after:
		return 0
	case g.latest < s.after:
		return g.planes[planeEnds]
	}
	// The difference is negative, so its highest bit is set, if a row has expired. The two
	// halves are independent, so that a processor can compute them in parallel.
	const half = groupSize / 2
	expires, after := (*[groupSize]int64)(s.table.expires[groupSize*k:]), s.after
	var low, high uint64
	for i := half - 1; i > 0; i -= 2 {
		low = low<<1 + uint64(expires[i%half]-after)>>63            //nolint:gosec // the sign is what is wanted
		high = high<<1 + uint64(expires[i%half+half]-after)>>63     //nolint:gosec // likewise
		low = low<<1 + uint64(expires[(i-1)%half]-after)>>63        //nolint:gosec // likewise
		high = high<<1 + uint64(expires[(i-1)%half+half]-after)>>63 //nolint:gosec // likewise
	}
	return high<<half | low
}

// offer offers row i, which may enter, to s.best if it is above the bar of its class. If it
// finds no place it raises the bar: older rows of the class find no place either, nor do
// later rows of the same age. If groups are judged in descending order, rows of the same
// age may still win by their lower number, so the bar stays 1 ms lower.
func (s *scan) offer(i int) {
	bar, created := &s.bars[s.class(i)], s.table.created[i]
	if created > *bar && !s.best.offer(entry{s.score(i), i}) {
		*bar = created - s.equal
	}
}

// ones returns the number of rows in a set.
func ones(set []byte) (n int) {
	for ; len(set) > 0; set = set[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(set))
	}
	return n
}

// has reports whether a row of the table is in the set of a code.
func (s *scan) has(c code, row int) bool { return s.sets[c][row>>3]>>(row&7)&1 != 0 }

// move moves a row from the set of one code to that of another.
func (s *scan) move(row int, from, to code) {
	s.sets[from][row>>3] &^= 1 << (row & 7)
	s.sets[to][row>>3] |= 1 << (row & 7)
	s.count[from]--
	s.count[to]++
}

// prime sets the bars of a large table from a sample of its groups: the worst of
// the best rows of a part is no better than the worst of the best rows of the
// whole. Without bars, all rows of a table in order of creation, which is the
// usual order, would be scored. The result is the same. The groups of the sample
// are not judged again.
//
// The sample has between one and three times the root of rows times places,
// which balances its cost and the cost of the rows above the bar.
func (s *scan) prime() {
	rows := s.table.Len()
	if s.step = 0; s.best.places == 0 || rows/s.best.places < 256 {
		return
	}
	s.step = 1 << (bits.Len(uint(rows/s.best.places))/2 - 1)
	s.equal = 1
	for k := len(s.table.groups) / s.step * s.step; k > 0; k -= s.step {
		s.judge(k - 1) // the last groups first: they usually have the newest rows
	}
	s.equal = 0
	for c := range classes {
		s.bars[c] = math.MinInt64
		if len(s.best.list) == s.best.places { // a row with the score of the worst may have a lower number, so the bar is below that score
			s.bars[c] = s.after - 1 - s.scorers[c].reach(s.best.list[s.best.places-1].score-1) - 1
		}
	}
}

// score returns the score of pass one of row i, whose class must exist.
func (s *scan) score(i int) ratio.Ratio {
	return s.scorer(i).first(s.age(i))
}

func (s *scan) scorer(i int) *scorer { return &s.scorers[s.class(i)] }

// class returns the rank of the class of row i.
func (s *scan) class(i int) uint8 {
	p := &s.table.groups[i/groupSize].planes
	k := i % groupSize
	return uint8(p[0]>>k&1 | p[1]>>k&1<<1 | p[2]>>k&1<<2)
}

func (s *scan) age(i int) int64 { return s.after - 1 - s.table.created[i] }

// A scorer is a Scoring prepared for pass one.
type scorer struct {
	clock   clock
	rank    ratio.Ratio
	recency ratio.Ratio // weight
	fixed   ratio.Ratio // wP·P plus half of weights for rounding, in millionths of a millionth
	weights ratio.Ratio // wR + wP
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

// reach returns the highest age in milliseconds at which the score is above bar, or -1 if
// there is none. No age is above twice the horizon.
func (r *scorer) reach(bar ratio.Ratio) int64 {
	if r.first(0) <= bar {
		return -1
	}
	low, high := int64(0), min(r.clock.half, 2*horizon)
	for high < 2*horizon && r.first(high) > bar {
		low, high = high, min(2*high, 2*horizon)
	}
	for low < high {
		if mid := high - (high-low)/2; r.first(mid) > bar {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// best keeps the entries with the highest scores. Of equal scores it keeps the lower rows.
type best struct {
	places int     // at least 1 when something is offered
	list   []entry // best first
}

type entry struct {
	score ratio.Ratio
	row   int
}

// before reports whether an entry is better than another.
func (e entry) before(f entry) bool {
	return e.score > f.score || e.score == f.score && e.row < f.row
}

// offer inserts an entry if it is among the best so far, and reports whether it is. A sorted
// slice is fast enough because it has tens or hundreds of entries, and inserts are rare.
func (b *best) offer(e entry) bool {
	if len(b.list) == b.places {
		if !e.before(b.list[b.places-1]) {
			return false
		}
		b.list = b.list[:b.places-1]
	}
	i, _ := slices.BinarySearchFunc(b.list, e, func(f, e entry) int {
		if f.before(e) {
			return -1
		}
		return 1
	})
	b.list = slices.Insert(b.list, i, e)
	return true
}
