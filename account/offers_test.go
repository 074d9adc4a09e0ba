package account

import (
	"testing"

	"pgregory.net/rapid"
)

// The best offer comes first, whatever changed in which order.
func TestOffersComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "units")
		o := offers{rate: make([]int64, n), at: make([]int32, n)}
		there := make(map[int32]bool)
		best := func() int32 {
			b := int32(-1)
			for unit := range there {
				if b < 0 || o.rate[unit] > o.rate[b] || o.rate[unit] == o.rate[b] && unit > b {
					b = unit
				}
			}
			return b
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if len(there) > 0 && rapid.IntRange(0, 3).Draw(t, "pop") == 0 {
				delete(there, o.heap[0])
				o.pop()
			} else {
				unit := int32(rapid.IntRange(0, n-1).Draw(t, "unit"))
				o.set(unit, int64(rapid.IntRange(1, 20).Draw(t, "rate")))
				there[unit] = true
			}
			if len(o.heap) != len(there) || len(there) > 0 && o.heap[0] != best() {
				t.Fatalf("of %d offers unit %d is first, want %d", len(o.heap), o.heap[0], best())
			}
		}
	})
}
