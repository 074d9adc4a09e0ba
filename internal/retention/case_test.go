package retention

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

func user(text string) Message      { return Message{Role: transcript.RoleUser, Text: text} }
func assistant(text string) Message { return Message{Role: transcript.RoleAssistant, Text: text} }

func call(id, args string) Message {
	return Message{Role: transcript.RoleAssistant, Calls: []Call{{id, "Read", args}}}
}

func result(id, text string) Message {
	return Message{Role: transcript.RoleTool, CallID: id, Text: text}
}

// at returns the case of a trajectory of messages that is cut before one of them.
func at(t *testing.T, cut int, common *Common, msgs ...Message) *Case {
	t.Helper()
	tr := NewTrajectory("a", "a", "f", msgs)
	return tr.caseAt(cut, common)
}

func texts(needs []Need) []string {
	var list []string
	for i := range needs {
		list = append(list, needs[i].Text)
	}
	return list
}

func TestCost(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    Message
		want int
	}{
		{"nothing", Message{}, 4},
		{"one byte", user("x"), 5},
		{"four bytes", user("four"), 5},
		{"five bytes", user("fives"), 6},
		{"name and arguments, in one sum", Message{Text: "ab", Calls: []Call{{"id", "Read", `{"a":1}`}}}, 4 + (2+4+7+3)/4},
	} {
		if got := tt.m.Cost(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	m := Message{Text: "I look.", Calls: []Call{
		{"1", "Edit", `{"path":"b.go","edits":[{"new":"x\ny","at":12.50}],"all":true,"none":null}`},
		{"2", "Bash", `ls -l`},
		{"3", "Say", `"quoted"`},
		{"4", "Say", `{"a":1} b`},
	}}
	want := "I look.\nEdit\n12.50\nx\ny\nb.go\nBash\nls -l\nSay\n\"quoted\"\nSay\n{\"a\":1} b"
	if got := m.plain(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCuts(t *testing.T) {
	// Messages of 10 tokens each: 24 bytes and 4 for the message.
	m := func(role transcript.Role) Message { return Message{Role: role, Text: strings.Repeat("x", 24)} }
	u, a := m(transcript.RoleUser), m(transcript.RoleAssistant)
	tr := NewTrajectory("a", "a", "f", []Message{
		m(transcript.RoleSystem), u, a, a, u, u, a, u, a, u, u, // C is 100
	})
	if got := tr.costs[len(tr.Messages)]; got != 100 {
		t.Fatalf("the whole costs %d, want 100", got)
	}
	// c(i) is 10·(i-1). The replies at 2, 6 and 8 begin a step, that at 3 does not.
	for percent, want := range map[int]int{10: 2, 11: 6, 35: 6, 50: 6, 60: 8, 70: 8, 71: 0, 85: 0} {
		if got := tr.cut(percent); got != want {
			t.Errorf("the cut at %d percent is before message %d, want %d", percent, got, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	sys := Message{Role: transcript.RoleSystem, Text: "You work on base_repo."}
	msgs := []Message{
		sys,
		user("Mend max_len in plan.go of base_repo, ticket 4711, and tell_me."),
		call("1", `{"path":"pager/plan.go"}`),
		result("1", "min_len max_len in https://example.org/deep_name"),
		// The cut.
		call("2", `{"path":"pager/plan.go","q":"max_len fresh_name base_repo deep_name"}`),
		result("2", "tell_me more about min_len"),
		assistant("I think of ticket 4711."),
		call("3", `{"q":"max_len min_len tell_me 4711"}`),
	}
	c := at(t, 4, nil, msgs...)
	// plan.go in the arguments is inner. fresh_name is new, base_repo pinned;
	// deep_name is only inside of a URL, where it counts as there. In the second
	// action max_len was needed before, min_len and tell_me were told; what the
	// agent itself said voids nothing.
	want := []Need{
		{Text: "pager/plan.go", Kind: kindPath, Action: 0, Last: 1},
		{Text: "max_len", Kind: kindAtom, Action: 0, Last: 2},
		{Text: "deep_name", Kind: kindAtom, Action: 0, Last: 2},
		{Text: "4711", Kind: kindNumber, Action: 1, Last: 0},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "id" }, cmp.Ignore())
	if diff := cmp.Diff(want, c.Needs, ignore); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if c.Actions != 2 {
		t.Errorf("%d actions, want 2", c.Actions)
	}
}

func TestNeedsEndWithTheHorizon(t *testing.T) {
	msgs := []Message{user("first_name last_name")}
	for i := range 19 {
		msgs = append(msgs, call(fmt.Sprint(i), `{}`))
	}
	msgs = append(msgs, call("19", `{"q":"first_name"}`), assistant("Well."), call("20", `{"q":"last_name"}`))
	if diff := cmp.Diff([]string{"first_name"}, texts(at(t, 1, nil, msgs...).Needs)); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
}

func TestCommon(t *testing.T) {
	const line = "return nil, errNoSuchPlan"
	one := NewTrajectory("a", "a", "red", []Message{user("shared_name own_name 12345\n" + line)})
	same := NewTrajectory("b", "b", "red", []Message{user("own_name")})
	two := NewTrajectory("c", "c", "blue", []Message{user("shared_name 12345"), assistant(line)})
	common := NewCommon([]*Trajectory{one, same, two})
	c := at(t, 1, common, user("shared_name own_name 12345\n"+line), call("1", `{"q":"12345 own_name, shared_name\n`+line+`"}`))
	if diff := cmp.Diff([]string{"12345", "own_name"}, texts(c.Needs)); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if len(c.Lines) != 0 {
		t.Errorf("lines %q, want none", texts(c.Lines))
	}
	// shared_name, errNoSuchPlan and the line.
	if common.Size() != 3 {
		t.Errorf("%d are common, want 3", common.Size())
	}
}

func TestCopiedLines(t *testing.T) {
	c := at(t, 2, nil,
		call("1", `{"path":"plan.go"}`),
		result("1", "   12→\tif err := plan.check(); err != nil {\n   13→\t\treturn nil, fmt.Errorf(\"plan: %w\", err)\n   14→\t}"),
		call("2", `{"new":"  if err := plan.check();   err != nil {\n    panic(\"this line is a new one\")\n}"}`),
		result("2", "return nil, fmt.Errorf(\"plan: %w\", err)"),
		call("3", `{"new":"return nil, fmt.Errorf(\"plan: %w\", err)"}`),
	)
	if diff := cmp.Diff([]string{"  if err := plan.check();   err != nil {"}, texts(c.Lines)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestFar(t *testing.T) {
	filler := user(strings.Repeat("x ", 4*farAway/2-8)) // costs farAway
	if filler.Cost() != farAway {
		t.Fatalf("the filler costs %d", filler.Cost())
	}
	c := at(t, 3, nil, user("far_name again_name"), filler, user(""), call("1", `{"q":"far_name"}`))
	near := at(t, 3, nil, user("old"), user("far_name"), filler, call("1", `{"q":"far_name"}`))
	nearer := at(t, 3, nil, user("far_name"), user("old"), user("far_name"), call("1", `{"q":"far_name"}`))
	if !c.Needs[0].Far || !near.Needs[0].Far || nearer.Needs[0].Far {
		t.Errorf("far: %v, %v, %v, want true, true, false", c.Needs[0].Far, near.Needs[0].Far, nearer.Needs[0].Far)
	}
	if whole, cut := c.Score(c.Prefix, 1)[ScoreFar], c.Score(c.Prefix[1:], 1); whole != 1 || cut[ScoreFar] != 0 || len(cut) != len(c.Score(c.Prefix, 1)) {
		t.Errorf("far from the cut, the whole has %v and the rest %v", whole, cut)
	}
	tr := trajectories()[0]
	cases := tr.CasesAt([]int{35, 35, 60, 101}, nil, 100)
	if len(cases) != 2 || len(tr.CasesAt([]int{35}, nil, cases[0].Cost())) != 1 || len(tr.CasesAt([]int{35}, nil, cases[0].Cost()+1)) != 0 {
		t.Errorf("%d cases, want one for each place of at least so many tokens", len(cases))
	}
}

// scoring is a case with four needs of two actions and three lines.
func scoring(t *testing.T) *Case {
	t.Helper()
	return at(t, 5, nil,
		user("Mend plan_one in the file first.go now."),
		call("1", `{"path":"first.go"}`),
		result("1", "alpha_x = beta_x\nfunc planner(a int) error {\n\treturn errors.New(\"none\")\n// and now the last line"),
		call("2", `{"path":"second.go"}`),
		result("2", "gamma_x and its friends"),
		call("3", `{"a":"alpha_x first.go","b":"func planner(a int) error {\nreturn errors.New(\"none\")\n// and now the last line"}`),
		result("3", "delta_x"),
		call("4", `{"a":"gamma_x plan_one"}`),
	)
}

func TestScores(t *testing.T) {
	c := scoring(t)
	if diff := cmp.Diff([]string{"alpha_x", "first.go", "gamma_x", "plan_one"}, texts(c.Needs)); diff != "" {
		t.Fatalf("needs (-want +got):\n%s", diff)
	}
	if len(c.Lines) != 3 {
		t.Fatalf("lines %q, want 3", texts(c.Lines))
	}
	j := newJudge(c)
	for _, tt := range []struct {
		name                       string
		out                        []Message
		id, ground, line, complete float64
	}{
		{"everything", c.Prefix, 1, 1, 1, 1},
		{"nothing", nil, 0, 0, 0, 0},
		{"the first two messages", c.Prefix[:2], .5, .5, 0, 0},
		{"the result of the first call", c.Prefix[2:3], .25, .25, 1, 0},
		{"again without its words", []Message{c.Prefix[2], user("x alpha_x y")}, .25, .25, 1, 0},
		{"a list on one line has no neighbors", []Message{user("x, alpha_x, first.go, gamma_x, plan_one, x")}, 1, 0, 0, 1},
		// The beginning and the end of a line count as words. So a name that began or ended a line
		// counts alone on its line, as all but plan_one did.
		{"a list of one name a line", []Message{user("alpha_x\nfirst.go\ngamma_x\nplan_one")}, 1, .75, 0, 1},
		// alpha_x begins a line as it did; first.go is alone, as it was in the
		// call; gamma_x has the word behind it; plan_one has neither.
		{"a word on either side is enough", []Message{user("alpha_x\nfirst.go\nsee gamma_x and\nplan_one")}, 1, .75, 0, 1},
		{"lines count in their normal form", []Message{user("func  planner(a int) error {\n3: return errors.New(\"none\")")}, 0, 0, 2. / 3, 0},
		{"all needs of one action", []Message{user("gamma_x, plan_one")}, .5, .25, 0, .5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := j.score(tt.out, 1000)
			for name, want := range map[Score]float64{ScoreID: tt.id, ScoreGround: tt.ground, ScoreLine: tt.line, ScoreComplete: tt.complete} {
				if got := s[name]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
		})
	}
}

func TestScoresOfBudget(t *testing.T) {
	c := scoring(t)
	j := newJudge(c)
	cost := Cost(c.Prefix)
	if s := j.score(c.Prefix, cost); s[ScoreOver] != 0 || s[ScoreUsed] != 1 {
		t.Errorf("in its own size: over %v, used %v", s[ScoreOver], s[ScoreUsed])
	}
	if s := j.score(c.Prefix, cost-1); s[ScoreOver] != 1 {
		t.Errorf("one token over: over %v", s[ScoreOver])
	}
	if _, ok := j.score(nil, 1)[ScoreFar]; ok {
		t.Error("a case without far needs has the score far")
	}
}

func TestValid(t *testing.T) {
	c := at(t, 5, nil,
		user("go"), call("1", `{}`), result("1", "a"), call("2", `{}`), assistant("it never answered"), call("3", `{}`))
	p := c.Prefix
	j := newJudge(c)
	for _, tt := range []struct {
		name string
		out  []Message
		want float64
	}{
		{"nothing", nil, 1},
		{"as it was", p, 1},
		{"a result without its call", p[2:3], 0},
		{"a call without its result", p[1:2], 0},
		{"a result before its call", []Message{p[2], p[1]}, 0},
		{"a call that never had a result", p[3:], 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := j.score(tt.out, 100)[ScoreValid]; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStub(t *testing.T) {
	c := scoring(t)
	j := newJudge(c)
	// What the first action has at hand is its own arguments and the last result
	// before the cut, with gamma_x. The second has delta_x, too.
	for _, tt := range []struct {
		name string
		out  []Message
		want float64
	}{
		{"a stub that names what the action names", []Message{{Role: transcript.RoleUser, Text: "[first.go]", Stubs: []Stub{{0, 10, []int{2}}}}}, .5},
		{"a stub that names nothing", []Message{{Role: transcript.RoleUser, Text: "[old text]", Stubs: []Stub{{0, 10, []int{2}}}}}, 0},
		{"a stub that stands for something else", []Message{{Role: transcript.RoleUser, Text: "[first.go]", Stubs: []Stub{{0, 10, []int{4}}}}}, .25},
		{"a stub that names only what it would bring", []Message{{Role: transcript.RoleUser, Text: "[alpha_x]", Stubs: []Stub{{0, 9, []int{2}}}}}, .25},
		{"what the last result said is at hand", []Message{{Role: transcript.RoleUser, Text: "[gamma_x]", Stubs: []Stub{{0, 9, []int{0, 2}}}}}, 1},
		{"a name outside of the stub", []Message{{Role: transcript.RoleUser, Text: "first.go [old]", Stubs: []Stub{{9, 14, []int{2}}}}}, .25},
		{
			"the call that a stub answers belongs to it",
			[]Message{c.Prefix[1], {Role: transcript.RoleTool, CallID: "1", Text: "[old]", Stubs: []Stub{{0, 5, []int{2}}}}},
			.5,
		},
		{"a numbered line in a made message", []Message{user("[#3 Read first.go]\n[#9 Read first.go]")}, .5},
		{"what follows a numbered line belongs to it", []Message{user("[#3 Read]\nfirst.go\n[#5 Read]")}, .5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := j.score(tt.out, 100)[ScoreStub]; math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStable(t *testing.T) {
	a, b := user("first"), user("second") // 6 bytes of frame, 6 of text and line feed
	if got := stable([]Message{a}, []Message{a}); got != 1 {
		t.Errorf("the same again: %v, want 1", got)
	}
	if got := stable([]Message{a}, []Message{a, a}); got != .5 {
		t.Errorf("as much again behind it: %v, want 0.5", got)
	}
	if got := stable([]Message{b}, []Message{a}); got != .5 {
		t.Errorf("another text in the same frame: %v, want 0.5", got)
	}
	if !math.IsNaN(stable([]Message{a}, nil)) {
		t.Error("of nothing there is no share")
	}
}

// conversation returns a session in which each step uses names of earlier ones.
func conversation(seed, steps int) []Message {
	msgs := []Message{user(fmt.Sprintf("Mend task_%d in root_%d.go, please.", seed, seed))}
	named := func(n int) string { return fmt.Sprintf("value_%d_%d := compute_%d_%d(x)", seed, n, seed, n) }
	for i := range steps {
		id := fmt.Sprintf("c%d", i)
		args := fmt.Sprintf(`{"path":"src_%d/file_%d.go","new":"%s\n%s\n%s"}`, seed, i, named(i/2), named(i/3), named(i/5))
		filler := strings.Repeat(fmt.Sprintf("filler words of step_%d\n", i), 8+i%5)
		msgs = append(msgs, call(id, args), result(id, named(i)+"\n"+filler))
	}
	return msgs
}

func trajectories() []*Trajectory {
	var all []*Trajectory
	for i := range 4 {
		id := fmt.Sprintf("s%d", i)
		all = append(all, NewTrajectory(id, id, []string{"red", "blue"}[i%2], conversation(i, 14+i)))
	}
	return all
}

func small() *Options {
	return &Options{
		Budgets: []Budget{{Percent: 10}, {Percent: 100}}, MinPrefix: map[string]int{"": 100}, Draws: 20,
		Methods: append(Baselines(), Strategies(nil, carrel.StrategyImportance)...),
	}
}

func TestMeasureIsDeterministic(t *testing.T) {
	measure := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		return written(t, Measure(trajectories(), small()))
	}
	if diff := cmp.Diff(measure(1), measure(4)); diff != "" {
		t.Errorf("one processor and four differ:\n%s", diff)
	}
}

func TestMethods(t *testing.T) {
	r := Measure(trajectories(), small())
	if len(r.Families) != 2 || r.Families[0].Name != "blue" || r.Families[0].Cases < 4 {
		t.Fatalf("families %+v", r.Families)
	}
	paired := map[string]bool{
		"recency-best-fit": true, "drop-largest-pairs": true, "pager-pairs": true, "bm25-recent-pairs": true,
		"oracle-lines": true, "carrel-importance": true,
	}
	partial := map[string]bool{"clear3-tail": true, "mask10-tail": true, "oracle-lines": true} // also where all fits
	for i := range r.Rows {
		row := &r.Rows[i]
		where := row.Method + " " + row.Family + " " + row.Budget
		if row.Scores[ScoreOver].Mean != 0 && !strings.HasPrefix(row.Method, "carrel-") {
			t.Errorf("%s is over the budget", where)
		}
		if paired[row.Method] && row.Scores[ScoreValid].Mean != 1 {
			t.Errorf("%s is not always valid", where)
		}
		if row.Budget == "100%" && !partial[row.Method] && row.Scores[ScoreID].Mean != 1 {
			t.Errorf("%s loses something although all fits: %v", where, row.Scores[ScoreID])
		}
		for name, e := range row.Scores {
			if e.Low > e.High || e.Mean < 0 || name != ScoreUsed && e.High > 1 {
				t.Errorf("%s: %s is %v", where, name, e)
			}
		}
	}
}

// A mean is over the cuts of a session first: sessions count alike, however often
// they were cut.
func TestMeansAreBySession(t *testing.T) {
	s := Sample{groups: [][]int{{0, 1, 2}, {3}, {4}}, draws: [][]int{{0, 1, 2}, {1, 1, 1}}}
	results := []outcome{{scores: Scores{ScoreID: 0}}, {scores: Scores{ScoreID: .3}}, {scores: Scores{ScoreID: .6}}, {scores: Scores{ScoreID: .9}}, {}}
	got := estimates([]Sample{s}, func(i int) *outcome { return &results[i] })
	want := map[Score]Estimate{ScoreID: {Mean: .6, Low: .9, High: .9}}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	data := []byte(`{"model":"m","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Look."},
		{"role":"assistant","content":"I do.","tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"plan.go\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"package plan"}]}`)
	tr, err := Read("x/acme-1.json", "acme", data)
	if err != nil {
		t.Fatal(err)
	}
	want := []Message{
		{Role: transcript.RoleSystem, Text: "Be kind."},
		{Role: transcript.RoleUser, Text: "Look."},
		{Role: transcript.RoleAssistant, Text: "I do.", Calls: []Call{{"c1", "Read", `{"path":"plan.go"}`}}},
		{Role: transcript.RoleTool, Text: "package plan", CallID: "c1", Tool: "Read"},
	}
	unread := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".read" }, cmp.Ignore())
	if diff := cmp.Diff(want, tr.Messages, unread); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if tr.ID != "acme-1" || tr.Pinned != 1 {
		t.Errorf("id %q, %d pinned", tr.ID, tr.Pinned)
	}
}

func TestParseBudget(t *testing.T) {
	for s, want := range map[string]Budget{"10": {Percent: 10}, "5%": {Percent: 5}, "4k": {Tokens: 4000}} {
		got, err := ParseBudget(s)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "0", "101", "-1k", "k", "ten"} {
		if b, err := ParseBudget(s); err == nil {
			t.Errorf("%q is %v", s, b)
		}
	}
}

// Carrel's stubs are found in what it exports, with the messages they stand for.
func TestStrategiesFlagTheirStubs(t *testing.T) {
	msgs := conversation(1, 40)
	for _, m := range Strategies(nil, carrel.StrategyImportance, carrel.StrategyAnchored) {
		budget := Cost(msgs) / 3
		out := m.Pack(msgs, budget)
		stubs := 0
		for i := range out {
			for _, s := range out[i].Stubs {
				stubs++
				if len(s.For) == 0 || s.To <= s.From || s.To > len(out[i].Text) {
					t.Errorf("%s: stub %+v in %q", m.Name, s, out[i].Text)
				}
			}
		}
		if stubs == 0 || Cost(out) > budget || Cost(out) < budget/2 {
			t.Errorf("%s: %d stubs, %d tokens of %d", m.Name, stubs, Cost(out), budget)
		}
	}
}

// The bag has each name once, the most frequent first, and is within its budget.
func TestBagOfNames(t *testing.T) {
	msgs := []Message{
		user("Mend lamp.go, and ask for the hall_lamp or openLamp; see docs/lamps."),
		call("1", `{"path":"lamp.go"}`),
		result("1", "lamp.go has 120 lines, and hall_lamp is one"),
	}
	const all = "lamp.go hall_lamp 120 docs/lamps openLamp"
	for _, tt := range []struct {
		budget int
		want   string
	}{
		{40, all},
		{4 + (len(all)+1)/4 + 1, all},
		{4 + 8/4, "lamp.go"},
		{4 + 12/4, "lamp.go 120"},
		{4, ""},
		{0, ""},
	} {
		got := bagOfNames(msgs, tt.budget)
		text := ""
		for i := range got {
			text += got[i].Text
		}
		if text != tt.want || Cost(got) > tt.budget {
			t.Errorf("in %d: %q, which costs %d, want %q", tt.budget, text, Cost(got), tt.want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jsonl", "a/c.json", "a/notes.md", "a.json", "d.json/e.md"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files([]string{dir, filepath.Join(dir, "a")})
	for i := range got {
		got[i], _ = filepath.Rel(dir, got[i])
		got[i] = filepath.ToSlash(got[i])
	}
	if diff := cmp.Diff([]string{"a.json", "a/c.json", "b.jsonl"}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if _, err := Files([]string{filepath.Join(dir, "absent")}); err == nil {
		t.Error("a folder that is not there has files")
	}
}
