package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
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
	c.roots, c.index = roots, indexOf(c.src.Text, roots)
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
	c.reasons(reasons)
	c.remedies(notes)
	c.citations(items)
	roots[person] = true
	talk := indexOf(c.talk(), roots)
	var all []value
	for _, e := range entries {
		list := valuesOf(e)
		if len(list) > 24 {
			continue // a list
		}
		all = append(all, list...)
		c.measures(e)
	}
	c.values(all, talk)
}

// person is the root of the word for who the assistant talks to.
const person = "user"

var persons = map[string]bool{"user": true, "customer": true, "client": true}

// talk returns what was said, with the words by which a person and the assistant
// speak of that person as one word.
func (c *checker) talk() string {
	var b strings.Builder
	for _, said := range c.src.Said {
		if len(said.Text) > longest {
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
		if len(c.index.at[w.root]) == 0 && (timeText().MatchString(w.text) && !c.twelve(w.text) || codeText().MatchString(w.text) && !ordinary()[w.text] && !c.origin.has(w.text, true)) {
			c.add(e.Section, e.Text, RuleInvented, "the source has no %q", w.text)
			return
		}
		if !digitAt(w.root, 0) {
			continue
		}
		var behind []string
		for k := i - 1; k >= 0 && k >= i-len(nearby{}) && words[k+1].at-words[k].at <= gapClause; k-- {
			behind = append(behind, words[k].text)
		}
		key := w.root
		if i+1 < len(words) && words[i+1].at == w.at+1 {
			key += " " + words[i+1].root
		}
		if s := sideOf(behind); s != 0 && c.index.sides[key] == against[s] {
			c.add(e.Section, e.Text, RuleFlipped, "it is on the other side of %s in the source", w.text)
			return
		}
		if i+1 == len(words) || words[i+1].at != w.at+1 || len(w.root) < 2 {
			continue
		}
		unit, known := dimensions()[words[i+1].text], c.index.units[w.root]
		if unit[0] == "" || len(known) == 0 || known[unit[1]] || known[""] && len(w.root) < 3 {
			continue
		}
		for other := range known {
			if dimensions()[other][0] == unit[0] {
				c.add(e.Section, e.Text, RuleInvented, "the source has no %s %s", w.text, words[i+1].text)
				return
			}
		}
	}
}

var (
	timeText = lazy.Regexp(`^[012]?\d:[0-5]\d$`)
	codeText = lazy.Regexp(`^[a-z]\d{2,4}$`) // E41, p99
)

// twelve reports whether the source may have a time of day by twelve hours, or
// without the zero before it.
func (c *checker) twelve(t string) bool {
	hour, minute, _ := strings.Cut(t, ":")
	h, _ := strconv.Atoi(hour)
	short := strconv.Itoa((h+11)%12 + 1)
	if minute != "00" {
		short += ":" + minute
	}
	return strings.Contains(c.origin.lower, short+" am") || strings.Contains(c.origin.lower, short+" pm") ||
		strings.Contains(c.origin.lower, short+"am") || strings.Contains(c.origin.lower, short+"pm") ||
		strings.Contains(c.origin.lower, strings.TrimPrefix(t, "0")) || minute == "00" && h == 12
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
			if min(ay, bx) > 0.25 && ay > 1.25*ax && bx > 1.25*by {
				c.add(sec, list[i].of, RuleExchanged, "its %s is that of %q, and the other way round", what, clip(list[k].of, 80))
			}
		}
	}
}

// A reason is a sentence of the talk that says why: its words before and behind
// the word that says so.
type reason struct{ of, why []string }

var because = lazy.Regexp(`(?i),? (?:because|since|as|so that|, so) |: `)

// reasons checks that of no two decisions each has the reason that the talk gives
// for the other, in one sentence with it.
func (c *checker) reasons(list []pair) {
	const most = 60
	list = list[:min(len(list), most)]
	var given []reason
	for _, said := range c.src.Said {
		if len(said.Text) > longest {
			continue
		}
		for _, s := range sentences(said.Text) {
			if at := because().FindStringIndex(s); at != nil {
				given = append(given, reason{telling(s[:at[0]]), telling(s[at[1]:])})
			}
		}
	}
	own := make([]int, len(list))
	of, said := make([][]string, len(list)), make([][]string, len(list))
	for i, p := range list {
		own[i], of[i], said[i] = -1, telling(p.of), telling(p.said)
		best := 0.2
		for k, r := range given {
			if part := c.index.part(of[i], r.of); part > best {
				best, own[i] = part, k
			}
		}
	}
	for i := range list {
		for k := range i {
			if own[i] < 0 || own[k] < 0 || own[i] == own[k] {
				continue
			}
			a, b := &given[own[i]], &given[own[k]]
			if c.index.part(of[k], a.of) >= c.index.part(of[i], a.of) || c.index.part(of[i], b.of) >= c.index.part(of[k], b.of) {
				continue // either may be of both
			}
			ax, ay := c.index.part(said[i], a.why), c.index.part(said[k], a.why)
			bx, by := c.index.part(said[i], b.why), c.index.part(said[k], b.why)
			if min(ay, bx) > 0.25 && ay > 2*ax && bx > 2*by {
				c.add(SectionDecisions, list[i].of, RuleExchanged, "its reason is that of %q, and the other way round", clip(list[k].of, 80))
			}
		}
	}
}

// telling returns the roots of a text without the words that deny, and without those
// that stand in any decision.
func telling(text string) []string {
	return slices.DeleteFunc(content(text), func(w string) bool { return negations()[w] || w == root("nothing") || idle()[w] })
}

// idle are roots of words of decisions that do not tell what was decided.
var idle = set("tak took mak mad us keep kept chos choos pick go instead rather plac")

// part returns how much of what some words tell is in others, from 0 to 1.
func (x *index) part(words, in []string) float64 {
	sum, all := 0.0, 0.0
	for _, w := range words {
		if len(x.at[w]) == 0 {
			continue
		}
		weight := x.weight(w)
		all += weight
		if slices.Contains(in, w) {
			sum += weight
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// remedies checks that of no two errors each has the note of the other. What
// mended an error is told after it, so it is how soon the words of a note follow
// an error that counts.
func (c *checker) remedies(list []pair) {
	const most = 40
	list = list[:min(len(list), most)]
	of, said := make([][]string, len(list)), make([][]string, len(list))
	at := make([]int32, len(list))
	for i, p := range list {
		of[i], said[i] = content(p.of), content(p.said)
		at[i] = c.index.place(of[i])
	}
	for i := range list {
		for k := range i {
			if own := kindred(said[i], of[i]) || kindred(said[k], of[k]); !own && kindred(said[i], of[k]) && kindred(said[k], of[i]) {
				c.add(SectionErrors, list[i].of, RuleExchanged, "its note is that of %q, and the other way round", clip(list[k].of, 80))
				continue
			}
			x, y := without(without(said[i], said[k]), of[k]), without(without(said[k], said[i]), of[i])
			x, y = without(x, of[i]), without(y, of[k])
			if at[i] < 0 || at[k] < 0 || len(x) == 0 || len(y) == 0 {
				continue
			}
			ax, ay := c.index.soon(at[i], x), c.index.soon(at[i], y)
			bx, by := c.index.soon(at[k], x), c.index.soon(at[k], y)
			if min(ay, bx) > 0.15 && ay+bx > 0.5 && ay > 1.5*ax && bx > 1.5*by {
				c.add(SectionErrors, list[i].of, RuleExchanged, "its note is that of %q, and the other way round", clip(list[k].of, 80))
			}
		}
	}
}

// kindred reports whether two lists have a word in common, or one that begins as
// a word of the other does.
func kindred(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool {
		return slices.ContainsFunc(b, func(o string) bool {
			short, long := w, o
			if len(short) > len(long) {
				short, long = long, short
			}
			return w == o || len(short) >= 5 && strings.HasPrefix(long, short)
		})
	})
}

// place returns where most of some words stand together first, or -1.
func (x *index) place(words []string) int32 {
	const window = 25
	type hit struct {
		at   int32
		word int
	}
	var hits []hit
	for i, w := range words {
		if list := x.at[w]; len(list) <= frequent {
			for _, at := range list {
				hits = append(hits, hit{at, i})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return int(a.at - b.at) })
	best, place, from := 0.0, int32(-1), 0
	count := make([]int, len(words))
	sum := 0.0
	for _, h := range hits {
		for hits[from].at < h.at-window {
			if count[hits[from].word]--; count[hits[from].word] == 0 {
				sum -= x.weight(words[hits[from].word])
			}
			from++
		}
		if count[h.word]++; count[h.word] == 1 {
			sum += x.weight(words[h.word])
		}
		if sum > best+1e-9 {
			best, place = sum, h.at
		}
	}
	return place
}

// soon returns how soon words follow a place, from 0 to 1.
func (x *index) soon(at int32, words []string) float64 {
	const near = 60
	sum, n := 0.0, 0.0
	for _, w := range words {
		list := x.at[w]
		if len(list) == 0 || len(list) > frequent {
			continue
		}
		n++
		if i, _ := slices.BinarySearch(list, at); i < len(list) {
			sum += near / (near + float64(list[i]-at))
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// citations checks that of no two sources that were fetched each has the figures
// of the other.
func (c *checker) citations(list []pair) {
	var cited []pair
	var results []string
	for _, p := range list {
		address := addressText().FindString(p.of)
		if address == "" {
			continue
		}
		for _, r := range c.src.Runs {
			if strings.Contains(r.Call, address) && len(r.Result) > 0 && !failed().MatchString(r.Result) {
				cited = append(cited, p)
				results = append(results, strings.ReplaceAll(r.Result, ",", ""))
				break
			}
		}
	}
	numbers := func(text string) []string {
		return slices.DeleteFunc(content(text), func(w string) bool { return !digitAt(w, 0) || len(w) < 2 })
	}
	for i := range cited {
		for k := range i {
			only := func(p pair, in, other string) bool {
				mine, theirs := 0, 0
				for _, w := range numbers(p.said) {
					switch here, there := strings.Contains(in, w), strings.Contains(other, w); {
					case here && !there:
						theirs++
					case there && !here:
						mine++
					}
				}
				return theirs > 0 && mine == 0
			}
			if only(cited[i], results[k], results[i]) && only(cited[k], results[i], results[k]) {
				c.add(SectionContext, cited[i].of, RuleExchanged, "its figures are those of %q, and the other way round", clip(cited[k].of, 80))
			}
		}
	}
}

var addressText = lazy.Regexp(`https?://[^\s)>\]"']*[\w/]`)

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

// A value is a number or a name in an entry: one of its words.
type value struct {
	word
	entry Entry
	words []word
	i     int
}

// valuesOf returns the values of an entry that it has once.
func valuesOf(e Entry) []value {
	words := wordsOf(e.Text)
	for i := range words {
		if persons[words[i].text] {
			words[i].root = person
		}
	}
	var list []value
	for i, w := range words {
		if (w.name || w.capital || w.root == person) && once(words, i) {
			list = append(list, value{w, e, words, i})
		}
	}
	return list
}

// once reports whether no other word has the root of the one at i.
func once(words []word, i int) bool {
	for k := range words {
		if k != i && words[k].root == words[i].root {
			return false
		}
	}
	return true
}

// values checks that of no two values each has the place of the other: of the
// numbers anywhere in the summary, and of the names in one entry.
func (c *checker) values(all []value, talk *index) {
	const most = 200
	all = all[:min(len(all), most)]
	told := make(map[string]bool)
	for k := range all {
		for j := range k {
			a, b := &all[j], &all[k]
			in, here := c.index, &a.words[0] == &b.words[0]
			switch number := digitAt(a.root, 0); {
			case a.root == b.root, number != digitAt(b.root, 0), strings.Contains(a.text, ".") != strings.Contains(b.text, "."), here && b.i == a.i+1, told[b.entry.Text]:
				continue
			case !here && (!number || !likewise(a, b) && (len(a.root) < 2 || len(b.root) < 2 || a.entry.Section == SectionFiles || b.entry.Section == SectionFiles) ||
				a.entry.has(b.root) || b.entry.has(a.root)):
				continue
			case a.root == person || b.root == person:
				in = talk
			case !a.name || !b.name:
				continue
			}
			if len(in.at[a.root]) > 0 && len(in.at[b.root]) > 0 && in.exchanged(a, b) {
				told[b.entry.Text] = true
				c.add(b.entry.Section, b.entry.Text, RuleExchanged, "the source has %s where %s is, and the other way round", a.text, b.text)
			}
		}
	}
}

// likewise reports whether two numbers are of one unit.
func likewise(a, b *value) bool {
	unit := func(v *value) string {
		if v.i+1 < len(v.words) && v.words[v.i+1].at == v.at+1 {
			if t := v.words[v.i+1].text; t == "percent" || t == "pct" {
				return t
			}
			return dimensions()[v.words[v.i+1].text][1]
		}
		return ""
	}
	return unit(a) != "" && unit(a) == unit(b)
}

// has reports whether an entry has a word, given as its root.
func (e *Entry) has(root string) bool { return slices.Contains(content(e.Text), root) }

// exchanged reports whether each of two values has the words of the other next
// to it.
func (x *index) exchanged(a, b *value) bool {
	if &a.words[0] == &b.words[0] && digitAt(a.root, 0) && b.i == a.i+2 && a.words[a.i+1].stop && x.follows(a.root, b.root, b.at-a.at+2) {
		return false // from a to b, as in the source
	}
	own, crossed, apart := [2]int{}, [2]int{}, false
	for k, p := range [...][2]*value{{a, b}, {b, a}} {
		for _, step := range [...]int{-1, 1} {
			for _, n := range x.neighbors(p[0], p[1], step) {
				mine, other := x.beside(p[0].root, n, step), x.beside(p[1].root, n, step)
				if mine == strong && other < strong {
					return false
				}
				own[k] += mine
				crossed[k] += other
				apart = apart || other > mine && other == strong
			}
		}
	}
	if &a.words[0] != &b.words[0] && (!likewise(a, b) && !x.akin(a, b) || crossed[0] < own[0]+2 || crossed[1] < own[1]+2) {
		return false // what is told in two places takes more
	}
	return apart && crossed[0] > own[0] && crossed[1] > own[1] && crossed[0]+crossed[1] >= own[0]+own[1]+2
}

// How well a word fits a value: it stands on the same side of it and as near as
// in the summary, or at least in the same clause.
const (
	weak   = 1
	strong = 2

	clauseful = 5 // words within which two words are of one clause
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
	case x.gap(a, b) <= clauseful:
		return weak
	}
	return 0
}

// akin reports whether two values of different entries are of the same: they have
// a word next to them in common.
func (x *index) akin(a, b *value) bool {
	of := func(v, other *value) []neighbor {
		return append(x.neighbors(v, other, -1), x.neighbors(v, other, 1)...)
	}
	mine := of(a, b)
	return slices.ContainsFunc(of(b, a), func(n neighbor) bool {
		return slices.ContainsFunc(mine, func(m neighbor) bool { return m.root == n.root })
	})
}

// neighbors returns the two words nearest to a value, before or behind it, that
// tell something: other numbers of a list may be farther. They do not come twice and, if the other value is in the same
// entry, are nearer to this one.
func (x *index) neighbors(v, other *value, step int) []neighbor {
	const near, reach, most = 4, 7, 2
	here := &v.words[0] == &other.words[0]
	var list []neighbor
	for k := v.i + step; k >= 0 && k < len(v.words) && len(list) < most; k += step {
		w := v.words[k]
		d := distance(w.at, v.at)
		near := near
		role := v.root == person || other.root == person
		if role {
			near = reach // what somebody does is farther than what a number counts
		}
		if d > reach || here && (k == other.i || distance(w.at, other.at) <= d) {
			break
		}
		if d == 1 && step < 0 && role && v.capital {
			continue // a title, such as "Doctor Reed" or "her brother Tom"
		}
		if !w.stop && len(x.at[w.root]) > 0 && once(v.words, k) && (d <= near || digitAt(w.root, 0)) {
			list = append(list, neighbor{w.root, d})
		}
	}
	return list
}

func distance(a, b int) int { return max(a-b, b-a) }
