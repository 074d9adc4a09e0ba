package transcript

import (
	"cmp"
	"slices"
)

// A Cut replaces the bytes from From up to To by With.
type Cut struct {
	From, To int
	With     []byte
}

// Splice returns a copy of raw with the cuts applied. It sorts cuts in place. It panics if two of
// them overlap or one is not within raw.
func Splice(raw []byte, cuts ...Cut) []byte {
	slices.SortFunc(cuts, func(a, b Cut) int { return cmp.Compare(a.From, b.From) })
	n := len(raw)
	for _, c := range cuts {
		n += len(c.With) - (c.To - c.From)
	}
	out := make([]byte, 0, n)
	at := 0
	for _, c := range cuts {
		out = append(append(out, raw[at:c.From]...), c.With...)
		at = c.To
	}
	return append(out, raw[at:]...)
}
