package exam

import (
	"math"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// A Sample is a session to which [Fit] fits a prior.
type Sample struct {
	Units  []account.Unit
	Sights []account.Sight
	Labels []float64 // for each unit the number of required strings in it; a string that is in n units counts 1/n in each
}

// NewSample returns the labeled units of t, the conversation of a session up to the cut. A nil
// model is the built-in one.
func NewSample(s *Session, t *transcript.Session, m *facts.Model) *Sample {
	blocks, _ := t.Blocks()
	pieces := facts.History(t.Messages, blocks, &facts.HistoryOptions{Person: func(i int) bool { return pager.Instructs(t.Messages, &blocks[i]) }})
	units, _ := account.Read(t.Messages, blocks, &account.Options{Project: t.Project})
	sights := account.NewWorth(units, pieces, facts.Estimate(pieces, m), nil).Sights
	x := &Sample{Units: units, Sights: sights, Labels: make([]float64, len(units))}
	folded := make([]string, len(units))
	for i := range units {
		folded[i] = " " + fold(units[i].Text) + " "
	}
	for i := range s.Questions {
		for _, must := range s.Questions[i].MustHave {
			m := " " + fold(must) + " "
			var at []int
			for k := range folded {
				if strings.Contains(folded[k], m) {
					at = append(at, k)
				}
			}
			for _, k := range at {
				x.Labels[k] += 1 / float64(len(at))
			}
		}
	}
	return x
}

// Fit returns the prior that best predicts the labels of units. It adjusts the weights of the
// bins, one feature after the other, until the expected sum of the labels in each bin equals
// the real one. Each bin counts as if it had a few more examples as expected, which keeps the
// weights of rare bins small.
func Fit(samples []*Sample) *account.Prior {
	const more, rounds = 6.0, 60
	var list []account.Sight
	var size, label []float64
	for _, x := range samples {
		for i := range x.Units {
			list = append(list, x.Sights[i])
			size = append(size, float64(len(x.Units[i].Text)+1))
			label = append(label, x.Labels[i])
		}
	}
	mean := slices.Clone(size) // the expected label of each unit
	level := func() {
		at := 0
		for _, x := range samples {
			of := mean[at : at+len(x.Units)]
			want, have := 0.0, 0.0
			for i := range of {
				want += label[at+i]
				have += of[i]
			}
			for i := range of {
				of[i] *= want / max(have, 1e-9)
			}
			at += len(of)
		}
	}
	level()
	var weights [][]float64
	for _, f := range account.Features() {
		weights = append(weights, make([]float64, len(f.Bins)))
	}
	for range rounds {
		for f := range weights {
			want, have := make([]float64, len(weights[f])), make([]float64, len(weights[f]))
			for i := range list {
				want[list[i][f]] += label[i]
				have[list[i][f]] += mean[i]
			}
			step := make([]float64, len(want))
			for k := range want {
				step[k] = math.Log((want[k]+more)/(have[k]+more)) * .5
				// decay toward 0
				step[k] -= weights[f][k] * .02
				weights[f][k] += step[k]
			}
			for i := range list {
				mean[i] *= math.Exp(step[list[i][f]])
			}
		}
		level()
	}
	rounded := make([][]int, len(weights))
	for f := range weights {
		for _, w := range weights[f] {
			rounded[f] = append(rounded[f], int(math.Round(1000*w)))
		}
	}
	p, err := account.NewPrior(rounded)
	if err != nil {
		panic(err)
	}
	return p
}
