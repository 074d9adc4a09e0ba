package outcome

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// pass adds the pieces of the outcome's text for programs that passed.
func (j *judge) pass(runs []*run) {
	for _, r := range runs {
		if r.passed() || len(r.notes) > 0 {
			j.brief(r, false)
		}
	}
	j.order()
}

// brief adds the pieces for a run that passed. If extra is true, the text has these
// pieces only if there is room for them, because it also has those of a failed run.
func (j *judge) brief(r *run, extra bool) {
	passes := slices.DeleteFunc(slices.Clone(r.passes), func(l line) bool { return l.text == "PASS" && len(r.passes) > 1 })
	if len(passes) > 0 {
		j.add(passes[0], extra)
		if p := &j.pieces[len(j.pieces)-1]; p.line == passes[0].number {
			p.more = max(0, r.many-1)
		}
	}
	for _, l := range r.notes[:min(len(r.notes), maxNotes)] {
		j.add(l, extra)
	}
}

// maxNotes is the most lines with counts that the text has of a program, and maxItems the
// number of lines about single failures that it has at least, if there is room.
const (
	maxNotes = 3
	maxItems = 2
)

// fail adds the pieces for a failure. These are the reports of failure by programs. If
// there are none, they are the programs' lines about single failures. If there are none of
// these either, it is the line that best explains the failure.
func (j *judge) fail(runs []*run, acts []act) {
	j.verdict = Failed
	if slices.ContainsFunc(runs, func(r *run) bool { return r.named && j.table.rules[r.rule].words[0] == "git" && !r.passed() }) {
		rules := j.every() // because the hooks of git run other programs
		for _, r := range runs {
			rules = append(rules, r.rule)
		}
		slices.Sort(rules)
		runs = j.scan(slices.Compact(rules), acts)
	}
	slices.SortStableFunc(runs, func(a, b *run) int {
		return cmp.Or(j.outer(a)-j.outer(b), b.itemized()-a.itemized())
	})
	strong := slices.ContainsFunc(runs, func(r *run) bool { return r.failed() })
	var wrapped []line // lines of programs that only ran the failed one
	for _, r := range runs {
		if j.outer(r) == 1 {
			wrapped = append(wrapped, r.fails...)
		}
	}
	inner := slices.ContainsFunc(runs, func(r *run) bool { return j.outer(r) == 0 && r.failed() })
	if strong && !inner {
		lines := slices.DeleteFunc(slices.Clone(j.out.lines), func(l line) bool { return wordsOf(wrapped, l) })
		if l, rank := deciding(lines); rank >= reports {
			j.say(l)
		}
	}
	for _, r := range runs {
		if r.failed() || r.weak() && !strong {
			j.blame(r, wrapped)
		}
	}
	if len(j.pieces) == 0 {
		if l, rank := deciding(j.out.lines); rank > 0 {
			j.say(l)
		} else if len(j.out.lines) > 0 {
			j.say(j.out.lines[0])
		}
	}
	for _, r := range runs {
		if r.passed() {
			j.brief(r, true)
		}
	}
}

// wordsOf reports whether the line l is one of the given lines.
func wordsOf(lines []line, l line) bool {
	return slices.ContainsFunc(lines, func(o line) bool { return o.number == l.number })
}

// outer returns 1 for a program that runs other programs, because its own lines explain less,
// and 0 for any other.
func (j *judge) outer(r *run) int {
	if j.table.rules[r.rule].Runs || j.table.rules[r.rule].words[0] == "git" {
		return 1
	}
	return 0
}

// blame adds the pieces of a failed program: its first line about a single failure, the nearest
// line of each other kind, the line with most numbers, notes, and further failures as extra
// pieces.
func (j *judge) blame(r *run, wrapped []line) {
	var items []line
	for _, kind := range r.items {
		if j.outer(r) == 0 {
			kind = slices.DeleteFunc(slices.Clone(kind), func(l line) bool { return wordsOf(wrapped, l) })
		}
		if len(kind) > 1 && within(kind[0].text, kind[1].text) {
			kind = kind[1:]
		}
		if len(kind) == 0 {
			continue
		}
		said := kind[0]
		if len(items) > 0 {
			said = slices.MinFunc(kind, func(a, b line) int { return items[0].from(a) - items[0].from(b) })
		}
		j.say(said)
		items = append(items, kind...)
	}
	fails := slices.DeleteFunc(slices.Clone(r.fails), func(l line) bool {
		bare := l.text == "FAIL" && (len(r.fails) > 1 || len(items) > 0)
		return bare || slices.ContainsFunc(r.items, func(kind []line) bool { return wordsOf(kind, l) })
	})
	if len(fails) > 0 {
		l := slices.MaxFunc(fails, func(a, b line) int { return numbers(a.text) - numbers(b.text) })
		j.add(l, len(items) > 0 && len(l.text) > minPiece || j.outer(r) == 1 && len(j.pieces) > 0)
	}
	for _, l := range r.notes[:min(len(r.notes), maxNotes)] {
		j.say(l)
	}
	for _, l := range items[:min(len(items), maxItems)] {
		j.add(l, true)
	}
}

// numbers returns how many numbers a line has. A line with more numbers is more likely to be
// the summary.
func numbers(s string) int {
	n := 0
	for i := range len(s) {
		if text.Digits(s[i:]) > 0 && (i == 0 || text.Digits(s[i-1:]) == 0) {
			n++
		}
	}
	return n
}

// within reports whether the name inner is that of a subtest of the test outer.
func within(outer, inner string) bool {
	name, _, _ := strings.Cut(outer, " (")
	return strings.HasPrefix(inner, name+"/")
}

// order sorts the pieces by their position in the output.
func (j *judge) order() {
	slices.SortStableFunc(j.pieces, func(a, b piece) int { return a.line - b.line })
}

// compose joins pieces to a text and returns the numbers of their lines. If there is not enough
// room, it cuts the longest pieces, and leaves out the last ones if little would remain of
// each. Extra pieces are whole or left out.
func compose(pieces []piece) (string, []int) {
	var chosen []piece
	most := -len(separator)
	for _, p := range pieces {
		if least := min(p.size(), minPiece) + len(separator); !p.extra && most+least <= maxText {
			chosen, most = append(chosen, p), most+least
		}
	}
	room := maxText - max(0, len(chosen)-1)*len(separator)
	sizes := make([]int, len(chosen))
	for i, p := range chosen {
		sizes[i] = p.size()
	}
	slices.Sort(sizes)
	limit := maxText
	for i, size := range sizes { // shorter pieces stay whole
		if limit = room / (len(sizes) - i); size > limit {
			room = 0
			break
		}
		room -= size
	}
	for _, p := range pieces {
		if need := len(separator) + p.size(); p.extra && need <= room {
			chosen, room = append(chosen, p), room-need
		}
	}
	var b strings.Builder
	var lines []int
	for i, p := range chosen {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(p.clip(limit))
		lines = append(lines, p.line)
	}
	slices.Sort(lines)
	return b.String(), slices.Compact(lines)
}

// suffix returns the note about similar pieces that are left out.
func (p *piece) suffix() string {
	if p.more == 0 {
		return ""
	}
	return " (+" + strconv.Itoa(p.more) + " more)"
}

func (p *piece) size() int { return len(p.text) + len(p.suffix()) }

// clip returns a piece with its suffix. The end of the text is cut, with an ellipsis, so that all has
// at most size bytes.
func (p *piece) clip(size int) string {
	if p.size() <= size {
		return p.text + p.suffix()
	}
	return text.Clip(p.text, size-len(p.suffix())-len(text.Ellipsis)) + p.suffix()
}

// A piece is a part of the text of an outcome.
type piece struct {
	line  int
	text  string
	more  int  // similar pieces that are left out
	extra bool // left out unless there is room for all of it
}

// say adds a line to the pieces as one that is not extra: it may be shortened if there is
// little room.
func (j *judge) say(l line) { j.add(l, false) }

func (j *judge) add(l line, extra bool) {
	for _, p := range j.pieces {
		if p.text == l.text {
			return
		}
	}
	j.pieces = append(j.pieces, piece{line: l.number, text: l.text, extra: extra})
}

// maxText is the most bytes of the text, and minPiece the fewest of a cut piece. A separator
// stands between pieces.
const (
	maxText   = 200
	minPiece  = 44
	separator = "; "
)
