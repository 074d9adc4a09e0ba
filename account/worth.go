package account

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
)

// A Worth says what units are worth: what they have that a reader must know, and which
// names and lines they have that the agent is likely to need.
type Worth struct {
	// Sights has the features of each unit.
	Sights []Sight

	prior  []int64   // of each unit
	things [][]int32 // of each unit: indexes of gains
	gains  []int64   // what each name and each line is worth, once
	texts  []int32   // of each unit: the same for units that say the same
	kids   [][]int32 // of each unit: those that it is the head of
}

// What all priors together are worth against all names, and all lines, of which package
// facts says that together they are worth 1<<40, in thousandths. doc/design/account.md has
// the frontier on which they lie.
const (
	namesWorth = 600
	linesWorth = 350
	together   = 1 << 40
)

// NewWorth says what units are worth, given what the pieces of the conversation say and
// what of it is likely to be needed. A nil prior is [DefaultPrior].
func NewWorth(units []Unit, pieces []facts.Piece, need *facts.Need, p *Prior) *Worth {
	if p == nil {
		p = DefaultPrior()
	}
	w := &Worth{
		Sights: make([]Sight, len(units)), prior: make([]int64, len(units)), things: make([][]int32, len(units)),
		texts: make([]int32, len(units)), kids: make([][]int32, len(units)),
	}
	names, lines := w.index(pieces, need)
	needs := make([]int64, len(units))
	said := make(map[string]int32)
	again := make([]bool, len(units))
	var sum, bytes int64
	for i := len(units) - 1; i >= 0; i-- {
		u := &units[i]
		key := strings.TrimLeft(u.Text, " ")
		n, known := said[key]
		if !known {
			n = int32(len(said))
			said[key] = n
		}
		w.texts[i], again[i] = n, known
		if u.Head >= 0 {
			w.kids[u.Head] = append(w.kids[u.Head], int32(i))
		}
		w.things[i] = find(u.Text, names, lines)
		for _, t := range w.things[i] {
			needs[i] += w.gains[t]
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
		all += density[i]
	}
	for i := range density {
		hi, lo := bits.Mul64(density[i], together)
		q, _ := bits.Div64(hi, lo, max(all, 1))
		w.prior[i] = int64(q)
	}
	return w
}

// cost returns the bytes that a unit takes, with what separates it from others.
func cost(u *Unit) int64 { return int64(len(u.Text)) + 1 }

// index notes what names and lines are worth, by their keys.
func (w *Worth) index(pieces []facts.Piece, need *facts.Need) (names, lines map[uint64]int32) {
	names, lines = make(map[uint64]int32, len(need.Names)), make(map[uint64]int32)
	at := make([]int32, len(need.Names))
	w.gains = make([]int64, 0, len(need.Names))
	for i := range need.Names {
		at[i] = int32(len(w.gains))
		w.gains = append(w.gains, need.Names[i].Worth/1000*namesWorth)
	}
	for i := range pieces {
		for k := range pieces[i].Marks {
			names[pieces[i].Marks[k].Key] = at[need.Marks[i][k]]
		}
		for k := range pieces[i].Lines {
			key, n := pieces[i].Lines[k].Key, &need.Lines[i][k]
			if key == 0 || n.Copy == 0 {
				continue
			}
			if _, known := lines[key]; !known {
				lines[key] = int32(len(w.gains))
				w.gains = append(w.gains, n.Worth/1000*linesWorth)
			}
		}
	}
	return names, lines
}

// find returns the names and lines of a text that are worth something.
func find(text string, names, lines map[uint64]int32) []int32 {
	var all []int32
	s := facts.NewScan(text)
	for k := range s.Marks {
		if n, known := names[s.Marks[k].Key]; known && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	for k := range s.Lines {
		if n, known := lines[s.Lines[k].Key]; known && s.Lines[k].Key != 0 && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}
