package epoch

import "github.com/carrel-dev/carrel/token"

// A Gauge converts upper bounds of token counts to estimates of the provider's counts. For a model
// whose encoding is not public, a bound can be twice the provider's count. The Gauge multiplies a
// bound by a ratio that it knows from the last prompt: the provider's count divided by the bound.
// The zero value returns bounds as they are.
type Gauge struct {
	bound   token.Count // of the last prompt
	counted token.Count // the provider's count of that prompt, plus a tenth for other kinds of text
}

// leastShare limits how low a count can be. If the provider's count is below bound/leastShare,
// Learn takes bound/leastShare instead.
const leastShare = 5

// Learn sets what the Gauge knows of the last prompt: its bound, and the provider's count of it.
func (g *Gauge) Learn(bound, counted token.Count) {
	if bound > 0 && counted > 0 {
		g.bound, g.counted = bound, max(counted+counted/10, bound/leastShare)
	}
}

// Read returns an estimate of the provider's count of a text with this bound. It scales the bound.
// If the bound is larger than that of the last prompt, it scales only a part as large as that, and
// adds the rest unchanged.
func (g *Gauge) Read(bound token.Count) token.Count {
	known := min(bound, g.bound)
	if known <= 0 {
		return bound
	}
	return scaled(known, g.counted, g.bound) + bound - known
}

// Bound is the inverse of Read: it returns a bound for which Read returns at most counted. It
// rounds down, so that a slightly larger bound may give the same count.
func (g *Gauge) Bound(counted token.Count) token.Count {
	if g.bound == 0 {
		return counted
	}
	if counted >= g.counted {
		return g.bound + counted - g.counted
	}
	return scaled(counted, g.bound, g.counted)
}

// scaled returns n·part/all, rounded down. Counts of prompts are far below 2^31.
func scaled(n, part, all token.Count) token.Count { return n * part / all }
