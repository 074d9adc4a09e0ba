package intent

// Lowest returns the lowest of the shares in a report: of verbs, of exact values,
// and of the precision and the recall of everything else. It is 1 if nothing was
// missed.
func (r *Report) Lowest() float64 {
	lowest := min(r.VerbShare(), r.ExactShare())
	for _, f := range []Hits{r.Slots, r.Gaps, r.Flags, r.Secondary} {
		lowest = min(lowest, f.Precision(), f.Recall())
	}
	return lowest
}
