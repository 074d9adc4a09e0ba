package hold

import (
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

// A Likely is what a conversation has, and what of it the agent is likely to need again.
type Likely struct {
	Pieces []facts.Piece
	Need   *facts.Need
}

// A Cover is what a plan of lines is made from.
type Cover struct {
	*Likely
	Spans    [][]Span // of each block, beside its passages
	Readings []pager.Reading
	Names    []int64
}

// A Span is where a passage stands: in a piece, between two offsets of its text.
type Span struct {
	Piece    int
	From, to int32
	Line     int // index of the line in the piece
}

// Skipped says which blocks have texts of which a part was not looked at.
func (c *Likely) Skipped(h *Held) []string {
	var all []string
	for i := range c.Pieces {
		if p := &c.Pieces[i]; p.Skipped > 0 {
			all = append(all, fmt.Sprintf("block %s: of a text of %d bytes, %d in the middle were not looked at for what may be needed again; "+
				"carrel recall %[1]s prints all of it", h.Rows[p.Block].ID.Short(), len(p.Text), p.Skipped))
		}
	}
	return all
}

// PiecesOf returns the texts of a conversation, with their scans.
func (e *Desk) PiecesOf(scope governance.Scope, msgs []transcript.Message, blocks []transcript.Block) []facts.Piece {
	return facts.History(msgs, blocks, &facts.HistoryOptions{
		Tools:  e.Opts.Tools,
		Scan:   func(_, _ int, text string) *facts.Scan { return e.Scans.Scan(scope, text) },
		Person: func(i int) bool { return pager.Instructs(msgs, &blocks[i]) },
	})
}

// Room makes room for the passages of all blocks, and for their names.
func (c *Cover) Room() (names []int32) {
	lines, marks := make([]int, len(c.Readings)), 0
	for i := range c.Pieces {
		p := &c.Pieces[i]
		lines[p.Block] += len(p.Lines)
		marks += len(p.Marks)
	}
	for i, n := range lines {
		c.Readings[i].Passages, c.Spans[i] = make([]pager.Passage, 0, n+n/2), make([]Span, 0, n+n/2)
	}
	return make([]int32, 0, 2*marks)
}

// Read adds the passages of a piece: its lines, and behind each the parts of it that
// are much shorter and say what a likely name is. The names of passages are kept one
// behind the other.
func (c *Cover) Read(i int, names []int32) []int32 {
	p := &c.Pieces[i]
	ids := c.Need.Marks[i]
	r := &c.Readings[p.Block]
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
		l, n := &p.Lines[k], &c.Need.Lines[i][k]
		line := pager.Passage{Bytes: int(l.To-l.From) + 1, Copy: n.Copy, Worth: n.Worth, Line: int32(len(r.Passages))}
		line.Names = within(l, l.From, l.To)
		r.Passages = append(r.Passages, line)
		c.Spans[p.Block] = append(c.Spans[p.Block], Span{i, l.From, l.To, k})
		for j := l.First; j < l.End; j++ {
			m := &p.Marks[j]
			if bytes := int(m.Right - m.Left); bytes+partSaves < line.Bytes && c.Need.Names[ids[j]].Chance >= partChance {
				r.Passages = append(r.Passages, pager.Passage{Bytes: bytes + 1, Names: within(l, m.Left, m.Right), Line: line.Line})
				c.Spans[p.Block] = append(c.Spans[p.Block], Span{i, m.Left, m.Right, k})
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

// Text returns a passage of a block.
func (c *Cover) Text(block, passage int) string {
	s := &c.Spans[block][passage]
	return c.Pieces[s.Piece].Text[s.From:s.to]
}

// Lines returns passages of a block, each line in a line of its own; parts of the
// same line stand in one, with an ellipsis between them.
func (c *Cover) Lines(block int, picks []int32) string {
	var b strings.Builder
	last := Span{Line: -1}
	for _, k := range picks {
		s := c.Spans[block][k]
		switch {
		case s.Piece != last.Piece || s.Line != last.Line:
			b.WriteByte('\n')
		case s.From < last.to: // the parts meet
			if s.to > last.to {
				b.WriteString(c.Pieces[s.Piece].Text[last.to:s.to])
				last.to = s.to
			}
			continue
		default:
			b.WriteString(" … ")
		}
		b.WriteString(c.Pieces[s.Piece].Text[s.From:s.to])
		last = s
	}
	return b.String()
}

// A ScanCache remembers the scans of texts, and the tokens of what stubs may say, so
// that each is scanned once, when it arrives, and counted once. Without it nothing
// breaks.
type ScanCache struct {
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
func (c *ScanCache) key(scope governance.Scope, text string) scanKey {
	if c.new == nil {
		c.new, c.old, c.seed = newScans(), newScans(), maphash.MakeSeed()
	}
	return scanKey{scope, maphash.String(c.seed, text)}
}

// keeps makes room for so many bytes more. The cache is locked.
func (c *ScanCache) keeps(bytes int) {
	if c.new.bytes += bytes; c.new.bytes > maxScanned {
		c.old, c.new = c.new, newScans()
		c.new.bytes = bytes
	}
}

// Scan returns the scan of a text, which is made once.
func (c *ScanCache) Scan(scope governance.Scope, text string) *facts.Scan {
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

// Count returns the tokens of a text, which are counted once.
func (c *ScanCache) Count(scope governance.Scope, by token.Counter, text string) token.Count {
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

// Forget forgets everything about a scope: something of it was erased.
func (c *ScanCache) Forget(scope governance.Scope) {
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
