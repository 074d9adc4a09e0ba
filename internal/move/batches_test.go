package move

import (
	"fmt"
	"slices"
	"testing"
)

func TestInBatches(t *testing.T) {
	for _, tt := range []struct {
		blocks []int
		want   string
	}{
		{nil, "[]"},
		{[]int{9_999, 9_999}, "[[9999 9999]]"},
		{[]int{9_999, 10_000}, "[[9999] [10000]]"},
		{[]int{19_998, 1, 5, 30_000, 0}, "[[19998] [1 5] [30000] [0]]"},
		{[]int{10_000, 10_000, 9_998}, "[[10000] [10000 9998]]"},
	} {
		if got := fmt.Sprint(slices.Collect(inBatches(tt.blocks, func(n int) int { return n }))); got != tt.want {
			t.Errorf("batches of %v are %s, want %s", tt.blocks, got, tt.want)
		}
	}
}
