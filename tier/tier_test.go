package tier

import (
	"math"
	"testing"
)

// The edges belong to the tier that the source gives them: 80 and 95 percent to
// the one that begins there, 110 percent still to core.
func TestLadder(t *testing.T) {
	for _, tt := range []struct {
		demand, budget int64
		want           Tier
	}{
		{0, 10_000, Full},
		{7_999, 10_000, Full},
		{8_000, 10_000, Summarized},
		{9_499, 10_000, Summarized},
		{9_500, 10_000, Core},
		{11_000, 10_000, Core},
		{11_001, 10_000, Minimal},
		{1, 0, Minimal},
		{0, 0, Minimal},
		{-1, -1, Minimal},
		{0, 1, Full},
		{9_000, math.MaxInt64, Full},
		{9_000, 100_000_000_000_000_000, Full},
		{9_000, 200_000_000_000_000_000, Full},
		{math.MaxInt64, math.MaxInt64, Core},
		{math.MaxInt64, 10_000, Minimal},
		{31_200, 40_000, Full}, // the source's own example: 78 percent
	} {
		if got := DefaultLadder.Tier(tt.demand, tt.budget); got != tt.want {
			t.Errorf("Tier(%d, %d) = %s, want %s", tt.demand, tt.budget, got, tt.want)
		}
	}
}

// The soft ladder knows one edge: what fits is whole.
func TestSoftLadder(t *testing.T) {
	for _, tt := range []struct {
		demand, budget int64
		want           Tier
	}{
		{0, 10_000, Full},
		{9_520, 10_000, Full}, // the article's ladder keeps what a person verified
		{10_000, 10_000, Full},
		{10_001, 10_000, Soft},
		{50_000, 10_000, Soft},
		{1, 0, Soft},
		{0, 0, Soft},
		{-1, -1, Soft},
		{1, 1, Full},
	} {
		if got := SoftLadder.Tier(tt.demand, tt.budget); got != tt.want {
			t.Errorf("Tier(%d, %d) = %s, want %s", tt.demand, tt.budget, got, tt.want)
		}
	}
}
