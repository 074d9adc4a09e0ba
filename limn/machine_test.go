package limn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// forms are statements with places: {n} for a name, {v} for a value, {f} for a
// field, {c} for a condition and {o} for an operation that can stand in an each.
var forms = []string{
	"remember a value called {n} with {v}",
	"remember a list called {n} with {v} and {v}",
	"remember a list called {n}",
	"remember an order called {n} with {f} as {v} and {f} as {v}",
	"remember a value called {n} from {n}",
	"remember a value called {n} from keep the {n} where {c}",
	"remember a value called {n} from highest {f} of {n} plus {v}",
	"add {v} to {n}",
	"remove {v} from {n}",
	"filter the {n} where {c}",
	"keep the {n} where {c}",
	"count the {n}",
	"sum the {n}",
	"gather the {n} from 3 to 1 by 2",
	"each the {n} {o}",
	"show {n}",
	"show {f} of {n}",
	"choose if {c}: show {n} otherwise add {v} to {n}",
	"assign {n} to {v}",
	"require {c} unless {c}",
	"forbid {c} or {c}",
	"permit {c}",
	"expect {c} and {c}",
	"require each it in the {n} {c}",
	"sort the {n} by {f} in reverse",
	"compare {n} to {n}",
	"transform {f} of the {n} by {v} multiplied by 2",
	"transform the {n} by each plus {v}",
	"define odd: {c}",
	"weakens {n} over 5",
}

var fillings = map[string][]string{
	"{n}": {"xs", "ys", "o1", "os", "n1", "comparison"},
	"{v}": {"1", "2.5", `"x"`, "word", "n1", "o1", "2025-07-01", "total of o1", "none", "n1 plus 1", "n1 divided by 0"},
	"{f}": {"total", "status"},
	"{c}": {
		"each is above 1", "total is above n1", "n1 is 1", "xs includes 1", "total of o1 is not below 2", "status is word",
		"n1 is within 1 of 2", "n1 is odd", "each is odd", "is not odd", "total is lowest total of os",
	},
	"{o}": {"show", "show total", "show total and status", "add each to ys", "require each is above 1", "each the ys show"},
}

// drawStatement draws a statement, which may or may not make sense.
func drawStatement(t *rapid.T) string {
	s := rapid.SampledFrom(forms).Draw(t, "form")
	for {
		at := strings.IndexByte(s, '{')
		if at < 0 {
			return s
		}
		place := s[at : at+3]
		s = strings.Replace(s, place, rapid.SampledFrom(fillings[place]).Draw(t, place), 1)
	}
}

// drawProgram draws a program that begins with some values.
func drawProgram(t *rapid.T) string {
	lines := []string{
		"remember a list called xs with 1 and 2", "remember a list called ys",
		"remember an order called o1 with total as 3 and status as word",
		"remember a list called os with o1 and o1", "remember a value called n1 with 1",
	}
	for range rapid.IntRange(1, 12).Draw(t, "lines") {
		lines = append(lines, drawStatement(t))
	}
	return strings.Join(lines, "\n")
}

// A deed is what a result says, without where it stands.
type deed struct {
	Status   Status
	Output   []string
	Message  string
	Executed bool
	Metadata map[string]any
}

func deeds(p *Program) []deed {
	var all []deed
	m := NewMachine(nil)
	for _, l := range p.Lines {
		r := m.Exec(l)
		all = append(all, deed{r.Status, r.Output, r.Message, r.Executed, r.Metadata})
	}
	return all
}

func TestCanonicalFormDoesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Parse("", drawProgram(t), nil)
		p.Lines = slices.DeleteFunc(p.Lines, func(l *Line) bool { return l.Err != nil })
		again := Parse("", p.String(), nil)
		if diff := cmp.Diff(deeds(p), deeds(again)); diff != "" {
			t.Fatalf("%s(-as written +canonical)\n%s", p, diff)
		}
	})
}

// state writes down everything that a machine knows.
func state(m *Machine) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.symbols)) {
		s := m.symbols[name]
		fmt.Fprintf(&b, "%s = %s %q %v %v\n", name, s.value.typeName(), s.value, s.decay, s.teach)
	}
	for _, name := range slices.Sorted(maps.Keys(m.predicates)) {
		fmt.Fprintf(&b, "%s: %s\n", name, canonical(m.predicates[name]))
	}
	return b.String()
}

func TestRefusedStatementsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMachine(nil)
		for _, l := range Parse("", drawProgram(t), nil).Lines {
			before := state(m)
			r := m.Exec(l)
			if r.Err == nil || r.Err.fault == faultRuntime {
				continue
			}
			if after := state(m); after != before || r.Executed || r.Output != nil {
				t.Fatalf("%s: %s\nbefore:\n%safter:\n%soutput: %q", l.Source, r.Message, before, after, r.Output)
			}
		}
	})
}

func TestMachineKnowsHowManyItemsItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMachine(nil)
		for _, l := range Parse("", drawProgram(t), nil).Lines {
			m.Exec(l)
			held := 0
			for _, s := range m.symbols {
				held += itemsOf(s)
			}
			if held != m.items {
				t.Fatalf("after %s: the lists hold %d items, the machine counts %d", l.Source, held, m.items)
			}
		}
	})
}

// An "each" checks its operation for all items before it runs the first, so the kind of a value
// may change between the check and the run.
func TestEachDoesNotNestValues(t *testing.T) {
	for _, tt := range []struct{ operation, want string }{
		{"remember a list called n with each and n", "the items of 'n' would not be of one kind, or one would be a list"},
		{"remember a list called n with n and n", "the items of 'n' would not be of one kind, or one would be a list"},
		{"remember an order called n with f as n", "a field holds a number, a string or a date, and 'f' would be a record"},
	} {
		r := last(t, nil, "remember a number called n with 1", "gather the xs from 1 to 3", "each the xs "+tt.operation)
		if r.Err == nil || r.Err.fault != faultRuntime || r.Message != tt.want {
			t.Errorf("%s: %s: %s, want an error: %s", tt.operation, r.Status, r.Message, tt.want)
		}
	}
}

// last runs a program and returns its last result.
func last(t *testing.T, opts *Options, lines ...string) Result {
	t.Helper()
	var r Result
	m := NewMachine(opts)
	for _, l := range Parse("", strings.Join(lines, "\n"), opts).Lines {
		r = m.Exec(l)
	}
	return r
}

func TestFailedRulesCarryFigures(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  map[string]any
	}{
		{
			"a requirement",
			[]string{"remember a value called n1 with 5", "require n1 is above 6 and n1 is 5"},
			map[string]any{"verb": "require", "condition": "n1 is above 6 and n1 is 5", "actual": "n1 is 5."},
		},
		{
			"a prohibition",
			[]string{"remember a list called xs with x1 and x2", "forbid xs includes x2"},
			map[string]any{"verb": "forbid", "condition": "xs includes x2", "actual": "xs is x1, x2."},
		},
		{
			"a requirement for all items",
			[]string{"gather the ns from 1 to 3", "require each n in ns is below 2"},
			map[string]any{
				"verb": "require", "condition": "each is below 2", "actual": "each is 2.",
				"iteration": "each", "binding": "n", "collection": "ns", "element_index": 1,
			},
		},
		{
			"a requirement in a sequence",
			[]string{"remember a value called n1 with 5", "show n1 then require n1 is 6"},
			map[string]any{"verb": "require", "condition": "n1 is 6", "actual": "n1 is 5."},
		},
		{"a success", []string{"show \"x\""}, nil},
		{"an expectation", []string{"remember a value called n1 with 5", "expect n1 is 6"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := last(t, nil, tt.lines...)
			if diff := cmp.Diff(tt.want, r.Metadata); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !r.Executed || r.Err != nil {
				t.Errorf("executed %t, error %v", r.Executed, r.Err)
			}
		})
	}
}

func TestErrorsStandWhereTheOffenceIs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  Error
	}{
		{
			"an unknown name",
			[]string{"", "show ghost"},
			Error{Pos{2, 6}, faultSemantic, "there is nothing called 'ghost'", "remember it first"},
		},
		{
			"an unknown name in a condition",
			[]string{"remember a value called n1 with 1", "require n1 is 1 and ghost is 2"},
			Error{Pos{2, 21}, faultSemantic, "there is nothing called 'ghost'", "remember it first"},
		},
		{
			"a division by zero",
			[]string{"remember a value called n1 with 1 divided by 0"},
			Error{Pos{1, 35}, faultRuntime, "a number cannot be divided by zero", ""},
		},
		{
			"a field of a list",
			[]string{
				"remember an order called o1 with total as 5", "remember a list called orders with o1",
				"show total of orders",
			},
			Error{Pos{3, 15}, faultSemantic, "\"of\" needs a record, and 'orders' is a list of records", "each the orders show total"},
		},
		{
			"in the second operation",
			[]string{"remember a list called xs and show ghost"},
			Error{Pos{1, 36}, faultSemantic, "there is nothing called 'ghost'", "remember it first"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := last(t, nil, tt.lines...)
			if r.Err == nil {
				t.Fatalf("no error, status %s", r.Status)
			}
			if diff := cmp.Diff(tt.want, *r.Err, cmp.AllowUnexported(Error{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAmbersAreExecutedWhenConfirmed(t *testing.T) {
	var asked []string
	opts := &Options{Confirm: func(amber string) bool {
		asked = append(asked, amber)
		return true
	}}
	r := last(t, opts, "remember a value called n1 with 1", "require n1 is 2 and n1 is 3 or n1 is 1", "show n1")
	if r.Status != StatusSuccess {
		t.Errorf("status %s: %s", r.Status, r.Message)
	}
	if diff := cmp.Diff([]string{"(n1 is 2 and n1 is 3) or n1 is 1"}, asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWarningsComeFirst(t *testing.T) {
	m := NewMachine(nil)
	var statuses []string
	for r := range m.Run(Parse("", "remember a value called n1 with 1\nrequire n1 is 1\nforbid n1 is 1", nil)) {
		statuses = append(statuses, fmt.Sprintf("%s %t %d", r.Status, r.Executed, len(r.Output)))
	}
	want := []string{"success false 1", "success true 0", "success true 0", "prohibition_violated true 0"}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRunStopsWhenNobodyWantsMore(t *testing.T) {
	m := NewMachine(nil)
	for range m.Run(Parse("", "remember a value called n1 with 1\nremember a value called n2 with 1", nil)) {
		break
	}
	if _, ok := m.Value("n2"); ok {
		t.Error("the second line ran")
	}
}

func TestValueIsACopy(t *testing.T) {
	m := NewMachine(nil)
	lines := Parse("", "remember a list called xs with x1 and x2\nremember how to look: show xs\nadd x3 to xs", nil).Lines
	m.Exec(lines[0])
	before, ok := m.Value("xs")
	m.Exec(lines[1])
	m.Exec(lines[2])
	if !ok || before.String() != "x1, x2" {
		t.Errorf("the value became %q", before)
	}
	if _, ok := m.Value("look"); ok {
		t.Error("a composition has a value")
	}
	if _, ok := m.Value("ghost"); ok {
		t.Error("nothing has a value")
	}
}

// TestNumbersWeaken lets time pass as a timer does.
func TestNumbersWeaken(t *testing.T) {
	m := NewMachine(nil)
	run := func(text string) {
		t.Helper()
		for _, l := range Parse("", text, nil).Lines {
			if r := m.Exec(l); r.Status != StatusSuccess {
				t.Fatalf("%s: %s", text, r.Message)
			}
		}
	}
	expect := func(ticks int, want string) {
		t.Helper()
		m.ticks += ticks
		if v, _ := m.Value("urgency"); v.String() != want {
			t.Errorf("at tick %d: got %s, want %s", m.ticks, v, want)
		}
	}
	run("remember a value called urgency with 1.0\nweakens urgency over 10")
	expect(0, "1")
	expect(3, "0.7")
	run("remember a value called kept from urgency")
	run("remember a value called urgency with 20") // strengthened: it falls again, from 20
	expect(0, "20")
	expect(5, "10")
	run("require urgency is 10")
	run("weakens urgency over 2") // from what it is by now
	expect(1, "5")
	expect(1, "0")
	expect(9, "0")
	run("remember a value called urgency with \"x\"\nremember a value called urgency with 3") // a text does not weaken
	expect(1, "3")
	if v, _ := m.Value("kept"); v.String() != "0.7" {
		t.Errorf("a copy weakens too: %s", v)
	}
}

func TestListsOfAMachineHaveAnEnd(t *testing.T) {
	m := NewMachine(nil)
	lines := Parse("", strings.Join([]string{
		"gather the xs from 1 to 10000",
		"remember a list called ys",
		"each the xs add each to ys",
		"each the ys add each to xs",
	}, "\n"), nil).Lines
	m.Exec(lines[0])
	m.Exec(lines[1])
	m.items += maxItems - 200_000 // as if there were other lists
	for range 6 {                 // the lists grow like rabbits
		m.Exec(lines[2])
		m.Exec(lines[3])
	}
	if m.items != maxItems {
		t.Errorf("the lists hold %d items, want %d", m.items, maxItems)
	}
	r := m.Exec(lines[2])
	if want := "the lists would hold more than 1000000 items"; r.Err == nil || r.Err.fault != faultRuntime || r.Message != want {
		t.Errorf("got %s: %s, want an error: %s", r.Status, r.Message, want)
	}
}

// The record that "compare" makes is the only one with a list as a field.
func TestRecordsAreNotSortedByAList(t *testing.T) {
	lines := []string{
		"remember a list called xs with 1", "remember a list called ys with 2", "compare xs to ys",
		"remember a list called cs with comparison and comparison",
	}
	r := last(t, nil, append(lines, "sort the cs by divergences")...)
	if want := "records cannot be sorted by 'divergences', which is a list: sort them by another field"; r.Status != StatusSemanticError || r.Message != want {
		t.Errorf("%s: %s, want an error: %s", r.Status, r.Message, want)
	}
	if r := last(t, nil, append(lines, "sort the cs by status")...); r.Status != StatusSuccess {
		t.Errorf("by status: %s: %s", r.Status, r.Message)
	}
}

// TestLiveValues pins what statements outside of handlers may do with names whose
// values come from a pack: temp and readings have none yet, level was given one.
func TestLiveValues(t *testing.T) {
	opts := &Options{Packs: []*Pack{{
		Name:         "station",
		Declarations: []PackName{{"temp", "number"}, {"readings", "list_of_numbers"}, {"level", "number"}, {"seen", "list_of_numbers"}},
	}}}
	before := []string{
		"remember a number called level with 5", "remember a list called seen with 1 and 2",
		"remember a number called mine with 1", "define hot: is above 3",
	}
	for _, tt := range []struct {
		line    string
		status  Status
		message string
	}{
		{"remember a number called temp with 5", StatusSuccess, ""},
		{"show level", StatusSuccess, ""},
		{"require level is above 4", StatusSuccess, ""},
		{"keep the seen where each is above 1", StatusSuccess, ""},
		{"each the seen show each", StatusSuccess, ""},
		{"forbid temp is above 4", StatusSuccess, ""},
		{"forbid temp is not above 4", StatusSuccess, ""},
		{"forbid temp is hot", StatusSuccess, ""},
		{"forbid mine is temp plus 1", StatusSuccess, ""},
		{"forbid mine is above temp", StatusSuccess, ""},
		{"forbid mine is within temp of 1", StatusSuccess, ""},
		{"forbid size of temp is 1", StatusSuccess, ""},
		{"require temp is above 4", StatusNotMet, "Requirement not met: temp is above 4."},
		{"show temp", StatusSemanticError, "'temp' has no value yet"},
		{"remember a value called x with temp", StatusSemanticError, "there is no value yet for 'x'"},
		{"remember a value called x with temp plus 1", StatusSemanticError, "there is no value yet for 'x'"},
		{"remember a thing called x with size as temp", StatusSemanticError, "there is no value yet for 'size'"},
		{"remember a list called x with temp and 1", StatusSemanticError, "'temp' has no value yet"},
		{"assign x to temp", StatusSemanticError, "there is no value yet for 'x'"},
		{"add temp to mine", StatusSemanticError, "\"add\" needs a list, and 'mine' is a number"},
		{"count the readings", StatusSemanticError, "'readings' has no value yet"},
		{"add 1 to seen", StatusSemanticError, "'seen' is a live value, which \"add\" cannot change"},
		{"remove 1 from seen", StatusSemanticError, "'seen' is a live value, which \"remove\" cannot change"},
		{"filter the seen where each is above 1", StatusSemanticError, "'seen' is a live value, which \"filter\" cannot change"},
		{"transform the seen by each plus 1", StatusSemanticError, "'seen' is a live value, which \"transform\" cannot change"},
		{"weakens level over 5", StatusSemanticError, "'level' is a live value, which cannot weaken"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			r := last(t, opts, append(slices.Clone(before), tt.line)...)
			if r.Status != tt.status || r.Message != tt.message {
				t.Errorf("got %s: %s, want %s: %s", r.Status, r.Message, tt.status, tt.message)
			}
		})
	}
}

func TestLongTextsAreCutInMessages(t *testing.T) {
	text := strings.Repeat("é", maxInMessage)
	r := last(t, nil, `remember a value called text with "`+text+`"`, `require text is "x"`)
	want := `Requirement not met: text is "x". text is ` + strings.Repeat("é", maxInMessage/2) + "…."
	if r.Message != want {
		t.Errorf("got %s, want %s", r.Message, want)
	}
}

func TestDefinitionsOfDefinitionsHaveAnEnd(t *testing.T) {
	lines := []string{"remember a value called n1 with 1", "define p0: is 1"}
	for i := 1; i < maxDepth; i++ {
		lines = append(lines, fmt.Sprintf("define p%d: is p%d", i, i-1))
	}
	if r := last(t, nil, append(slices.Clone(lines), "require n1 is p99")...); r.Status != StatusSuccess {
		t.Errorf("a hundred: %s: %s", r.Status, r.Message)
	}
	lines = append(lines, "define p100: is p99", "define p101: is p100")
	if r := last(t, nil, lines...); r.Status != StatusSemanticError {
		t.Errorf("more: %s: %s", r.Status, r.Message)
	}
}

// "inherited remember a KIND called NAME from VALUE from AGENT" is no call, in a branch either.
func TestABranchBeginsWithAnInheritedValue(t *testing.T) {
	r := last(t, nil, "remember a number called n with 3", "choose if n is 3: inherited remember a number called m from n from agent-x", "require m is 3")
	if r.Status != StatusSuccess {
		t.Errorf("%s: %s", r.Status, r.Message)
	}
}
