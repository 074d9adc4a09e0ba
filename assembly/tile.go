package assembly

import (
	"cmp"
	"slices"
)

// A Stretch is a range of an output with the value that describes it.
type Stretch[T any] struct {
	Start, End int // byte offsets; End is exclusive
	Of         T
}

// Tile extends stretches so that they cover an output of size bytes without gap or overlap, and
// returns them in order. The given stretches may be in any order, but must not overlap or exceed
// size, which Tile does not check. A gap between two stretches is added to the second; the bytes
// before the first and after the last become stretches with the value frame. Tile changes list.
func Tile[T any](list []Stretch[T], size int, frame T) []Stretch[T] {
	slices.SortFunc(list, func(a, b Stretch[T]) int { return cmp.Compare(a.Start, b.Start) })
	if len(list) > 0 && list[0].Start > 0 {
		list = slices.Insert(list, 0, Stretch[T]{0, list[0].Start, frame})
	}
	end := 0
	for i := range list {
		list[i].Start, end = end, list[i].End
	}
	if end < size {
		list = append(list, Stretch[T]{end, size, frame})
	}
	return list
}
