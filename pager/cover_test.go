package pager

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A page is a block to cover in tests.
type page struct {
	rule     Rule
	form     Form
	passages []Passage
}

// covering makes a request: a passage takes as many tokens as it has bytes, a head
// ten, and a whole block five more than its lines.
func coverRequest(budget int, names []int64, pages ...page) *CoverRequest {
	r := &CoverRequest{Names: names}
	r.Budget = token.Count(budget)
	for i, p := range pages {
		form := p.form
		if form == "" {
			form = Whole
		}
		r.Blocks = append(r.Blocks, Candidate{ID: transcript.BlockID(fmt.Sprintf("b%03d", i)), Turn: i + 1, Rule: p.rule, Form: form})
		r.Readings = append(r.Readings, Reading{Head: 10, Passages: p.passages})
	}
	r.Size = func(i int, f Form) token.Count {
		switch f {
		case Whole, Bare:
			n := token.Count(5)
			for k, p := range pages[i].passages {
				if int(p.Line) == k {
					n += token.Count(p.Bytes)
				}
			}
			return n
		case Gone:
			return 0
		case Calls, Lines, Line:
		}
		return 10
	}
	r.Count = func(i, k int) token.Count {
		switch k {
		case HeadPassage:
			return 10
		case ShortPassage:
			return 4
		}
		return token.Count(pages[i].passages[k].Bytes)
	}
	return r
}

// lines returns passages that are lines, each with one name.
func lines(bytes int, names ...int32) []Passage {
	var list []Passage
	for k, n := range names {
		list = append(list, Passage{Bytes: bytes, Names: []int32{n}, Line: int32(k)})
	}
	return list
}

func cover(t *testing.T, r *CoverRequest) *Plan {
	t.Helper()
	p, err := Cover(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCoverKeepsWhatIsWorthMost(t *testing.T) {
	// Name 1 is worth most, and stands in both blocks: the newer has it.
	p := cover(t, coverRequest(30, []int64{10, 1000, 20}, page{passages: lines(20, 0, 1, 2)}, page{passages: lines(20, 2, 1, 0)}))
	want := [][]int32{nil, {1}}
	if diff := cmp.Diff(want, p.Picks); diff != "" {
		t.Errorf("picks (-want +got):\n%s", diff)
	}
	if p.Decisions[0].To != Gone || p.Decisions[1].To != Lines || p.After != 30 {
		t.Errorf("decisions %+v, %d tokens", p.Decisions, p.After)
	}
}

func TestCoverKeepsALineThatIsSaidTwiceOnce(t *testing.T) {
	twice := []Passage{{Bytes: 20, Copy: 1, Worth: 100, Line: 0}, {Bytes: 20, Copy: 2, Worth: 90, Line: 1}}
	p := cover(t, coverRequest(60, nil, page{passages: twice}, page{passages: twice}))
	if p.Decisions[0].To != Line || p.Decisions[1].To != Whole {
		t.Errorf("the older is %s, the newer %s; want a head and all of it", p.Decisions[0].To, p.Decisions[1].To)
	}
}

func TestCoverTakesThePartOfALine(t *testing.T) {
	passages := []Passage{{Bytes: 100, Names: []int32{0}, Line: 0}, {Bytes: 12, Names: []int32{0}, Line: 0}}
	p := cover(t, coverRequest(30, []int64{50}, page{passages: passages}))
	if diff := cmp.Diff([][]int32{{1}}, p.Picks); diff != "" {
		t.Errorf("picks (-want +got):\n%s", diff)
	}
}

func TestCoverHoldsWhatRulesHold(t *testing.T) {
	names := []int64{1000, 1, 1}
	p := cover(t, coverRequest(75, names,
		page{rule: RuleSystem, passages: lines(20, 1)},
		page{passages: lines(30, 0, 0, 0)},
		page{rule: RuleRecent, passages: lines(30, 2, 2)},
	))
	if p.Decisions[0].To != Whole {
		t.Errorf("system text is %s", p.Decisions[0].To)
	}
	if p.Decisions[2].To == Gone {
		t.Error("a block under a soft rule has left")
	}
}

// A long text that a person pasted does not use up the share of their other messages:
// the later order stays whole, and so do most of the lines that are likely to be needed.
func TestCoverKeepsOrdersBesideALongText(t *testing.T) {
	names := make([]int64, 400)
	pasted, log := make([]int32, 300), make([]int32, 99)
	for i := range log {
		log[i] = int32(i + 1)
		names[i+1] = 100
	}
	plan := func(budget int) *Plan {
		return cover(t, coverRequest(budget, names,
			page{passages: lines(40, log...)},
			page{rule: RuleFirstTask, passages: lines(40, pasted...)},
			page{rule: RuleCorrection, passages: lines(20, 0, 0)},
		))
	}
	p := plan(1600)
	if to := p.Decisions[2].To; to != Whole {
		t.Errorf("the order is %s, want whole", to)
	}
	if n, of := len(p.Picks[1])*40, 1600/onceShare; n < of/2 || n > 2*of {
		t.Errorf("%d tokens of the long text are kept, want about %d", n, of)
	}
	if n := len(p.Picks[0]); n < 25 {
		t.Errorf("%d likely lines are kept, want most of 40", n)
	}
}

// Once a plan has spent more than an eighth of the history, every block has a head.
func TestCoverGivesHeadsToAll(t *testing.T) {
	var pages []page
	names := []int64{1000}
	for i := range 40 {
		names = append(names, int64(100-i))
		pages = append(pages, page{passages: lines(30, 0, int32(i+1), 0, 0)})
	}
	p := cover(t, coverRequest(40*125/4, names, pages...)) // a fourth
	for i := range p.Decisions {
		if p.Decisions[i].To == Gone {
			t.Errorf("block %d has no head", i)
		}
	}
}

func TestCoverRestoresNothing(t *testing.T) {
	names := []int64{1000, 1000}
	p := cover(t, coverRequest(55, names,
		page{form: Gone, passages: lines(20, 0)},
		page{form: Lines, passages: lines(20, 1)},
		page{passages: lines(30, 1, 1)},
	))
	if p.Decisions[0].To != Gone {
		t.Errorf("what had left is %s", p.Decisions[0].To)
	}
	if p.Decisions[1].To == Whole {
		t.Error("what was cut is whole")
	}
}

func TestCoverFloor(t *testing.T) {
	_, err := Cover(coverRequest(20, []int64{1}, page{rule: RulePin, passages: lines(30, 0)}))
	var floor *FloorError
	if !errors.As(err, &floor) || floor.Need != 35 || floor.Held[0].Rule != RulePin {
		t.Errorf("err = %v, want a floor of 35 tokens that a pin holds", err)
	}
}

// drawPages draws blocks with names and copied lines that several of them share.
func drawPages(t *rapid.T) (pages []page, names []int64) {
	names = rapid.SliceOfN(rapid.Int64Range(0, 1<<30), 1, 12).Draw(t, "names")
	rules := append([]Rule{"", "", "", ""}, RuleSystem, RulePin, ruleNewestUser, RuleFirstTask, RuleCorrection, ruleNewest, RuleEdit, rulePlan, RuleRecent)
	forms := []Form{Whole, Whole, Whole, Lines, Line, Calls, Gone}
	for range rapid.IntRange(1, 8).Draw(t, "blocks") {
		p := page{rule: rapid.SampledFrom(rules).Draw(t, "rule"), form: rapid.SampledFrom(forms).Draw(t, "form")}
		if p.rule != "" {
			p.form = Whole
		}
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			line := Passage{Bytes: rapid.IntRange(5, 80).Draw(t, "bytes"), Line: int32(len(p.passages))}
			line.Names = rapid.SliceOfN(rapid.Int32Range(0, int32(len(names)-1)), 0, 3).Draw(t, "ids")
			if rapid.Bool().Draw(t, "copied") {
				line.Copy, line.Worth = rapid.Int32Range(1, 6).Draw(t, "copy"), rapid.Int64Range(0, 1<<30).Draw(t, "worth")
			}
			p.passages = append(p.passages, line)
			if len(line.Names) > 0 && line.Bytes > 20 {
				p.passages = append(p.passages, Passage{Bytes: 8, Names: line.Names[:1], Line: line.Line})
			}
		}
		pages = append(pages, p)
	}
	return pages, names
}

// has reports whether a plan that has b keeps all that a plan with a keeps.
func has(a, b *Plan, i int) bool {
	full := func(f Form) bool { return f == Whole || f == Bare }
	x, y := a.Decisions[i].To, b.Decisions[i].To
	switch {
	case full(y) || x == Gone:
		return true
	case full(x) || y == Gone:
		return false
	case x == Lines:
		if y != Lines {
			return false
		}
		for _, k := range a.Picks[i] {
			if !slices.Contains(b.Picks[i], k) && !slices.ContainsFunc(b.Picks[i], func(l int32) bool { return l < k }) {
				return false
			}
		}
	}
	return true
}

func TestCoverProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages, names := drawPages(t)
		whole := NewPlan(&coverRequest(1<<30, names, pages...).Request).Before
		budget := rapid.IntRange(0, int(whole)+10).Draw(t, "budget")
		small, err := Cover(coverRequest(budget, names, pages...))
		if err != nil {
			var floor *FloorError
			if !errors.As(err, &floor) || int(floor.Need) <= budget {
				t.Fatalf("budget of %d: %v", budget, err)
			}
			return
		}
		if int(small.After) > budget && small.After != small.Before {
			t.Fatalf("%d tokens in a budget of %d", small.After, budget)
		}
		sum := token.Count(0)
		for i := range small.Decisions {
			d := &small.Decisions[i]
			sum += d.After
			if d.Rule.Absolute() && d.To != Whole || d.Rule != "" && d.To == Gone || d.From == Gone && d.To != Gone {
				t.Fatalf("decision %+v", *d)
			}
		}
		if sum != small.After {
			t.Fatalf("decisions sum to %d tokens, the plan says %d", sum, small.After)
		}
		again, err := Cover(coverRequest(budget, names, pages...))
		if err != nil || cmp.Diff(small, again) != "" {
			t.Fatalf("another plan the second time: %v %s", err, cmp.Diff(small, again))
		}
		large, err := Cover(coverRequest(budget+rapid.IntRange(0, 100).Draw(t, "more"), names, pages...))
		if err != nil {
			t.Fatal(err)
		}
		if large.Picks == nil {
			return // it fits
		}
		for i := range pages {
			if !has(small, large, i) {
				t.Fatalf("block %d: %+v %v with less, %+v %v with more", i, small.Decisions[i], small.Picks[i], large.Decisions[i], large.Picks[i])
			}
		}
	})
}

// A block that is no longer than its head stays whole.
func TestCoverKeepsWhatIsNoLongerThanItsHead(t *testing.T) {
	for _, tt := range []struct {
		bytes int // of its line; a block takes five more, a head ten
		rule  Rule
		want  Form
	}{
		{5, "", Whole},
		{6, "", Line},
		{4, "", Whole},
		{5, RuleRecent, Line}, // a short head takes four
	} {
		r := coverRequest(21, nil, page{rule: tt.rule, passages: lines(tt.bytes, 0)}, page{passages: lines(100, 1)})
		r.Names = []int64{0, 0}
		p, err := Cover(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decisions[0].To; got != tt.want {
			t.Errorf("a line of %d bytes under rule %q: %s, want %s", tt.bytes, tt.rule, got, tt.want)
		}
	}
}
