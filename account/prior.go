package account

import (
	_ "embed" // for the weights
	"fmt"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A Prior estimates from a unit's features its density: the needed facts per
// byte, relative to those of other units. The natural logarithm of the density
// is the sum of the weights of the unit's bins, in thousandths (a Poisson
// regression). A Prior is immutable and computes in integers, so that all
// processors give equal results.
type Prior struct{ weights [features][]int }

//go:embed weights.txt
var weights string

// DefaultPrior returns the built-in prior. doc/design/account.md describes
// how its weights were fitted.
func DefaultPrior() *Prior { return builtin.Get() }

var builtin = lazy.Value[*Prior]{Make: func() *Prior {
	p, err := ParsePrior(weights)
	if err != nil {
		panic(err) // a test parses it
	}
	return p
}}

// heaviest is the largest absolute weight.
const heaviest = 16_000

// NewPrior returns a prior with the given weights, by feature and bin in the
// order of [Features]. It fails if weights does not have one number for each
// bin, or a number is not in -16000…16000.
func NewPrior(weights [][]int) (*Prior, error) {
	p := &Prior{}
	all := Features()
	if len(weights) != len(all) {
		return nil, fmt.Errorf("the weights have %d features, but this version has %d: fit them again, as doc/design/account.md describes", len(weights), len(all))
	}
	for i, f := range all {
		if len(weights[i]) != len(f.Bins) {
			return nil, fmt.Errorf("feature %s: has %d weights, want one for each of its %d bins", f.Name, len(weights[i]), len(f.Bins))
		}
		for k, w := range weights[i] {
			if w < -heaviest || w > heaviest {
				return nil, fmt.Errorf("feature %s: %s=%d is out of range: want a weight from -%d to %[4]d", f.Name, f.Bins[k], w, heaviest)
			}
		}
		p.weights[i] = append([]int(nil), weights[i]...)
	}
	return p, nil
}

// ParsePrior parses the text of [Prior.String]. An error names the line.
func ParsePrior(text string) (*Prior, error) {
	all := Features()
	weights := make([][]int, len(all))
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		i := 0
		for i < len(all) && all[i].Name != words[0] {
			i++
		}
		if i == len(all) {
			return nil, fmt.Errorf("line %d of a prior: no feature is called %q", n+1, words[0])
		}
		weights[i] = nil
		for k, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			v, err := strconv.Atoi(value)
			if err != nil || k >= len(all[i].Bins) || all[i].Bins[k] != name {
				return nil, fmt.Errorf("line %d of a prior: %q: want the weights of %s", n+1, w, strings.Join(all[i].Bins, ", "))
			}
			weights[i] = append(weights[i], v)
		}
	}
	return NewPrior(weights)
}

// String returns the prior in the form that [ParsePrior] reads.
func (p *Prior) String() string {
	var b strings.Builder
	for i, f := range Features() {
		b.WriteString(f.Name)
		for k, name := range f.Bins {
			fmt.Fprintf(&b, " %s=%d", name, p.weights[i][k])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// density returns the density per byte, times unitDensity.
func (p *Prior) density(s *Sight) int64 {
	z := 0
	for i, b := range s {
		z += p.weights[i][b]
	}
	return exp(z)
}

// unitDensity is exp(0).
const unitDensity = 1 << 20

// exp returns e^(z/1000) times unitDensity, by linear interpolation of a
// table. It takes a z below -10,000 for -10,000, and one above 10,000 for
// 10,000.
func exp(z int) int64 {
	z = min(max(z+curveEnd, 0), 2*curveEnd-1)
	k, rest := z/curveStep, int64(z%curveStep)
	c := curve.Get()
	return c[k] + (c[k+1]-c[k])*rest/curveStep
}

const (
	curveStep = 250
	curveEnd  = 10_000
)

// curve has exp(k/4)·unitDensity for k from -40 to 40, computed with integers
// to a relative error of a millionth.
var curve = lazy.Value[[]int64]{Make: func() []int64 {
	const quarter, one = 1_284_025_417, 1_000_000_000 // exp(1/4) in billionths
	c := make([]int64, 2*curveEnd/curveStep+1)
	mid := len(c) / 2
	up := int64(unitDensity) << 10 // ten more bits against rounding
	down := up
	c[mid] = unitDensity
	for k := 1; k <= mid; k++ {
		up = up/one*quarter + up%one*quarter/one
		down = down/quarter*one + down%quarter*one/quarter
		c[mid+k], c[mid-k] = up>>10, down>>10
	}
	return c
}}

// Weight returns the weight of the named bin of a feature, or 0 if there is
// no such bin.
func (p *Prior) Weight(feature, bin string) int {
	for i, f := range Features() {
		for k, name := range f.Bins {
			if f.Name == feature && name == bin {
				return p.weights[i][k]
			}
		}
	}
	return 0
}
