// Package bins assigns measured values to the bins of a table of weights.
//
// Equal arguments give equal results. All functions may be called concurrently.
package bins

// Of returns the bin of v: the number of cuts that are at most v. The cuts must
// be in ascending order.
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

// Flag returns 1 for true and 0 for false.
func Flag(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}
