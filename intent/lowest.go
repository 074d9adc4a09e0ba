package intent

// Lowest returns the lowest share of a report: of right verbs, of exact values, and the
// precisions and recalls of slots, gaps, flags and secondary verbs. It is 1 if the report has no
// miss.
func (r *Report) Lowest() float64 {
	lowest := min(r.VerbShare(), r.ExactShare())
	for _, f := range []Hits{r.Slots, r.Gaps, r.Flags, r.Secondary} {
		lowest = min(lowest, f.Precision(), f.Recall())
	}
	return lowest
}
