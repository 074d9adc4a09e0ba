package move

import (
	"fmt"
	"slices"
	"testing"
)

func TestInBatches(t *testing.T) {
	for want, blocks := range map[string][]int{
		"[]": nil, "[[9999 9999]]": {9_999, 9_999}, "[[30000] [1]]": {30_000, 1}, "[[9999] [10000]]": {9_999, 10_000}, "[[19998] [1 5] [30000] [0]]": {19_998, 1, 5, 30_000, 0}, "[[10000] [10000 9998]]": {10_000, 10_000, 9_998},
	} {
		if got := fmt.Sprint(slices.Collect(inBatches(blocks, func(n int) int { return n }))); got != want {
			t.Errorf("batches of %v are %s, want %s", blocks, got, want)
		}
	}
}
