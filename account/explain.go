package account

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
)

func newPlan(r *Request) *Plan {
	return &Plan{
		Kept: make([]bool, len(r.Units)), Whole: make([]bool, len(r.Blocks)), Opened: make([]bool, len(r.Blocks)),
		From: make([]token.Count, len(r.Units)), Rate: make([]int64, len(r.Units)),
	}
}

// date records that unit i is in every plan with a budget of at least p.top
// tokens, and records its worth per byte at this time. If the unit already has
// such a record, it stays unchanged.
func (p *planning) date(i int, rate int64) {
	if p.p.From[i] == 0 {
		p.p.From[i], p.p.Rate[i] = p.top, rate
	}
}

// reach records that no plan is smaller than the given number of tokens: it
// raises p.top to that number, and sets the smallest budget of each unit kept
// so far to p.top.
func (p *planning) reach(least token.Count) {
	p.top = max(p.top, least)
	for i, from := range p.p.From {
		if from > 0 {
			p.p.From[i] = p.top
		}
	}
}

// In returns the index of the unit that stands for a unit i that the plan does
// not keep: a later copy of the same lines of a file, or a kept unit with the
// same text. It returns -1 if there is none. r is the argument of [Make].
func (p *Plan) In(r *Request, i int) int {
	if later := r.Units[i].Later; later > 0 && !r.Blocks[r.Units[later].Block].Absent {
		return int(later)
	}
	for k := range r.Units {
		if k != i && r.Worth.texts[k] == r.Worth.texts[i] && p.From[k] > 0 && (p.From[i] == 0 || p.From[k] < p.From[i]) {
			return k
		}
	}
	return -1
}

// Mean returns the mean worth per byte of all units, on the scale of Plan.Rate.
func (w *Worth) Mean(units []Unit) int64 {
	var sum, bytes int64
	for _, g := range w.gains {
		sum += g
	}
	for i := range units {
		sum += w.prior[i]
		bytes += cost(&units[i])
	}
	return max(sum/max(bytes, 1), 1)
}

// Explain returns the weights that a unit's features add to the logarithm of
// its density, in thousandths, the largest absolute value first. The features
// are those of [Features]. Zero weights are omitted.
func (p *Prior) Explain(s *Sight) []facts.Contribution {
	var list []facts.Contribution
	for i, f := range Features() {
		if w := p.weights[i][s[i]]; w != 0 {
			list = append(list, facts.Contribution{Feature: f.Name, Bin: f.Bins[s[i]], Weight: w})
		}
	}
	slices.SortStableFunc(list, func(a, b facts.Contribution) int {
		return cmp.Compare(max(b.Weight, -b.Weight), max(a.Weight, -a.Weight))
	})
	return list
}

// String returns the kind as [Features] names it.
func (k Kind) String() string { return Features()[0].Bins[k] }
