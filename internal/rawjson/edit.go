package rawjson

import (
	"cmp"
	"slices"
)

// An Edit puts a text in place of a span.
type Edit struct {
	Span
	Text []byte
}

// Apply returns data with edits, which may come in any order but may not
// overlap. Without edits it returns data.
func Apply(data []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return data
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	n := len(data)
	for _, e := range edits {
		n += len(e.Text) - (e.End - e.Start)
	}
	out := make([]byte, 0, n)
	from := 0
	for _, e := range edits {
		out = append(out, data[from:e.Start]...)
		out = append(out, e.Text...)
		from = e.End
	}
	return append(out, data[from:]...)
}

// Remove returns the edits that take some of the elements of an array or some
// of the members of an object out of it, with the commas that go with them.
// List has the spans of all of them in order.
func Remove(list []Span, drop func(i int) bool) []Edit {
	var edits []Edit
	for i := 0; i < len(list); i++ {
		if !drop(i) {
			continue
		}
		last := i
		for last+1 < len(list) && drop(last+1) {
			last++
		}
		cut := Span{list[i].Start, list[last].End}
		switch {
		case last+1 < len(list):
			cut.End = list[last+1].Start
		case i > 0:
			cut.Start = list[i-1].End
		}
		edits = append(edits, Edit{Span: cut})
		i = last
	}
	return edits
}
