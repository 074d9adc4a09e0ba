package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// fit fits weights to the sessions of the families that the flag -fit names, and prints them.
func (b *bench) fit(out io.Writer, all []*retention.Trajectory) error {
	o := &fitOptions{}
	if b.fitTo != "all" {
		o.families = strings.Split(b.fitTo, ",")
	}
	_, err := fmt.Fprintf(out, "# weights fitted to %s\n%s", b.fitTo, fitModel(all, o))
	return err
}

// prepare finds the weights to judge with. These are the built-in ones, those of a file, or, for
// each family, weights that are fitted to the other families.
func (b *bench) prepare(all []*retention.Trajectory) error {
	b.fitted = make(map[string]*facts.Model)
	switch {
	case b.weights != "" && b.cross != "":
		return fmt.Errorf("-weights %s and -cross %s: give one of them: weights are read from a file, or fitted to other families", b.weights, b.cross)
	case b.weights != "":
		text, err := os.ReadFile(b.weights)
		if err != nil {
			return err
		}
		if b.fitted[""], err = facts.ParseModel(string(text)); err != nil {
			return fmt.Errorf("%s: %w", b.weights, err)
		}
	case b.cross != "":
		list := strings.Split(b.cross, ",")
		if len(list) < 2 {
			return fmt.Errorf("-cross %s: all sessions are of one family: give sessions of several, or another -family", b.cross)
		}
		for _, name := range list {
			if !slices.ContainsFunc(all, func(t *retention.Trajectory) bool { return t.Family == name }) {
				return fmt.Errorf("-cross %s: no session is of the family %q", b.cross, name)
			}
			others := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
			b.fitted[name] = fitModel(all, &fitOptions{families: others})
		}
		b.fitted[""] = fitModel(all, &fitOptions{families: list})
	}
	return nil
}

// models returns the weights to judge a family with, or nil for the built-in ones.
func (b *bench) models(family string) *facts.Model {
	if m := b.fitted[family]; m != nil {
		return m
	}
	return b.fitted[""]
}

// fitOptions adjusts [fitModel]. The zero value has the settings of the built-in weights.
type fitOptions struct {
	families []string // families to fit to; default all
	rounds   int      // rounds of boosting; default 800
	ridge    float64  // penalty on the square of a step; default 300
	copy     int      // see [facts.Model]; default 1100
}

// fitModel fits the weights of a model to trajectories, by boosting over the bins. It uses the
// needs after cuts at every third percent of a trajectory, from the fifteenth on. The weight of
// a case is the square root of its number of needs, so that neither long nor short ones
// dominate. doc/design/need.md has more. Equal trajectories and options give equal weights.
func fitModel(all []*retention.Trajectory, opts *fitOptions) *facts.Model {
	o := *opts
	o.rounds, o.ridge, o.copy = cmp.Or(o.rounds, 800), cmp.Or(o.ridge, 300), cmp.Or(o.copy, 1100)
	common := retention.NewCommon(all)
	var cases []*retention.Case
	for _, t := range all {
		if len(o.families) == 0 || slices.Contains(o.families, t.Family) {
			cases = append(cases, fitting(t, common)...)
		}
	}
	ofNames, ofLines := facts.FeaturesOfNames(), facts.FeaturesOfLines()
	m := facts.Model{Copy: o.copy, Names: boost(nil, ofNames, &o), Lines: boost(nil, ofLines, &o)}
	examples := make([][]example, len(cases))
	retention.Each(len(cases), func(i int) { examples[i] = nameExamples(cases[i], &m) })
	m.Names = boost(examples, ofNames, &o)
	// The features of lines use the chances of names.
	retention.Each(len(cases), func(i int) { examples[i] = lineExamples(cases[i], &m) })
	m.Lines = boost(examples, ofLines, &o)
	markStale(&m.Lines, ofLines)
	return &m
}

// staleWeight is the upper bound of the weight of the bin for a line that a change removed.
const staleWeight = -250

// markStale makes lines that a change removed rank behind lines that it left or added. Removed
// lines are no longer true, and there are too few examples to learn that.
func markStale(c *facts.Card, features []facts.Feature) {
	f := slices.IndexFunc(features, func(f facts.Feature) bool { return f.Name == "change" })
	w := &c.Weights[f][slices.Index(features[f].Bins, "takes")]
	*w = min(*w, staleWeight)
}

// Cuts to fit with.
const (
	firstPercent = 15
	lastPercent  = 95
	stepPercent  = 3
	leastFitted  = 2000 // tokens of a prefix
)

// fitting returns the cases of a trajectory that weights are fitted to: one at each cut.
func fitting(t *retention.Trajectory, common *retention.Common) []*retention.Case {
	var shares []int
	for percent := firstPercent; percent < lastPercent; percent += stepPercent {
		shares = append(shares, percent)
	}
	return t.CasesAt(shares, common, leastFitted)
}

// An example is a name or a line of a prefix, and whether it was needed.
type example struct {
	bins   []uint8
	needed bool
	weight float64
}

// pieces returns the prefix of a case in the form that package facts reads, or nil if it cannot
// be decoded.
func pieces(c *retention.Case) []facts.Piece {
	data, err := retention.Request(c.Prefix)
	if err != nil {
		return nil
	}
	s, err := openai.Format.Decode("prefix", data)
	if err != nil {
		return nil
	}
	blocks := transcript.Group(s.ID, 0, s.Messages)
	return facts.History(s.Messages, blocks, &facts.HistoryOptions{
		Person: func(i int) bool { return pager.Instructs(s.Messages, &blocks[i]) },
	})
}

func nameExamples(c *retention.Case, m *facts.Model) []example {
	needed := make(map[string]bool)
	for i := range c.Needs {
		needed[c.Needs[i].Text] = true
	}
	weight := 1 / math.Sqrt(float64(max(len(c.Needs), retention.Fewest)))
	pieces := pieces(c)
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

// lineExamples returns an example for each different line of a case's prefix. It returns none
// if fewer than [retention.Fewest] lines of the prefix were copied.
func lineExamples(c *retention.Case, m *facts.Model) []example {
	if len(c.Lines) < retention.Fewest {
		return nil
	}
	needed := make(map[string]bool)
	for i := range c.Lines {
		needed[retention.NormalLine(c.Lines[i].Text)] = true
	}
	weight := 1 / math.Sqrt(float64(len(c.Lines)))
	pieces := pieces(c)
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
			list = append(list, example{n.Features[:], needed[retention.NormalLine(pieces[i].Text[l.From:l.To])], weight})
		}
	}
	return list
}

// boost is gradient boosting of stumps for the log loss (Friedman, Greedy Function
// Approximation, 2001, with Newton steps). Each round splits one feature between two of its
// bins, where that gains most, and moves the weights of the bins on both sides. So neighboring
// bins share their weights, and a feature without influence gets none.
//
// Each case has its own intercept, which is fitted with the weights and then dropped, as in a
// conditional logistic regression. Only the order within a conversation matters: the weights
// need not explain that a long conversation has more names and a smaller share of needed ones.
func boost(cases [][]example, features []facts.Feature, o *fitOptions) facts.Card {
	b := newBoosting(cases, features)
	for range o.rounds {
		b.slopes()
		cut, ok := b.best(o.ridge)
		if !ok {
			break
		}
		b.move(cut)
	}
	return b.card()
}

const (
	stepShare  = 0.1 // share of a Newton step
	leastMoved = 20  // examples on each side of a split
)

// A boosting is the state of a fit. The bins of all features are numbered consecutively.
type boosting struct {
	features []facts.Feature
	cases    []lesson
	at       []int // number of the first bin of each feature
	count    []int // number of examples in each bin
	weights  []float64
	sum      slopes
}

// A lesson has the examples of a case.
type lesson struct {
	list []example
	odds []float64 // log odds of each example
	own  float64   // intercept, which is included in odds
	slopes
}

// slopes are the first and second derivatives of the loss, by bin.
type slopes struct{ slope, bend []float64 }

func newSlopes(n int) slopes { return slopes{make([]float64, n), make([]float64, n)} }

func newBoosting(cases [][]example, features []facts.Feature) *boosting {
	b := &boosting{features: features, at: make([]int, len(features))}
	n := 0
	for f := range features {
		b.at[f] = n
		n += len(features[f].Bins)
	}
	b.count, b.weights, b.sum = make([]int, n), make([]float64, n), newSlopes(n)
	for _, list := range cases {
		c := lesson{list: list, odds: make([]float64, len(list)), slopes: newSlopes(n)}
		yes := 0
		for i := range list {
			for f, k := range list[i].bins {
				b.count[b.at[f]+int(k)]++
			}
			if list[i].needed {
				yes++
			}
		}
		if yes == 0 || yes == len(list) {
			continue // it has no order to learn
		}
		c.intercept(math.Log(float64(yes) / float64(len(list)-yes)))
		b.cases = append(b.cases, c)
	}
	return b
}

// intercept adds a number to the intercept of a case, and so to the log odds of its examples.
func (c *lesson) intercept(add float64) {
	c.own += add
	for i := range c.odds {
		c.odds[i] += add
	}
}

// follow moves the intercept of a case by a Newton step toward the value at which the expected
// number of needs equals the actual one.
func (c *lesson) follow() {
	var slope, bend float64
	for i := range c.list {
		chance := 1 / (1 + math.Exp(-c.odds[i]))
		slope += chance
		bend += chance * (1 - chance)
		if c.list[i].needed {
			slope--
		}
	}
	c.intercept(-slope / (bend + 1))
}

// slopes sums the derivatives of all cases, always in the same order, so that equal inputs give
// equal sums.
func (b *boosting) slopes() {
	retention.Each(len(b.cases), func(k int) {
		c := &b.cases[k]
		c.follow()
		clear(c.slope)
		clear(c.bend)
		for i := range c.list {
			x := &c.list[i]
			chance := 1 / (1 + math.Exp(-c.odds[i]))
			slope, bend := chance*x.weight, chance*(1-chance)*x.weight
			if x.needed {
				slope -= x.weight
			}
			for f, bin := range x.bins {
				at := b.at[f] + int(bin)
				c.slope[at] += slope
				c.bend[at] += bend
			}
		}
	})
	clear(b.sum.slope)
	clear(b.sum.bend)
	for k := range b.cases {
		for i := range b.sum.slope {
			b.sum.slope[i] += b.cases[k].slope[i]
			b.sum.bend[i] += b.cases[k].bend[i]
		}
	}
}

// A stump splits the bins of a feature into those below before and the others. The value low is added
// for the former, and high for the latter; gain is by how much that lowers the loss.
type stump struct {
	feature, before int
	low, high, gain float64
}

// best returns the stump with the largest gain, or the first of equal ones.
func (b *boosting) best(ridge float64) (best stump, ok bool) {
	for f := range b.features {
		var slope, bend float64
		count := 0
		from, to := b.at[f], b.at[f]+len(b.features[f].Bins)
		for k := from; k < to; k++ {
			slope += b.sum.slope[k]
			bend += b.sum.bend[k]
			count += b.count[k]
		}
		var low, lowBend float64
		n := 0
		for k := from; k < to-1; k++ {
			low += b.sum.slope[k]
			lowBend += b.sum.bend[k]
			n += b.count[k]
			if n < leastMoved || count-n < leastMoved {
				continue
			}
			high, highBend := slope-low, bend-lowBend
			gain := low*low/(lowBend+ridge) + high*high/(highBend+ridge) - slope*slope/(bend+ridge)
			if gain > best.gain {
				best, ok = stump{f, k + 1 - from, -stepShare * low / (lowBend + ridge), -stepShare * high / (highBend + ridge), gain}, true
			}
		}
	}
	return best, ok
}

// move adds a stump to the weights and to the log odds of all examples.
func (b *boosting) move(s stump) {
	add := make([]float64, len(b.features[s.feature].Bins))
	for k := range add {
		add[k] = s.low
		if k >= s.before {
			add[k] = s.high
		}
		b.weights[b.at[s.feature]+k] += add[k]
	}
	retention.Each(len(b.cases), func(k int) {
		c := &b.cases[k]
		for i := range c.list {
			c.odds[i] += add[c.list[i].bins[s.feature]]
		}
	})
}

// card returns the weights. From those of each feature it subtracts their mean over the
// examples, and adds the mean to the bias. So a weight is relative to the average. The bias
// also has the mean intercept of the cases.
func (b *boosting) card() facts.Card {
	bias := 0.0
	for k := range b.cases {
		bias += b.cases[k].own / float64(len(b.cases))
	}
	card := facts.Card{Weights: make([][]int, len(b.features))}
	for f := range b.features {
		n, sum := 0, 0.0
		bins := len(b.features[f].Bins)
		for k := b.at[f]; k < b.at[f]+bins; k++ {
			n += b.count[k]
			sum += float64(b.count[k]) * b.weights[k]
		}
		mean := sum / float64(max(n, 1))
		bias += mean
		for k := b.at[f]; k < b.at[f]+bins; k++ {
			card.Weights[f] = append(card.Weights[f], int(math.Round((b.weights[k]-mean)*1000)))
		}
	}
	card.Bias = int(math.Round(bias * 1000))
	return card
}
