package pager

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Form says how much of a block is in the window. It is stored as its text.
type Form string

// The forms, from everything to nothing.
const (
	Whole Form = "whole" // unchanged bytes
	Bare  Form = "bare"  // without thinking, otherwise unchanged
	Calls Form = "calls" // unchanged calls, a stub in place of each result
	Lines Form = "lines" // the lines most likely to be needed
	Line  Form = "line"  // one line
	Gone  Form = "gone"  // nothing
)

// rank returns the place of a form in the order of the steps: no step changes a
// block to a form with a lower rank.
func (f Form) rank() int {
	return slices.Index([]Form{Whole, Bare, Calls, Lines, Line, Gone}, f)
}

// full reports whether a block in this form has everything, or lacks only its
// thinking.
func (f Form) full() bool { return f == Whole || f == Bare }

// A Candidate describes a block for a pass.
type Candidate struct {
	ID       transcript.BlockID
	Turn     int
	Rule     Rule
	Signals  Signals
	Form     Form // form in the window now
	Thinking bool // it has thinking
	Results  bool // it has tool results
}

// A Request has all inputs of a plan.
type Request struct {
	Blocks []Candidate // by turn

	// Size returns the tokens of a block in a form. It must be deterministic.
	// It is called for each block's present form, and for others only when a
	// step needs them.
	Size func(block int, f Form) token.Count

	Fixed   token.Count // size of framing and tools, which are in every window
	Budget  token.Count // for the whole window
	Weights Weights     // the default is DefaultWeights
	Cuts    Cuts        // the default is DefaultCuts
}

// A BlockDecision is the decision of a pass about a block, with its reasons.
type BlockDecision struct {
	Block     transcript.BlockID `json:"block"`
	Turn      int                `json:"turn"`
	Rule      Rule               `json:"rule,omitempty"`
	Signals   Signals            `json:"signals"`
	Score     ratio.Ratio        `json:"score"`
	Directive Directive          `json:"directive"` // by the score alone
	From      Form               `json:"from"`
	To        Form               `json:"to"`
	Before    token.Count        `json:"before"` // tokens in the window
	After     token.Count        `json:"after"`  // tokens in the window
	Step      Stage              `json:"step,omitempty"`
	Lines     int                `json:"lines,omitempty"` // of [Cover]: number of passages in the stub
	Recut     bool               `json:"recut,omitempty"` // one stub replaces another of the same form
}

// Changed reports whether the decision changes the window.
func (d *BlockDecision) Changed() bool { return d.From != d.To || d.Recut }

// A Plan is the planned result of a pass. Making it changes nothing.
type Plan struct {
	Budget    token.Count
	Before    token.Count     // of the window
	After     token.Count     // of the window, at most Budget
	Decisions []BlockDecision // one for each block, by turn

	// Picks has for a plan of [Cover] the passages in each block's stub, in
	// text order. It is nil in a plan that changes nothing.
	Picks [][]int32

	// Short, parallel to Picks, marks stubs with a short head.
	Short []bool
}

// Changes returns the number of blocks that the plan changes.
func (p *Plan) Changes() int {
	n := 0
	for i := range p.Decisions {
		if p.Decisions[i].Changed() {
			n++
		}
	}
	return n
}

// ErrFloor means that the blocks that rules keep in the window do not fit the
// budget.
var ErrFloor = errors.New("budget is below what rules hold in the window")

// A FloorError is an [ErrFloor] with the figures.
type FloorError struct {
	Budget token.Count
	Need   token.Count // smallest possible window
	Fixed  token.Count // part of Need for framing and tools
	Held   []Holding   // kept blocks in Need, largest first
}

// A Holding is a block that a rule keeps in the window.
type Holding struct {
	Block  transcript.BlockID `json:"block"`
	Rule   Rule               `json:"rule"`
	Tokens token.Count        `json:"tokens"` // smallest possible size of the block
}

func (e *FloorError) Error() string {
	sums := make(map[Rule]token.Count)
	for _, h := range e.Held {
		sums[h.Rule] += h.Tokens
	}
	largest := func(a, b Rule) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) }
	var parts []string
	for _, r := range slices.SortedFunc(maps.Keys(sums), largest) {
		parts = append(parts, fmt.Sprintf("%s %d", r, sums[r]))
	}
	if e.Fixed > 0 {
		parts = append(parts, fmt.Sprintf("fixed %d", e.Fixed))
	}
	return fmt.Sprintf("budget of %d tokens is below the floor of %d (%s)", e.Budget, e.Need, strings.Join(parts, ", "))
}

// Is makes errors.Is(e, ErrFloor) true.
func (e *FloorError) Is(target error) bool { return target == ErrFloor }

// A Stage says why a plan changed a block: by one of the steps that a plan takes in order, or for
// another reason, such as a caller that named the block. It is stored as its text. [Make] takes
// "thinking", "page-calls", "page", "evict", "forced-calls", "forced", "page-out", "forced-out",
// "soft-lines" and "soft" in this order, [Slide] "thinking", "slide", "soft-lines" and "soft".
// A forced step is one for a block with the directive "retain".
type Stage string

// The stages that callers set or ask for. All but the first are not part of the order.
const (
	StageThinking    Stage = "thinking"     // thinking leaves, of all blocks at once
	stagePageCalls   Stage = "page-calls"   // blocks below the retain cut: results
	stagePage        Stage = "page"         // blocks below the retain cut: one line
	stageEvict       Stage = "evict"        // stubs of blocks below the evict cut leave
	stageForcedCalls Stage = "forced-calls" // blocks from the retain cut on: results
	stageForced      Stage = "forced"       // blocks from the retain cut on: one line
	stagePageOut     Stage = "page-out"     // stubs of blocks below the retain cut leave
	stageForcedOut   Stage = "forced-out"   // stubs of blocks from the retain cut on leave
	stageSlide       Stage = "slide"        // of a sliding window: the oldest leave
	stageSoftLines   Stage = "soft-lines"   // blocks under soft rules: some lines
	stageSoft        Stage = "soft"         // blocks under soft rules: one line
	StageCover       Stage = "cover"        // of [Cover]: the passages most likely to be needed
	StageAccount     Stage = "account"      // an account of the conversation; see package account
	StageByHand      Stage = "by-hand"      // a caller named the block
	StageReturn      Stage = "return"       // set by a caller: back in the window, as the budget is larger
)

// A stage is a part of the sequence of steps.
type stage struct {
	stage Stage
	whole bool                                 // the stage does not end when the budget is met
	to    Form                                 // form that a step gives a block
	takes func(c *Candidate, d Directive) bool // reports whether the stage applies to a block
}

// stages lists the stages of [Make] in their order. Blocks with the directive
// "retain" are cut only after all blocks with the directive "page" have stubs
// and all blocks with the directive "evict" have left. A block gets a stub
// before it leaves.
//
// The stage that removes thinking is whole: it does not end when the budget is
// met. Signed thinking after a changed byte is invalid, so either all thinking
// stays or none.
var stages = []stage{
	{StageThinking, true, Bare, func(c *Candidate, _ Directive) bool { return c.Thinking && !c.Rule.Hard() }},
	{stagePageCalls, false, Calls, func(c *Candidate, d Directive) bool { return c.Rule == "" && d != Retain && c.Results }},
	{stagePage, false, Line, func(c *Candidate, d Directive) bool { return c.Rule == "" && d != Retain }},
	{stageEvict, false, Gone, func(c *Candidate, d Directive) bool { return c.Rule == "" && d == Evict }},
	{stageForcedCalls, false, Calls, func(c *Candidate, d Directive) bool { return c.Rule == "" && d == Retain && c.Results }},
	{stageForced, false, Line, func(c *Candidate, d Directive) bool { return c.Rule == "" && d == Retain }},
	{stagePageOut, false, Gone, func(c *Candidate, d Directive) bool { return c.Rule == "" && d == Page }},
	{stageForcedOut, false, Gone, func(c *Candidate, d Directive) bool { return c.Rule == "" && d == Retain }},
	{stageSoftLines, false, Lines, func(c *Candidate, _ Directive) bool { return c.Rule.soft() }},
	{stageSoft, false, Line, func(c *Candidate, _ Directive) bool { return c.Rule.soft() }},
}

// slide lists the stages of a sliding window, in which the oldest blocks leave and
// scores do not count.
var slide = []stage{
	stages[0],
	{stageSlide, false, Gone, func(c *Candidate, _ Directive) bool { return c.Rule == "" }},
	stages[len(stages)-2],
	stages[len(stages)-1],
}

// Make returns the plan for a request. It fails with a [*FloorError] if no
// step is left and the window is still above the budget.
func Make(r *Request) (*Plan, error) {
	return take(r, stages, func(a, b *BlockDecision) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Block, b.Block))
	})
}

// Slide returns the plan of a sliding window: blocks without a rule leave, the oldest first,
// until the rest fits. It obeys the same rules and fails with the same errors as [Make].
func Slide(r *Request) (*Plan, error) {
	return take(r, slide, func(a, b *BlockDecision) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Block, b.Block))
	})
}

// take takes the steps of a sequence of stages until the plan fits its budget.
// Within each stage, it takes the blocks in the order that the function before
// defines.
func take(r *Request, sequence []stage, before func(a, b *BlockDecision) int) (*Plan, error) {
	p := NewPlan(r)
	order := make([]int, len(p.Decisions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return before(&p.Decisions[i], &p.Decisions[k]) })
	for _, st := range sequence {
		for _, i := range order {
			if p.After <= r.Budget && (!st.whole || p.Before <= r.Budget) {
				return p, nil
			}
			c, d := &r.Blocks[i], &p.Decisions[i]
			if st.to.rank() <= d.To.rank() || !st.takes(c, d.Directive) {
				continue
			}
			size := token.Count(0)
			if st.to != Gone {
				size = r.Size(i, st.to)
			}
			if size >= d.After && !st.whole {
				continue // the step would save nothing
			}
			p.After += size - d.After
			d.To, d.After, d.Step = st.to, size, st.stage
		}
	}
	if p.After > r.Budget {
		return nil, floor(r, p)
	}
	return p, nil
}

// NewPlan returns the plan that leaves the window unchanged, with the cost,
// the score and the directive of each block.
func NewPlan(r *Request) *Plan {
	w, cuts := cmp.Or(r.Weights, DefaultWeights), cmp.Or(r.Cuts, DefaultCuts)
	p := &Plan{Budget: r.Budget, Before: r.Fixed, Decisions: make([]BlockDecision, len(r.Blocks))}
	for i := range r.Blocks {
		c := &r.Blocks[i]
		score := score(w, c.Signals)
		size := token.Count(0)
		if c.Form != Gone {
			size = r.Size(i, c.Form)
		}
		p.Before += size
		p.Decisions[i] = BlockDecision{
			Block: c.ID, Turn: c.Turn, Rule: c.Rule, Signals: c.Signals, Score: score,
			Directive: cuts.decide(score, c.Signals), From: c.Form, To: c.Form, Before: size, After: size,
		}
	}
	p.After = p.Before
	return p
}

// floor returns a [*FloorError] with the blocks that keep a plan above its budget.
func floor(r *Request, p *Plan) error {
	e := &FloorError{Budget: r.Budget, Need: p.After, Fixed: r.Fixed}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.After > 0 {
			e.Held = append(e.Held, Holding{d.Block, d.Rule, d.After})
		}
	}
	slices.SortFunc(e.Held, func(a, b Holding) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Block, b.Block))
	})
	return e
}
