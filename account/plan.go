package account

import (
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/token"
)

// A Request has all inputs of a plan.
type Request struct {
	Units  []Unit
	Worth  *Worth
	Blocks []Block     // one for each block that Read had, in order
	Budget token.Count // for all blocks
	Beside string      // another text of the window, such as a summary, whose names and lines are not repeated

	// Count returns the tokens of Units[unit].Quotation(), which ends in a line feed already. It
	// must be set and deterministic.
	Count func(unit int) token.Count
}

// A Block describes a block to the planner.
type Block struct {
	Tokens token.Count // tokens of the original block
	Frame  token.Count // tokens of a message around its text, such as token.Framing.Message
	Mark   token.Count // tokens of the function Mark's text for the block, with a line feed
	Fixed  bool        // is always whole
	Traced bool        // the window keeps at least its id; it is then in Plan.Opened
	Urgent bool        // the user's words in it are kept first
	Absent bool        // stays out of the window
	Cut    bool        // is already cut in the window and cannot be whole again; its units can be kept
	Told   bool        // Request.Beside covers it, so that the agent's sentences in it are left out, except the last ones
}

// A Plan is the selection of units and blocks for a budget. A block that is
// neither in Whole nor in Opened leaves the window.
type Plan struct {
	Kept   []bool      // by unit
	Whole  []bool      // by block: it stands whole, and none of its units is in Kept
	Opened []bool      // by block: the result of Text stands in its place, at least the id
	Tokens token.Count // of all blocks

	// From has for each unit the smallest budget whose plan includes it, alone
	// or in a whole block. It is 0 if this plan does not have the unit. Rate has
	// for each unit its worth per byte when the plan took it, which can be
	// compared with other rates and with Worth.Mean only.
	From []token.Count
	Rate []int64

	planning *planning
}

// A TooSmallError means that the fixed parts, Need tokens, do not fit Budget.
type TooSmallError struct{ Need, Budget token.Count }

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("an account takes %d tokens at least, and may take %d", e.Need, e.Budget)
}

const (
	idShare    = 21  // the largest part for calls and ids of otherwise absent blocks is 1/21
	tailShare  = 8   // the largest part for newest blocks kept whole is 1/8
	mostUrgent = 600 // bytes of a user's words in an urgent block that are kept first

	// Beside a model's text, names and lines are worth a ninth: a reader misses the words of the user
	// more than pieces of code.
	besidePart = 9
)

// Make returns the plan for a budget, as the package comment describes. It
// keeps the fixed blocks, the ids of traced blocks, the users' words in
// urgent blocks, newest first, and then the units with the most worth per
// byte, up to the first that does not fit. It fails with a [*TooSmallError]
// if the fixed blocks and ids do not fit.
func Make(r *Request) (*Plan, error) {
	p := newPlanning(r)
	p.begin()
	p.reach(p.p.Tokens)
	if p.p.Tokens > r.Budget {
		return nil, &TooSmallError{p.p.Tokens, r.Budget}
	}
	p.p.planning = p
	p.p.Extend(r.Budget)
	return p.p, nil
}

// Extend turns p into the plan that [Make] returns for a larger budget. The
// units and blocks of the Request must not have changed since Make.
func (p *Plan) Extend(budget token.Count) {
	p.planning.Budget = budget
	if p.planning.urgent() {
		p.planning.run()
	}
}

// A planning is the state of a plan while it is made.
type planning struct {
	Request
	p      *Plan
	there  []bool      // by name or line: it is in the window
	said   []bool      // by text: it is in the window
	of     [][2]int    // first unit of each block, and the end of its units
	kin    []int64     // by unit: number of kept units below it
	left   []int       // number of its units that are not kept
	tail   int         // index of the first of the newest blocks, which are whole
	top    token.Count // largest size of the plan so far
	onTail token.Count
	named  int // ids of the blocks from this index on have been added
	onIDs  token.Count
	fixed  token.Count // tokens of the fixed parts
	told   bool        // a model's text stands beside the account
	offers offers
	steps  []int32 // of the last step, reused
	opens  []int   // blocks opened by the last step
}

func newPlanning(r *Request) *planning {
	p := &planning{
		Request: *r, p: newPlan(r),
		there: make([]bool, len(r.Worth.gains)), said: make([]bool, len(r.Units)), of: make([][2]int, len(r.Blocks)), left: make([]int, len(r.Blocks)), kin: make([]int64, len(r.Units)),
		tail: len(r.Blocks), named: len(r.Blocks), told: slices.ContainsFunc(r.Blocks, func(b Block) bool { return b.Told }),
	}
	for i := 0; i < len(r.Units); {
		from, b, gap := i, r.Units[i].Block, 0
		for i < len(r.Units) && r.Units[i].Block == b {
			if p.left[b]++; r.Units[i].Gap {
				gap = 1
			}
			i++
		}
		p.of[b] = [2]int{from, i}
		p.left[b] += gap // such a block has its id even if all units are kept
	}
	return p
}

// begin sets the plan to its fixed parts.
func (p *planning) begin() {
	p.Worth.each(p.Beside, func(_, thing int32) { p.there[thing] = true })
	for i := range p.Blocks {
		switch b := &p.Blocks[i]; {
		case b.Absent:
		case b.Fixed:
			p.keepWhole(i)
		case b.Traced:
			p.open(i)
		}
	}
	p.fixed = p.p.Tokens
}

// spent returns the tokens of the plan without its fixed parts.
func (p *planning) spent() token.Count { return p.p.Tokens - p.fixed }

// keepWhole keeps a block whole.
func (p *planning) keepWhole(i int) {
	p.p.Whole[i] = true
	p.p.Tokens += p.Blocks[i].Tokens
	p.top = max(p.top, p.p.Tokens)
	for k := p.of[i][0]; k < p.of[i][1]; k++ {
		p.mark(k)
		p.date(k, 0)
	}
}

// mark marks the names, lines and text of a unit as present.
func (p *planning) mark(i int) {
	p.said[p.Worth.texts[i]] = true
	for _, t := range p.Worth.things.of(i) {
		p.there[t] = true
	}
}

// open records that a text stands in place of block i.
func (p *planning) open(i int) {
	p.p.Opened[i] = true
	p.p.Tokens += p.opening(i)
}

// opening returns the tokens of the text in place of block i before it has a
// unit: framing and id.
func (p *planning) opening(i int) token.Count { return p.Blocks[i].Frame + p.Blocks[i].Mark }

// ready reports whether unit i may still be kept by itself: it is not kept
// yet, and nothing else in the window says the same.
func (p *planning) ready(i int) bool {
	b := p.Units[i].Block
	if later := p.Units[i].Later; later > 0 && !p.Blocks[p.Units[later].Block].Absent {
		return false // the later copy can be taken
	}
	told := p.Blocks[b].Told && p.Units[i].Kind == Sentence && p.Units[i].Turns > 1 // the last order answers the last reply
	return !p.p.Kept[i] && !p.p.Whole[b] && !p.Blocks[b].Absent && !told
}

// urgent keeps the users' words in urgent blocks and reports whether there is
// room for more. In the newest of these blocks it keeps the first unit however long it is. Beside a
// model's text it keeps the last reply like such words, because the newest message answers it.
func (p *planning) urgent() bool {
	newest := true
	for b := range slices.Backward(p.Blocks) {
		bytes := int64(0)
		for i := p.of[b][0]; i < p.of[b][1]; i++ {
			u := &p.Units[i]
			first := u.Kind == Words && p.Blocks[b].Urgent || p.told && u.Reply && u.Turns == 1
			if !first || !p.ready(i) && !p.p.Kept[i] {
				continue
			}
			if bytes += cost(u); bytes > mostUrgent && !newest {
				break
			}
			newest = false
			if !p.p.Kept[i] && !p.take(i) {
				return false
			}
		}
	}
	return true
}

// gain returns the worth that a unit adds. It falls with the number of kept
// units of the same kind and head.
func (p *planning) gain(i int) int64 {
	var sum int64
	for _, t := range p.Worth.things.of(i) {
		if !p.there[t] {
			sum += p.Worth.gains[t]
		}
	}
	if p.told {
		sum /= besidePart
	}
	if !p.said[p.Worth.texts[i]] || p.Units[i].Task { // the user's task keeps its lines, even if one is there twice
		sum += p.Worth.prior[i]
	}
	if few := fewKin[p.Units[i].Kind]; few > 0 && p.Units[i].Head >= 0 {
		sum = sum * few / (few + p.kin[p.Units[i].Head])
	}
	return sum
}

// fewKin limits how much of a long output is kept, because a reader needs only
// a few lines of it. After that number of units with the same kind and the same
// head, the worth of the next one is halved. 0 means no limit.
var fewKin = [kinds]int64{Argument: 6, Written: 6, Output: 8, Span: 120}

// frame is the size, in bytes, that a comparison of units assumes for the
// framing of a block's text.
const frame = 30

// step returns the units that must be kept with unit i: itself, its heads, for a short answer its
// question, and for a line of code those of a small gap beside it. The result is valid until the next
// call.
func (p *planning) step(i int) []int32 {
	all := p.with(p.steps[:0], int32(i))
	u := &p.Units[i]
	for k := range u.Asked {
		if k := u.Asks + k; p.ready(int(k)) {
			all = p.with(all, k)
		}
	}
	p.steps = p.close(all, i)
	return p.steps
}

// with adds a unit and its heads to a step, without duplicates.
func (p *planning) with(step []int32, i int32) []int32 {
	for k := i; k >= 0 && !p.p.Kept[k] && !slices.Contains(step, k); k = p.Units[k].Head {
		step = append(step, k)
	}
	return step
}

// rate returns the worth per byte of a unit and of the units that must be kept
// with it.
func (p *planning) rate(i int) int64 {
	gain, bytes, last := int64(0), int64(0), int32(-1)
	for _, k := range p.step(i) {
		gain += p.gain(int(k))
		bytes += cost(&p.Units[k])
		if b := p.Units[k].Block; b != last && !p.p.Opened[b] {
			bytes += frame
			last = b
		}
	}
	return gain / max(bytes, 1)
}

// take keeps a unit and the units that must be kept with it, and reports
// whether they fit.
func (p *planning) take(i int) bool {
	rate, step := p.rate(i), slices.Clone(p.step(i))
	need, opens := token.Count(0), p.opens[:0]
	for _, k := range step {
		b := int(p.Units[k].Block)
		need += p.Count(int(k))
		if p.left[b]--; p.left[b] == 0 {
			need -= p.Blocks[b].Mark
		}
		if !p.p.Opened[b] && !slices.Contains(opens, b) {
			opens = append(opens, b)
			need += p.opening(b)
		}
	}
	p.opens = opens
	if p.p.Tokens+need > p.Budget {
		for _, k := range step {
			p.left[p.Units[k].Block]++
		}
		return false
	}
	p.top = max(p.top, p.p.Tokens+need)
	p.p.Tokens += need
	for _, b := range opens {
		p.p.Opened[b] = true
	}
	for _, k := range step {
		p.p.Kept[k] = true
		p.date(int(k), rate)
		p.mark(int(k))
		if h := p.Units[k].Head; h >= 0 {
			p.kin[h]++
		}
	}
	for _, k := range step {
		for _, kid := range p.Worth.kids.of(int(k)) { // they cost less now
			p.offer(int(kid))
		}
	}
	for _, b := range opens {
		for k := p.of[b][0]; k < p.of[b][1]; k++ {
			p.offer(k)
		}
	}
	return true
}

// An offers is a heap of units, ordered by their last computed worth per byte.
// Of units with equal worth, the newest comes first.
type offers struct {
	heap []int32
	rate []int64 // by unit
	at   []int32 // by unit: its index in the heap plus one, or 0
}

func (o *offers) before(a, b int32) bool {
	if o.rate[a] != o.rate[b] {
		return o.rate[a] > o.rate[b]
	}
	return a > b
}

// put puts a unit at index k of the heap.
func (o *offers) put(k int, unit int32) {
	o.heap[k], o.at[unit] = unit, int32(k+1)
}

// set changes the rate of a unit, or adds the unit.
func (o *offers) set(unit int32, rate int64) {
	o.rate[unit] = rate
	k := int(o.at[unit]) - 1
	if k < 0 {
		k = len(o.heap)
		o.heap = append(o.heap, unit)
	}
	for k > 0 && o.before(unit, o.heap[(k-1)/2]) {
		o.put(k, o.heap[(k-1)/2])
		k = (k - 1) / 2
	}
	o.sink(k, unit)
}

// sink puts a unit at index k of the heap or as far below as its rate
// requires.
func (o *offers) sink(k int, unit int32) {
	for {
		kid := 2*k + 1
		if kid+1 < len(o.heap) && o.before(o.heap[kid+1], o.heap[kid]) {
			kid++
		}
		if kid >= len(o.heap) || !o.before(o.heap[kid], unit) {
			break
		}
		o.put(k, o.heap[kid])
		k = kid
	}
	o.put(k, unit)
}

// pop removes the first unit.
func (o *offers) pop() {
	last := o.heap[len(o.heap)-1]
	o.at[o.heap[0]] = 0
	o.heap = o.heap[:len(o.heap)-1]
	if len(o.heap) > 0 {
		o.sink(0, last)
	}
}

// shell reports whether a unit, such as a heading with text below it, is
// meaningless alone. It is kept only together with a unit below it.
func (p *planning) shell(i int) bool {
	u := &p.Units[i]
	return u.Opens || u.Title && len(p.Worth.kids.of(i)) > 0
}

// offer adds a unit to the heap with its present rate.
func (p *planning) offer(i int) {
	if p.offers.rate == nil || !p.ready(i) {
		return
	}
	if rate := p.rate(i); rate > 0 && !p.shell(i) {
		p.offers.set(int32(i), rate)
	}
}

// run takes steps until one does not fit. The rate of a unit falls when related
// units are kept. It rises only when a head of the unit is kept, and then the
// unit is offered again. So if the first unit of the heap still has its rate,
// no other unit has a higher one.
func (p *planning) run() {
	o := &p.offers
	if o.rate == nil {
		n := len(p.Units)
		*o = offers{make([]int32, 0, n), make([]int64, n), make([]int32, n)}
		for i := range p.Units {
			if rate := p.rate(i); rate > 0 && p.ready(i) && !p.shell(i) {
				o.rate[i], o.heap = rate, append(o.heap, int32(i))
			}
		}
		for k, unit := range slices.Backward(o.heap) {
			o.sink(k, unit)
		}
	}
	for {
		for p.lengthensTail() {
			if !p.lengthenTail() {
				return
			}
		}
		if p.names() && !p.name() {
			return
		}
		if len(o.heap) == 0 {
			return
		}
		i := o.heap[0]
		switch rate := p.rate(int(i)); {
		case rate <= 0 || !p.ready(int(i)):
			o.pop()
		case rate < o.rate[i]:
			o.rate[i] = rate
			o.sink(0, i)
		case !p.take(int(i)):
			return
		}
	}
}

// lengthensTail reports whether one more block can be whole: the newest block
// that is not, if it fits into the share of the tokens for whole blocks at the
// end.
func (p *planning) lengthensTail() bool {
	for p.tail > 0 && (p.p.Whole[p.tail-1] || p.Blocks[p.tail-1].Absent) {
		p.tail--
	}
	if p.tail == 0 {
		return false
	}
	b := &p.Blocks[p.tail-1]
	return !b.Cut && p.onTail+b.Tokens <= p.spent()/tailShare
}

// names reports whether the plan should keep one more id with the call of its
// block. It chooses the newest block that is otherwise absent, and requires
// that the block's id with its framing fits into the share of the tokens for
// ids.
func (p *planning) names() bool {
	for p.named > 0 && p.call(p.named-1) < 0 {
		p.named--
	}
	return p.named > 0 && p.onIDs+p.opening(p.named-1) <= p.spent()/idShare
}

// call returns the index of the first call of block b that may be kept, or
// -1. A block that is whole, has a text in its place, or must stay out of the
// window has none.
func (p *planning) call(b int) int {
	if p.p.Whole[b] || p.p.Opened[b] || p.Blocks[b].Absent {
		return -1
	}
	for i := p.of[b][0]; i < p.of[b][1]; i++ {
		if p.Units[i].Kind.call() && p.ready(i) {
			return i
		}
	}
	return -1
}

// name keeps the call and the id of the block that the method names found, and
// reports whether they fit.
func (p *planning) name() bool {
	before := p.p.Tokens
	fits := p.take(p.call(p.named - 1))
	p.onIDs += p.p.Tokens - before
	return fits
}

// lengthenTail keeps the newest block that is not whole, and reports whether
// it fits.
func (p *planning) lengthenTail() bool {
	i := p.tail - 1
	before := token.Count(0)
	if p.p.Opened[i] {
		before += p.Blocks[i].Frame
		if p.left[i] > 0 || p.of[i][0] == p.of[i][1] {
			before += p.Blocks[i].Mark
		}
	}
	for k := p.of[i][0]; k < p.of[i][1]; k++ {
		if p.p.Kept[k] {
			before += p.Count(k)
		}
	}
	more := p.Blocks[i].Tokens - before
	if p.p.Tokens+more > p.Budget {
		return false
	}
	for k := p.of[i][0]; k < p.of[i][1]; k++ {
		p.p.Kept[k] = false
	}
	p.p.Tokens -= before
	p.p.Opened[i] = false
	p.keepWhole(i)
	p.onTail += p.Blocks[i].Tokens
	p.tail = i
	return true
}
