package pager

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// sizes are the tokens of a block in each form, as Size returns them.
type sizes map[Form]token.Count

// draw returns a random request. Sizes are not always smaller for smaller
// forms: a stub can be longer than what it stands for.
func draw(t *rapid.T) (*Request, []sizes) {
	n := rapid.IntRange(0, 40).Draw(t, "blocks")
	rules := []Rule{"", "", "", "", "", RuleSystem, RulePin, RuleCorrection, RuleEdit, RuleRecent, rulePlan}
	r := &Request{Fixed: token.Count(rapid.IntRange(0, 50).Draw(t, "fixed"))}
	all := make([]sizes, n)
	terms := rapid.IntRange(0, 8).Draw(t, "terms")
	for i := range n {
		whole := token.Count(rapid.IntRange(1, 4000).Draw(t, "tokens"))
		thinking := token.Count(rapid.IntRange(0, int(whole)).Draw(t, "thinking"))
		all[i] = sizes{
			Whole: whole, Bare: whole - thinking, Gone: 0,
			Calls: token.Count(rapid.IntRange(1, 500).Draw(t, "calls")),
			Lines: token.Count(rapid.IntRange(1, 300).Draw(t, "lines")),
			Line:  token.Count(rapid.IntRange(1, 80).Draw(t, "line")),
		}
		r.Blocks = append(r.Blocks, Candidate{
			ID: transcript.BlockID(fmt.Sprintf("%08x", uint32(i+1)*2654435761)), Turn: i + 1, Form: Whole,
			Rule:     rapid.SampledFrom(rules).Draw(t, "rule"),
			Thinking: thinking > 0,
			Results:  rapid.Bool().Draw(t, "results"),
			Signals:  Signals{Hits: rapid.IntRange(0, terms).Draw(t, "hits"), Terms: terms, Age: n - i - 1},
		})
	}
	r.Size = func(i int, f Form) token.Count { return all[i][f] }
	return r, all
}

func total(r *Request, all []sizes, forms []Form) token.Count {
	sum := r.Fixed
	for i, f := range forms {
		sum += all[i][f]
	}
	return sum
}

func forms(p *Plan) []Form {
	fs := make([]Form, len(p.Decisions))
	for i := range p.Decisions {
		fs[i] = p.Decisions[i].To
	}
	return fs
}

// least returns the smallest budget that a plan can meet: the size of the window after
// all steps.
func least(t *rapid.T, r *Request) token.Count {
	low := *r
	low.Budget = -1
	_, err := Make(&low)
	over, ok := errors.AsType[*FloorError](err)
	if !ok {
		t.Fatalf("a budget of -1 gives %v, want a floor", err)
	}
	return over.Need
}

// A plan fits its budget, its sums are right, hard rules keep blocks whole and
// soft rules keep them in the window.
func TestPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, all := draw(t)
		r.Budget = least(t, r) + token.Count(rapid.IntRange(0, 60_000).Draw(t, "room"))
		p, err := Make(r)
		if err != nil {
			t.Fatal(err)
		}
		if p.After > r.Budget {
			t.Fatalf("window of %d tokens in a budget of %d", p.After, r.Budget)
		}
		if got := total(r, all, forms(p)); got != p.After {
			t.Fatalf("forms sum to %d, the plan says %d", got, p.After)
		}
		for i := range p.Decisions {
			d, c := &p.Decisions[i], &r.Blocks[i]
			switch {
			case c.Rule.Hard() && d.To != Whole:
				t.Fatalf("block under hard rule %s is %s", c.Rule, d.To)
			case c.Rule.soft() && d.To == Gone:
				t.Fatalf("block under soft rule %s is gone", c.Rule)
			case d.After > d.Before:
				t.Fatalf("block grows from %d to %d tokens", d.Before, d.After)
			case d.Changed() != (d.Step != ""):
				t.Fatalf("step of %+v", d)
			}
		}
	})
}

// Whatever a plan keeps, a plan with a larger budget keeps, too.
func TestPlanIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := draw(t)
		low := least(t, r) + token.Count(rapid.IntRange(0, 30_000).Draw(t, "low"))
		small, large := *r, *r
		small.Budget, large.Budget = low, low+token.Count(rapid.IntRange(0, 30_000).Draw(t, "more"))
		a, err := Make(&small)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Make(&large)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Decisions {
			if a.Decisions[i].To.rank() < b.Decisions[i].To.rank() {
				t.Fatalf("block %d is %s with %d tokens and %s with %d", i, a.Decisions[i].To, small.Budget, b.Decisions[i].To, large.Budget)
			}
		}
	})
}

// A planned window is left alone by the same plan, whatever the scores are by
// then.
func TestPlanIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := draw(t)
		r.Budget = least(t, r) + token.Count(rapid.IntRange(0, 30_000).Draw(t, "room"))
		p, err := Make(r)
		if err != nil {
			t.Fatal(err)
		}
		again := *r
		again.Blocks = slices.Clone(r.Blocks)
		for i := range again.Blocks {
			again.Blocks[i].Form = p.Decisions[i].To
			again.Blocks[i].Signals.Age += 3
		}
		q, err := Make(&again)
		if err != nil {
			t.Fatal(err)
		}
		if q.Changes() != 0 || q.After != p.After {
			t.Fatalf("the second plan changes %d blocks", q.Changes())
		}
	})
}

// A budget below the floor is an error that says what is held and how much.
func TestFloorSumsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, all := draw(t)
		r.Budget = least(t, r) - 1
		_, err := Make(r)
		over, ok := errors.AsType[*FloorError](err)
		if !ok || !errors.Is(err, ErrFloor) {
			t.Fatalf("Make = %v, want a FloorError", err)
		}
		sum := over.Fixed
		for _, h := range over.Held {
			sum += h.Tokens
		}
		if sum != over.Need {
			t.Fatalf("held and fixed sum to %d, need is %d", sum, over.Need)
		}
		if len(all) > 0 && over.Need > total(r, all, slices.Repeat([]Form{Whole}, len(all))) {
			t.Fatalf("need %d is more than there is", over.Need)
		}
	})
}

// The error says what holds a window up: the largest sums first, and of equal ones the
// rule that comes first as a word.
func TestFloorErrorText(t *testing.T) {
	for fixed, want := range map[token.Count]string{
		0: "budget of 5 tokens is below the floor of 90 (pin 30, edit 20, plan 20)",
		1: "budget of 5 tokens is below the floor of 90 (pin 30, edit 20, plan 20, fixed 1)",
	} {
		e := &FloorError{Budget: 5, Need: 90, Fixed: fixed, Held: []Holding{{"d", rulePlan, 20}, {"a", RulePin, 15}, {"b", RulePin, 15}, {"c", RuleEdit, 20}}}
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A window that fits is left alone, whatever the scores say.
func TestPlanLeavesAWindowThatFits(t *testing.T) {
	r := &Request{
		Blocks: []Candidate{{ID: "a", Turn: 1, Form: Whole, Signals: Signals{Age: 90}, Thinking: true}},
		Size:   func(int, Form) token.Count { return 10 },
		Budget: 10,
	}
	p, err := Make(r)
	if err != nil || p.Changes() != 0 {
		t.Errorf("Make = %d changes, %v, want none", p.Changes(), err)
	}
}

// Thinking leaves either all blocks or none, even if a block without it is no shorter and
// if the budget is met before the last block.
func TestThinkingGoesAtOnce(t *testing.T) {
	thinks := func(id string, rule Rule) Candidate {
		return Candidate{ID: transcript.BlockID(id), Turn: 1, Form: Whole, Rule: rule, Thinking: true}
	}
	r := &Request{
		Blocks: []Candidate{thinks("a", ""), thinks("b", RuleRecent), thinks("c", ""), thinks("d", RulePin), {ID: "e", Turn: 1, Form: Whole}},
		Size: func(i int, f Form) token.Count {
			if f == Bare && i != 2 {
				return 50
			}
			return 100
		},
	}
	for budget, want := range map[token.Count][]Form{500: {Whole, Whole, Whole, Whole, Whole}, 499: {Bare, Bare, Bare, Whole, Whole}, 400: {Bare, Bare, Bare, Whole, Whole}} {
		r.Budget = budget
		for name, plan := range map[string]func(*Request) (*Plan, error){"Make": Make, "Slide": Slide} {
			p, err := plan(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, forms(p)); diff != "" || p.After != 400 && budget < 500 {
				t.Errorf("%s with %d: %d tokens (-want +got):\n%s", name, budget, p.After, diff)
			}
		}
	}
}

// The oldest leave a sliding window, wherever they stand in the request; of one turn the
// lower id.
func TestSlideTakesTheOldest(t *testing.T) {
	r := &Request{
		Blocks: []Candidate{{ID: "z", Turn: 2, Form: Whole}, {ID: "b", Turn: 1, Form: Whole}, {ID: "a", Turn: 1, Form: Whole}},
		Size:   func(int, Form) token.Count { return 10 }, Budget: 25,
	}
	for budget, want := range map[token.Count][]Form{25: {Whole, Whole, Gone}, 15: {Whole, Gone, Gone}, 5: {Gone, Gone, Gone}} {
		r.Budget = budget
		p, err := Slide(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, forms(p)); diff != "" {
			t.Errorf("budget %d (-want +got):\n%s", budget, diff)
		}
	}
	for i := range r.Blocks {
		r.Blocks[i].Rule = RulePin
	}
	r.Budget = 1
	r.Size = func(i int, _ Form) token.Count { return token.Count(10 + 5*(i%2)) }
	_, err := Slide(r)
	over, ok := errors.AsType[*FloorError](err)
	if want := []Holding{{"b", RulePin, 15}, {"a", RulePin, 10}, {"z", RulePin, 10}}; !ok || !slices.Equal(over.Held, want) {
		t.Errorf("held %+v, want %+v", err, want)
	}
}

// The steps are taken in the order of the stages, the lowest score first.
func TestPlanOrder(t *testing.T) {
	block := func(id string, rule Rule, hits, age int) Candidate {
		return Candidate{ID: transcript.BlockID(id), Turn: 100 - age, Form: Whole, Rule: rule, Results: true, Signals: Signals{Hits: hits, Terms: 10, Age: age}}
	}
	r := &Request{
		Blocks: []Candidate{
			block("system", RuleSystem, 0, 99),
			block("noise", "", 1, 98), // 0.1252: evict
			block("old", "", 3, 60),   // 0.2687: page
			block("edit", RuleEdit, 0, 50),
			block("topic", "", 9, 20), // 0.7041: retain
			block("recent", RuleRecent, 0, 0),
		},
		Size: func(_ int, f Form) token.Count {
			return map[Form]token.Count{Whole: 100, Bare: 100, Calls: 40, Lines: 30, Line: 10}[f]
		},
	}
	for _, tt := range []struct {
		budget token.Count
		want   []Form // of noise, old, edit, topic, recent
	}{
		{600, []Form{Whole, Whole, Whole, Whole, Whole}},
		{599, []Form{Calls, Whole, Whole, Whole, Whole}},
		{539, []Form{Calls, Calls, Whole, Whole, Whole}},
		{479, []Form{Line, Calls, Whole, Whole, Whole}},
		{449, []Form{Line, Line, Whole, Whole, Whole}},
		{419, []Form{Gone, Line, Whole, Whole, Whole}},
		{409, []Form{Gone, Line, Whole, Calls, Whole}},
		{349, []Form{Gone, Line, Whole, Line, Whole}},
		{319, []Form{Gone, Gone, Whole, Line, Whole}},
		{309, []Form{Gone, Gone, Whole, Gone, Whole}},
		{299, []Form{Gone, Gone, Lines, Gone, Whole}},
		{229, []Form{Gone, Gone, Lines, Gone, Lines}},
		{159, []Form{Gone, Gone, Line, Gone, Lines}},
		{120, []Form{Gone, Gone, Line, Gone, Line}},
	} {
		r.Budget = tt.budget
		p, err := Make(r)
		if err != nil {
			t.Errorf("budget %d: %v", tt.budget, err)
			continue
		}
		if diff := cmp.Diff(tt.want, forms(p)[1:]); diff != "" {
			t.Errorf("budget %d (-want +got):\n%s", tt.budget, diff)
		}
	}
	r.Budget = 119
	_, err := Make(r)
	const want = "budget of 119 tokens is below the floor of 120 (system 100, edit 10, recent 10)"
	if err == nil || err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   Signals
		want string
	}{
		{"current and relevant", Signals{Hits: 6, Terms: 6}, "1.000000"},
		{"current and irrelevant", Signals{Terms: 6}, "0.300000"},
		{"one turn old without a hit", Signals{Terms: 6, Age: 1}, "0.177185"},
		{"ten turns old, half relevant", Signals{Hits: 3, Terms: 6, Age: 10}, "0.438290"},
		{"no intent", Signals{}, "0.300000"},
		{"ancient and irrelevant", Signals{Terms: 6, Age: 100_000}, "0.023975"},
		{"facts of an earlier session, half relevant", Signals{Hits: 3, Terms: 6, Age: 10, Prior: true}, "0.613290"},
		{"facts of an earlier session, irrelevant", Signals{Terms: 6, Age: 1, Prior: true}, "0.177185"},
		{"a source, irrelevant", Signals{Terms: 6, Age: 1, Source: true}, "0.277185"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := score(DefaultWeights, tt.in).String(); got != tt.want {
				t.Errorf("Score(%+v) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestCutsDecide(t *testing.T) {
	c := DefaultCuts
	old := Signals{Hits: 1, Terms: 6, Age: 50}
	for _, tt := range []struct {
		name  string
		score ratio.Ratio
		in    Signals
		want  Directive
	}{
		{"a score of 1", ratio.One, old, Retain},
		{"the retain cut belongs to the gentler side", c.Retain, old, Retain},
		{"below it", c.Retain - 1, old, Page},
		{"the evict cut, too", c.Evict, old, Page},
		{"below it, old and with a hit", c.Evict - 1, old, Evict},
		{"a young block is paged at most", 0, Signals{Hits: 1, Terms: 6, Age: 4}, Page},
		{"a block without a hit is paged at most", 0, Signals{Hits: 0, Terms: 6, Age: 50}, Page},
	} {
		if got := c.decide(tt.score, tt.in); got != tt.want {
			t.Errorf("%s: Decide(%v) = %q, want %q", tt.name, tt.score, got, tt.want)
		}
	}
}

// The scores of 200 000 signals are the same on every processor. CI runs this
// test on amd64, arm64 and 386.
func TestScoreIsPortable(t *testing.T) {
	h := sha256.New()
	for age := range 200_000 {
		fmt.Fprintln(h, score(DefaultWeights, Signals{Hits: age % 97, Terms: 97, Age: age}))
	}
	const want = "4020a0a75db212b1e6edeca72289e8cc628baa2d8d8552a0faef3518892e6008"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the scores is %s, want %s", got, want)
	}
}

// A decision changes the window if the form is another, or the stub is.
func TestChanged(t *testing.T) {
	for _, tt := range []struct {
		d    BlockDecision
		want bool
	}{
		{BlockDecision{From: Line, To: Line}, false},
		{BlockDecision{From: Whole, To: Line}, true},
		{BlockDecision{From: Line, To: Line, Recut: true}, true},
	} {
		if got := tt.d.Changed(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.d, got, tt.want)
		}
	}
}

// The test lists which rules are absolute.
func TestAbsoluteRules(t *testing.T) {
	for r, want := range map[Rule]bool{RuleSystem: true, ruleCompaction: true, RulePin: true, rulePending: true, RuleFirstTask: false, ruleNewest: false, RuleEdit: false, "": false} {
		if got := r.Absolute(); got != want {
			t.Errorf("%q: %v, want %v", r, got, want)
		}
	}
}
