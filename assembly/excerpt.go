package assembly

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

// Excerpt returns the passages of a text that have most to do with the terms of
// a query, in the order of the text, in at most limit tokens as count counts
// them. A text that fits is returned as it is. Where something was left out
// between two passages stands a line with three points; the last line says how
// much was left out, and the id of the source for recalling it. If no passage
// has a term, the result is that of [Brief] for a document: beginning and end.
//
// A passage is a paragraph, several short ones, or a part of a long one; a line
// that begins with "#" behind an empty one begins another. It
// counts the terms that it has, each once and the more the fewer passages have
// it. Terms are words or stems; they are found in any case and within words.
func Excerpt(s Origin, text string, terms []string, limit token.Count, count func(string) token.Count) string {
	c := cutter{id: s.ID, text: text, whole: s.Tokens, limit: limit, count: count}
	if c.whole == 0 {
		c.whole = count(text)
	}
	if c.whole <= limit && c.fits(text) {
		return text
	}
	all := passages(text, terms)
	room := int64(limit-c.count(c.marker(0))) * int64(len(text)) / int64(max(c.whole, 1)) // in bytes
	var chosen []int
	for _, i := range byScore(all) {
		if all[i].score == 0 {
			break
		}
		if n := int64(len(all[i].text) + len(gap)); n <= room {
			chosen = append(chosen, i)
			room -= n
		}
	}
	return c.write(all, chosen, c.quote)
}

// gap stands between two passages that were apart.
const gap = "[...]\n"

// quote writes some passages in the order of the text, and the marker behind
// them.
func (c *cutter) quote(all []unit, chosen []int) string {
	var b strings.Builder
	last := -1
	for _, i := range slices.Sorted(slices.Values(chosen)) {
		if i > last+1 {
			b.WriteString(gap)
		}
		b.WriteString(endLine(all[i].text))
		last = i
	}
	return b.String() + c.marker(c.count(b.String()))
}

// Sizes of passages, in bytes: paragraphs are joined up to the one and cut at
// the other.
const (
	shortPassage = 600
	longPassage  = 1500
)

// passages splits a text and scores its passages.
func passages(text string, terms []string) []unit {
	var all []unit
	for text != "" {
		n := passageEnd(text)
		all = append(all, unit{text: strings.TrimLeft(text[:n], "\r\n")})
		text = text[n:]
	}
	for _, t := range lower(terms) {
		var having []int
		for i := range all {
			if strings.Contains(strings.ToLower(all[i].text), t) {
				having = append(having, i)
			}
		}
		for _, i := range having {
			all[i].score += bits.Len(uint(8 * len(all) / len(having)))
		}
	}
	return all
}

// passageEnd returns the end of the first passage of a text, which is not empty.
func passageEnd(text string) int {
	end := 0
	for end < len(text) {
		if end > 0 && text[end] == '#' {
			return end // a title belongs to what is behind it
		}
		n := strings.Index(text[end:], "\n\n")
		next := len(text)
		if n >= 0 {
			next = end + n + 2
		}
		switch {
		case next <= longPassage:
			if end = next; end >= shortPassage {
				return end
			}
		case end > 0:
			return end
		default:
			for end < longPassage {
				n := unitEnd(text[end:])
				if end > 0 && end+n > longPassage {
					break
				}
				end += n
			}
			return end
		}
	}
	return end
}
