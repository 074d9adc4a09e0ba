package pager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Shares of a pointer's size; the rest is for lines between head and tail.
// The tail is the larger, because programs report results at the end.
const (
	headPart = 5
	tailPart = 4
)

// A PointerRequest has the inputs of a pointer.
type PointerRequest struct {
	ID    string // id by which the text is recalled
	Text  string
	Limit token.Count // most tokens of the whole pointer

	Numbered bool // show the number of each line
	First    int  // number of the first line, usually 1

	Before []transcript.Message // the history from which the expected need is estimated
	Tool   string               // tool that returned the text, or empty
	Input  json.RawMessage      // arguments of the call

	Count  func(text string) token.Count                                // must be set
	Pieces func([]transcript.Message, []transcript.Block) []facts.Piece // must be set; see [facts.History]
	Model  *facts.Model                                                 // nil is [facts.DefaultModel]
}

// Pointer returns the text that replaces a large output in the window, which
// the caller has stored under r.ID: the command that recalls the output, its
// head and tail, and the lines between them that are most likely needed. An
// output that fits is whole. A line of
// the output that looks like one of Carrel's is indented: see
// [transcript.Escape].
func Pointer(r *PointerRequest) string {
	p := &pointing{r}
	mark := stashMark(p.ID, p.Text)
	if len(p.Text) <= longestToken*int(p.Limit) {
		if all := mark + p.shown(p.Text, p.First); p.Count(all) <= p.Limit {
			return all
		}
	}
	head := p.head(p.Text, p.Limit/headPart)
	tail := p.tail(p.Text[len(head):], p.Limit/tailPart)
	m := p.middle(head, tail)
	above := mark + lined(p.shown(head, p.First))
	below := p.shown(tail, p.lineAt(len(p.Text)-len(tail)))
	for room := p.Limit; ; {
		text := above + m.text(p.picks(m, room-p.Count(above+m.marks()))) + below
		over := p.Count(text) - p.Limit
		if over <= 0 || room <= over {
			return text
		}
		room -= over // the joined text can have more tokens than the sum of its parts
	}
}

// headTail is the largest length of the head and of the tail of a short pointer, in bytes.
const headTail = 600

// ShortPointer returns a pointer for a text that has many of them: the command
// that recalls id, and the head and tail of content, at most 600 bytes each.
func ShortPointer(id, content string) string {
	mark := stashMark(id, content)
	if len(content) <= 2*headTail {
		return mark + transcript.Escape(content)
	}
	head, tail := text.Head(content, headTail), text.Tail(content, headTail)
	if i := strings.LastIndexByte(head, '\n'); i > headTail/2 {
		head = head[:i+1]
	}
	if line, rest, ok := strings.Cut(tail, "\n"); ok && len(line) < headTail/2 {
		tail = rest
	}
	left := fmt.Sprintf(transcript.Mark+": %d bytes left out here]\n", len(content)-len(head)-len(tail))
	return mark + lined(transcript.Escape(head)) + left + transcript.Escape(tail)
}

// stashMark returns the first line of a pointer. A model that knows nothing about Carrel
// must be able to recall the text by this line alone.
func stashMark(id, text string) string {
	return fmt.Sprintf(transcript.Mark+": stashed %d bytes, %d lines as %s. For all of it use the recall tool of the carrel server, id %s, or run: carrel stash get %s]\n",
		len(text), linesIn(text), id, id, id)
}

// linesIn returns how many lines a text has.
func linesIn(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// lined returns a text with a line feed at its end, unless the text is empty.
func lined(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// longestToken is the assumed largest length of a token in readable text, in bytes.
const longestToken = 64

// A pointing has the methods by which [Pointer] makes a pointer.
type pointing struct{ *PointerRequest }

// lineAt returns the number of the line that an offset in the text is in.
func (p *pointing) lineAt(offset int) int { return p.First + strings.Count(p.Text[:offset], "\n") }

// shown returns lines of the text in the form that the pointer shows. It numbers
// them, beginning with the given number, or escapes those that look like a line of
// Carrel.
func (p *pointing) shown(lines string, number int) string {
	if !p.Numbered {
		return transcript.Escape(lines)
	}
	var b strings.Builder
	for line := range strings.Lines(lines) {
		fmt.Fprintf(&b, "%d\t%s", number, line)
		number++
	}
	return b.String()
}

// head returns the first lines of a text that fit limit tokens. If the first line does
// not fit, head returns the beginning of that line.
func (p *pointing) head(content string, limit token.Count) string {
	end, number := 0, p.First
	for line := range strings.Lines(content) {
		n := p.Count(p.shown(line, number))
		number++
		if n > limit {
			break
		}
		limit -= n
		end += len(line)
	}
	if end > 0 {
		return content[:end]
	}
	cut := text.Head(content, longestToken*int(limit))
	for p.Count(p.shown(cut, p.First)) > limit {
		cut = text.Head(cut, len(cut)*3/4)
	}
	return cut
}

// tail returns the last lines of a text that fit limit tokens. If the last line does not
// fit, tail returns the end of that line.
func (p *pointing) tail(s string, limit token.Count) string {
	start, number := len(s), p.First+linesIn(p.Text)
	for start > 0 {
		from := strings.LastIndexByte(s[:start-1], '\n') + 1
		number--
		n := p.Count(p.shown(s[from:start], number))
		if n > limit {
			break
		}
		limit -= n
		start = from
	}
	if start < len(s) {
		return s[start:]
	}
	cut := text.Tail(s, longestToken*int(limit))
	for p.Count(p.shown(cut, p.First+linesIn(p.Text)-1)) > limit {
		cut = text.Tail(cut, len(cut)*3/4)
	}
	return cut
}

// A middle is the part between head and tail of a text, with the passages for [Cover].
type middle struct {
	*Passages

	block int // index of the middle as a block; block-1 is the head, block+1 the tail
	asked int // index of the message with the call, before the results head, middle and tail
	from  int // offset of the middle in the text
	first int // number of the first line of the middle
	last  int // number of the last line of the middle
	bytes int
	all   string // the whole text
	mark  string // separator between the number of a line and the line
	exact bool   // lines are shown with their indentation
}

// middle returns the passages of the text between head and tail. To estimate how likely each
// line is to be needed, it adds three tool results to the end of the session: head, the text
// between, and tail.
func (p *pointing) middle(head, tail string) *middle {
	msgs := slices.Clip(p.Before)
	blocks := transcript.Group("", 0, msgs)
	m := &middle{block: len(blocks) + 1, asked: len(msgs), from: len(head), all: p.Text, bytes: len(p.Text) - len(head) - len(tail)}
	between := p.Text[m.from : m.from+m.bytes]
	m.first, m.mark = p.lineAt(len(head)), ": "
	if p.Numbered {
		m.mark, m.exact = "\t", true
	}
	m.last = m.first + linesIn(between) - 1

	const call = "carrel-stash"
	asked := transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{
		transcript.ToolCall{ID: call, Name: p.Tool, Input: p.Input},
	}}
	for i, part := range [...]string{head, between, tail} {
		b := transcript.Block{Kind: transcript.KindTool}
		if i == 0 {
			b.Messages = append(b.Messages, len(msgs))
			msgs = append(msgs, asked)
		}
		b.Messages = append(b.Messages, len(msgs))
		msgs = append(msgs, transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: call, Content: []transcript.Part{transcript.Text(part)}},
		}})
		blocks = append(blocks, b)
	}
	pieces := p.Pieces(msgs, blocks)
	m.Passages = NewPassages(pieces, facts.Estimate(pieces, p.Model), len(blocks), m.asked)
	m.thin()
	return m
}

// thin removes passages of the middle: lines without names of their own whose shape
// occurs in the head, in the tail or in an earlier line, and parts of lines that are
// short enough to be read whole. It adds the worth of its shape to each line that stays.
func (m *middle) thin() {
	shapes := m.shapes()
	passages, spans := m.Readings[m.block].Passages, m.spans[m.block]
	seen := make(map[string]bool)
	for i := range m.pieces {
		if p := &m.pieces[i]; p.Message > m.asked && p.Block != m.block {
			for k := range p.Lines {
				seen[shape(p, k)] = true
			}
		}
	}
	n, line := 0, int32(0) // number of passages that stay; index of the line of the next parts
	for k := range passages {
		p, at := passages[k], &spans[k]
		if int(p.Line) == k {
			s := shape(&m.pieces[at.piece], at.line)
			if len(p.Names) == 0 && p.Copy == 0 && seen[s] {
				continue
			}
			seen[s], line = true, int32(n)
			p.Copy, p.Worth = shapes.add(s, p.Copy, p.Worth)
		} else if passages[line].Bytes <= longLine {
			continue
		}
		p.Line = line
		passages[n], spans[n] = p, *at
		n++
	}
	m.Readings[m.block].Passages, m.spans[m.block] = passages[:n], spans[:n]
}

// longLine is the length of a line, in bytes, above which parts of it are passages.
const longLine = 240

// shapes has the shapes of the lines of a text; see [shape]. All shapes have the same
// worth, and divide it evenly among their lines; together they are worth as much as all
// lines and names of the middle. So a single failure among a thousand reports of success
// has a high worth, whatever its words. If all lines have different shapes, the shapes do
// not change the order of the lines.
type shapes struct {
	counts map[string]int64 // number of lines of each shape
	total  int64            // worth of all shapes together
	copies map[string]int32 // Passage.Copy of a shape, for lines that have none
	next   int32            // largest Passage.Copy in use
}

func (m *middle) shapes() *shapes {
	s := &shapes{counts: make(map[string]int64), copies: make(map[string]int32)}
	for i := range m.pieces {
		if p := &m.pieces[i]; p.Message > m.asked {
			for k := range p.Lines {
				s.counts[shape(p, k)]++
			}
		}
	}
	for _, r := range m.Readings[m.block-1:] {
		for i := range r.Passages {
			s.next = max(s.next, r.Passages[i].Copy)
		}
	}
	named := make(map[int32]bool)
	for i := range m.Readings[m.block].Passages {
		p := &m.Readings[m.block].Passages[i]
		s.total += p.Worth
		for _, name := range p.Names {
			if !named[name] {
				named[name] = true
				s.total += m.Names[name]
			}
		}
	}
	return s
}

// add returns the Passage.Copy and the worth of a line with a given shape. The worth is the
// line's own worth plus its part of the worth of the shape. The argument lines is the Copy
// that the line has so far; if that is 0, the line gets the Copy of its shape.
func (s *shapes) add(shape string, lines int32, worth int64) (int32, int64) {
	if lines == 0 {
		if s.copies[shape] == 0 {
			s.next++
			s.copies[shape] = s.next
		}
		lines = s.copies[shape]
	}
	return lines, worth + s.total/int64(len(s.counts))/s.counts[shape]
}

// shape returns a line of a piece with every name and every number replaced by 0.
func shape(p *facts.Piece, line int) string {
	l := &p.Lines[line]
	var b strings.Builder
	mark, digit := l.First, false
	for at := l.From; at < l.To; at++ {
		for mark < l.End && p.Marks[mark].To <= at {
			mark++
		}
		c, was := p.Text[at], digit
		digit = '0' <= c && c <= '9' || mark < l.End && p.Marks[mark].From <= at
		switch {
		case !digit:
			b.WriteByte(c)
		case !was:
			b.WriteByte('0')
		}
	}
	return b.String()
}

// picks returns those passages of the middle that are worth most and together fit room
// tokens. Names and lines that the head or the tail has add no worth, because these are
// already in the window.
func (p *pointing) picks(m *middle, room token.Count) []int32 {
	at := m.block - 1
	size := func(i int, _ Form) token.Count {
		if i == 1 {
			return max(token.Count(m.bytes), room) // the whole middle never fits
		}
		return 1
	}
	plan, err := Cover(&CoverRequest{
		Request: Request{
			Blocks: []Candidate{{Rule: RulePin, Form: Whole}, {Form: Whole}, {Rule: RulePin, Form: Whole}},
			Size:   size, Budget: room,
		},
		Readings: m.Readings[at : at+3], Names: m.Names,
		Count: func(_, passage int) token.Count {
			if passage < 0 {
				return 0
			}
			return p.Count("100: " + m.Text(m.block, passage) + "\n")
		},
	})
	if err != nil {
		return nil // there is no room
	}
	return plan.Picks[1]
}

// marks returns the longest lines that Carrel itself can write before and after the middle, to
// count their tokens.
func (m *middle) marks() string { return m.left(m.bytes, true) + theEnd }

const theEnd = transcript.Mark + ": the end of the text follows]\n"

func (m *middle) left(bytes int, some bool) string {
	rest := ""
	if some {
		rest = "; the lines most likely to be needed follow, with their numbers"
	}
	return fmt.Sprintf(transcript.Mark+": %d bytes of lines %d to %d are left out here%s]\n", bytes, m.first, m.last, rest)
}

// text returns the text in place of the middle: the number of bytes left out, and the
// picked passages, each after the number of its line.
func (m *middle) text(picks []int32) string {
	if m.bytes == 0 {
		return ""
	}
	var b strings.Builder
	shown, line, at := 0, m.first, 0
	spans := m.spans[m.block]
	for len(picks) > 0 {
		n := 1
		for n < len(picks) && spans[picks[n]].line == spans[picks[0]].line {
			n++
		}
		from := int(spans[picks[0]].from)
		line += strings.Count(m.all[m.from+at:m.from+from], "\n")
		at = from
		text := m.Lines(m.block, picks[:n])[1:]
		shown += m.sourceBytes(picks[:n])
		if m.exact {
			indent := m.indent(from)
			text = indent + text
			shown += len(indent)
		}
		fmt.Fprintf(&b, "%d%s%s\n", line, m.mark, transcript.Escape(text))
		picks = picks[n:]
	}
	if b.Len() == 0 {
		return m.left(m.bytes, false)
	}
	return m.left(max(m.bytes-shown, 0), true) + b.String() + theEnd
}

// sourceBytes returns how many bytes of the text the picked passages of one line show. A whole line
// includes its line feed.
func (m *middle) sourceBytes(picks []int32) int {
	n, end := 0, int32(0)
	for _, k := range picks {
		s := m.spans[m.block][k]
		n += int(max(s.to-max(s.from, end), 0))
		end = max(end, s.to)
		if l := &m.pieces[s.piece].Lines[s.line]; s.from == l.From && s.to == l.To {
			n++
		}
	}
	return n
}

// indent returns the text between the beginning of a line of the middle and an offset in
// it if this text is only white space, and "" otherwise.
func (m *middle) indent(offset int) string {
	before := m.all[m.from : m.from+offset]
	space := before[strings.LastIndexByte(before, '\n')+1:]
	if strings.TrimLeft(space, " \t") != "" {
		return ""
	}
	return space
}
