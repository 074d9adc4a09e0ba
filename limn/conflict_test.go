package limn

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestContradictions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program []string
		want    []string // kind and lines
	}{
		{"a requirement that nothing can meet", []string{
			"require x is above 5 and x is below 3",
		}, []string{"always-deny 1"}},
		{"a requirement with an exception that cannot be either", []string{
			"require x is above 5 and x is below 3 unless s is a1 and s is b1",
		}, []string{"always-deny 1"}},
		{"a prohibition of everything", []string{
			"forbid x is above 5 or x is not above 6",
		}, []string{"always-deny 1"}},
		{"two prohibitions that leave nothing", []string{
			"forbid x is above 5", "forbid x is not above 5",
		}, []string{"always-deny 1 2"}},
		{"a prohibition of what cannot be", []string{
			"forbid s is equal to red and s is equal to blue",
		}, []string{"dead-forbid 1"}},
		{"no whole day between two days", []string{
			"forbid d is above 2026-01-01 and d is below 2026-01-02",
		}, []string{"dead-forbid 1"}},
		{"a number between two numbers", []string{
			"forbid x is above 1 and x is below 2",
		}, nil},
		{"what is required is forbidden", []string{
			`require s is equal to "red"`, "show s", "forbid s is red",
		}, []string{"require-forbid-conflict 1 3"}},
		{"what is required lies within what is forbidden", []string{
			"forbid x is above 3", "require x is above 5",
		}, []string{"require-forbid-conflict 1 2"}},
		{"what is required has a part that is not forbidden", []string{
			"forbid x is above 5", "require x is above 3",
		}, nil},
		{"an exception resolves a conflict", []string{
			"forbid x is above 3 unless s is urgent", "require x is above 5",
		}, nil},
		{"an exception that excludes what is required does not", []string{
			"forbid x is above 3 unless x is below 4", "require x is above 5",
		}, []string{"require-forbid-conflict 1 2"}},
		{"lists that must and must not include something", []string{
			`require done includes "b1"`, `forbid done includes b1`, `forbid done includes "b2"`,
		}, []string{"require-forbid-conflict 1 2"}},
		{"above A with below B where A is B", []string{
			"require x is above 4", "require x is below 4",
		}, []string{"require-conflict 1 2"}},
		{"two equalities that are required", []string{
			"require s is draft", "require s is final",
		}, []string{"require-conflict 1 2"}},
		{"a number is no text", []string{
			"require x is 5", `require x is "5"`,
		}, []string{"require-conflict 1 2"}},
		{"a number is not compared with a day", []string{
			"require x is above 5", "require x is below 2026-01-01",
		}, nil},
		{"names that nothing binds are text, others are not", []string{
			"remember a value called final with draft", "require s is draft", "require s is final",
		}, nil},
		{"comparisons with a name contradict one another", []string{
			"remember a number called limit with 5", "require x is above limit", "require x is not above limit",
		}, []string{"require-conflict 2 3"}},
		{"the same number written differently", []string{
			"require x is equal to 1", "forbid x is equal to 1.0",
		}, []string{"require-forbid-conflict 1 2"}},
		{"an exception that covers a requirement", []string{
			"require x is above 5 unless x is below 6",
		}, []string{"unless-swallows-rule 1"}},
		{"an exception that covers a prohibition", []string{
			"forbid x is above 5 unless x is above 3",
		}, []string{"unless-swallows-rule 1"}},
		{"an exception that covers a permission", []string{
			"permit x is above 5 unless x is above 3",
		}, []string{"unless-swallows-rule 1"}},
		{"a prohibition within another", []string{
			"forbid x is above 5", "forbid x is above 7 and s is red",
		}, []string{"redundant-forbid 1 2"}},
		{"a prohibition around an earlier one", []string{
			"forbid x is above 7", "forbid x is above 5",
		}, []string{"redundant-forbid 1 2"}},
		{"a permission of what cannot be", []string{
			"permit x is above 5 and x is 3",
		}, []string{"dead-permit 1"}},
		{"a permission of what is forbidden", []string{
			"permit x is above 7", "forbid x is above 5",
		}, []string{"dead-permit 1 2"}},
		{"a permission of what is forbidden but for an exception", []string{
			"permit x is above 7", "forbid x is above 5 unless s is red",
		}, nil},
		{"predicates that are always true and never", []string{
			"define any: is above 3 or is not above 3", "define no: is above 3 and is below 2", "define some: is above 3",
		}, []string{"constant-predicate 1", "constant-predicate 2"}},
		{"a predicate stands for its condition", []string{
			"define high: is above 5", "require x is high", "require x is below 4", "require x is not high",
		}, []string{"require-conflict 2 3", "require-conflict 2 4"}},
		{"the subject of a predicate may have the field, or there is a name", []string{
			"define big: total is above 5", "require order is big", "require total is below 4",
		}, nil},
		{"a predicate with two meanings is not looked into", []string{
			"define high: is above 5", "require x is high", "define high: is below 3", "require x is below 4",
		}, nil},
		{"a predicate that is defined later is text before", []string{
			"require x is high", "define high: is above 5", "require x is 9",
		}, []string{"require-conflict 1 3"}},
		{"within a distance", []string{
			"require x is within 2 of 10", "require x is above 13",
		}, []string{"require-conflict 1 2"}},
		{"not within a distance", []string{
			"forbid x is within 2 of 10", "require x is above 9 and x is below 11",
		}, []string{"require-forbid-conflict 1 2"}},
		{"rules inside of others are not looked at", []string{
			"choose if x is 1: require y is 1", "require y is 2",
		}, nil},
		{"a permission of what is forbidden before", []string{
			"forbid x is above 5", "permit x is above 7",
		}, []string{"dead-permit 1 2"}},
		{"a permission of more than is forbidden", []string{
			"forbid x is above 5", "permit x is above 3", "forbid x is above 8",
		}, []string{"redundant-forbid 1 3"}},
		{"permissions do not contradict one another, nor requirements", []string{
			"permit x is above 5", "permit x is below 3", "require x is above 9", "permit x is below 2",
		}, nil},
		{"a requirement is not within a prohibition", []string{
			"forbid x is above 5", "require x is below 8", "forbid y is above 5", "require y is below 5",
		}, nil},
		{"prohibitions that overlap", []string{
			"forbid x is above 5 and y is above 5", "forbid x is above 7 and y is above 3",
		}, nil},
		{"one whole day between two days", []string{
			"forbid d is above 2026-01-01 and d is below 2026-01-03",
		}, nil},
		{"the only whole day between two days is excluded", []string{
			"forbid d is above 2026-01-01 and d is below 2026-01-03 and d is not equal to 2026-01-02",
		}, []string{"dead-forbid 1"}},
		{"the ends of a distance in days", []string{
			"forbid d is within 2 of 2026-01-10", "require d is 2026-01-08", "require e is within 2 of 2026-01-10", "forbid e is not equal to 2026-01-12",
		}, []string{"require-forbid-conflict 1 2"}},
		{"the same field of two records that a predicate is applied to", []string{
			"define big: total is above 5", "define small: total is below 4", "require order is big", "require cart is small", "require order is small",
		}, []string{"require-conflict 3 5"}},
		{"the highest is not the lowest, nor the highest of another field", []string{
			"remember a list called xs", "require highest f of xs is above 5", "require lowest f of xs is below 3",
			"require highest g of xs is below 3", "require highest f of xs is below 3",
		}, []string{"require-conflict 2 5"}},
		{"a predicate that an each defines may be one or not", []string{
			"remember a list called xs", "each the xs define high: is above 5", "require x is high", "require x is 9",
		}, nil},
		{"a predicate with the name of a value may be one or not", []string{
			"remember a number called high with 1", "define high: is above 5", "require x is high", "require x is 2",
		}, nil},
		{"a name that a remember binds within another is no text", []string{
			"remember a value called a1 from remember a value called b1 from x", "require s is b1", "require s is c1",
		}, nil},
		{"an excluded bound", []string{
			"require x is not below 4 and x is not above 4 and x is not equal to 4", "require y is not below 4 and y is not above 4",
			"require z is 4 and z is not below 4", "forbid w is 4 and w is below 4", "forbid v is 4 and v is above 4",
		}, []string{"always-deny 1", "dead-forbid 4", "dead-forbid 5"}},
		{"what is compared with both numbers and days makes no sense", []string{
			"require x is above 5 and x is above 2026-01-01 and x is below 3", "require y is 5 and y is below 2026-01-01 and y is above 9",
			"require z is 2026-01-01 and z is above 5 and z is 2026-01-02",
		}, nil},
		{"nothing is between ends that cross", []string{
			"require x is above 5 and x is not above 3", "require y is above 2026-01-05 and y is below 2026-01-03",
		}, []string{"always-deny 1", "always-deny 2"}},
		{"a lower end that is open stays so, and an upper one", []string{
			"require x is above 4 and x is not below 4 and x is not above 4", "require y is below 4 and y is not above 4 and y is not below 4",
			"require z is not below 4 and z is above 4 and z is not above 4", "require w is not above 4 and w is below 4 and w is not below 4",
		}, []string{"always-deny 1", "always-deny 2", "always-deny 3", "always-deny 4"}},
		{"the nearest ends count", []string{
			"require x is above 2 and x is above 4 and x is above 3 and x is below 4", "require y is below 5 and y is below 3 and y is below 4 and y is above 3",
			"require z is above 2 and z is above 4 and z is above 3 and z is below 5", "require w is below 5 and w is below 3 and w is below 4 and w is above 2",
		}, []string{"always-deny 1", "always-deny 2"}},
		{"a predicate whose line has to be confirmed may be one or not", []string{
			"define high: is above 5 and is above 6 or is above 7", "require x is high", "require x is 2",
		}, nil},
		{"a value that is compared with a word that has two definitions", []string{
			"define red: is 1", "define red: is 2", "require s is equal to red", "require s is equal to blue",
		}, []string{"require-conflict 3 4"}},
		{"expectations do not contradict", []string{
			"expect x is 1", "require x is 2", "expect x is above 3 and x is below 2",
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Parse("", strings.Join(tt.program, "\n"), nil)
			for _, l := range p.Lines {
				if l.Err != nil {
					t.Fatal(l.Err)
				}
			}
			var got []string
			for _, c := range contradictions(p) {
				s := string(c.Kind)
				for _, l := range c.Lines {
					s += fmt.Sprint(" ", l.Pos.Line)
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
		})
	}
}

// What is too large to look into is passed over, in no time.
func TestContradictionsGivesUp(t *testing.T) {
	var pairs []string
	for i := range 40 {
		pairs = append(pairs, fmt.Sprintf("x is %d or y is %d", i, i))
	}
	large := "require " + strings.Join(pairs, " and ") + "\n" +
		"require " + strings.Join(slices.Repeat([]string{"x is above 1"}, 1000), " and ") + "\n"
	excepted := strings.ReplaceAll(large, "\n", " unless z is 1 or z is 2\n")
	many := strings.Repeat("require x is above 1\n", 3000)
	if got := contradictions(Parse("", large+excepted+many, nil)); len(got) > 0 {
		t.Errorf("there are %d findings, the first is %v", len(got), got[0])
	}
}

// Rules of many alternatives are compared up to the bound only. Those before them are found.
func TestComparisonsAreBounded(t *testing.T) {
	b := strings.Builder{}
	b.WriteString("require x is 1\nrequire x is 2\n")
	for i := range 30 {
		var parts []string
		for k := range maxClauses {
			parts = append(parts, fmt.Sprintf("z is %d", i*maxClauses+k))
		}
		fmt.Fprintf(&b, "require %s\n", strings.Join(parts, " or "))
	}
	const most = 1 + maxCompared/(2*maxClauses*maxClauses) // a pair of rules has two literals for each pair of clauses
	if got := contradictions(Parse("", b.String(), nil)); len(got) == 0 || len(got) > most || got[0].last() != 2 {
		t.Errorf("%d pairs are found to exclude one another, want at most %d, the first of them on lines 1 and 2", len(got), most)
	}
}

// A run warns of contradictions among requirements and prohibitions, before
// anything else, and of nothing else.
func TestRunWarns(t *testing.T) {
	if got := warnings(Parse("", "require x is 1\nrequire x is 2\nforbid y is 1 and y is 2\nforbid z is 1\nforbid z is not equal to 1", nil)); len(got) != 1 ||
		got[0] != "possible contradiction: line 1 and line 2 can never both be kept." {
		t.Errorf("warnings %q, want one of two requirements", got)
	}
	m := NewMachine(nil)
	var first *Result
	for r := range m.Run(Parse("", "forbid x is above 5\nrequire x is above 7\nforbid x is above 9", nil)) {
		if first == nil {
			first = &r
		}
	}
	if first.Line != nil || len(first.Output) != 1 {
		t.Errorf("the first result is %+v, want one warning", *first)
	}
}

// Whatever is said never to be, no values make an example of it.
func TestContradictionsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawRules(t)
		p := Parse("", text, nil)
		for _, l := range p.Lines {
			if l.Err != nil {
				t.Fatalf("the generator wrote %q: %v", l.Source, l.Err)
			}
		}
		for _, c := range contradictions(p) {
			if state, ok := counterexample(p, c); ok {
				t.Fatalf("of\n%s\nit is said: %s (%s), but there is %v", text, c.Text, c.Kind, state)
			}
		}
	})
}

// Distances are computed in floating point, so their ends are a little off: what the
// machine finds within one, or not within it, is not said never to be.
func TestContradictionsKnowRounding(t *testing.T) {
	for center := range 10 {
		for distance := range 10 {
			for value := range 20 {
				x := fmt.Sprintf("0.%d", value)
				if value >= 10 {
					x = fmt.Sprintf("1.%d", value-10)
				}
				test := fmt.Sprintf("x is within 0.%d of 0.%d", distance, center)
				verb := "require"
				if last(t, nil, "remember a number called x with "+x, "require "+test).Status != StatusSuccess {
					verb = "forbid"
				}
				text := verb + " " + test + "\nrequire x is equal to " + x
				if found := contradictions(Parse("", text, nil)); len(found) > 0 {
					t.Errorf("%s: %s", text, found[0].Text)
				}
			}
		}
	}
}

// drawRules writes a program of predicates and rules over few names and values.
func drawRules(t *rapid.T) string {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	value := func() string {
		return pick("value", "0", "1", "2", "2", "3", "0.5", "a1", `"a1"`, "b1", `"2"`, "2026-01-02", "2026-01-03", "y", "y plus 1")
	}
	simple := func(subject string) string {
		switch pick("operator", "is", "equal", "above", "below", "within", "includes", "predicate") {
		case "is":
			return subject + " is " + value()
		case "equal":
			return subject + " is " + pick("not", "", "not ") + "equal to " + value()
		case "above":
			return subject + " is " + pick("not", "", "not ") + "above " + value()
		case "below":
			return subject + " is " + pick("not", "", "not ") + "below " + value()
		case "within":
			return subject + " is within " + pick("distance", "0", "1", "1.5") + " of " + value()
		case "includes":
			return "l " + pick("not", "", "not ") + "includes " + pick("item", "a1", `"a1"`, "b1", "2")
		}
		return subject + " is " + pick("not", "", "not ") + pick("predicate", "high", "odd")
	}
	cond := func(subjects ...string) string {
		s := simple(pick("subject", subjects...))
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			s += pick("joint", " and ", " or ") + simple(pick("subject", subjects...))
		}
		return s
	}
	lines := []string{"remember a number called y with 1"}
	for range rapid.IntRange(0, 2).Draw(t, "predicates") {
		lines = append(lines, "define "+pick("defined", "high", "odd")+": "+cond("", "x", "y"))
	}
	for range rapid.IntRange(1, 4).Draw(t, "rules") {
		line := pick("verb", "require", "forbid", "permit") + " " + cond("x", "x", "y")
		if rapid.Bool().Draw(t, "excepted") {
			line += " unless " + cond("x", "x", "y")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// states yields values for the names that drawRules uses.
func states() iter.Seq[map[string]Value] {
	var scalars []Value
	for _, f := range []float64{-1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5} {
		scalars = append(scalars, float(f))
	}
	scalars = append(scalars, String("a1"), String("b1"), String("c1"), String("2"))
	for d := range 6 {
		date, err := dateOf(fmt.Sprintf("2026-01-%02d", d+1))
		if err != nil {
			panic(err)
		}
		scalars = append(scalars, date)
	}
	lists := []Value{Int(7)}
	for _, items := range [][]Value{nil, {String("a1")}, {String("b1")}, {String("a1"), String("b1")}, {Int(2)}} {
		l, err := listOf(items...)
		if err != nil {
			panic(err)
		}
		lists = append(lists, l)
	}
	return func(yield func(map[string]Value) bool) {
		for _, x := range scalars {
			for _, y := range scalars {
				for _, l := range lists {
					if !yield(map[string]Value{"x": x, "y": y, "l": l}) {
						return
					}
				}
			}
		}
	}
}

// counterexample searches for values that make a finding wrong. Values for which
// one of the lines is refused do not count.
func counterexample(p *Program, c contradiction) (map[string]Value, bool) {
	for state := range states() {
		if refutes(p, c, state) {
			return state, true
		}
	}
	return nil, false
}

// A ruling is what came of a rule.
type ruling struct{ holds, excused bool }

func (o ruling) applies() bool { return o.holds && !o.excused }

func (o ruling) passes(verb string) bool { return o.excused || o.holds == (verb == "require") }

func refutes(p *Program, c contradiction, state map[string]Value) bool {
	var verbs []string
	var rulings []ruling
	for _, l := range c.Lines {
		o, verb, ok := evaluate(p, l, state)
		if !ok {
			return false
		}
		rulings, verbs = append(rulings, o), append(verbs, verb)
	}
	last := len(rulings) - 1
	switch c.Kind {
	case alwaysDenied, requireForbid, requireRequire:
		return rulings[0].passes(verbs[0]) && rulings[last].passes(verbs[last])
	case deadForbid:
		return rulings[0].holds
	case unlessSwallows:
		if verbs[0] == "permit" {
			return rulings[0].applies()
		}
		return !rulings[0].passes(verbs[0])
	case redundantForbid:
		var inner, outer int
		if _, err := fmt.Sscanf(c.Text, "all that line %d forbids, line %d", &inner, &outer); err != nil {
			panic(err)
		}
		if inner > outer {
			rulings[0], rulings[1] = rulings[1], rulings[0]
		}
		return rulings[0].applies() && !rulings[1].applies()
	case deadPermit:
		if last == 0 {
			return rulings[0].holds
		}
		if verbs[0] == "forbid" {
			rulings[0], rulings[1] = rulings[1], rulings[0]
		}
		return rulings[0].applies() && !rulings[1].applies()
	case constantPredicate:
		return rulings[0].holds != strings.Contains(c.Text, "always")
	}
	return false
}

// evaluate asks a machine what the conditions of a line come to. The subject of a
// predicate is x.
func evaluate(p *Program, l *Line, state map[string]Value) (o ruling, verb string, ok bool) {
	m := NewMachine(nil)
	for name, v := range state {
		m.symbols[name] = &symbol{value: v}
	}
	for _, before := range p.Lines {
		if before == l {
			break
		}
		if s, isOps := before.stmt.(*sequence); isOps {
			if d, isDefine := s.Ops[0].Core.(*define); isDefine {
				if d.check(m, nil) != nil || m.define(d) != nil {
					return o, "", false
				}
			}
		}
	}
	s, _ := l.stmt.(*sequence)
	switch rule := s.Ops[0].Core.(type) {
	case *define:
		if rule.check(m, nil) != nil {
			return o, "", false
		}
		o.holds, ok = m.truth(rule.Cond, &frame{item: state["x"]})
		return o, "define", ok
	case *rule:
		if o.holds, ok = m.truth(rule.Cond, nil); !ok {
			return o, "", false
		}
		if rule.Unless != nil {
			o.excused, ok = m.truth(rule.Unless, nil)
		}
		return o, rule.Verb, ok
	}
	return o, "", false
}

// truth evaluates a condition that makes sense.
func (m *Machine) truth(c condition, f *frame) (holds, ok bool) {
	m.begin()
	if m.checkCond(c, f, true) != nil {
		return false, false
	}
	holds, err := m.holds(c, f)
	return holds, err == nil
}

// The product of two formulas is given up from the first clause and literal too many.
func TestFormulasAreBounded(t *testing.T) {
	f := func(clauses, literals int) formula {
		all := make(formula, clauses)
		for i := range all {
			for k := range literals {
				all[i] = append(all[i], literal{term: strings.Repeat("x", 100*i+k+1)})
			}
		}
		return all
	}
	for _, tt := range []struct {
		a, b formula
		want bool
	}{
		{f(8, 1), f(8, 1), true}, {f(5, 1), f(13, 1), false}, {f(1, 32), f(1, 32), true}, {f(1, 32), f(1, 33), false}, {f(1, 1), f(64, 1), true},
	} {
		if _, ok := both(tt.a, tt.b); ok != tt.want {
			t.Errorf("%d clauses of %d and %d of %d: %v, want %v", len(tt.a), len(tt.a[0]), len(tt.b), len(tt.b[0]), ok, tt.want)
		}
	}
}
