package facts

import (
	_ "embed" // for the weights
	"fmt"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A Model computes the chance of being needed by logistic regression: it sums
// the bias and the weight of each feature's bin and applies the logistic
// function. Weights are integers in thousandths of a unit of log odds, so
// that all processors compute the same.
//
// The worth of a name is about 1<<40 times its share of the total chance of all
// names; the worths of all lines together are Copy thousandths of 1<<40.
type Model struct {
	Names, Lines Card

	// Copy is the total worth of all lines, in thousandths of the total worth
	// of all names.
	Copy int
}

// A Card has the weights of one kind of thing, by feature and bin.
type Card struct {
	Bias    int
	Weights [][]int // by feature and bin
}

//go:embed weights.txt
var weights string

// DefaultModel returns the built-in model. doc/design/need.md describes how
// its weights were fitted. Callers must not change it.
func DefaultModel() *Model { return builtin.Get() }

var builtin = lazy.Value[*Model]{Make: func() *Model {
	m, err := ParseModel(weights)
	if err != nil {
		panic(err) // cannot happen: a test parses the embedded text
	}
	return m
}}

// ParseModel parses the text of [Model.String]. An error names the line.
func ParseModel(text string) (*Model, error) {
	m := &Model{Names: newCard(FeaturesOfNames()), Lines: newCard(FeaturesOfLines())}
	seen := make(map[string]bool)
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if err := m.parse(words, seen); err != nil {
			return nil, fmt.Errorf("line %d of a model: %w", i+1, err)
		}
	}
	want := []string{"copy", "name bias", "line bias"}
	for _, f := range FeaturesOfNames() {
		want = append(want, "name "+f.Name)
	}
	for _, f := range FeaturesOfLines() {
		want = append(want, "line "+f.Name)
	}
	for _, key := range want {
		if !seen[key] {
			return nil, fmt.Errorf("the model has no line %q; add it", key)
		}
	}
	return m, nil
}

// parse reads "copy 1000", "name bias -5000" or "name kind url=120 email=-30 …".
func (m *Model) parse(words []string, seen map[string]bool) error {
	if words[0] == "copy" && len(words) == 2 {
		seen["copy"] = true
		if err := number(&m.Copy, words[1]); err != nil || m.Copy < 0 {
			return fmt.Errorf("copy is %q, want an integer from 0 to %d", words[1], heaviest)
		}
		return nil
	}
	card, features := &m.Names, FeaturesOfNames()
	switch {
	case len(words) < 3:
		return fmt.Errorf(`%q: want "name" or "line", a feature, and its weights`, strings.Join(words, " "))
	case words[0] == "line":
		card, features = &m.Lines, FeaturesOfLines()
	case words[0] != "name":
		return fmt.Errorf(`%q: want "copy", "name" or "line"`, words[0])
	}
	if words[1] == "bias" {
		seen[words[0]+" bias"] = true
		return number(&card.Bias, words[2])
	}
	for f := range features {
		if features[f].Name != words[1] {
			continue
		}
		seen[words[0]+" "+words[1]] = true
		if len(words)-2 != len(features[f].Bins) {
			return fmt.Errorf("%s %s: has %d weights, want %d: one for each bin", words[0], words[1], len(words)-2, len(features[f].Bins))
		}
		for b, w := range words[2:] {
			text, ok := strings.CutPrefix(w, features[f].Bins[b]+"=")
			if !ok {
				return fmt.Errorf("%s %s: %q: want the weight of bin %q", words[0], words[1], w, features[f].Bins[b])
			}
			if err := number(&card.Weights[f][b], text); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("no feature of a %s is called %q", words[0], words[1])
}

// heaviest is the largest weight.
const heaviest = 100_000

// number parses a weight and stores it in *to.
func number(to *int, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < -heaviest || n > heaviest {
		return fmt.Errorf("weight %q: want an integer from -%d to %d", text, heaviest, heaviest)
	}
	*to = n
	return nil
}

func newCard(features []Feature) Card {
	c := Card{Weights: make([][]int, len(features))}
	for f := range features {
		c.Weights[f] = make([]int, len(features[f].Bins))
	}
	return c
}

// String returns the model in the form that [ParseModel] reads.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "copy %d\n", m.Copy)
	m.Names.write(&b, "name", FeaturesOfNames())
	m.Lines.write(&b, "line", FeaturesOfLines())
	return b.String()
}

func (c *Card) write(b *strings.Builder, of string, features []Feature) {
	fmt.Fprintf(b, "\n%s bias %d\n", of, c.Bias)
	for f := range features {
		fmt.Fprintf(b, "%s %s", of, features[f].Name)
		for k, name := range features[f].Bins {
			fmt.Fprintf(b, " %s=%d", name, c.Weights[f][k])
		}
		b.WriteByte('\n')
	}
}

// chance returns the chance of a name or line whose features have these bins.
func (c *Card) chance(bins []uint8) Chance {
	z := c.Bias
	for f, b := range bins {
		z += c.Weights[f][b]
	}
	return logistic(z)
}

// logistic returns 1/(1+exp(-z)) for z in thousandths. It interpolates linearly between the
// points of curve.
func logistic(z int) Chance {
	if z > 0 {
		return certainty - logistic(-z)
	}
	k := -z / 250
	if k >= len(curve)-1 {
		return curve[len(curve)-1]
	}
	return curve[k] - (curve[k]-curve[k+1])*Chance(-z%250)/250
}

// curve has 1/(1+exp(k/4)) for k from 0 on, in billionths.
var curve = [...]Chance{
	500000000, 437823499, 377540669, 320821301, 268941421, 222700139, 182425524, 148047198, 119202922, 95349465, 75858180, 60086650,
	47425873, 37326887, 29312231, 22977370, 17986210, 14063627, 10986943, 8577485, 6692851, 5220126, 4070138, 3172683, 2472623, 1926735,
	1501182, 1169510, 911051, 709670, 552779, 430557, 335350, 261190, 203427, 158436, 123395, 96102, 74846, 58291, 45398, 35356, 27536,
	21445, 16701, 13007, 10130, 7889, 6144, 4785, 3727, 2902, 2260, 1760, 1371, 1068, 832, 648, 504, 393, 306, 238, 186, 144, 113,
}
