// Package tier says how far a context is degraded so that it fits: which of
// four tiers a demand calls for under a budget.
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
	Core       Tier = "core"       // what a person verified, and the system text
	Minimal    Tier = "minimal"    // the system text, and a flag for a person to look
)

// Tiers returns the tiers, from all to the least.
func Tiers() []Tier { return []Tier{Full, Summarized, Core, Minimal} }

// A Ladder says at which demand each tier begins, in percent of the budget.
type Ladder struct {
	Summarized int // from here on
	Core       int // from here on
	Minimal    int // above
}

// DefaultLadder has the edges of the OS-paged context engine: full below 80
// percent of the budget, summarized from there, core from 95 to 110 percent,
// minimal above.
var DefaultLadder = Ladder{Summarized: 80, Core: 95, Minimal: 110}

// Tier returns the tier that a demand calls for under a budget, both in
// tokens. A budget that is not positive calls for [Minimal].
func (l Ladder) Tier(demand, budget int64) Tier {
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
