package intent

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// reach is the greatest distance, in bytes, from a negating word to the marker that it denies.
const reach = 12

// collect adds the marking m to each phrase of a list. The phrases of the list are separated by a
// comma and a space.
func collect(all map[string][]marking, list string, m marking) {
	for p := range strings.SplitSeq(list, ", ") {
		all[p] = append(all[p], m)
	}
}

// ambers returns a flag for each amber rule whose left and right side both have a marker in the
// prompt.
func (c *compiler) ambers() []Flag {
	found := make([][2][]Phrase, len(ambers))
	c.mark(amberMarks.Get(), func(m marking, i, n int) {
		if !c.takenBack(i) && !c.term(i, n) {
			found[m.rule][m.side] = append(found[m.rule][m.side], c.value(i, i+n))
		}
	})
	var flags []Flag
	for i, sides := range found {
		if len(sides[left]) > 0 && len(sides[right]) > 0 {
			words := append(sides[left], sides[right]...)
			slices.SortFunc(words, func(a, b Phrase) int { return a.Start - b.Start })
			flags = append(flags, Flag{ambers[i].name, words})
		}
	}
	return flags
}

// human returns a flag for each rule about the person that has a marker in the prompt.
func (c *compiler) human() []Flag {
	found := make([][]Phrase, len(humans))
	c.mark(humanMarks.Get(), func(m marking, i, n int) {
		found[m.rule] = append(found[m.rule], c.value(i, i+n))
	})
	var flags []Flag
	for i, words := range found {
		if len(words) > 0 {
			flags = append(flags, Flag{humans[i].name, words})
		}
	}
	return flags
}

// mark calls f for each phrase of the table in the prompt. Quoted text and code do not count:
// they are not the person's own words.
func (c *compiler) mark(table phrases[[]marking], f func(m marking, i, n int)) {
	for i := 0; i < len(c.tokens); {
		list, n := table.at(c.tokens[i:])
		for _, m := range list {
			f(m, i, n)
		}
		i += max(n, 1)
	}
}

// takenBack reports whether a negating word stands within reach before the marker at token i,
// with no punctuation and no "but" between them: "not too detailed".
func (c *compiler) takenBack(i int) bool {
	for k := i - 1; k >= 0 && c.tokens[i].start-c.tokens[k].start <= reach; k-- {
		if t := c.tokens[k]; t.kind != word || t.low == "but" {
			return false
		}
		if denials.Get()[c.tokens[k].low] {
			return true
		}
	}
	return false
}

var denials = lazy.Words("no not without avoid nothing non never don't isn't nor")

// term reports whether the marker at token i, of n tokens, describes a thing and not how the
// work is to be done. It does if it stands between an article and a noun for something else than
// work: "a general strike", "a fast parser".
func (c *compiler) term(i, n int) bool {
	if !c.is(i-1, "a", "an", "the", "this", "our", "my") || i+n >= len(c.tokens) || c.tokens[i+n].kind != word {
		return false
	}
	noun := c.tokens[i+n].low
	_, marked := amberMarks.Get().at(c.tokens[i+n:])
	return marked == 0 && !linkWords.Get()[noun] && !works.Get()[noun] && !writings.Get()[noun] && !persons.Get()[noun] && things.Get()[noun] == ""
}

// works are nouns that a marker may describe and still say how the work is to be done.
var works = lazy.Words(`and but yet or answer look tone style level way manner detail details language terms example examples steps step version pass check fix intro
	response reply read-through sketch draft breakdown walk-through wording voice audience list-of pitch write-up writeup job estimate search study test tests`)

// value returns the text and the offsets of a range of tokens. The range ends before the token with
// the index to.
func (c *compiler) value(from, to int) Phrase {
	v := Phrase{Start: c.tokens[from].start, End: c.tokens[to-1].end}
	v.Text = c.span(v.Start, v.End)
	return v
}

// span returns the bytes from start to end of the prompt, with invalid UTF-8 replaced.
func (c *compiler) span(start, end int) string {
	return strings.ToValidUTF8(c.text[start:end], "\ufffd")
}
