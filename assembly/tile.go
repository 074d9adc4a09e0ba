package assembly

import (
	"cmp"
	"slices"
)

// A Stretch is a part of an output and what it is of.
type Stretch[T any] struct {
	Start, End int // offsets in bytes; End is that of the first byte behind it
	Of         T
}

// Tile returns stretches in the order of an output of so many bytes, without gap or
// overlap. The stretches that it is given do not overlap. What stands between two of them
// belongs to the one behind it; what is before the first and behind the last is frame.
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
