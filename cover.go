package carrel

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"sort"
	"strings"
	"sync"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A likely is what a conversation has, and what of it the agent is likely to need again.
type likely struct {
	pieces []facts.Piece
	need   *facts.Need
}

// likely reads the session, once.
func (p *pass) likely() *likely {
	if p.needs == nil {
		h := p.held
		l := &likely{pieces: p.engine.piecesOf(p.scope, h.session.Messages, h.blocks)}
		l.need = facts.Estimate(l.pieces, p.engine.opts.Model)
		p.needs = l
	}
	return p.needs
}

// A cover is what a plan of lines is made from.
type cover struct {
	*likely
	spans    [][]span // of each block, beside its passages
	readings []pager.Reading
	names    []int64
}

// A span is where a passage stands: in a piece, between two offsets of its text.
type span struct {
	piece    int
	from, to int32
	line     int // index of the line in the piece
}

// cover reads the session as a plan of lines needs it, once.
func (p *pass) cover() *cover {
	if p.covering != nil {
		return p.covering
	}
	h := p.held
	c := &cover{likely: p.likely(), spans: make([][]span, len(h.blocks)), readings: make([]pager.Reading, len(h.blocks))}
	c.names = make([]int64, len(c.need.Names))
	for i := range c.names {
		c.names[i] = c.need.Names[i].Worth
	}
	for i := range h.blocks {
		c.readings[i].Head = len(p.head(i, false)) + 1
	}
	names := c.room()
	for i := range c.pieces {
		names = c.read(i, names)
	}
	p.covering = c
	return c
}

// skipped says which blocks have texts of which a part was not looked at.
func (c *likely) skipped(h *held) []string {
	var all []string
	for i := range c.pieces {
		if p := &c.pieces[i]; p.Skipped > 0 {
			all = append(all, fmt.Sprintf("block %s: of a text of %d bytes, %d in the middle were not looked at for what may be needed again; "+
				"carrel recall %[1]s prints all of it", h.rows[p.Block].ID.Short(), len(p.Text), p.Skipped))
		}
	}
	return all
}

// piecesOf returns the texts of a conversation, with their scans.
func (e *Engine) piecesOf(scope governance.Scope, msgs []transcript.Message, blocks []transcript.Block) []facts.Piece {
	return facts.History(msgs, blocks, &facts.HistoryOptions{
		Tools:  e.opts.Tools,
		Scan:   func(_, _ int, text string) *facts.Scan { return e.scans.scan(scope, text) },
		Person: func(i int) bool { return pager.Instructs(msgs, &blocks[i]) },
	})
}

// room makes room for the passages of all blocks, and for their names.
func (c *cover) room() (names []int32) {
	lines, marks := make([]int, len(c.readings)), 0
	for i := range c.pieces {
		p := &c.pieces[i]
		lines[p.Block] += len(p.Lines)
		marks += len(p.Marks)
	}
	for i, n := range lines {
		c.readings[i].Passages, c.spans[i] = make([]pager.Passage, 0, n+n/2), make([]span, 0, n+n/2)
	}
	return make([]int32, 0, 2*marks)
}

// read adds the passages of a piece: its lines, and behind each the parts of it that
// are much shorter and say what a likely name is. The names of passages are kept one
// behind the other.
func (c *cover) read(i int, names []int32) []int32 {
	p := &c.pieces[i]
	ids := c.need.Marks[i]
	r := &c.readings[p.Block]
	within := func(l *facts.Line, from, to int32) []int32 {
		at := len(names)
		marks := p.Marks[l.First:l.End] // in the order in which they begin
		first := sort.Search(len(marks), func(j int) bool { return marks[j].From >= from })
		for j := first; j < len(marks) && marks[j].From < to; j++ {
			if marks[j].To <= to {
				names = append(names, ids[int(l.First)+j])
			}
		}
		return names[at:len(names):len(names)]
	}
	for k := range p.Lines {
		l, n := &p.Lines[k], &c.need.Lines[i][k]
		line := pager.Passage{Bytes: int(l.To-l.From) + 1, Copy: n.Copy, Worth: n.Worth, Line: int32(len(r.Passages))}
		line.Names = within(l, l.From, l.To)
		r.Passages = append(r.Passages, line)
		c.spans[p.Block] = append(c.spans[p.Block], span{i, l.From, l.To, k})
		for j := l.First; j < l.End; j++ {
			m := &p.Marks[j]
			if bytes := int(m.Right - m.Left); bytes+partSaves < line.Bytes && c.need.Names[ids[j]].Chance >= partChance {
				r.Passages = append(r.Passages, pager.Passage{Bytes: bytes + 1, Names: within(l, m.Left, m.Right), Line: line.Line})
				c.spans[p.Block] = append(c.spans[p.Block], span{i, m.Left, m.Right, k})
			}
		}
	}
	return names
}

// A part of a line is offered if it saves so many bytes, and its name has so much of
// a chance.
const (
	partSaves  = 8
	partChance = 1_000_000 // of a billion
)

// head returns the first line of the stub of a block that is cut to lines.
func (p *pass) head(i int, short bool) string {
	v := pager.View{Block: &p.held.blocks[i], Messages: p.held.session.Messages}
	if short {
		return v.ShortHead()
	}
	if p.heads == nil {
		p.heads = make([]string, len(p.held.blocks))
	}
	if p.heads[i] == "" {
		p.heads[i] = v.Head()
	}
	return p.heads[i]
}

// planCover returns the plan of lines for a request. What texts cost one by one may
// be a little less than what they cost together; then a little less is planned.
func (p *pass) planCover(req *pager.Request) (*pager.Plan, error) {
	c := p.cover()
	r := &pager.CoverRequest{Request: *req, Readings: c.readings, Names: c.names, Count: func(block, passage int) token.Count {
		if passage < 0 {
			return p.meter.framing.Message + p.count(p.head(block, passage == pager.ShortPassage)+"\n")
		}
		return p.count(transcript.Quote(c.text(block, passage)) + "\n")
	}}
	for {
		plan, err := pager.Cover(r)
		if floor, ok := errors.AsType[*pager.FloorError](err); ok {
			floor.Need += req.Budget - r.Budget // what the parts cost more together
			floor.Budget = req.Budget
		}
		if err != nil || plan.Picks == nil {
			return plan, err
		}
		over := p.recut(plan) - req.Budget
		if over <= 0 {
			plan.Budget = req.Budget
			return plan, nil
		}
		r.Budget -= over
	}
}

// count returns the tokens of a text that may be in a stub.
func (p *pass) count(text string) token.Count {
	return p.engine.scans.count(p.scope, p.meter.counter, text)
}

func (c *cover) text(block, passage int) string {
	s := &c.spans[block][passage]
	return c.pieces[s.piece].Text[s.from:s.to]
}

// closes reports whether the quotation of block i must say where it ends: see [closed].
func (p *pass) closes(plan *pager.Plan, i int) bool {
	for i++; i < len(plan.Decisions); i++ {
		switch plan.Decisions[i].To {
		case pager.Gone:
			continue
		case pager.Line, pager.Lines:
			return false
		case pager.Whole, pager.Bare, pager.Calls:
		}
		m := &p.held.session.Messages[p.held.blocks[i].Messages[0]]
		return m.Role != transcript.RoleAssistant || !speaks(m)
	}
	return true
}

// quoted returns lines of a block behind the head of its stub.
func quoted(lines string) string {
	if lines == "" {
		return ""
	}
	return "\n" + transcript.Quote(lines[1:])
}

// recut makes the stubs of a plan, counts them as they are, and returns the tokens of
// the window.
func (p *pass) recut(plan *pager.Plan) token.Count {
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Step != pager.StageCover || d.To != pager.Lines && d.To != pager.Line {
			continue
		}
		stub := pager.Stub{Text: p.head(i, plan.Short[i]) + quoted(p.covering.lines(i, plan.Picks[i]))}
		p.made[pageKey{i, d.To}] = stub
		size := p.meter.framing.Message + p.count(stub.Text)
		if len(plan.Picks[i]) > 0 && p.closes(plan, i) {
			size += p.end()
		}
		plan.After += size - d.After
		d.After = size
		d.Recut = d.From == d.To && stub.Text != p.stubs[d.Block].Text
	}
	return plan.After
}

// lines returns passages of a block, each line in a line of its own; parts of the
// same line stand in one, with an ellipsis between them.
func (c *cover) lines(block int, picks []int32) string {
	var b strings.Builder
	last := span{line: -1}
	for _, k := range picks {
		s := c.spans[block][k]
		switch {
		case s.piece != last.piece || s.line != last.line:
			b.WriteByte('\n')
		case s.from < last.to: // the parts meet
			if s.to > last.to {
				b.WriteString(c.pieces[s.piece].Text[last.to:s.to])
				last.to = s.to
			}
			continue
		default:
			b.WriteString(" … ")
		}
		b.WriteString(c.pieces[s.piece].Text[s.from:s.to])
		last = s
	}
	return b.String()
}

// A scanCache remembers the scans of texts, and the tokens of what stubs may say, so
// that each is scanned once, when it arrives, and counted once. Without it nothing
// breaks.
type scanCache struct {
	mu       sync.Mutex
	seed     maphash.Seed
	new, old *scans
}

// scans are what a scanCache remembers of a while.
type scans struct {
	texts  map[scanKey]*facts.Scan
	counts map[scanKey]counted
	bytes  int // of the texts
}

type scanKey struct {
	scope governance.Scope
	hash  uint64
}

type counted struct {
	text     string
	encoding string
	tokens   token.Count
}

// maxScanned is how many bytes of text are remembered at least, and about half of
// what is at most.
const maxScanned = 64 << 20

func newScans() *scans {
	return &scans{texts: make(map[scanKey]*facts.Scan), counts: make(map[scanKey]counted)}
}

// key returns where a text is kept. The cache is locked.
func (c *scanCache) key(scope governance.Scope, text string) scanKey {
	if c.new == nil {
		c.new, c.old, c.seed = newScans(), newScans(), maphash.MakeSeed()
	}
	return scanKey{scope, maphash.String(c.seed, text)}
}

// keeps makes room for so many bytes more. The cache is locked.
func (c *scanCache) keeps(bytes int) {
	if c.new.bytes += bytes; c.new.bytes > maxScanned {
		c.old, c.new = c.new, newScans()
		c.new.bytes = bytes
	}
}

func (c *scanCache) scan(scope governance.Scope, text string) *facts.Scan {
	c.mu.Lock()
	key := c.key(scope, text)
	s := c.new.texts[key]
	if s == nil {
		s = c.old.texts[key]
	}
	c.mu.Unlock()
	if s == nil || s.Text != text {
		s = facts.NewScan(text)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.keeps(len(text))
		c.new.texts[key] = s
	}
	return s
}

func (c *scanCache) count(scope governance.Scope, by token.Counter, text string) token.Count {
	c.mu.Lock()
	key := c.key(scope, text)
	n, known := c.new.counts[key]
	if !known {
		n = c.old.counts[key]
	}
	c.mu.Unlock()
	if n.text != text || n.encoding != by.Encoding() {
		n = counted{text, by.Encoding(), by.Count(text)}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.keeps(len(text))
		c.new.counts[key] = n
	}
	return n.tokens
}

// forget forgets everything about a scope: something of it was erased.
func (c *scanCache) forget(scope governance.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new == nil {
		return
	}
	for _, s := range [...]*scans{c.new, c.old} {
		maps.DeleteFunc(s.texts, func(k scanKey, _ *facts.Scan) bool { return k.scope == scope })
		maps.DeleteFunc(s.counts, func(k scanKey, _ counted) bool { return k.scope == scope })
	}
}
