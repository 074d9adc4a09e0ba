package pager

import (
	"math"

	"github.com/carrel-dev/carrel/ratio"
)

// Weights are the weights of the signals. The score of a block is
//
//	Relevance·s.Relevance() + Recency·s.Recency()
//
// for its signals s. With s.Prior, the weight of relevance is multiplied by
// 1.5; with s.Source, 0.1 is added.
type Weights struct {
	Relevance ratio.Ratio `json:"relevance"` // alpha of the original context pager
	Recency   ratio.Ratio `json:"recency"`   // its beta
}

// DefaultWeights are the weights of the original context pager: 0.7 and 0.3.
var DefaultWeights = Weights{Relevance: 700_000, Recency: 300_000}

// Signals are the inputs of a score.
type Signals struct {
	Hits  int `json:"hits"`  // number of the intent's terms in the block
	Terms int `json:"terms"` // number of the intent's terms
	Age   int `json:"age"`   // turns since the block was written, at least 0

	// Bonuses for blocks that a standing correction of the user asks to look
	// at.
	Prior  bool `json:"prior,omitempty"`  // it has facts of an earlier session, and a correction asks to consult them
	Source bool `json:"source,omitempty"` // it shows a source, and a correction asks to check claims against sources
}

// Relevance is Hits/Terms, or 0 if the intent has no terms.
func (s Signals) Relevance() ratio.Ratio { return ratio.Of(s.Hits, s.Terms) }

// Recency is 1/(1+ln(1+age)): 1 in the current turn, 0.29 ten turns later,
// 0.18 after a hundred.
//
// It is rounded to the nearest millionth, which drops the bits in which the logarithm
// differs between processors.
func (s Signals) Recency() ratio.Ratio {
	return ratio.Ratio(math.Round(float64(ratio.One) / (1 + math.Log(float64(1+max(s.Age, 0))))))
}

// score returns the retention score of a block, by the formula of the original context pager; see
// [Weights].
func score(w Weights, s Signals) ratio.Ratio {
	alpha := w.Relevance
	if s.Prior {
		alpha += alpha / 2
	}
	score := alpha.Mul(s.Relevance()) + w.Recency.Mul(s.Recency())
	if s.Source {
		score += ratio.One / 10
	}
	return score
}

// A Directive is the decision about a block by its score alone. It is stored
// as its text.
type Directive string

// The directives.
const (
	Retain Directive = "retain" // stays in the window
	Page   Directive = "page"   // leaves a stub behind
	Evict  Directive = "evict"  // leaves the window
)

// Cuts are the scores that separate the directives.
type Cuts struct {
	Retain ratio.Ratio `json:"retain"` // least score of retain
	Evict  ratio.Ratio `json:"evict"`  // least score of page; below it is evict
}

// DefaultCuts are the cuts of the original context pager: 0.55 and 0.20.
var DefaultCuts = Cuts{Retain: 550_000, Evict: 200_000}

// Directive returns the directive for a score. If the score equals a cut, it
// returns the directive above the cut, which keeps more.
func (c Cuts) Directive(score ratio.Ratio) Directive {
	switch {
	case score >= c.Retain:
		return Retain
	case score < c.Evict:
		return Evict
	default:
		return Page
	}
}

// young is the age in turns below which no block is evicted by its score.
const young = 5

// decide returns the directive for a block by its score, except that a block
// that is younger than 5 turns or shares no term with the intent is paged and
// never evicted. Without this exception the formula would evict every block
// without a hit as soon as it is one turn old.
func (c Cuts) decide(score ratio.Ratio, s Signals) Directive {
	d := c.Directive(score)
	if d == Evict && (s.Age < young || s.Hits == 0) {
		return Page
	}
	return d
}
