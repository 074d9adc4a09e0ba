package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/transcript"
)

func orchard() []facts.Fact {
	return []facts.Fact{
		{Kind: facts.FactTask, Text: "The orchard planner forgets watering times when the clock changes in spring. Please repair it in src/schedule.rb.", Block: at(1, 1), Role: transcript.RoleUser},
		{Kind: facts.FactCommand, Status: "ok", Subject: "rake test", Text: "31 runs, 0 failures in 2.417 s", Block: at(2, 2)},
		{Kind: facts.FactChange, Status: "modified", Subject: "src/schedule.rb", Text: "local → utc (+4 −2 lines)", Block: at(3, 3)},
		{Kind: facts.FactCorrection, Text: "Never water between 11 am and 4 pm, the leaves get burnt.", Block: at(4, 4), Role: transcript.RoleUser},
		{Kind: facts.FactDecision, Text: "I'll store times in UTC rather than local time.", Why: "local time is ambiguous for one hour", Block: at(5, 5)},
		{Kind: facts.FactError, Status: "open", Text: "Errno::EACCES: permission denied @ rb_sysopen - valves.yml", Block: at(6, 6)},
		{Kind: facts.FactQuestion, Status: "open", Text: "Should the plum trees get a zone of their own?", Block: at(7, 7)},
		{Kind: facts.FactPlan, Text: "Migrate the stored schedules of the two other farms.", Block: at(7, 7)},
	}
}

func TestEssentialsAskWhatMatters(t *testing.T) {
	probes := Essentials(orchard(), of(Options{}))
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
	if d := cmp.Diff(probes, Essentials(orchard(), of(Options{}))); d != "" {
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
			var entries []string
			for i, e := range whole {
				if i+1 != tt.drop {
					entries = append(entries, e)
				}
			}
			if tt.drop == 4 {
				entries[1] = "src/schedule.rb: edited"
			}
			var lost []string
			for _, r := range GradeAuthored(Essentials(orchard(), of(Options{})), tt.intent, entries).Failed() {
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
		if got := sameRoot(root(tt.a), root(tt.b)); got != tt.akin {
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
	probes := Essentials([]facts.Fact{
		{Kind: facts.FactDecision, Text: "Yes, the plum trees with drip hoses. My address is Quarry Lane 12, Oldmere.", Block: at(1, 1), Role: transcript.RoleUser},
		{Kind: facts.FactError, Text: "String to replace not found in file valves.rb", Block: at(2, 2)},
	}, of(Options{}))
	if len(probes) != 1 || probes[0].Type != typeDecision {
		t.Fatalf("got %v, want the decision alone", probes)
	}
	if d := cmp.Diff([]string{"plum", "trees", "drip", "hoses"}, probes[0].Expected); d != "" {
		t.Error(d)
	}
}

// A plan that something else replaced does not come next, and no summary must name it.
func TestEssentialsLeaveOutReplacedPlans(t *testing.T) {
	first := facts.Fact{Kind: facts.FactPlan, Text: "Migrate the stored schedules of both farms", Block: at(1, 1)}
	for name, c := range map[string]struct {
		later facts.Fact
		want  int
	}{
		"nothing":       {facts.Fact{Kind: facts.FactRead, Subject: "farms.go", Block: at(1, 2)}, 1},
		"a task":        {facts.Fact{Kind: facts.FactTask, Text: "Rename the greenhouse controller instead", Block: at(2, 2), Role: transcript.RoleUser}, 0},
		"another plan":  {facts.Fact{Kind: facts.FactPlan, Text: "Calibrate the humidity sensors tomorrow", Block: at(1, 2)}, 0},
		"the same plan": {facts.Fact{Kind: facts.FactPlan, Text: "Calibrate the humidity sensors tomorrow", Block: at(1, 1)}, 1},
	} {
		n := 0
		for _, p := range Essentials([]facts.Fact{first, c.later}, of(Options{})) {
			if p.About == "plan" && strings.Contains(strings.Join(p.Expected, " "), "schedules") {
				n++
			}
		}
		if n != c.want {
			t.Errorf("before %s the plan is asked for %d times, want %d", name, n, c.want)
		}
	}
}

// What any summary must answer: how each fact is asked for, if it is.
func TestEssentialsOf(t *testing.T) {
	user := func(kind facts.FactKind, text string, block int) facts.Fact {
		return facts.Fact{Kind: kind, Text: text, Block: block, Role: transcript.RoleUser}
	}
	for _, tt := range []struct {
		name  string
		found []facts.Fact
		o     Options
		want  []string
	}{
		{"an order of three words is critical", []facts.Fact{user(facts.FactCorrection, "Never water plum trees", at(1, 1))}, Options{}, []string{"correction! water plum trees"}},
		{"an order of two words is not", []facts.Fact{user(facts.FactCorrection, "Never water plums", at(1, 1))}, Options{}, []string{"correction water plums"}},
		{"a question is no order", []facts.Fact{user(facts.FactCorrection, "Why do you water plum trees?", at(1, 1))}, Options{}, []string{"correction water plum trees"}},
		{"short orders of one message are one", []facts.Fact{user(facts.FactCorrection, "Never water plums", at(1, 1)), user(facts.FactCorrection, "Spare the blossoms", at(1, 1))}, Options{}, []string{"correction! water plums Spare blossoms"}},
		{"short orders of two messages are two", []facts.Fact{user(facts.FactCorrection, "Never water plums", at(1, 1)), user(facts.FactCorrection, "Spare the blossoms", at(2, 2))}, Options{}, []string{"correction water plums", "correction Spare blossoms"}},
		{"a short order and a long one", []facts.Fact{user(facts.FactCorrection, "Never water plum trees", at(1, 1)), user(facts.FactCorrection, "Spare the blossoms", at(1, 1))}, Options{}, []string{"correction! water plum trees Spare blossoms"}},
		{"long orders of one message are two", []facts.Fact{user(facts.FactCorrection, "Never water plum trees", at(1, 1)), user(facts.FactCorrection, "Spare the burnt blossoms", at(1, 1))}, Options{}, []string{"correction! water plum trees", "correction! Spare burnt blossoms"}},
		{"an order behind something else of its message", []facts.Fact{user(facts.FactTask, "Repair the orchard planner", at(1, 1)), user(facts.FactCorrection, "Spare the blossoms", at(1, 1))}, Options{}, []string{"task! Repair orchard planner", "correction Spare blossoms"}},
		{"the first task, and what comes behind later ones", []facts.Fact{user(facts.FactTask, "Repair the orchard planner", at(1, 1)), user(facts.FactTask, "Paint the garden shed", at(2, 2)), user(facts.FactCorrection, "Never water plum trees", at(3, 3))}, Options{}, []string{"task! Repair orchard planner", "correction! water plum trees"}},
		{"the same twice", []facts.Fact{{Kind: facts.FactDecision, Text: "Store times in UTC", Block: at(1, 1)}, {Kind: facts.FactDecision, Text: "Store times in UTC", Block: at(2, 2)}}, Options{}, []string{"decision Store times UTC"}},
		{"no more than are wanted", []facts.Fact{{Kind: facts.FactDecision, Text: "Store times in UTC", Block: at(1, 1)}, {Kind: facts.FactDecision, Text: "Water at night", Block: at(2, 2)}, {Kind: facts.FactDecision, Text: "Buy drip hoses", Block: at(3, 3)}}, Options{PerType: 1}, []string{"decision Water night"}},
		{"neither how an error was mended nor what is done", []facts.Fact{{Kind: facts.FactError, Status: facts.StatusResolved, Text: "valves.yml denied", Why: "chmod on the folder", Block: at(1, 1)}, {Kind: facts.FactTodo, Status: facts.StatusCompleted, Subject: "Backfill currency columns", Block: at(2, 2)}}, Options{}, []string{"error valves yml denied"}},
		{"an error without its numbers", []facts.Fact{{Kind: facts.FactError, Text: "valve 404 denied 1.5", Block: at(1, 1)}, {Kind: facts.FactError, Text: "404", Block: at(2, 1)}}, Options{}, []string{"error valve denied"}},
		{"a decision that says nothing", []facts.Fact{user(facts.FactDecision, "Yes.", at(1, 1))}, Options{}, nil},
		{"a decision of two words", []facts.Fact{user(facts.FactDecision, "Drip hoses. My address is Quarry Lane 12, Oldmere.", at(1, 1))}, Options{}, []string{"decision! Drip hoses"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Essentials(tt.found, of(tt.o)) {
				mark := ""
				if p.Critical {
					mark = "!"
				}
				got = append(got, p.About+mark+" "+strings.Join(p.Expected, " "))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A path is found where its name stands, and a report says which keywords were.
func TestGradeAuthoredSaysWhatItFound(t *testing.T) {
	path := Probe{ID: "1", Type: typeFilePath, Question: "Which file?", Expected: []string{"src/schedule.rb"}, Need: 1}
	said := Probe{ID: "2", Type: typeDecision, Question: "What was decided?", Expected: []string{"plum", "night", "hoses"}, Need: 2}
	r := GradeAuthored([]Probe{path, said}, "", []string{"schedule.rb keeps UTC", "Plums get hoses"})
	if r.Results[0].Place != Window || r.Results[1].Place != Window {
		t.Errorf("got %+v, want that both are found", r.Results)
	}
	for said, want := range map[string]Location{
		"We have to go and run the suite": Lost, "It runs go test": Lost, "Edited run.gob": Lost,
		"Edited `src/run.go`: new flag": Window, "a.go,run.go.": Window, "RUN.GO": Window,
	} {
		path.Expected = []string{"src/run.go"}
		if got := GradeAuthored([]Probe{path}, "", []string{said}).Results[0].Place; got != want {
			t.Errorf("run.go in %q is %s, want %s", said, got, want)
		}
	}
	path.Expected = []string{"notes/my lamp.txt"}
	if got := GradeAuthored([]Probe{path}, "", []string{"wrote notes/my lamp.txt"}).Results[0].Place; got != Window {
		t.Errorf("a name with a blank is %s", got)
	}
	if d := cmp.Diff([][]string{{"plum", "hoses"}, {"night"}}, [][]string{r.Results[1].Found, r.Results[1].Missing}); d != "" {
		t.Error(d)
	}
}

// Of a decision the first sentence with two words that carry information counts, if another follows.
func TestWhatIsDecided(t *testing.T) {
	for said, want := range map[string]string{
		"Pears. Water the plum trees at night. Call it orchard.": "Water the plum trees at night.",
		"Water the plums. Call it orchard.":                      "Water the plums.",
		"Yes. Pears.":                                            "Yes. Pears.",
	} {
		if got := strings.TrimSpace(decided(said)); got != want {
			t.Errorf("%q decides %q, want %q", said, got, want)
		}
	}
	if r := GradeAuthored([]Probe{{Type: typeIntent, About: "task", Question: "What?", Expected: []string{"plum"}, Need: 1}}, "plums", []string{"pears"}); r.Passed != 1 {
		t.Errorf("a task of one word: %+v", r)
	}
}

// A word counts once, in all its forms, and not more than twelve do.
func TestInformativeWords(t *testing.T) {
	for said, want := range map[string]string{
		"Water pears, watering the pear trees":                                    "Water pears trees",
		"5 pears at 40 % in 30 ms, x q because folder decided great, seven and 7": "5 pears 40 30 seven",
		"oak elm ash fir yew bay fig gum koa asp box tea":                         "oak elm ash fir yew bay fig gum koa asp box tea",
		"oak elm ash fir yew bay fig gum koa asp box tea elk":                     "oak elm ash fir yew bay fig gum koa asp box tea",
	} {
		if got := strings.Join(informativeWords(said), " "); got != want {
			t.Errorf("%s: got %q, want %q", said, got, want)
		}
	}
}
