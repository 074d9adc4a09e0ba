package pager

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"

	"github.com/carrel-dev/carrel/token"
)

// A Passage is a line of a block, or a part of a line, that a window may keep
// in place of the whole block.
type Passage struct {
	Bytes int     // size with its separator
	Names []int32 // indexes of its identifiers in CoverRequest.Names
	Copy  int32   // equal for lines with the same text, from 1 on; 0 for none
	Worth int64   // worth of the line, counted once for each Copy
	Line  int32   // index of the line that contains it; its own index for a line
}

// A Reading has the parts of a block that a plan may keep. [NewPassages] leaves Head 0: the caller
// sets it before [Cover], which otherwise takes heads for free when it compares passages.
type Reading struct {
	Head     int       // size of [View.Head] in bytes, with a line feed
	Passages []Passage // in text order; a part stands behind its line
}

// A CoverRequest has all inputs of a plan of lines. Size is asked for present
// forms, [Whole] and [Bare]. Weights and Cuts only set the Score and Directive
// of decisions.
type CoverRequest struct {
	Request

	Readings []Reading // by block, from [NewPassages], with Head set
	Names    []int64   // worth of each identifier, from [NewPassages]

	// Count returns the tokens of a passage with its separator, or of the
	// head of the stub if passage is [HeadPassage] or [ShortPassage]. It must
	// be deterministic, and a short head must not be longer than a head.
	Count func(block, passage int) token.Count
}

// Values of the argument passage of CoverRequest.Count that stand for a head.
const (
	HeadPassage  = -1 // the head of a stub
	ShortPassage = -2 // a head with only the id
)

// Shares of the tokens that a plan has spent so far, as divisors. Unused parts of a
// share go to the others.
const (
	headShare = 8  // an eighth for heads, until each block has one
	saidShare = 4  // a fourth for whole blocks of a person's words that hard rules keep
	onceShare = 16 // a sixteenth at most for one such block
	ruleShare = 64 // a sixty-fourth for other blocks, whole
	little    = 8  // the shares apply to the first eighth of the history; tokens spent above it go to heads, then to whole blocks
)

// Cover returns the plan of lines: it keeps in the budget as much as possible
// of the text that the agent is likely to need again.
//
// Blocks under an absolute rule stay whole: system text, compactions by the
// provider, pins, calls without a result. Every other block is built up in
// steps: first a head with its id, then passages behind it; when no line is
// missing, the block stays whole. A block that gets no head leaves the window.
//
// A block under a rule begins with a short head. Three queues take turns. The
// first has the heads, those of blocks under rules first. The second has the
// blocks that should be complete, line by line: those under hard rules,
// strongest first, then all others, newest first; a long text that a user
// pasted does not displace the user's later messages. The third has all
// passages, and yields the one whose identifiers and line are worth most per
// byte; identifiers and lines that the window already has are worth nothing.
//
// The order does not depend on the budget, and a plan takes steps up to the
// first that does not fit. So a plan with a larger budget keeps everything
// that a smaller plan keeps. A block whose Form is [Gone] does not return, and
// one whose Form is [Calls], [Lines] or [Line] does not become whole; a caller
// who wants that sets its Form to [Whole].
//
// It fails with a [*FloorError] if the absolute blocks and a head for each
// block under a rule do not fit.
func Cover(r *CoverRequest) (*Plan, error) {
	p := NewPlan(&r.Request)
	if p.Before <= r.Budget {
		return p, nil
	}
	c := newCovering(r, p)
	c.begin()
	if p.After > r.Budget {
		return nil, floor(&r.Request, p)
	}
	c.run()
	p.Picks, p.Short = c.picks(), make([]bool, len(c.blocks))
	for i := range p.Picks {
		p.Decisions[i].Lines, p.Short[i] = len(p.Picks[i]), c.blocks[i].short
	}
	return p, nil
}

// A covering is the state of [Cover] while it makes a plan.
type covering struct {
	r       *CoverRequest
	p       *Plan
	heads   []int // blocks without a head, in order
	wholes  []int // blocks that may become whole, in order
	market  market
	blocks  []covered
	names   []bool         // identifiers that the planned window already has
	copies  map[int32]bool // texts of lines that it already has, by Passage.Copy
	history token.Count    // size of all blocks except those under absolute rules
	spent   token.Count    // tokens of all steps so far
	onHeads token.Count    // part of spent for heads
	onWhole token.Count    // part of spent for steps toward whole blocks
	full    bool           // the next step did not fit
}

// A covered is the state of one block in a covering.
type covered struct {
	fixed bool   // no later step changes the block
	open  bool   // the block has a head
	short bool   // its head has only the id
	whole Form   // form of the complete block: Whole, or Bare if thinking leaves
	taken []bool // by passage: the passage is in the stub

	at      int         // next passage to take to make the block whole
	price   token.Count // cached tokens of passage priced-1
	priced  int         // index of the passage with the cached price plus one, or 0
	onWhole token.Count // tokens of this block's steps toward being whole
}

func newCovering(r *CoverRequest, p *Plan) *covering {
	c := &covering{r: r, p: p, blocks: make([]covered, len(r.Blocks)), names: make([]bool, len(r.Names)), copies: make(map[int32]bool)}
	for i := range r.Blocks {
		b := &c.blocks[i]
		b.taken = make([]bool, len(r.Readings[i].Passages))
		b.whole = Whole
		if r.Blocks[i].Thinking && !r.Blocks[i].Rule.Hard() {
			b.whole = Bare
		}
		if !r.Blocks[i].Rule.Absolute() {
			c.history += p.Decisions[i].Before
		}
	}
	return c
}

// Absolute reports whether the rule keeps a block whole even if the budget is
// too small for it. Such rules are those for system text, compactions by the
// provider, pins, and calls without a result.
func (r Rule) Absolute() bool {
	return r == RuleSystem || r == ruleCompaction || r == RulePin || r == rulePending
}

// begin sets the plan to the blocks and heads that must stay, and makes the queues.
func (c *covering) begin() {
	c.p.After = c.r.Fixed
	var ruled, others []int
	for i := range c.r.Blocks {
		b, d := &c.r.Blocks[i], &c.p.Decisions[i]
		switch {
		case b.Form == Gone:
			c.blocks[i].fixed = true
			continue
		case b.Rule.Absolute():
			c.blocks[i].fixed = true
			c.p.After += d.After
			c.cover(i)
			continue
		case b.Rule != "":
			ruled = append(ruled, i)
		default:
			others = append(others, i)
		}
		d.To, d.After, d.Step = Gone, 0, StageCover
	}
	for _, i := range ruled {
		c.open(i)
	}
	c.order(ruled, others)
	c.offer()
}

// cover marks all identifiers and lines of block i as present in the planned
// window.
func (c *covering) cover(i int) {
	for k := range c.r.Readings[i].Passages {
		c.mark(&c.r.Readings[i].Passages[k])
	}
}

func (c *covering) mark(p *Passage) {
	for _, n := range p.Names {
		c.names[n] = true
	}
	if p.Copy != 0 {
		c.copies[p.Copy] = true
	}
}

// order makes the queues of heads and of whole blocks.
func (c *covering) order(ruled, others []int) {
	worth := make([]int64, len(c.r.Blocks))
	for _, i := range others {
		for k := range c.r.Readings[i].Passages {
			worth[i] += c.gain(i, k)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(b, a)) })
	c.heads = slices.Concat(ruled, others)
	c.wholes = slices.Clone(c.heads)
	slices.SortStableFunc(c.wholes, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.r.Blocks[a].Rule.urgency(), c.r.Blocks[b].Rule.urgency()), cmp.Compare(b, a))
	})
}

// urgency returns the rank of a rule in the order in which blocks become whole: a
// person's words first, then the newest answer, then other rules, then no rule.
func (r Rule) urgency() int {
	if i := slices.Index([]Rule{ruleNewestUser, RuleCorrection, RuleFirstTask, ruleNewest}, r); i >= 0 {
		return i // a rank below said is for a person's words
	}
	if r != "" {
		return 4
	}
	return 5
}

// said is the number of ranks of [Rule.urgency] for a person's words. They are
// the ranks 0 to said-1.
const said = 3

// gain returns the worth that passage k of block i adds to the planned window.
func (c *covering) gain(i, k int) int64 {
	p := &c.r.Readings[i].Passages[k]
	var sum int64
	if p.Copy != 0 && !c.copies[p.Copy] {
		sum = p.Worth
	}
	for _, n := range p.Names {
		if !c.names[n] {
			sum += c.r.Names[n]
		}
	}
	return sum
}

// An offer is a passage with its rate, the worth per byte when the rate was last
// computed. A rate falls as other passages are taken. It can rise only when another
// passage of the block has paid for the head.
type offer struct {
	block, passage int32
	rate           int64
}

// offers are a heap, the best first.
type offers []offer

func (o offers) Len() int      { return len(o) }
func (o offers) Swap(i, j int) { o[i], o[j] = o[j], o[i] }
func (o offers) Less(i, j int) bool {
	a, b := &o[i], &o[j]
	if a.rate != b.rate {
		return a.rate > b.rate
	}
	if a.block != b.block {
		return a.block > b.block // the newer
	}
	return a.passage < b.passage
}
func (o *offers) Push(any)     {} // heap.Push is never called
func (o *offers) Pop() (_ any) { return }

// A market has all offers, in classes by their rate. Only the best class is a heap. The
// other classes are not sorted, which saves time, because most offers never reach the best
// class. An offer whose rate has fallen moves to a lower class.
type market struct {
	classes [4 * 64]offers
	best    int // index of the class that is a heap; higher classes are empty
}

// class returns the class of a rate. The class is four times the number of bits of
// the rate, plus the value of the two bits after the leading one.
func class(rate int64) int {
	size := bits.Len64(uint64(rate)) //nolint:gosec // a rate is not negative
	return 4*size + int(rate<<2>>max(size-1, 0))&3
}

func (m *market) add(o offer) {
	k := class(o.rate)
	m.classes[k] = append(m.classes[k], o)
}

// top returns the offer with the highest stored rate, or nil if there is none. When
// the best class is empty, it goes on to the next class and first computes the rates
// of that class anew with the function rate.
func (m *market) top(rate func(block, passage int32) int64) *offer {
	for len(m.classes[m.best]) == 0 {
		if m.best == 0 {
			return nil
		}
		m.best--
		list := m.classes[m.best]
		m.classes[m.best] = list[:0]
		for _, o := range list {
			if o.rate = min(o.rate, rate(o.block, o.passage)); o.rate > 0 {
				m.add(o)
			}
		}
		heap.Init(&m.classes[m.best])
	}
	return &m.classes[m.best][0]
}

// drop removes the best offer. It does not use heap.Pop, which would allocate memory for
// the offer.
func (m *market) drop() {
	list := &m.classes[m.best]
	list.Swap(0, len(*list)-1)
	if *list = (*list)[:len(*list)-1]; len(*list) > 0 {
		heap.Fix(list, 0)
	}
}

// fill adds all offers to the market with a single allocation.
func (m *market) fill(all []offer) {
	var size [len(m.classes)]int
	for i := range all {
		size[class(all[i].rate)]++
	}
	room := make(offers, len(all))
	for k, n := range size {
		m.classes[k], room = room[:0:n], room[n:]
	}
	for _, o := range all {
		m.add(o)
	}
	m.best = len(m.classes) - 1
}

// lower sets the rate of the best offer to a lower one.
func (m *market) lower(rate int64) {
	o := &m.classes[m.best][0]
	o.rate = rate
	if class(rate) == m.best {
		heap.Fix(&m.classes[m.best], 0)
		return
	}
	m.add(*o)
	m.drop()
}

// rate returns the worth per byte of passage k of block i. If the block has no head
// yet, half of the bytes of the head count too.
func (c *covering) rate(i, k int) int64 {
	bytes := c.r.Readings[i].Passages[k].Bytes
	if !c.blocks[i].open {
		bytes += c.r.Readings[i].Head / 2
	}
	return c.gain(i, k) / int64(max(bytes, 1))
}

// offer makes every passage with a rate above 0 a candidate for the plan,
// unless no later step changes its block.
func (c *covering) offer() {
	n := 0
	for i := range c.r.Readings {
		n += len(c.r.Readings[i].Passages)
	}
	all := make([]offer, 0, n)
	for i := range c.blocks {
		if c.blocks[i].fixed {
			continue
		}
		for k := range c.r.Readings[i].Passages {
			if rate := c.rate(i, k); rate > 0 {
				all = append(all, offer{int32(i), int32(k), rate})
			}
		}
	}
	c.market.fill(all)
}

// run takes steps until one does not fit.
func (c *covering) run() {
	for !c.full {
		switch {
		case c.forHeads() >= c.onHeads && c.nextHead():
		case c.nextWhole(false):
		case c.nextBest():
		case c.nextHead():
		case c.nextWhole(true):
		default:
			return
		}
	}
}

// forHeads returns how many of the tokens spent so far may be for heads. Until the plan has
// spent an eighth of the history's size, heads may take an eighth of the tokens. They may take
// all tokens spent after that, so that every block soon has a head.
func (c *covering) forHeads() token.Count {
	above := max(c.spent-c.history/little, 0)
	return (c.spent-above)/headShare + above
}

// forWhole returns how many tokens the next step that makes block i more complete may take. The
// result all is the rest of the tokens for such steps of all blocks together; the result one is
// the rest of those for block i.
//
// Such steps may take a fraction of the tokens spent until an eighth of the history's size is
// spent. After that they may take all tokens for a block under a rule, and half of them for any
// other block.
func (c *covering) forWhole(i int) (all, one token.Count) {
	above := max(c.spent-c.history/little, 0)
	below := c.spent - above
	switch rule := c.r.Blocks[i].Rule; {
	case rule.urgency() < said:
		return below/saidShare + above - c.onWhole, below/onceShare + above - c.blocks[i].onWhole
	case rule != "":
		all = below/ruleShare + above - c.onWhole
	default:
		all = below/ruleShare + above/2 - c.onWhole
	}
	return all, all
}

// spend adds n tokens to the plan if they fit the budget. Otherwise it sets full and
// returns false.
func (c *covering) spend(n token.Count) bool {
	if c.p.After+n > c.r.Budget {
		c.full = true
		return false
	}
	c.p.After += n
	c.spent += n
	return true
}

// nextHead gives the next block of the queue a head, or replaces its short head by a
// long one. It reports whether the queue had a block.
func (c *covering) nextHead() bool {
	for ; len(c.heads) > 0; c.heads = c.heads[1:] {
		i := c.heads[0]
		b := &c.blocks[i]
		var to Form
		var n token.Count
		switch {
		case !b.open:
			to, n = c.least(i, HeadPassage)
		case b.short && !b.fixed:
			n = c.r.Count(i, HeadPassage) - c.r.Count(i, ShortPassage)
		default:
			continue
		}
		if !c.spend(n) {
			return true
		}
		if b.open {
			b.short = false
			c.p.Decisions[i].After += n
		} else {
			c.setOpen(i, to, n)
		}
		c.heads = c.heads[1:]
		c.onHeads += n
		return true
	}
	return false
}

// open gives a block a short head, or keeps it whole if it is no longer than the head. It
// does not check the budget.
func (c *covering) open(i int) {
	to, n := c.least(i, ShortPassage)
	c.p.After += n
	c.blocks[i].short = true
	c.setOpen(i, to, n)
}

// least returns the smaller of two forms of a block and its tokens: a stub with only
// a head, or the complete block if that is no longer.
func (c *covering) least(i, head int) (Form, token.Count) {
	n := c.r.Count(i, head)
	if c.r.Blocks[i].Form.full() {
		if whole := c.r.Size(i, c.blocks[i].whole); whole <= n {
			return c.blocks[i].whole, whole
		}
	}
	return Line, n
}

func (c *covering) setOpen(i int, to Form, n token.Count) {
	d := &c.p.Decisions[i]
	c.blocks[i].open = true
	d.To, d.After = to, n
	if to != Line {
		c.blocks[i].fixed = true
		c.cover(i)
	}
}

// nextWhole takes the next passage of the first incomplete block whose share of the
// tokens allows it. If that block lacks no line, it makes the block whole. If end is
// true, shares do not count.
func (c *covering) nextWhole(end bool) bool {
	for n := 0; n < len(c.wholes); {
		i := c.wholes[n]
		b, passages := &c.blocks[i], c.r.Readings[i].Passages
		for !b.fixed && b.at < len(passages) && (b.taken[b.at] || int(passages[b.at].Line) != b.at) {
			b.at++
		}
		var cost token.Count
		switch {
		case b.fixed || b.at == len(passages) && !c.r.Blocks[i].Form.full():
			copy(c.wholes[1:n+1], c.wholes[:n])
			c.wholes = c.wholes[1:]
			continue
		case b.at < len(passages):
			if b.priced != b.at+1 { // cached: every step may ask for the price of the same passage
				b.price, b.priced = c.r.Count(i, b.at), b.at+1
			}
			cost = b.price + c.opening(i)
		default:
			cost = c.r.Size(i, b.whole) - c.p.Decisions[i].After
		}
		switch all, one := c.forWhole(i); {
		case end:
		case cost > all:
			return false
		case cost > one:
			n++ // the next block has its own share
			continue
		}
		before := c.spent
		if b.at < len(passages) && c.take(i, b.at) || b.at == len(passages) && c.complete(i) {
			b.onWhole += max(c.spent-before, 0)
			c.onWhole += max(c.spent-before, 0)
		}
		return true
	}
	return false
}

// nextBest takes the passage with the highest worth per byte. It reports
// whether there was one.
func (c *covering) nextBest() bool {
	for o := c.market.top(c.worth); o != nil; o = c.market.top(c.worth) {
		switch rate := c.worth(o.block, o.passage); {
		case rate == 0:
			c.market.drop()
		case rate < o.rate:
			c.market.lower(rate)
		default:
			if c.take(int(o.block), int(o.passage)) {
				c.market.drop()
			}
			return true
		}
	}
	return false
}

// worth returns the present worth per byte of a passage, or 0 if it cannot be taken.
func (c *covering) worth(block, passage int32) int64 {
	if b := &c.blocks[block]; b.fixed || b.taken[passage] {
		return 0
	}
	return c.rate(int(block), int(passage))
}

// opening returns the tokens of the head of a block that has none yet.
func (c *covering) opening(i int) token.Count {
	if c.blocks[i].open {
		return 0
	}
	return c.r.Count(i, HeadPassage)
}

// take takes passage k of block i, and the head if the block has none. It reports whether
// both fit the budget.
func (c *covering) take(i, k int) bool {
	b, d := &c.blocks[i], &c.p.Decisions[i]
	n := c.r.Count(i, k) + c.opening(i)
	if !c.spend(n) {
		return false
	}
	b.open, b.taken[k] = true, true
	d.To, d.After = Lines, d.After+n
	c.mark(&c.r.Readings[i].Passages[k])
	return true
}

// complete makes block i whole after all of its lines are taken. It reports whether the
// whole block fits the budget.
func (c *covering) complete(i int) bool {
	d := &c.p.Decisions[i]
	n := c.r.Size(i, c.blocks[i].whole)
	if !c.spend(n - d.After) {
		return false
	}
	c.blocks[i].fixed, c.blocks[i].open = true, true
	d.To, d.After = c.blocks[i].whole, n
	c.cover(i)
	return true
}

// picks returns the passages of each block that a plan keeps in a stub, in the order
// of the text.
func (c *covering) picks() [][]int32 {
	list := make([][]int32, len(c.blocks))
	for i := range c.blocks {
		if c.p.Decisions[i].To != Lines {
			continue
		}
		passages := c.r.Readings[i].Passages
		for k, taken := range c.blocks[i].taken {
			// Skip a part of a line that is taken as a whole.
			if taken && (int(passages[k].Line) == k || !c.blocks[i].taken[passages[k].Line]) {
				list[i] = append(list[i], int32(k))
			}
		}
	}
	return list
}
