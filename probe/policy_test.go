package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// graded returns a report of critical and ordinary probes of which some passed.
func graded(criticalPassed, critical, ordinaryPassed, ordinary int) *Report {
	var results []Result
	add := func(passed, n int, critical bool) {
		for i := range n {
			place := Lost
			if i < passed {
				place = Window
			}
			results = append(results, Result{Probe: Probe{Type: typeDecision, Critical: critical}, Place: place})
		}
	}
	add(criticalPassed, critical, true)
	add(ordinaryPassed, ordinary, false)
	return report(results)
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		report *Report
		policy *Criteria
		sizes  [2]token.Count // before and after
		want   Acceptance
	}{
		{"all", graded(2, 2, 8, 8), nil, [2]token.Count{100, 30}, Acceptance{Accepted: true}},
		{"exactly 90%", graded(2, 2, 7, 8), nil, [2]token.Count{100, 30}, Acceptance{Accepted: true}},
		{
			"just less", graded(2, 2, 87, 97), nil,
			[2]token.Count{},
			Acceptance{Reasons: []string{"89 of 99 probes passed (89.9%), and 90.0% must pass"}},
		},
		{
			"so little less that it is rounded up", graded(2, 2, 897, 997), nil,
			[2]token.Count{},
			Acceptance{Reasons: []string{"899 of 999 probes passed (just below 90.0%), and 90.0% must pass"}},
		},
		{
			"one critical", graded(9, 10, 90, 90), nil,
			[2]token.Count{},
			Acceptance{Reasons: []string{"9 of 10 critical probes passed (90.0%), and 100.0% must pass"}},
		},
		{
			"few ordinary ones, but enough of all", graded(9, 9, 0, 1), nil,
			[2]token.Count{},
			Acceptance{Accepted: true, Warnings: []string{"0 of 1 ordinary probes passed (0.0%), and 80.0% must pass"}},
		},
		{
			"less than 70%", graded(0, 0, 6, 10), nil,
			[2]token.Count{},
			Acceptance{
				Reasons:  []string{"6 of 10 probes passed (60.0%), and 90.0% must pass"},
				Warnings: []string{"6 of 10 ordinary probes passed (60.0%), and 80.0% must pass"},
				RedFlags: []string{"6 of 10 probes passed (60.0%), and 70.0% must pass"},
			},
		},
		{
			"next to nothing is left", graded(0, 0, 1, 1), nil,
			[2]token.Count{1000, 49},
			Acceptance{Accepted: true, RedFlags: []string{"95.1% of the tokens are gone, 95.0% is too much"}},
		},
		{"a policy by which anything may be gone", graded(0, 0, 1, 1), &Criteria{MaxRatio: -1}, [2]token.Count{1000, 0}, Acceptance{Accepted: true}},
		{"exactly 95% are gone", graded(0, 0, 1, 1), nil, [2]token.Count{1000, 50}, Acceptance{Accepted: true}},
		{"it grew", graded(0, 0, 1, 1), nil, [2]token.Count{10, 12}, Acceptance{Accepted: true, Warnings: []string{"10 tokens became 12"}}},
		{"no probes", graded(0, 0, 0, 0), nil, [2]token.Count{}, Acceptance{Accepted: true, Warnings: []string{"no probes were asked"}}},
		{"a gentler policy", graded(1, 2, 1, 2), &Criteria{Overall: ratio.Of(1, 2), Critical: -1, Ordinary: -1, RedFlag: -1}, [2]token.Count{}, Acceptance{Accepted: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, list := range []*[]string{&tt.want.Reasons, &tt.want.Warnings, &tt.want.RedFlags} {
				if *list == nil {
					*list = []string{}
				}
			}
			if d := cmp.Diff(&tt.want, tt.report.Judge(tt.policy, tt.sizes[0], tt.sizes[1])); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A share that rounds to the wanted one does not reach it.
func TestSharesAreNotRounded(t *testing.T) {
	tally := Tally{Total: 10_000_000, Passed: 8_999_999}
	if tally.score() != ratio.Of(9, 10) || reaches(tally, ratio.Of(9, 10)) {
		t.Errorf("%d of %d, which rounds to %v, reaches 90%%", tally.Passed, tally.Total, tally.score())
	}
}

func TestDriftOf(t *testing.T) {
	round := func(n int, places map[string]Location, types map[string]Type) Round {
		var results []Result
		for _, id := range []string{"a", "b", "c", "d"} {
			if place, ok := places[id]; ok {
				results = append(results, Result{Probe: Probe{ID: id, Type: types[id]}, Place: place})
			}
		}
		return Round{n, report(results)}
	}
	types := map[string]Type{"a": typeDecision, "b": typeDecision, "c": typeError, "d": typeIntent}
	rounds := []Round{
		round(1, map[string]Location{"a": Window, "b": Window}, types),
		{Number: 2},
		round(3, map[string]Location{"a": Recall, "b": Lost, "c": Window}, types),
		round(4, map[string]Location{"a": Window, "b": Recall, "c": Lost, "d": Lost}, types),
	}
	got := DriftOf(rounds)
	want := &Drift{
		Rounds: []RoundScore{
			{1, ratio.One, rounds[0].Report.Types},
			{3, ratio.Of(1, 3), rounds[2].Report.Types},
			{4, ratio.Of(1, 4), rounds[3].Report.Types},
		},
		First: ratio.One, Last: ratio.Of(1, 4), Change: -ratio.Of(3, 4),
		Types: []TypeDrift{
			{typeDecision, ratio.One, ratio.Of(1, 2), -ratio.Of(1, 2)},
			{typeError, ratio.One, 0, -ratio.One},
			{typeIntent, 0, 0, 0},
		},
		Regressed: []string{"b", "c"},
		Recovered: []string{"a"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := DriftOf([]Round{rounds[2], rounds[0], rounds[0]}); len(got.Recovered)+len(got.Regressed) > 0 {
		t.Errorf("after a round like the one before, %v recovered and %v regressed", got.Recovered, got.Regressed)
	}
	if got := DriftOf([]Round{{1, &Report{}}, round(2, map[string]Location{"a": Window}, types)}); len(got.Rounds) != 1 || got.Rounds[0].Number != 2 {
		t.Errorf("the rounds are %+v, want the one with a probe", got.Rounds)
	}
	if got := DriftOf(nil); len(got.Rounds) != 0 || got.Change != 0 {
		t.Errorf("drift of no rounds is %+v", got)
	}
}
