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
	Names []int32 // indexes of its identifiers
	Copy  int32   // equal for lines with the same text, from 1 on; 0 for none
	Worth int64   // worth of the line, counted once for each Copy
	Line  int32   // index of the line that contains it; its own index for a line
}

// A Reading has the parts of a block that a plan may keep.
type Reading struct {
	Head     int       // size of the head of its stub, in bytes
	Passages []Passage // in text order; a part stands behind its line
}

// A CoverRequest has all inputs of a plan of lines.
type CoverRequest struct {
	Request

	Readings []Reading // by block
	Names    []int64   // worth of each identifier

	// Count returns the tokens of a passage with its separator, or of the
	// head of the stub if passage is [HeadPassage] or [ShortPassage]. It must
	// be deterministic, and a short head must not be longer than a head.
	Count func(block, passage int) token.Count
}

// Heads, which are counted like passages.
const (
	HeadPassage  = -1 // the head of a stub
	ShortPassage = -2 // a head with only the id
)

// Shares of a budget. Unused parts of a share go to the others.
const (
	headShare = 8  // an eighth goes to heads, before there is one for each block
	saidShare = 4  // a fourth to what a person said and hard rules hold, whole
	onceShare = 16 // a sixteenth at most of it to one block of these
	ruleShare = 64 // a sixty-fourth to what else rules hold, whole
	little    = 8  // all while little is spent: an eighth of the history. What is spent above goes to heads, then to whole blocks
)

// Cover returns the plan of lines: it keeps in the budget as much as possible
// of the text that the agent is likely to need again.
//
// Blocks under an absolute rule stay whole: system text, compactions by the
// provider, pins, calls without a result. Every other block has a stub, a
// head with its id first and passages behind it, until all of it is kept and
// the block stays whole.
//
// A block under a rule has a short head from the beginning. Three queues take
// turns. The first has the heads, those of blocks under rules first. The
// second has the blocks that should be complete, line by line: those under
// hard rules, strongest first, then all others, newest first; a long text
// that a user pasted does not displace the user's later messages. The third
// has all passages, and yields the one whose identifiers and line are worth
// most per byte; identifiers and lines that the window already has are worth
// nothing.
//
// The order does not depend on the budget, and a plan takes steps up to the
// first that does not fit. So a plan with a larger budget keeps everything
// that a smaller plan keeps. Blocks that the request marks as absent do not
// return, and cut blocks do not become whole; a caller who wants that marks
// them as whole.
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

// A covering is in the middle of a plan.
type covering struct {
	r       *CoverRequest
	p       *Plan
	heads   []int // blocks without a head, in order
	wholes  []int // blocks from which nothing should be missing, in order
	market  market
	blocks  []covered
	names   []bool // identifiers that are there
	copies  map[int32]bool
	history token.Count // of all blocks but those that stay whatever happens
	spent   token.Count
	onHeads token.Count
	onWhole token.Count
	full    bool // the next step did not fit
}

// A covered block is what a covering has of a block.
type covered struct {
	fixed bool // nothing more happens to it
	open  bool // it has a head
	short bool // which is the id alone
	whole Form // that it has when nothing of it is missing
	taken []bool
	lines int // that are missing

	at      int         // next passage on the way to being whole
	price   token.Count // of that passage alone, once it is asked for
	priced  int         // the passage that price is of plus one, or 0
	onWhole token.Count
}

func newCovering(r *CoverRequest, p *Plan) *covering {
	c := &covering{r: r, p: p, blocks: make([]covered, len(r.Blocks)), names: make([]bool, len(r.Names)), copies: make(map[int32]bool)}
	for i := range r.Blocks {
		b, passages := &c.blocks[i], r.Readings[i].Passages
		b.taken = make([]bool, len(passages))
		b.whole = Whole
		if r.Blocks[i].Thinking && !r.Blocks[i].Rule.Hard() {
			b.whole = Bare
		}
		for k := range passages {
			if int(passages[k].Line) == k {
				b.lines++
			}
		}
		if !r.Blocks[i].Rule.Absolute() {
			c.history += p.Decisions[i].Before
		}
	}
	return c
}

// Absolute reports whether r keeps a block whole whatever the budget: system
// text, compactions by the provider, pins, and calls without a result.
func (r Rule) Absolute() bool {
	return r == RuleSystem || r == ruleCompaction || r == RulePin || r == rulePending
}

// begin sets the plan to what must stay, and makes the queues.
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

// cover marks all that a block has as being there.
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

// urgency orders the rules by which blocks should be whole first: what a person
// said, then what answers it, then what other rules hold, then all else.
func (r Rule) urgency() int {
	if i := slices.Index([]Rule{ruleNewestUser, RuleCorrection, RuleFirstTask, ruleNewest}, r); i >= 0 {
		return i // what is below said is of a person
	}
	if r != "" {
		return 4
	}
	return 5
}

// said is the urgency from which on a person did not say it.
const said = 3

// gain returns what a passage adds.
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

// An offer is a passage and what it was worth for each byte when it was last looked
// at. That falls, but for the head of its block, which somebody else may have paid for.
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
func (o *offers) Push(any)     {} // nothing is pushed
func (o *offers) Pop() (_ any) { return }

// A market has all offers, in classes by how much they are worth. Only the best class is
// a heap. Most offers are never worth enough to be looked at again, so their classes are
// never put in order, and one that is worth less than was thought goes to another class
// without any order.
type market struct {
	classes [4 * 64]offers
	best    int // class that is a heap; those above are empty
}

// class returns the class of a rate: its size in bits, and the two bits behind the first.
func class(rate int64) int {
	size := bits.Len64(uint64(rate)) //nolint:gosec // a rate is not negative
	return 4*size + int(rate<<2>>max(size-1, 0))&3
}

func (m *market) add(o offer) {
	k := class(o.rate)
	m.classes[k] = append(m.classes[k], o)
}

// top returns the best offer by what it was worth when it was last looked at, or nil if
// there is none. What is in a class is looked at again before it is put in order.
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

// drop takes the best offer away. It does not go through heap.Pop, which would put the offer
// into memory of its own.
func (m *market) drop() {
	list := &m.classes[m.best]
	list.Swap(0, len(*list)-1)
	if *list = (*list)[:len(*list)-1]; len(*list) > 0 {
		heap.Fix(list, 0)
	}
}

// fill puts offers on the market, in one piece of memory.
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

// lower says that the best offer is worth less now.
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

// rate returns what a passage is worth for each byte. The first of a block has to
// bear half of the head.
func (c *covering) rate(i, k int) int64 {
	bytes := c.r.Readings[i].Passages[k].Bytes
	if !c.blocks[i].open {
		bytes += c.r.Readings[i].Head / 2
	}
	return c.gain(i, k) / int64(max(bytes, 1))
}

// offer puts all passages on the market.
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

// forHeads returns how much of what is spent so far is for heads: of what is spent above
// little all, so that nothing is without one for long, and of the rest a small part.
func (c *covering) forHeads() token.Count {
	above := max(c.spent-c.history/little, 0)
	return (c.spent-above)/headShare + above
}

// forWhole returns how many tokens the next step toward a whole block may take, of the
// part of all such steps and of the part of this block. Of what is spent above little
// they have all while there are blocks under rules, then half; of the rest a small part.
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

// spend takes so many tokens, if they are there.
func (c *covering) spend(n token.Count) bool {
	if c.p.After+n > c.r.Budget {
		c.full = true
		return false
	}
	c.p.After += n
	c.spent += n
	return true
}

// nextHead gives the first block that has none a head, or a long one in place of a
// short one.
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

// open gives a block the least that stands for it, whatever the budget.
func (c *covering) open(i int) {
	to, n := c.least(i, ShortPassage)
	c.p.After += n
	c.blocks[i].short = true
	c.setOpen(i, to, n)
}

// least returns the least that stands for a block, and its tokens: a head, or the
// whole block if that is no longer.
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

// nextWhole takes the next passage of the first block from which something is missing
// and that may have more now, or makes the block whole. In the end all may have more.
func (c *covering) nextWhole(end bool) bool {
	for n := 0; n < len(c.wholes); {
		i := c.wholes[n]
		b, passages := &c.blocks[i], c.r.Readings[i].Passages
		for !b.fixed && b.at < len(passages) && (b.taken[b.at] || int(passages[b.at].Line) != b.at) {
			b.at++
		}
		var cost token.Count
		switch {
		case b.fixed || b.at == len(passages) && !c.canBeWhole(i):
			copy(c.wholes[1:n+1], c.wholes[:n])
			c.wholes = c.wholes[1:]
			continue
		case b.at < len(passages):
			if b.priced != b.at+1 { // a long one may be asked for at every step
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
			n++ // what is said next has a part of its own
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

// nextBest takes the passage that is worth most.
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

// worth returns what a passage is worth for each byte now.
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

// take takes a passage, and the head of its block with the first. It reports whether
// that fits.
func (c *covering) take(i, k int) bool {
	b, d := &c.blocks[i], &c.p.Decisions[i]
	n := c.r.Count(i, k) + c.opening(i)
	if !c.spend(n) {
		return false
	}
	b.open, b.taken[k] = true, true
	d.To, d.After = Lines, d.After+n
	p := &c.r.Readings[i].Passages[k]
	c.mark(p)
	if int(p.Line) == k {
		b.lines--
	}
	return true
}

func (c *covering) canBeWhole(i int) bool {
	return c.blocks[i].lines == 0 && c.r.Blocks[i].Form.full()
}

// complete makes a block whole of which nothing is missing. It reports whether that
// fits.
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
			// A part of a line that is there is there with it.
			if taken && (int(passages[k].Line) == k || !c.blocks[i].taken[passages[k].Line]) {
				list[i] = append(list[i], int32(k))
			}
		}
	}
	return list
}
