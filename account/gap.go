package account

import "slices"

// mostGap bounds the gaps between lines of code that are closed, in bytes. A reader cannot tell what
// such a gap hides, and its mark or the number behind it takes a part of its room.
const mostGap = 40

// close adds the units of a small gap to a step: those between unit i, a line of code, and a kept line
// of the same code on either side, unless a later copy of them can be taken.
func (p *planning) close(step []int32, i int) []int32 {
	u := &p.Units[i]
	if u.Kind != Span && u.Kind != Change && u.Kind != Written {
		return step
	}
	for _, way := range [...]int{-1, 1} {
		bytes, k := int64(0), i+way
		for ; k >= 0 && k < len(p.Units) && p.Units[k].Kind == u.Kind && p.Units[k].Head == u.Head && bytes <= mostGap && !p.p.Kept[k]; k += way {
			bytes += cost(&p.Units[k])
		}
		if bytes > mostGap || k < 0 || k == len(p.Units) || p.Units[k].Kind != u.Kind || p.Units[k].Head != u.Head {
			continue
		}
		for m := i + way; m != k; m += way {
			if p.ready(m) && !slices.Contains(step, int32(m)) { // otherwise it stands elsewhere
				step = append(step, int32(m))
			}
		}
	}
	return step
}
