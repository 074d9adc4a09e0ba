package summary

import (
	"slices"
	"strings"
)

// exchanges checks that what the summary says of one thing is not what the
// source says of another. Two things are exchanged if each fits the place of
// the other clearly better than its own: the words around it in the summary
// stand around the other in the source. Either alone may be said in other
// words; both at once are no accident.
func (c *checker) exchanges() {
	roots := make(map[string]bool)
	entries := c.s.Entries()
	for _, e := range entries {
		for _, w := range wordsOf(e.Text) {
			if !w.stop {
				roots[w.root] = true
			}
		}
	}
	c.index = indexOf(c.src.Text, roots)
	var reasons, notes, items []pair
	for _, d := range c.s.Decisions {
		if stated(d.Rationale) {
			reasons = append(reasons, pair{d.Decision, d.Rationale})
		}
	}
	for _, e := range c.s.Errors {
		if e.Note != "" {
			notes = append(notes, pair{e.Error, e.Note})
		}
	}
	for _, it := range slices.Concat(c.s.Context, c.s.Artifacts) {
		if of, said, ok := strings.Cut(it.Text, ": "); ok {
			items = append(items, pair{of, said})
		}
	}
	c.pairs(SectionDecisions, reasons, "reason")
	c.pairs(SectionErrors, notes, "note")
	c.pairs(SectionContext, items, "text")
	roots[person] = true
	talk := indexOf(c.talk(), roots)
	for _, e := range entries {
		c.values(e, talk)
		c.measures(e)
	}
}

// person is the root of the word for who the assistant talks to.
const person = "user"

var persons = map[string]bool{"user": true, "customer": true, "client": true}

// talk returns what was said, with the words by which a person and the assistant
// speak of that person as one word.
func (c *checker) talk() string {
	var b strings.Builder
	for _, said := range c.src.Said {
		if len(said.Text) > 20000 {
			continue
		}
		end := 0
		spell(said.Text, func(w string, start, _ int) {
			me := false
			switch w {
			case "I", "me", "myself":
				me = said.User
			case "you", "You", "yourself":
				me = !said.User
			}
			if me {
				b.WriteString(said.Text[end:start] + person)
				end = start + len(w)
			}
		})
		b.WriteString(said.Text[end:] + "\n")
	}
	return b.String()
}

// measures checks the numbers of an entry: on which side of them something is,
// and of what unit they are. The source must have the contrary, and nowhere the
// same.
func (c *checker) measures(e Entry) {
	words := wordsOf(e.Text)
	for i, w := range words {
		if !digitAt(w.root, 0) {
			continue
		}
		var behind []string
		for k := i - 1; k >= 0 && k >= i-4; k-- {
			behind = append(behind, words[k].text)
		}
		if s := sideOf(behind); s != 0 && c.index.sides[w.root] == against[s] {
			c.add(e.Section, e.Text, RuleFlipped, "it is on the other side of %s in the source", w.text)
			return
		}
		if i+1 == len(words) || words[i+1].at != w.at+1 || len(w.root) < 2 {
			continue
		}
		unit, known := dimensions[words[i+1].text], c.index.units[w.root]
		if unit[0] == "" || len(known) == 0 || known[unit[1]] || known[""] && len(w.root) < 3 {
			continue
		}
		for other := range known {
			if dimensions[other][0] == unit[0] {
				c.add(e.Section, e.Text, RuleInvented, "the source has no %s %s", w.text, words[i+1].text)
				return
			}
		}
	}
}

// A pair is a thing and what is said of it.
type pair struct{ of, said string }

// pairs checks that of no two pairs each has what belongs to the other.
func (c *checker) pairs(sec Section, list []pair, what string) {
	const most = 60 // pairs, of which each is compared with each
	list = list[:min(len(list), most)]
	of, said := make([][]string, len(list)), make([][]string, len(list))
	for i, p := range list {
		of[i], said[i] = content(p.of), content(p.said)
	}
	for i := range list {
		for k := range i {
			a, b := without(of[i], of[k]), without(of[k], of[i])
			x, y := without(said[i], said[k]), without(said[k], said[i])
			ax, ay, bx, by := c.bond(a, x), c.bond(a, y), c.bond(b, x), c.bond(b, y)
			if min(ay, bx) > 0.2 && ay > 1.2*ax && bx > 1.2*by && ay+bx > 1.5*(ax+by) {
				c.add(sec, list[i].of, RuleExchanged, "its %s is that of %q, and the other way round", what, clip(list[k].of, 80))
			}
		}
	}
}

// without returns the words of a list that another has not.
func without(list, other []string) []string {
	var rest []string
	for _, w := range list {
		if !slices.Contains(other, w) {
			rest = append(rest, w)
		}
	}
	return rest
}

// bond returns how closely the source has the words of one list around those of
// another, from 0 to 1: of each word of the second how near the nearest one of
// the first comes, by what the word tells.
func (c *checker) bond(of, said []string) float64 {
	const near = 6
	sum, all := 0.0, 0.0
	for _, w := range said {
		if len(c.index.at[w]) == 0 {
			continue
		}
		weight := c.index.weight(w)
		all += weight
		best := 0.0
		for _, o := range of {
			d := float64(c.index.gap(o, w))
			best = max(best, near/(near+d)*(0.5+0.5*c.index.weight(o)))
		}
		sum += best * weight
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// values checks the numbers and names of one entry: that of no two each has the
// place of the other.
func (c *checker) values(e Entry, talk *index) {
	words := wordsOf(e.Text)
	once := func(i int) bool {
		same := func(o word) bool { return o.root == words[i].root }
		return slices.IndexFunc(words, same) == i && !slices.ContainsFunc(words[i+1:], same)
	}
	var at []int
	for i := range words {
		if w := &words[i]; persons[w.text] {
			w.root = person
		}
		if w := &words[i]; (w.name || w.capital || w.root == person) && once(i) {
			at = append(at, i)
		}
	}
	if len(at) > 24 {
		return // a list
	}
	for k, i := range at {
		for _, j := range at[:k] {
			a, b := words[j], words[i]
			in := c.index
			switch {
			case i == j+1 || digitAt(a.root, 0) != digitAt(b.root, 0):
				continue
			case a.root == person || b.root == person:
				in = talk
			case !a.name && !b.name:
				continue
			}
			if len(in.at[a.root]) > 0 && len(in.at[b.root]) > 0 && in.exchanged(words, j, i) {
				c.add(e.Section, e.Text, RuleExchanged, "the source has %s where %s is, and the other way round", a.text, b.text)
				return
			}
		}
	}
}

// exchanged reports whether of two values of an entry, numbers i and j of its
// words, each has the words of the other next to it.
func (x *index) exchanged(words []word, i, j int) bool {
	own, crossed, close := [2]int{}, [2]int{}, false
	for k, p := range [...][2]int{{i, j}, {j, i}} {
		for _, step := range [...]int{-1, 1} {
			for _, n := range x.neighbors(words, p[0], p[1], step) {
				mine, other := x.beside(words[p[0]].root, n, step), x.beside(words[p[1]].root, n, step)
				own[k] += mine
				crossed[k] += other
				close = close || other > mine && other == strong
			}
		}
	}
	return close && crossed[0] > own[0] && crossed[1] > own[1] && crossed[0]+crossed[1] > own[0]+own[1]+2
}

// How well a word fits a value: it stands on the same side of it and as near as
// in the summary, or at least in the same clause.
const (
	weak   = 1
	strong = 2
)

// A neighbor is a word of an entry that stands near a value, and how near.
type neighbor struct {
	root string
	d    int
}

// beside returns how well a neighbor behind a value, or before it if step is
// negative, fits that value in the source.
func (x *index) beside(v string, n neighbor, step int) int {
	a, b := v, n.root
	if step < 0 {
		a, b = b, a
	}
	switch {
	case x.follows(a, b, n.d+1):
		return strong
	case x.gap(a, b) <= 6:
		return weak
	}
	return 0
}

// neighbors returns the two words nearest to the value at i, before or behind
// it, that tell something. They do not come twice, and stand on this side of the
// value at j.
func (x *index) neighbors(words []word, i, j, step int) []neighbor {
	const reach, most = 6, 2
	var list []neighbor
	for k := i + step; k >= 0 && k < len(words) && len(list) < most; k += step {
		w := words[k]
		d := max(w.at-words[i].at, words[i].at-w.at)
		if d > reach || k == j {
			break
		}
		same := func(o word) bool { return o.root == w.root }
		if w.stop || len(x.at[w.root]) == 0 || slices.IndexFunc(words, same) != k || slices.ContainsFunc(words[k+1:], same) {
			continue
		}
		list = append(list, neighbor{w.root, d})
	}
	return list
}

// injected reports whether an entry gives its reader orders that are meant for
// a program: a role of a chat before it, or words that take back what was said.
func injected(text string) bool {
	low := strings.ToLower(strings.TrimLeft(text, " *_-#>[(\"'`"))
	for _, w := range [...]string{"system:", "assistant:", "system prompt:", "system]", "<system", "<|", "important instruction", "new instructions:"} {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return takesBack.MatchString(low)
}
