package bins

import "testing"

// A bin begins with its cut.
func TestOf(t *testing.T) {
	for v, want := range map[int32]uint8{-1: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 1 << 30: 3} {
		if got := Of(v, 2, 3, 5); got != want {
			t.Errorf("%d is in bin %d, want %d", v, got, want)
		}
	}
	if got := Of[int64](5); got != 0 {
		t.Errorf("without cuts the bin is %d, want 0", got)
	}
}

func TestFlag(t *testing.T) {
	if Flag(false) != 0 || Flag(true) != 1 {
		t.Errorf("flags are %d and %d, want 0 and 1", Flag(false), Flag(true))
	}
}
