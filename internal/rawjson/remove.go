package rawjson

// Remove removes elements from an array, or members from an object, for whose index the function
// drop returns true. It returns the spans to cut, including commas. list has the spans of all
// elements or members in order.
func Remove(list []Span, drop func(i int) bool) []Span {
	var cuts []Span
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
		cuts = append(cuts, cut)
		i = last
	}
	return cuts
}
