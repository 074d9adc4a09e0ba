package epoch

import "github.com/carrel-dev/carrel/token"

// A Gauge brings counts nearer to those of a provider. Counts for a model whose encoding is
// not public are upper bounds, which can be twice of what is charged; what the provider said
// of the last call tells by how much. The zero value takes counts as they are.
type Gauge struct {
	bound   token.Count // of what was sent last
	counted token.Count // what the provider counted of that, and a tenth, as what comes may be of another kind
}

// leastShare is the part of a bound that is the least a provider is believed to count: a
// fifth.
const leastShare = 5

// Learn takes what a provider counted of a prompt that has a bound.
func (g *Gauge) Learn(bound, counted token.Count) {
	if bound > 0 && counted > 0 {
		g.bound, g.counted = bound, max(counted+counted/10, bound/leastShare)
	}
}

// Read returns what a provider will count of something with a bound: of as much as was
// measured last, in that proportion; of the rest, the bound.
func (g *Gauge) Read(bound token.Count) token.Count {
	known := min(bound, g.bound)
	if known <= 0 {
		return bound
	}
	return scaled(known, g.counted, g.bound) + bound - known
}

// Bound returns the largest bound of which Read returns no more than counted.
func (g *Gauge) Bound(counted token.Count) token.Count {
	if g.bound == 0 {
		return counted
	}
	if counted >= g.counted {
		return g.bound + counted - g.counted
	}
	return scaled(counted, g.bound, g.counted)
}

// scaled returns n times a share, rounded down. Counts of prompts are far below 2^31.
func scaled(n, part, all token.Count) token.Count { return n * part / all }
