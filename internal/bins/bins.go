// Package bins puts what is measured into the few bins that a table of weights has.
//
// Equal arguments give equal results. All functions may be used by several goroutines at
// once.
package bins

// Of returns the number of cuts that v is not below. The cuts ascend.
func Of[T ~int32 | ~int64](v T, cuts ...T) uint8 {
	n := uint8(0)
	for _, c := range cuts {
		if v < c {
			break
		}
		n++
	}
	return n
}

// Flag returns 1 for what is so, and 0 for what is not.
func Flag(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}
