package pager

import (
	"sort"
	"strings"

	"github.com/carrel-dev/carrel/facts"
)

// Passages are the lines of a conversation and parts of them, from which a
// plan of lines chooses.
type Passages struct {
	Readings []Reading // by block
	Names    []int64   // worth of each name

	pieces []facts.Piece
	need   *facts.Need
	spans  [][]span // of each block, beside its passages
}

// A span is the place of a passage: it begins at the byte from of the text of a
// piece, and ends before the byte to.
type span struct {
	piece    int
	from, to int32
	line     int // index of the line in the piece
}

// A part of a line is a passage of its own only if it is shorter than the line by
// more than partSaves bytes and its name is likely enough to be needed.
const (
	partSaves  = 8
	partChance = 1_000_000 // least chance of the name, in billionths
)

// NewPassages returns the passages of pieces. The argument need has the estimate of how
// likely each name will be needed, and blocks is the number of blocks of the session.
// Pieces of a message get passages only if the index of the message is above behind; if
// behind is -1, all do.
func NewPassages(pieces []facts.Piece, need *facts.Need, blocks, behind int) *Passages {
	p := &Passages{
		Readings: make([]Reading, blocks), Names: make([]int64, len(need.Names)),
		pieces: pieces, need: need, spans: make([][]span, blocks),
	}
	for i := range p.Names {
		p.Names[i] = need.Names[i].Worth
	}
	lines, marks := make([]int, blocks), 0
	for i := range pieces {
		lines[pieces[i].Block] += len(pieces[i].Lines)
		marks += len(pieces[i].Marks)
	}
	for i, n := range lines {
		p.Readings[i].Passages, p.spans[i] = make([]Passage, 0, n+n/2), make([]span, 0, n+n/2)
	}
	names := make([]int32, 0, 2*marks)
	for i := range pieces {
		if pieces[i].Message > behind {
			names = p.read(i, names)
		}
	}
	return p
}

// read adds the passages of piece i: each line and, after it, those parts of the line that are much
// shorter than the line and contain a name that is likely to be needed. It appends the names of
// these passages to names and returns the longer slice; each passage has a part of it.
func (p *Passages) read(i int, names []int32) []int32 {
	piece, ids := &p.pieces[i], p.need.Marks[i]
	r, spans := &p.Readings[piece.Block], &p.spans[piece.Block]
	within := func(l *facts.Line, from, to int32) []int32 {
		at := len(names)
		marks := piece.Marks[l.First:l.End] // in the order in which they begin
		first := sort.Search(len(marks), func(j int) bool { return marks[j].From >= from })
		for j := first; j < len(marks) && marks[j].From < to; j++ {
			if marks[j].To <= to {
				names = append(names, ids[int(l.First)+j])
			}
		}
		return names[at:len(names):len(names)]
	}
	for k := range piece.Lines {
		l, n := &piece.Lines[k], &p.need.Lines[i][k]
		line := Passage{Bytes: int(l.To-l.From) + 1, Copy: n.Copy, Worth: n.Worth, Line: int32(len(r.Passages))}
		line.Names = within(l, l.From, l.To)
		r.Passages = append(r.Passages, line)
		*spans = append(*spans, span{i, l.From, l.To, k})
		for j := l.First; j < l.End; j++ {
			m := &piece.Marks[j]
			if bytes := int(m.Right - m.Left); bytes+partSaves < line.Bytes && p.need.Names[ids[j]].Chance >= partChance {
				r.Passages = append(r.Passages, Passage{Bytes: bytes + 1, Names: within(l, m.Left, m.Right), Line: line.Line})
				*spans = append(*spans, span{i, m.Left, m.Right, k})
			}
		}
	}
	return names
}

// Text returns a passage of a block.
func (p *Passages) Text(block, passage int) string {
	s := &p.spans[block][passage]
	return p.pieces[s.piece].Text[s.from:s.to]
}

// Lines returns the picked passages of a block, each line on a line of its
// own after a line feed; parts of one line share a line, with an ellipsis
// between them.
func (p *Passages) Lines(block int, picks []int32) string {
	var b strings.Builder
	last := span{line: -1}
	for _, k := range picks {
		s := p.spans[block][k]
		switch {
		case s.piece != last.piece || s.line != last.line:
			b.WriteByte('\n')
		case s.from < last.to: // the parts meet
			if s.to > last.to {
				b.WriteString(p.pieces[s.piece].Text[last.to:s.to])
				last.to = s.to
			}
			continue
		default:
			b.WriteString(" … ")
		}
		b.WriteString(p.pieces[s.piece].Text[s.from:s.to])
		last = s
	}
	return b.String()
}
