// Package tier says how far a context is degraded so that it fits: which of
// four tiers a demand calls for under a budget, or, on a gentler ladder, which of two.
//
// Demand is what a context would take if nothing were cut, in tokens; it is
// measured before anything is cut, since afterwards everything fits. All
// comparisons are of whole numbers, so a tier is the same on every processor.
package tier

// A Tier is a degree of degradation. It is stored as its text.
type Tier string

// The tiers, from all to the least.
const (
	Full       Tier = "full"       // everything as it is
	Summarized Tier = "summarized" // memories compressed, chunks cut, transcripts summarized
	Core       Tier = "core"       // artifacts that a person verified, and the system text
	Minimal    Tier = "minimal"    // the system text, and a flag for a person to look

	// Soft is the lower of the two steps of [SoftLadder].
	Soft Tier = "soft" // whole artifacts while they fit: verified by a person first, then the best
)

// Known returns all tiers that a context can have.
func Known() []Tier { return append(Tiers(), Soft) }

// Tiers returns the tiers of the article, from all to the least.
func Tiers() []Tier { return []Tier{Full, Summarized, Core, Minimal} }

// A Ladder says at which demand each tier begins, in percent of the budget.
type Ladder struct {
	Summarized int // from here on
	Core       int // from here on
	Minimal    int // above

	// Soft has two steps and no edges but the budget: [Full] up to it, and [Soft]
	// above.
	Soft bool
}

// SoftLadder gives up as little as it can. With the article's ladder a context that is
// a little too large loses all that no person verified.
var SoftLadder = Ladder{Soft: true}

// DefaultLadder has the edges of the OS-paged context engine: full below 80
// percent of the budget, summarized from there, core from 95 to 110 percent,
// minimal above.
var DefaultLadder = Ladder{Summarized: 80, Core: 95, Minimal: 110}

// Tier returns the tier that a demand calls for under a budget, both in
// tokens. A budget that is not positive calls for [Minimal], or for [Soft].
func (l Ladder) Tier(demand, budget int64) Tier {
	if l.Soft {
		if budget > 0 && demand <= budget {
			return Full
		}
		return Soft
	}
	switch share := demand * 100; {
	case budget <= 0 || share > int64(l.Minimal)*budget:
		return Minimal
	case share >= int64(l.Core)*budget:
		return Core
	case share >= int64(l.Summarized)*budget:
		return Summarized
	}
	return Full
}
