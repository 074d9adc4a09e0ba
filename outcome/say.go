package outcome

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// pass says what programs say that passed.
func (j *judge) pass(runs []*run) {
	for _, r := range runs {
		if r.passed() || len(r.notes) > 0 {
			j.brief(r, false)
		}
	}
	j.order()
}

// brief says what one program says of a run that passed, as extra pieces beside those of
// one that failed.
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

// maxNotes is how many lines that count are said of a program, and maxItems how many at
// least that report one thing that failed, if there is room.
const (
	maxNotes = 3
	maxItems = 2
)

// fail says why the line failed: what the programs report that say so, or else those that
// report what failed, or else the line that says most.
func (j *judge) fail(runs []*run, acts []act) {
	j.verdict = Failed
	if slices.ContainsFunc(runs, func(r *run) bool { return r.named && j.table.rules[r.rule].words[0] == "git" && !r.passed() }) {
		rules := j.every() // the hooks of git run other programs
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
	var wrapped []line // what is not the word of the program that failed
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

// wordsOf reports whether a line is one of others.
func wordsOf(lines []line, l line) bool {
	return slices.ContainsFunc(lines, func(o line) bool { return o.number == l.number })
}

// outer returns 1 for a program that runs others, whose own words say less, and else 0.
func (j *judge) outer(r *run) int {
	if j.table.rules[r.rule].Runs || j.table.rules[r.rule].words[0] == "git" {
		return 1
	}
	return 0
}

// blame says what one program reports that failed: the first thing, what of each other
// kind is nearest to it, how many there are, and what else there is.
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

// numbers returns how many numbers stand in a line: the more, the more it counts.
func numbers(s string) int {
	n := 0
	for i := range len(s) {
		if text.Digits(s[i:]) > 0 && (i == 0 || text.Digits(s[i-1:]) == 0) {
			n++
		}
	}
	return n
}

// within reports whether a line names a test, and another one a test within it.
func within(outer, inner string) bool {
	name, _, _ := strings.Cut(outer, " (")
	return strings.HasPrefix(inner, name+"/")
}

// order puts the pieces of what passed into the order of the output.
func (j *judge) order() {
	slices.SortStableFunc(j.pieces, func(a, b piece) int { return a.line - b.line })
}

// compose joins pieces to a text, and returns the numbers of their lines. Where there is
// no room for all, the longest are cut, the last are left out when little of each is
// left, and those that are extra are whole or left out.
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
	for i, size := range sizes { // the shorter ones are whole
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

// suffix says how many like pieces there are.
func (p *piece) suffix() string {
	if p.more == 0 {
		return ""
	}
	return " (+" + strconv.Itoa(p.more) + " more)"
}

func (p *piece) size() int { return len(p.text) + len(p.suffix()) }

// clip returns a piece in a number of bytes.
func (p *piece) clip(size int) string {
	if p.size() <= size {
		return p.text + p.suffix()
	}
	return text.Clip(p.text, size-len(p.suffix())-len(text.Ellipsis)) + p.suffix()
}

// A piece is a part of the result that is said.
type piece struct {
	line  int
	text  string
	more  int  // like pieces that are not said
	extra bool // it is said where there is room
}

// say adds a line to the text, and add one that is extra or not.
func (j *judge) say(l line) { j.add(l, false) }

func (j *judge) add(l line, extra bool) {
	for _, p := range j.pieces {
		if p.text == l.text {
			return
		}
	}
	j.pieces = append(j.pieces, piece{line: l.number, text: l.text, extra: extra})
}

// maxText is how long the text of an outcome is at most, and minPiece how much of a piece
// has to be said at least if it is said, in bytes. A separator stands between pieces.
const (
	maxText   = 200
	minPiece  = 44
	separator = "; "
)
