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
	Families []string // to fit to; default all
	Rounds   int      // of the descent; default 150
	Ridge    float64  // what a weight costs that is not zero; default 50
	Copy     int      // see [facts.Model]; default 1000
}

// Fit finds the weights of a model from trajectories: by logistic regression over
// the bins, of what was needed after cuts at every seventh percent of a trajectory,
// from the fifteenth on. A case counts by the root of its needs, so that neither the
// long ones nor the short ones decide alone. Equal trajectories and options give equal weights.
func Fit(all []*Trajectory, opts *FitOptions) *facts.Model {
	var o FitOptions
	if opts != nil {
		o = *opts
	}
	o.Rounds, o.Ridge, o.Copy = cmp.Or(o.Rounds, 150), cmp.Or(o.Ridge, 50), cmp.Or(o.Copy, 1000)
	common := NewCommon(all)
	var cases []*Case
	for _, t := range all {
		if len(o.Families) > 0 && !slices.Contains(o.Families, t.Family) {
			continue
		}
		cases = append(cases, t.fitting(common)...)
	}
	m := facts.Model{Copy: o.Copy, Names: fit(nil, facts.FeaturesOfNames(), &o), Lines: fit(nil, facts.FeaturesOfLines(), &o)}
	names := make([][]example, len(cases))
	each(len(cases), func(i int) { names[i] = cases[i].nameExamples(&m) })
	m.Names = fit(join(names), facts.FeaturesOfNames(), &o)
	// The features of lines need the chances of names.
	lines := make([][]example, len(cases))
	each(len(cases), func(i int) { lines[i] = cases[i].lineExamples(&m) })
	m.Lines = fit(join(lines), facts.FeaturesOfLines(), &o)
	return &m
}

// fitting returns the cases of a trajectory to fit with.
func (t *Trajectory) fitting(common *Common) []*Case {
	const least = 2000
	var cases []*Case
	last := 0
	for percent := 15; percent < 95; percent += 7 {
		at := t.cut(percent)
		if at == 0 || at == last || t.costs[at] < least {
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

func join(lists [][]example) []example {
	var list []example
	for _, l := range lists {
		list = append(list, l...)
	}
	return list
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

// lineExamples has each line once, where it was last.
func (c *Case) lineExamples(m *facts.Model) []example {
	needed := make(set64)
	for i := range c.Lines {
		needed.add(c.Lines[i].id)
	}
	weight := 1 / math.Sqrt(float64(max(len(c.Lines), fewest)))
	pieces := c.pieces()
	need := facts.Estimate(pieces, m)
	var list []example
	seen := make(map[int32]bool)
	for i := len(pieces) - 1; i >= 0; i-- {
		for k := len(pieces[i].Lines) - 1; k >= 0; k-- {
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
func fit(list []example, features []facts.Feature, o *FitOptions) facts.Card {
	card := facts.Card{Weights: make([][]int, len(features))}
	w, slope, bend := make([][]float64, len(features)), make([][]float64, len(features)), make([][]float64, len(features))
	for f := range features {
		n := len(features[f].Bins)
		card.Weights[f], w[f], slope[f], bend[f] = make([]int, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	yes, no := 1e-9, 1e-9
	for i := range list {
		if list[i].needed {
			yes += list[i].weight
		} else {
			no += list[i].weight
		}
	}
	bias := math.Log(yes / no)
	for range o.Rounds {
		biasSlope, biasBend := 0.0, 1e-9
		for f := range features {
			clear(slope[f])
			clear(bend[f])
		}
		for i := range list {
			x := &list[i]
			z := bias
			for f, b := range x.bins {
				z += w[f][b]
			}
			p := 1 / (1 + math.Exp(-z))
			miss, curve := p*x.weight, p*(1-p)*x.weight
			if x.needed {
				miss -= x.weight
			}
			biasSlope += miss
			biasBend += curve
			for f, b := range x.bins {
				slope[f][b] += miss
				bend[f][b] += curve
			}
		}
		bias -= biasSlope / biasBend / 10
		for f := range features {
			for b := range w[f] {
				w[f][b] -= (slope[f][b] + o.Ridge*w[f][b]) / (bend[f][b] + o.Ridge) / float64(len(features))
			}
		}
	}
	card.Bias = int(math.Round(bias * 1000))
	for f := range features {
		for b := range w[f] {
			card.Weights[f][b] = int(math.Round(w[f][b] * 1000))
		}
	}
	return card
}
