package account

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
)

// Worth has the worth of units: the needed facts that they hold, and the
// names and lines that the agent likely needs.
type Worth struct {
	// Sights has the features of each unit.
	Sights []Sight

	prior  []int64 // by unit
	things lists   // by unit: indexes into gains
	gains  []int64 // worth of each name and line, counted once
	texts  []int32 // by unit: equal for units with the same text
	kids   lists   // by unit: the units below it, the last first
	index  *index
}

// The total worth of all names, and that of all lines, in thousandths of the total worth of all
// priors. Package facts sets the totals of names and lines to 1<<40.
// doc/design/account.md has the measurements.
const (
	namesWorth = 830
	linesWorth = 550
	together   = 1 << 40

	// Names and lines are worth a third if only outputs of commands and of other calls, and wholly
	// written files, have them; and once more a third in a conversation without files and commands.
	passingPart = 3

	// A unit is worth 45 percent more for each of at most two names and lines that the user's newest
	// message has, too.
	askedWorth  = 45
	mostAskedOf = 2
)

// NewWorth returns the worth of units. pieces is the result of [facts.History]
// for the messages and blocks that [Read] had, and need the result of
// [facts.Estimate] for pieces. A nil p is [DefaultPrior].
func NewWorth(units []Unit, pieces []facts.Piece, need *facts.Need, p *Prior) *Worth {
	if p == nil {
		p = DefaultPrior()
	}
	w := &Worth{
		Sights: make([]Sight, len(units)), prior: make([]int64, len(units)), texts: make([]int32, len(units)), kids: kidsOf(units),
	}
	w.index = newIndex(w, pieces, need)
	if !slices.ContainsFunc(units, func(u Unit) bool { return u.Kind == Run || u.Kind == Edit || u.Kind == Look }) {
		for i := range w.gains {
			w.gains[i] /= passingPart
		}
	}
	w.find(units)
	w.lower(units)
	needs, asked := make([]int64, len(units)), make([]uint64, len(units)) // asked: names and lines of the newest message
	newest := w.newest(units)
	said := make(map[string]int32)
	again := make([]uint8, len(units))
	removed := make(map[string]bool) // lines that later edits remove
	var sum, bytes int64
	for i := len(units) - 1; i >= 0; i-- {
		u := &units[i]
		key := strings.TrimLeft(u.Text, " ")
		n, known := said[key]
		if !known {
			n = int32(len(said))
			said[key] = n
		}
		w.texts[i] = n
		_, line := withoutPlace(key)
		switch {
		case u.Removed:
			removed[line] = true
		case removed[line]:
			again[i] = 2
		case known || u.Stated:
			again[i] = 1
		}
		for _, t := range w.things.of(i) {
			needs[i] += w.gains[t]
			if newest[t] && u.Kind != Words {
				asked[i]++
			}
		}
		sum += needs[i]
		bytes += cost(u)
	}
	mean := max(sum/max(bytes, 1), 1)
	var all uint64
	density := make([]uint64, len(units))
	for i := range units {
		w.Sights[i] = see(&units[i], needs[i]/cost(&units[i])*100/mean, again[i])
		density[i] = uint64(p.density(&w.Sights[i])) * uint64(cost(&units[i])) >> 10
		density[i] += density[i] * askedWorth * min(asked[i], mostAskedOf) / 100
		all += density[i]
	}
	for i := range density {
		hi, lo := bits.Mul64(density[i], together)
		q, _ := bits.Div64(hi, lo, max(all, 1))
		w.prior[i] = int64(q)
	}
	return w
}

// newest returns for each name and line whether the user's newest message has it.
func (w *Worth) newest(units []Unit) []bool {
	said := make([]bool, len(w.gains))
	for i := len(units) - 1; i >= 0 && units[i].Turns == 0; i-- {
		for _, t := range w.things.of(i) {
			said[t] = said[t] || units[i].Kind == Words
		}
	}
	return said
}

// lower lowers the worth of names and lines that stand only in outputs of commands and of other
// calls, in files that a command printed, or in wholly written files.
func (w *Worth) lower(units []Unit) {
	calls := make([]*Unit, len(units)) // by unit: its call, or itself
	stays := make([]bool, len(w.gains))
	for i := range units {
		u := &units[i]
		calls[i] = u
		if u.Head >= 0 { // no call has a head
			calls[i] = calls[u.Head]
		}
		printed := u.Kind == Output && calls[i].Kind != Look || u.Kind == Span && strings.HasPrefix(calls[i].Text, dollar)
		if printed || u.Kind == Written {
			continue
		}
		for _, t := range w.things.of(i) {
			stays[t] = true
		}
	}
	for t, stays := range stays {
		if !stays {
			w.gains[t] /= passingPart
		}
	}
}

// A lists has a short list of indexes for each unit, all in one allocation.
type lists struct {
	all  []int32
	from []int32 // by unit: start of its list; the last entry is the end
}

func (l *lists) of(i int) []int32 { return l.all[l.from[i]:l.from[i+1]] }

// kidsOf returns for each unit the units that have it as their head, and the short answers to
// it.
func kidsOf(units []Unit) lists {
	l := lists{from: make([]int32, len(units)+1)}
	each := func(f func(head int32, i int)) {
		for i := len(units) - 1; i >= 0; i-- {
			u := &units[i]
			if u.Head >= 0 {
				f(u.Head, i)
			}
			for k := range u.Asked {
				f(u.Asks+k, i)
			}
		}
	}
	each(func(head int32, _ int) { l.from[head+1]++ })
	for i := range units {
		l.from[i+1] += l.from[i]
	}
	l.all = make([]int32, l.from[len(units)])
	next := slices.Clone(l.from)
	each(func(head int32, i int) {
		l.all[next[head]] = int32(i)
		next[head]++
	})
	return l
}

// cost returns the bytes of a unit with its separator.
func cost(u *Unit) int64 { return int64(len(u.Text)) + 1 }

// An index maps the key of each name and line that has a worth to its position in
// [Worth].gains.
type index struct{ names, lines map[uint64]int32 }

// newIndex records the worth of names and lines.
func newIndex(w *Worth, pieces []facts.Piece, need *facts.Need) *index {
	copies := int32(0)
	for i := range need.Lines {
		for k := range need.Lines[i] {
			copies = max(copies, need.Lines[i][k].Copy)
		}
	}
	x := &index{make(map[uint64]int32, len(need.Names)), make(map[uint64]int32, copies)}
	w.gains = make([]int64, len(need.Names), len(need.Names)+int(copies))
	for i := range need.Names {
		w.gains[i] = need.Names[i].Worth / 1000 * namesWorth
	}
	for i := range pieces {
		for k := range pieces[i].Marks {
			x.names[pieces[i].Marks[k].Key] = need.Marks[i][k]
		}
		for k := range pieces[i].Lines {
			key, n := pieces[i].Lines[k].Key, &need.Lines[i][k]
			if n.Copy == 0 { // the key is 0
				continue
			}
			if _, known := x.lines[key]; !known {
				x.lines[key] = int32(len(w.gains))
				w.gains = append(w.gains, n.Worth/1000*linesWorth)
			}
		}
	}
	return x
}

// mostJoined is about the number of bytes of units that are scanned together;
// a scan per unit would be slower.
const mostJoined = 16 << 10

// find records the names and lines of each unit. It joins and scans many
// units at a time.
func (w *Worth) find(units []Unit) {
	var b strings.Builder
	var ends []int32 // ends of the joined units
	w.things.from = make([]int32, 1, len(units)+1)
	for from := 0; from < len(units); from += len(ends) {
		ends = ends[:0]
		for size := 0; size < mostJoined && from+len(ends) < len(units); {
			size += len(units[from+len(ends)].Text) + 1
			ends = append(ends, int32(size))
		}
		b.Reset()
		b.Grow(int(ends[len(ends)-1]))
		for i := range ends {
			b.WriteString(units[from+i].Text)
			b.WriteByte('\n')
		}
		i, all := 0, &w.things.all
		next := func() {
			w.things.from = append(w.things.from, int32(len(*all)))
			i++
		}
		w.each(b.String(), func(at, thing int32) {
			for ends[i] <= at {
				next()
			}
			if !slices.Contains((*all)[w.things.from[from+i]:], thing) {
				*all = append(*all, thing)
			}
		})
		for i < len(ends) {
			next()
		}
	}
}

// each calls f for each name and line in a text that has a worth, with its offset in the text and
// its index in w.gains.
func (w *Worth) each(text string, f func(at, thing int32)) {
	s := facts.NewScan(text)
	for k := range s.Lines {
		l := &s.Lines[k]
		if n, known := w.index.lines[l.Key]; known {
			f(l.From, n)
		}
		for m := l.First; m < l.End; m++ {
			if n, known := w.index.names[s.Marks[m].Key]; known {
				f(s.Marks[m].From, n)
			}
		}
	}
}
