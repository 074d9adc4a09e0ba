package retention

import (
	"cmp"
	"math"
	"slices"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// FitOptions adjusts [Fit]. The zero value has what the weights that Carrel comes
// with were found with.
type FitOptions struct {
	Families  []string // to fit to; default all
	Rounds    int      // of the descent; default 200
	NameRidge float64  // what a weight of a name costs that is not zero; default 400
	LineRidge float64  // the same for lines; default 50
	Copy      int      // see [facts.Model]; default 1400
}

// Fit finds the weights of a model from trajectories: by logistic regression over
// the bins, of what was needed after cuts at every third percent of a trajectory,
// from the fifteenth on. A case counts by the root of its needs, so that neither the
// long ones nor the short ones decide alone. doc/design/need.md says more. Equal
// trajectories and options give equal weights.
func Fit(all []*Trajectory, opts *FitOptions) *facts.Model {
	var o FitOptions
	if opts != nil {
		o = *opts
	}
	o.Rounds, o.Copy = cmp.Or(o.Rounds, 200), cmp.Or(o.Copy, 1400)
	o.NameRidge, o.LineRidge = cmp.Or(o.NameRidge, 400), cmp.Or(o.LineRidge, 50)
	common := NewCommon(all)
	var cases []*Case
	for _, t := range all {
		if len(o.Families) == 0 || slices.Contains(o.Families, t.Family) {
			cases = append(cases, t.fitting(common)...)
		}
	}
	ofNames, ofLines := facts.FeaturesOfNames(), facts.FeaturesOfLines()
	m := facts.Model{Copy: o.Copy, Names: fit(nil, ofNames, descent{}), Lines: fit(nil, ofLines, descent{})}
	examples := make([][]example, len(cases))
	each(len(cases), func(i int) { examples[i] = cases[i].nameExamples(&m) })
	m.Names = fit(slices.Concat(examples...), ofNames, descent{o.Rounds, o.NameRidge})
	// The features of lines need the chances of names.
	each(len(cases), func(i int) { examples[i] = cases[i].lineExamples(&m) })
	m.Lines = fit(slices.Concat(examples...), ofLines, descent{o.Rounds, o.LineRidge})
	return &m
}

// Cuts to fit with.
const (
	firstPercent = 15
	lastPercent  = 95
	stepPercent  = 3
	leastFitted  = 2000 // tokens of a prefix
)

// fitting returns the cases of a trajectory to fit with.
func (t *Trajectory) fitting(common *Common) []*Case {
	var cases []*Case
	last := 0
	for percent := firstPercent; percent < lastPercent; percent += stepPercent {
		at := t.cut(percent)
		if at == 0 || at == last || t.costs[at] < leastFitted {
			continue
		}
		last = at
		if c := t.caseAt(at, common); len(c.Needs) >= fewest {
			cases = append(cases, c)
		}
	}
	return cases
}

// An example is a name or a line of a prefix, and whether it was needed.
type example struct {
	bins   []uint8
	needed bool
	weight float64
}

// pieces returns the prefix as package facts reads it.
func (c *Case) pieces() []facts.Piece {
	data, err := request(c.Prefix)
	if err != nil {
		return nil
	}
	s, err := openai.Format{}.Decode("prefix", data)
	if err != nil {
		return nil
	}
	blocks := transcript.Group(s.ID, 0, s.Messages)
	return facts.History(s.Messages, blocks, &facts.HistoryOptions{
		Person: func(i int) bool { return pager.Instructs(s.Messages, &blocks[i]) },
	})
}

func (c *Case) nameExamples(m *facts.Model) []example {
	needed := make(map[string]bool)
	for i := range c.Needs {
		needed[c.Needs[i].Text] = true
	}
	weight := 1 / math.Sqrt(float64(max(len(c.Needs), fewest)))
	pieces := c.pieces()
	need := facts.Estimate(pieces, m)
	list := make([]example, len(need.Names))
	for i := range pieces {
		for k, id := range need.Marks[i] {
			m := &pieces[i].Marks[k]
			list[id] = example{need.Names[id].Features[:], needed[pieces[i].Text[m.From:m.To]], weight}
		}
	}
	return list
}

// lineExamples has each line once. A case with few copied lines has no score for
// them, and is no example.
func (c *Case) lineExamples(m *facts.Model) []example {
	if len(c.Lines) < fewest {
		return nil
	}
	needed := make(set64)
	for i := range c.Lines {
		needed.add(c.Lines[i].id)
	}
	weight := 1 / math.Sqrt(float64(len(c.Lines)))
	pieces := c.pieces()
	need := facts.Estimate(pieces, m)
	var list []example
	seen := make(map[int32]bool)
	for i := range pieces {
		for k := range pieces[i].Lines {
			n, l := &need.Lines[i][k], &pieces[i].Lines[k]
			if n.Copy == 0 || seen[n.Copy] {
				continue
			}
			seen[n.Copy] = true
			list = append(list, example{n.Features[:], needed.has(nameOf(NormalLine(pieces[i].Text[l.From:l.To]))), weight})
		}
	}
	return list
}

// fit is logistic regression over bins, by damped Newton steps along each weight.
func fit(list []example, features []facts.Feature, o descent) facts.Card {
	at := make([]int, len(features)) // of the first bin of each feature
	n := 0
	for f := range features {
		at[f] = n
		n += len(features[f].Bins)
	}
	bins := make([]uint16, 0, len(list)*len(features))
	yes, no := 1e-9, 1e-9
	for i := range list {
		for f, b := range list[i].bins {
			bins = append(bins, uint16(at[f])+uint16(b)) //nolint:gosec // there are few bins
		}
		if list[i].needed {
			yes += list[i].weight
		} else {
			no += list[i].weight
		}
	}
	w, bias := make([]float64, n), math.Log(yes/no)
	parts := make([]slopes, (len(list)+1<<14-1)>>14)
	for range o.rounds {
		each(len(parts), func(k int) {
			parts[k] = newSlopes(n)
			for i := k << 14; i < min((k+1)<<14, len(list)); i++ {
				parts[k].add(&list[i], bins[i*len(features):(i+1)*len(features)], w, bias)
			}
		})
		sum := newSlopes(n)
		for k := range parts {
			sum.join(&parts[k])
		}
		bias -= sum.bias / (sum.biasBend + 1e-9) / 10
		for b := range w {
			w[b] -= (sum.slope[b] + o.ridge*w[b]) / (sum.bend[b] + o.ridge) / float64(len(features))
		}
	}
	card := facts.Card{Bias: int(math.Round(bias * 1000)), Weights: make([][]int, len(features))}
	for f := range features {
		for b := range features[f].Bins {
			card.Weights[f] = append(card.Weights[f], int(math.Round(w[at[f]+b]*1000)))
		}
	}
	return card
}

// A descent says how far to go and what a weight costs that is not zero.
type descent struct {
	rounds int
	ridge  float64
}

// slopes are the first and second derivatives of the loss.
type slopes struct {
	bias, biasBend float64
	slope, bend    []float64
}

func newSlopes(n int) slopes { return slopes{slope: make([]float64, n), bend: make([]float64, n)} }

func (s *slopes) add(x *example, bins []uint16, w []float64, z float64) {
	for _, b := range bins {
		z += w[b]
	}
	p := 1 / (1 + math.Exp(-z))
	miss, bend := p*x.weight, p*(1-p)*x.weight
	if x.needed {
		miss -= x.weight
	}
	s.bias += miss
	s.biasBend += bend
	for _, b := range bins {
		s.slope[b] += miss
		s.bend[b] += bend
	}
}

func (s *slopes) join(t *slopes) {
	s.bias += t.bias
	s.biasBend += t.biasBend
	for b := range s.slope {
		s.slope[b] += t.slope[b]
		s.bend[b] += t.bend[b]
	}
}
