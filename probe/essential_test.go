package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func orchard() []Fact {
	return []Fact{
		{Kind: KindTask, Text: "The orchard planner forgets watering times when the clock changes in spring. Please repair it in src/schedule.rb.", Source: "a1", Turn: 1, User: true},
		{Kind: KindCommand, Status: "ok", Subject: "rake test", Text: "31 runs, 0 failures in 2.417 s", Source: "a2", Turn: 2},
		{Kind: KindChange, Status: "modified", Subject: "src/schedule.rb", Text: "local → utc (+4 −2 lines)", Source: "a3", Turn: 3},
		{Kind: KindCorrection, Text: "Never water between 11 am and 4 pm, the leaves get burnt.", Source: "a4", Turn: 4, User: true},
		{Kind: KindDecision, Text: "I'll store times in UTC rather than local time.", Why: "local time is ambiguous for one hour", Source: "a5", Turn: 5},
		{Kind: KindError, Status: "open", Text: "Errno::EACCES: permission denied @ rb_sysopen - valves.yml", Source: "a6", Turn: 6},
		{Kind: KindQuestion, Status: "open", Text: "Should the plum trees get a zone of their own?", Source: "a7", Turn: 7},
		{Kind: KindPlan, Text: "Migrate the stored schedules of the two other farms.", Source: "a7", Turn: 7},
	}
}

func TestEssentialsAskWhatMatters(t *testing.T) {
	probes := Essentials(orchard(), nil)
	if p := Lint(probes); len(p) > 0 {
		t.Error(p)
	}
	var got []string
	for _, p := range probes {
		s := string(p.Type) + " " + p.About
		if p.Critical {
			s += " critical"
		}
		got = append(got, s)
	}
	want := []string{
		"file_path path critical", "decision decision", "error error", "blocker question critical", "next_steps plan",
		"intent task critical", "intent correction critical",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(probes, Essentials(orchard(), &Options{})); d != "" {
		t.Error("not the same twice:", d)
	}
}

func TestGradeAuthored(t *testing.T) {
	whole := []string{
		"The planner for the orchard lost its watering times at the change of clocks; src/schedule.rb is to be mended",
		"src/schedule.rb: keeps UTC",
		"No watering from 11:00 to 16:00 (user): burnt leaves",
		"Times are stored as UTC",
		"EACCES on valves.yml: open",
		"A separate zone for plums?",
		"Schedules of the other farms are still to be migrated",
	}
	for _, tt := range []struct {
		name   string
		intent string
		drop   int // of the entries, from 1
		lost   string
	}{
		{"in other words", whole[0], 0, ""},
		{"another intent", "Migrate the farms", 0, "intent task"},
		{"no file", whole[0], 2, ""}, // the intent names it
		{"without the order", whole[0], 3, "intent correction"},
		{"without the decision", whole[0], 4, "decision decision"},
		{"without the error", whole[0], 5, "error error"},
		{"without the question", whole[0], 6, "blocker question"},
		{"without the step", whole[0], 7, "next_steps plan"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Authored{Intent: tt.intent}
			for i, e := range whole {
				if i+1 != tt.drop {
					a.Entries = append(a.Entries, e)
				}
			}
			if tt.drop == 4 {
				a.Entries[1] = "src/schedule.rb: edited"
			}
			var lost []string
			for _, r := range GradeAuthored(Essentials(orchard(), nil), a).Failed() {
				lost = append(lost, string(r.Probe.Type)+" "+r.Probe.About)
			}
			if got := strings.Join(lost, ", "); got != tt.lost {
				t.Errorf("lost %q, want %q", got, tt.lost)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		akin bool
	}{
		{"leaks", "leaking", true},
		{"dependency", "dependencies", true},
		{"percentage", "percentages", true},
		{"twelve", "12", true},
		{"connect", "connection", true},
		{"retry", "retries", true},
		{"author", "auth", false},
		{"port", "post", false},
		{"12", "120", false},
	} {
		if got := akin(root(tt.a), root(tt.b)); got != tt.akin {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
	if got := clock("from 9 am to 4:30 p.m., not 12 am"); got != "from 9:00 to 16:30, not 0:00" {
		t.Error(got)
	}
}

// What a person says behind a decision is no part of it, and what an editing tool
// did not find is no news.
func TestEssentialsLeaveOutWhatIsBesideThePoint(t *testing.T) {
	probes := Essentials([]Fact{
		{Kind: KindDecision, Text: "Yes, the plum trees with drip hoses. My address is Quarry Lane 12, Oldmere.", Source: "b1", Turn: 1, User: true},
		{Kind: KindError, Text: "String to replace not found in file valves.rb", Source: "b2", Turn: 2},
	}, nil)
	if len(probes) != 1 || probes[0].Type != Decision {
		t.Fatalf("got %v, want the decision alone", probes)
	}
	if d := cmp.Diff([]string{"plum", "trees", "drip", "hoses"}, probes[0].Expected); d != "" {
		t.Error(d)
	}
}

// A plan that something else replaced does not come next, and no summary must name it.
func TestEssentialsLeaveOutReplacedPlans(t *testing.T) {
	first := Fact{Kind: KindPlan, Text: "Migrate the stored schedules of both farms", Source: "b1", Turn: 1}
	for name, c := range map[string]struct {
		later Fact
		want  int
	}{
		"nothing":       {Fact{Kind: KindRead, Subject: "farms.go", Source: "b2", Turn: 1}, 1},
		"a task":        {Fact{Kind: KindTask, Text: "Rename the greenhouse controller instead", Source: "b2", Turn: 2, User: true}, 0},
		"another plan":  {Fact{Kind: KindPlan, Text: "Calibrate the humidity sensors tomorrow", Source: "b2", Turn: 1}, 0},
		"the same plan": {Fact{Kind: KindPlan, Text: "Calibrate the humidity sensors tomorrow", Source: "b1", Turn: 1}, 1},
	} {
		n := 0
		for _, p := range Essentials([]Fact{first, c.later}, nil) {
			if p.About == "plan" && strings.Contains(strings.Join(p.Expected, " "), "schedules") {
				n++
			}
		}
		if n != c.want {
			t.Errorf("before %s the plan is asked for %d times, want %d", name, n, c.want)
		}
	}
}
