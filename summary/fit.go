package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/token"
)

// FitOptions has the budget of [Summary.Fit] and the way to count tokens.
type FitOptions struct {
	// Limit is the largest size of the text. With 0 or less, nothing is left out.
	Limit token.Count

	// Size returns the tokens of a text. The default counts four characters as a token.
	Size func(string) token.Count

	// ID is the id with which a reader can recall the whole summary. If it is
	// not empty, each mark for left out entries ends in "recall" and the ID.
	ID string

	// Newest is how many of the newest changes of a file are left out only
	// after the older ones. The default, with 0 or less, is 3.
	Newest int

	// Bare leaves the sources out.
	Bare bool
}

// An Elision says which entries of a section were left out. A rationale that is left out of a
// decision counts as an entry and has the digest of its own text.
type Elision struct {
	Section Section  `json:"section"`
	Count   int      `json:"count"`
	Digests []string `json:"digests"` // in the order in which they were left out: digests of the entries, as [Statement.Digest], and of rationales
}

// Fit returns the sections of s in Markdown, without header and metadata, in at
// most as many tokens as the limit, and the list of entries that it left out. Each
// section ends with a mark for its left out entries: "… 12 more: recall ID".
//
// Fit leaves out entries in the following order; within a section it begins with
// the oldest entry, but with the last of the steps:
//
//  1. artifacts
//  2. context
//  3. errors that are resolved
//  4. changes of a file, except its newest
//  5. the rationale of decisions
//  6. changes of files
//  7. errors that are open
//  8. decisions
//  9. files
//  10. blockers
//  11. steps
//  12. all lines of the intent except the first, and then those of the state
//
// A larger limit never shows less. The first lines of intent and state and the
// marks of the other sections always stay. If these alone exceed the limit, Fit
// returns them and ok is false. A nil o leaves nothing out.
//
// Fit calls o.Size for each entry that it shows and at least once for the whole text.
func (s *Summary) Fit(o *FitOptions) (text string, left []Elision, ok bool) {
	if o == nil {
		o = &FitOptions{}
	}
	size := o.Size
	if size == nil {
		size = func(t string) token.Count { return token.Estimate(t, token.KindProse) }
	}
	f := newFitting(s, o)
	if o.Limit <= 0 {
		return f.render(), nil, true
	}
	f.fill(size, o.Limit)
	// Where counts do not add up, the sum may have been too low.
	for text = f.render(); size(text) > o.Limit; text = f.render() {
		if f.dropped == len(f.drops) {
			return text, f.elisions(), false
		}
		f.drops[f.dropped].drop()
		f.dropped++
	}
	return text, f.elisions(), true
}

// A fitting has the lines of a summary and the order in which they are left out.
type fitting struct {
	mark    func(n int) string
	parts   []*fitPart
	drops   []fitDrop
	dropped int // number of drops that were carried out, from the first on

	size  func(string) token.Count
	total token.Count         // tokens of the text that is shown
	marks map[int]token.Count // sizes of marks, by the number in them
}

// A fitPart is a section: the lines that stay and, under a mark that counts them, the digests of the
// entries that are left out.
type fitPart struct {
	section Section
	head    string
	atEnd   bool // the mark stands after the lines, not before them
	lines   []*fitLine
	gone    []string // digests of the entries that are left out
}

// A fitLine is an entry: a head, parts that can be left out one by one, and a tail.
type fitLine struct {
	head  string
	subs  []fitSub
	tail  string
	drops bool // the line may be left out
	hide  bool // the line is left out
	gone  int  // number of subs that are left out
}

type fitSub struct {
	text string
	hide bool
}

// dots stands for the parts of a line that are left out.
const dots = ": …"

// A fitDrop is one step of leaving out. It leaves out the part of a line that has the index sub, or
// the whole line if sub is negative.
type fitDrop struct {
	part   *fitPart
	line   *fitLine
	sub    int
	digest string
}

func newFitting(s *Summary, o *FitOptions) *fitting {
	f := &fitting{marks: make(map[int]token.Count), mark: func(n int) string { return fmt.Sprintf("… %d more\n", n) }}
	if o.ID != "" {
		f.mark = func(n int) string { return fmt.Sprintf("… %d more: recall %s\n", n, o.ID) }
	}
	b := fitBuilder{s: s, o: o, newest: o.Newest}
	if b.newest <= 0 {
		b.newest = 3
	}
	for _, sec := range Sections() {
		if p := b.part(sec); p != nil {
			f.parts = append(f.parts, p)
		}
	}
	for _, rank := range b.ranks {
		f.drops = append(f.drops, rank...)
	}
	return f
}

// The ranks of entries, in the order in which they are left out.
const (
	rankArtifacts = iota
	rankContext
	rankResolved
	rankOlderChanges
	rankRationales
	rankChanges
	rankOpen
	rankDecisions
	rankFiles
	rankBlockers
	rankNext
	rankIntent
	rankState
	ranks
)

// A fitBuilder makes the lines of each section and ranks them.
type fitBuilder struct {
	s      *Summary
	o      *FitOptions
	newest int
	ranks  [ranks][]fitDrop
}

func (b *fitBuilder) part(sec Section) *fitPart {
	if !b.s.said(sec) {
		return nil
	}
	p := &fitPart{section: sec, head: "## " + sec.title() + "\n"}
	switch sec {
	case SectionIntent:
		b.prose(p, b.s.Intent, rankIntent)
	case SectionState:
		b.prose(p, b.s.State, rankState)
	case SectionFiles:
		for _, f := range b.s.Files {
			b.file(p, f)
		}
	case sectionDecisions:
		for _, d := range b.s.Decisions {
			b.decision(p, d)
		}
	case sectionErrors:
		for _, e := range b.s.Errors {
			rank := rankOpen
			if e.Status == statusResolved {
				rank = rankResolved
			}
			text := e.text()
			e.Source = b.source(e.Source)
			b.line(p, isNone(e.Error), "- "+e.markdown(), rank, text)
		}
	case sectionBlockers:
		b.items(p, b.s.Blockers, rankBlockers)
	case SectionNext:
		b.items(p, b.s.Next, rankNext)
	case SectionContext:
		b.items(p, b.s.Context, rankContext)
	case SectionArtifacts:
		b.items(p, b.s.Artifacts, rankArtifacts)
	}
	return p
}

func (b *fitBuilder) source(source string) string {
	if b.o.Bare {
		return ""
	}
	return source
}

// line adds a line, which is left out at the given rank. If none is true, the line says [None] and
// always stays.
func (b *fitBuilder) line(p *fitPart, none bool, head string, rank int, text string) *fitLine {
	l := &fitLine{head: head, tail: "\n", drops: !none}
	if none {
		l.head = None
	}
	p.lines = append(p.lines, l)
	if !none {
		b.ranks[rank] = append(b.ranks[rank], fitDrop{p, l, -1, short(text)})
	}
	return l
}

// prose adds the lines of a text. The first line always stays. The other lines are left out from
// the last one upward. A blank line belongs to the line below it.
func (b *fitBuilder) prose(p *fitPart, text string, rank int) {
	p.atEnd = true
	blank := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch said := strings.TrimSpace(line); {
		case said == "":
			blank += line + "\n"
			continue
		case len(p.lines) == 0:
			p.lines = append(p.lines, &fitLine{head: blank + escapeLine(line), tail: "\n"})
		default:
			b.line(p, false, blank+escapeLine(line), rank, said)
		}
		blank = ""
	}
	if n := len(p.lines); n > 0 {
		p.lines[n-1].tail += blank
	} else {
		p.lines = append(p.lines, &fitLine{tail: blank})
	}
	slices.Reverse(b.ranks[rank])
}

func (b *fitBuilder) items(p *fitPart, list []Item, rank int) {
	for i, it := range list {
		mark := "- "
		if rank == rankNext {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		text := it.Text
		it.Source = b.source(it.Source)
		b.line(p, isNone(it.Text), mark+it.markdown(), rank, text)
	}
	if rank == rankNext {
		p.atEnd = true
		slices.Reverse(b.ranks[rank])
	}
}

func (b *fitBuilder) file(p *fitPart, f File) {
	none := isNone(f.Path) && len(f.Changes) == 0
	l := b.line(p, none, "- "+codeSpan(f.Path), rankFiles, f.Path)
	for i, c := range f.Changes {
		rank := rankChanges
		if i < len(f.Changes)-b.newest {
			rank = rankOlderChanges
		}
		text := f.Path + ": " + c.Text
		c.Source = b.source(c.Source)
		l.subs = append(l.subs, fitSub{text: c.markdown()})
		b.ranks[rank] = append(b.ranks[rank], fitDrop{p, l, i, short(text)})
	}
}

func (b *fitBuilder) decision(p *fitPart, d Decision) {
	l := b.line(p, isNone(d.Decision), "- **"+escapeBold(text.Fold(d.Decision))+"**", rankDecisions, d.text())
	l.tail = sourced("", b.source(d.Source)) + "\n"
	if l.tail != "\n" {
		l.tail = " " + l.tail
	}
	if d.Rationale == "" || isNone(d.Decision) {
		return
	}
	l.subs = []fitSub{{text: text.Fold(d.Rationale)}}
	b.ranks[rankRationales] = append(b.ranks[rankRationales], fitDrop{p, l, 0, short(d.Rationale)})
}

// fill carries out all drops and then takes back as many of them as fit, from the last one on. It
// does not stop at the first one that makes the text too long: when a section has nothing left out
// any more, its mark goes, and the text may fit again.
func (f *fitting) fill(size func(string) token.Count, limit token.Count) {
	f.size = size
	for i, p := range f.parts {
		f.total += size(p.head)
		if i > 0 {
			f.total += size("\n")
		}
		for _, l := range p.lines {
			if !l.drops {
				f.total += size(l.head + l.tail)
			}
		}
	}
	for _, d := range f.drops {
		d.drop()
	}
	var slack token.Count
	for _, p := range f.parts {
		slack += f.markSize(len(p.gone))
	}
	f.total += slack
	best := len(f.drops)
	at := best
	for at > 0 && f.total <= limit+slack {
		at--
		f.takeBack(f.drops[at])
		if f.total <= limit {
			best = at
		}
	}
	for _, d := range f.drops[at:best] {
		d.drop()
	}
	f.dropped = best
}

// markSize returns the size of the mark for n entries.
func (f *fitting) markSize(n int) token.Count {
	if n == 0 {
		return 0
	}
	c, ok := f.marks[n]
	if !ok {
		c = f.size(f.mark(n))
		f.marks[n] = c
	}
	return c
}

// takeBack undoes the drop d and counts the text that is shown again.
func (f *fitting) takeBack(d fitDrop) {
	f.total -= f.markSize(len(d.part.gone))
	d.part.gone = d.part.gone[:len(d.part.gone)-1]
	f.total += f.markSize(len(d.part.gone))
	if d.sub < 0 {
		d.line.hide = false
		f.total += f.size(d.line.head + d.line.tail)
		if d.line.gone > 0 {
			f.total += f.size(dots)
		}
		return
	}
	sub := &d.line.subs[d.sub]
	sub.hide = false
	f.total += f.size("; " + sub.text)
	if d.line.gone--; d.line.gone == 0 {
		f.total -= f.size(dots)
	}
}

// drop hides a line or a part of it.
func (d fitDrop) drop() {
	d.part.gone = append(d.part.gone, d.digest)
	if d.sub < 0 {
		d.line.hide = true
		return
	}
	d.line.subs[d.sub].hide = true
	d.line.gone++
}

// render returns the text of the lines that are shown.
func (f *fitting) render() string {
	var b strings.Builder
	for i, p := range f.parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.head)
		if n := len(p.gone); n > 0 && !p.atEnd {
			b.WriteString(f.mark(n))
		}
		for _, l := range p.lines {
			if !l.hide {
				l.render(&b)
			}
		}
		if n := len(p.gone); n > 0 && p.atEnd {
			b.WriteString(f.mark(n))
		}
	}
	return b.String()
}

// render writes a line: its head, [dots] if parts are left out, and the other parts.
func (l *fitLine) render(b *strings.Builder) {
	b.WriteString(l.head)
	sep := ": "
	if l.gone > 0 {
		b.WriteString(dots)
		sep = " "
	}
	for _, sub := range l.subs {
		if sub.hide {
			continue
		}
		b.WriteString(sep)
		b.WriteString(sub.text)
		sep = "; "
	}
	b.WriteString(l.tail)
}

// elisions returns the entries that are left out, by section in the order of the document.
func (f *fitting) elisions() []Elision {
	var list []Elision
	for _, p := range f.parts {
		if len(p.gone) > 0 {
			list = append(list, Elision{p.section, len(p.gone), p.gone})
		}
	}
	return list
}
