package assembly

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

// Excerpt returns the passages of text that match the terms of a query best, in the order of the
// text, with at most limit tokens, as the function count measures them. A text that fits is
// returned unchanged. A line "[...]" stands where text between two passages is left out; the last
// line gives the number of omitted tokens and the id of the source, by which the whole text can be
// recalled. If the limit is too small for every passage with a term, Excerpt takes single sentences
// with terms. If it is too small for these, or no passage contains a term, Excerpt returns the
// beginning and the end, as [Brief] does for a document.
//
// A passage is a paragraph, several short paragraphs, or a part of a long one; a line that begins
// with "#" after an empty line starts a new passage. A passage gets a score for each different term
// that it contains. A term that few passages contain counts more. The terms are words or stems.
// They match in upper and lower case, and inside longer words.
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
	chosen := choose(all, room)
	if len(chosen) == 0 {
		all = sentences(all, terms)
		chosen = widen(all, choose(all, room), room)
	}
	return c.write(all, chosen, c.quote)
}

// choose returns the indexes of the units with the highest scores above 0 that fit into a number
// of bytes together, each with a gap.
func choose(all []unit, room int64) []int {
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
	return chosen
}

// widen adds to the chosen units those before and behind them, the nearest first, as far as a
// number of bytes has room for all.
func widen(all []unit, chosen []int, room int64) []int {
	has := make(map[int]bool, len(chosen))
	for _, i := range chosen {
		has[i] = true
		room -= int64(len(all[i].text) + len(gap))
	}
	for n, from, more := 1, slices.Clone(chosen), true; more; n++ {
		more = false
		for _, i := range from {
			for _, k := range [...]int{i + n, i - n} {
				if k < 0 || k >= len(all) || has[k] || int64(len(all[k].text)) > room {
					continue
				}
				has[k], more = true, true
				room -= int64(len(all[k].text))
				chosen = append(chosen, k)
			}
		}
	}
	return chosen
}

// sentences splits the passages that have a term into sentences. A sentence without a term gets the
// score 0.
func sentences(passages []unit, terms []string) []unit {
	var all []unit
	for _, p := range passages {
		if p.score == 0 {
			all = append(all, p)
			continue
		}
		for _, u := range units(p.text, terms) {
			if u.score < pointsTerm {
				u.score = 0
			}
			all = append(all, u)
		}
	}
	return all
}

// gap is the line between two passages that do not follow each other in the text.
const gap = "[...]\n"

// quote returns the chosen passages in the order of the text, followed by the marker.
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

// Sizes of passages, in bytes: short paragraphs are joined up to shortPassage, long ones are
// cut at longPassage.
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

// passageEnd returns the offset where the first passage of a non-empty text ends.
func passageEnd(text string) int {
	end := 0
	for end < len(text) {
		if end > 0 && text[end] == '#' {
			return end // a title belongs to the passage after it
		}
		n := strings.Index(text[end:min(len(text), end+longPassage+2)], "\n\n") // a later one is beyond any passage
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
