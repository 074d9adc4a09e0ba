package summary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A word is a word of a text as it is compared: its root, where it stands among
// the words, and what is before it.
type word struct {
	text string // in lower case
	root string
	at   int  // the number of the word; what parts statements counts, too
	stop bool // it says nothing by itself
	name bool // it is a number or an identifier, or begins with a capital within a sentence

	capital bool // it begins with a capital
}

// What parts two words that follow each other, in words: a comma is a small
// gap, the end of a sentence a larger one.
const (
	gapClause   = 4
	gapSentence = 8
)

// spell calls yield for each word of a text, in lower case as it stands there.
// What is joined by a point, a slash or a hyphen is parted, but for numbers: 8.5
// and 16:00 are one word each, and 1,204 is 1204.
func spell(text string, yield func(w string, start, at int)) {
	n := 0
	for i := 0; i < len(text); {
		if !partOfWord(text, i) {
			switch text[i] {
			case ',', '(', ')', ':':
				n += gapClause
			case ';', '\n':
				n += gapSentence
			case '.', '!', '?':
				if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '"' {
					n += gapSentence
				}
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		start := i
		number := digitAt(text, i)
		for i < len(text) {
			if partOfWord(text, i) {
				_, size := utf8.DecodeRuneInString(text[i:])
				i += size
				continue
			}
			if number && (text[i] == '.' || text[i] == ':' || text[i] == ',' && thousandsAt(text, i)) && digitAt(text, i+1) && digitAt(text, i-1) {
				i++
				continue
			}
			break
		}
		n++
		w := text[start:i]
		if number {
			if strings.IndexByte(w, ',') >= 0 {
				w = strings.ReplaceAll(w, ",", "")
			}
			if k := unitAt(w); k > 0 { // 30s
				yield(w[:k], start, n)
				n++
				yield(w[k:], start+k, n)
				continue
			}
		}
		yield(w, start, n)
	}
}

// partOfWord reports whether the character at i is one of a word.
func partOfWord(s string, i int) bool {
	c := s[i]
	if c < utf8.RuneSelf {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// thousandsAt reports whether the comma at i parts thousands.
func thousandsAt(s string, i int) bool {
	return digitAt(s, i+1) && digitAt(s, i+2) && digitAt(s, i+3) && !digitAt(s, i+4)
}

// unitAt returns where the unit of a number begins that is written together
// with it, or 0.
func unitAt(w string) int {
	i := strings.IndexFunc(w, unicode.IsLetter)
	if i <= 0 || !units[strings.ToLower(w[i:])] {
		return 0
	}
	return i
}

// wordsOf returns the words of a text.
func wordsOf(text string) []word {
	var list []word
	spell(text, func(w string, start, at int) {
		low := strings.ToLower(w)
		x := word{text: low, at: at, root: root(low), stop: stops()[low] || auxiliary()[low] || low == "one" || len(low) == 1 && !digitAt(low, 0)}
		x.name = !x.stop && isName(text, w, start)
		x.capital = !x.stop && 'A' <= w[0] && w[0] <= 'Z' && len(w) > 2
		list = append(list, x)
	})
	return list
}

// isName reports whether a word of a text that starts at a byte stands for
// one thing.
func isName(text, w string, start int) bool {
	if strings.ContainsAny(w, "0123456789_") {
		return true
	}
	first, size := utf8.DecodeRuneInString(w)
	if rest := w[size:]; rest != strings.ToLower(rest) {
		return len(w) > 3
	}
	if !unicode.IsUpper(first) || len(w) < 3 {
		return false
	}
	before := strings.TrimRight(text[:start], " *_\"'(`-[")
	return before != "" && !strings.ContainsAny(before[len(before)-1:], ".:!?\n")
}

// root returns a word in lower case without the endings of English, as far as
// comparing across wordings asks for it: "leaks" and "leaking" are "leak",
// "twelve" is "12".
func root(w string) string {
	if len(w) < 4 || w[0] <= '9' {
		if n, ok := numerals[w]; ok {
			return n
		}
		if w[0] <= '9' && strings.IndexByte(w, '.') > 0 && strings.HasSuffix(w, "0") { // 176.40 and 176.4
			w = strings.TrimRight(strings.TrimRight(w, "0"), ".")
		}
		return w
	}
	if n, ok := numerals[w]; ok {
		return n
	}
	for _, end := range [...]string{"ing", "ied", "ies", "ed", "es", "ly", "s", "y", "e"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) >= 3 {
			w = base
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
		w = w[:n-1]
	}
	return strings.TrimRight(w, "ei")
}

// numerals are the numbers that people write as words.
var numerals = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12",
}

// content returns the roots of the words of a text that tell what it is about,
// each once.
func content(text string) []string {
	var list []string
	for _, w := range wordsOf(text) {
		if !w.stop && !slices.Contains(list, w.root) {
			list = append(list, w.root)
		}
	}
	return list
}

// An index knows where words stand in a source and, of numbers, what is said
// with them.
type index struct {
	at    map[string][]int32
	sides map[string]side            // by number, with the word behind it: the relations that stand before it
	units map[string]map[string]bool // by number: the units behind it, and "" for none
}

// A side says on which side of a number something is.
type side uint8

const (
	after  side = 1 << iota // after 16:00
	before                  // until 16:00
	above                   // at least 4
	below                   // up to 4
)

// relations are words before a number that say on which side of it something is.
var relations = map[string]side{
	"after": after, "before": before, "until": before, "till": before,
	"above": above, "least": above, "more": above, "larger": above, "greater": above, "longer": above, "exceeding": above, "minimum": above,
	"below": below, "under": below, "most": below, "less": below, "fewer": below, "smaller": below, "shorter": below, "maximum": below, "within": below,
}

// against are the sides that contradict each other.
var against = map[side]side{after: before, before: after, above: below, below: above}

// sideOf returns the relation that stands before a number, given the words before
// it, the nearest first. What is denied is on the other side; if it is something
// else that is denied, there is no saying.
func sideOf(behind []string) side {
	for i, w := range behind[:min(2, len(behind))] {
		s := relations[w]
		if s == 0 {
			if i == 0 && w != "than" && w != "the" && w != "to" {
				return 0
			}
			continue
		}
		for k, n := range behind[i+1:] {
			switch {
			case !negations()[n]:
			case k == 0:
				return against[s] // not more than 4
			default:
				return 0 // never do it more than 4 times
			}
		}
		return s
	}
	return 0
}

// dimensions has what a unit measures, and its short form.
var dimensions = lazy.Value(func() map[string][2]string {
	m := make(map[string][2]string)
	for dim, list := range map[string]string{
		"size": "b:byte kb mb gb tb kib mib gib",
		"time": "ns us ms:millisecond s:sec:second min:minute h:hour d:day week month year",
		"cash": "eur:euro:€ usd:dollar:$ gbp:pound:£ chf:franc",
	} {
		for group := range strings.FieldsSeq(list) {
			forms := strings.Split(group, ":")
			for _, f := range forms {
				m[f] = [2]string{dim, forms[0]}
				m[f+"s"] = m[f]
			}
		}
	}
	return m
})

// indexOf looks for words, given as roots, in a text.
func indexOf(text string, roots map[string]bool) *index {
	x := &index{at: make(map[string][]int32, len(roots)), sides: make(map[string]side), units: make(map[string]map[string]bool)}
	known := make(map[string]string) // roots of the words that were met
	var last nearby
	number, end, of := "", 0, side(0)
	spell(text, func(w string, _, at int) {
		low := lower(w)
		if number != "" {
			unit := ""
			if at == end+1 {
				unit = dimensions()[low][1]
			}
			if x.units[number] == nil {
				x.units[number] = make(map[string]bool)
			}
			x.units[number][unit] = true
			if of != 0 {
				key := number
				if at == end+1 {
					key += " " + root(low)
				}
				x.sides[key] |= of
			}
			number = ""
		}
		r, ok := known[low]
		if !ok {
			if r = root(low); !roots[r] {
				r = ""
			}
			known[low] = r
		}
		if r != "" {
			x.at[r] = append(x.at[r], int32(at)) //nolint:gosec // fewer words than 2^31
			if digitAt(r, 0) {
				number, end, of = r, at, sideOf(last[:])
			}
		}
		copy(last[1:], last[:])
		last[0] = low
	})
	return x
}

// nearby are the words before another, the nearest first.
type nearby [8]string

// lower returns a word in lower case; most are.
func lower(w string) string {
	for i := range len(w) {
		if c := w[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.ToLower(w)
		}
	}
	return w
}

// gap returns the least number of words between two words, or far.
func (x *index) gap(a, b string) int {
	p, q := x.at[a], x.at[b]
	if a == b || len(p) > frequent || len(q) > frequent {
		return far
	}
	best := far
	for i, k := 0, 0; i < len(p) && k < len(q); {
		d := int(p[i] - q[k])
		if d < 0 {
			best = min(best, -d)
			i++
		} else {
			best = min(best, d)
			k++
		}
	}
	return best
}

// follows reports whether the source has b behind a, by so many words at most.
func (x *index) follows(a, b string, most int) bool {
	p, q := x.at[a], x.at[b]
	if len(p) > frequent || len(q) > frequent {
		return true // it tells nothing
	}
	for i, k := 0, 0; i < len(p) && k < len(q); {
		d := int(q[k] - p[i])
		switch {
		case d <= 0:
			k++
		case d <= most:
			return true
		default:
			i++
		}
	}
	return false
}

const (
	far      = 1 << 20
	frequent = 5000 // occurrences beyond which a word tells nothing
)

// rarest returns the word that the source has least often, of those that it has.
func (x *index) rarest(words []string) string {
	best := ""
	for _, w := range words {
		if n := len(x.at[w]); n > 0 && (best == "" || n < len(x.at[best])) {
			best = w
		}
	}
	return best
}

// weight returns what a word tells: the less, the more often the source has it.
func (x *index) weight(r string) float64 {
	n := len(x.at[r])
	w := 1.0
	for ; n > 1; n >>= 1 {
		w++
	}
	return 1 / w
}
