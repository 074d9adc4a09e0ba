// Package tier decides how far a context is degraded to fit its budget: to one of four tiers
// or, on a gentler ladder, one of two.
//
// The demand is the number of tokens of the context before any cut. It must be measured before
// cutting. All comparisons are of integers, so the tier is the same on every processor.
//
//	t := tier.DefaultLadder.Tier(9_000, 10_000) // Summarized: 90 percent
//
// The package has no state and returns no errors.
package tier

import (
	"cmp"
	"math/bits"
)

// A Tier is a degree of degradation. It is stored as its text.
type Tier string

// The tiers, from the least to the most degraded.
const (
	Full       Tier = "full"       // everything as it is
	Summarized Tier = "summarized" // memories compressed, chunks cut, transcripts summarized
	Core       Tier = "core"       // artifacts that a person verified, and the system text
	Minimal    Tier = "minimal"    // the system text, and a flag for a person to look

	// Soft is the degraded step of [SoftLadder].
	Soft Tier = "soft" // whole artifacts while they fit: verified by a person first, then the best
)

// Known returns all tiers, including [Soft].
func Known() []Tier { return append(Tiers(), Soft) }

// Tiers returns the four tiers of [DefaultLadder], from the least to the most degraded.
func Tiers() []Tier { return []Tier{Full, Summarized, Core, Minimal} }

// A Ladder has the demand at which each tier begins, in percent of the budget. The percentages must
// not fall from Summarized to Minimal. The zero Ladder is [Minimal] for every demand above 0: use
// [DefaultLadder].
type Ladder struct {
	Summarized int // from this demand on
	Core       int // from this demand on
	Minimal    int // above this demand

	// Soft selects the ladder of two steps: [Full] up to the budget, [Soft] above it. The other
	// fields are then ignored.
	Soft bool
}

// SoftLadder leaves out as little as possible. Under [DefaultLadder], even a context that is only
// slightly too large loses every artifact that no person has verified.
var SoftLadder = Ladder{Soft: true}

// DefaultLadder is full below 80 percent of the budget, summarized from there,
// core from 95 to 110 percent, minimal above.
var DefaultLadder = Ladder{Summarized: 80, Core: 95, Minimal: 110}

// Tier returns the tier for a demand under a budget, both in tokens. A budget of 0 or less
// gives [Minimal], or [Soft] on the soft ladder.
func (l Ladder) Tier(demand, budget int64) Tier {
	if l.Soft {
		if budget > 0 && demand <= budget {
			return Full
		}
		return Soft
	}
	switch {
	case budget <= 0 || against(demand, budget, l.Minimal) > 0:
		return Minimal
	case against(demand, budget, l.Core) >= 0:
		return Core
	case against(demand, budget, l.Summarized) >= 0:
		return Summarized
	}
	return Full
}

// against compares a demand with a share of a budget in percent, however large they are. A value
// below 0 counts as 0.
func against(demand, budget int64, percent int) int {
	dh, dl := bits.Mul64(uint64(max(demand, 0)), 100)
	bh, bl := bits.Mul64(uint64(max(budget, 0)), uint64(max(percent, 0)))
	return cmp.Or(cmp.Compare(dh, bh), cmp.Compare(dl, bl))
}
