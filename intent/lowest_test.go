package intent

import "testing"

func TestLowestIsTheWorstShare(t *testing.T) {
	whole := Hits{2, 2, 2}
	for _, tt := range []struct {
		name   string
		report Report
		want   float64
	}{
		{"nothing to compare", Report{}, 1},
		{"nothing missed", Report{Cases: 2, Verbs: 2, Slots: whole, Values: 2, Exact: 2, Gaps: whole, Flags: whole, Secondary: whole}, 1},
		{"a wrong verb", Report{Cases: 4, Verbs: 3, Slots: whole}, 0.75},
		{"a value cut wrong", Report{Cases: 1, Verbs: 1, Values: 2, Exact: 1}, 0.5},
		{"a gap too many", Report{Gaps: Hits{1, 4, 1}}, 0.25},
		{"a flag too few", Report{Flags: Hits{1, 1, 4}, Gaps: Hits{1, 2, 1}}, 0.25},
		{"a further request that is not found", Report{Secondary: Hits{0, 0, 1}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.report.Lowest(); got != tt.want {
				t.Errorf("Lowest() = %v, want %v", got, tt.want)
			}
		})
	}
}
