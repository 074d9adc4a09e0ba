package assembly

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

// transcriptLimit is the greatest size of the brief form of a transcript.
const transcriptLimit token.Count = 200

// Brief returns a short form of text with at most limit tokens, as the function count measures
// them. A text that fits is returned unchanged. What Brief keeps of a longer text depends on the
// class of its source:
//
//   - memories and notes: the sentences with terms of the query, negations,
//     numbers and paths first, in the order of the text
//   - transcripts: the same, but the last request, the last answer and decisions
//     first of all; at most 200 tokens, whatever the limit
//   - all others: beginning and end, cut between lines where that is possible
//
// A marker line gives the number of omitted tokens and the id of the source, by which the whole
// text can be recalled. It stands after sentences, and between a beginning and an end. The result
// is empty if the marker alone exceeds the limit, or if the function count does not return more for
// longer texts.
//
// The terms are words or stems. They match in upper and lower case, and inside longer words.
func Brief(s Origin, text string, terms []string, limit token.Count, count func(string) token.Count) string {
	if s.Class == provenance.Transcript {
		limit = min(limit, transcriptLimit)
	}
	whole := s.Tokens
	if whole == 0 {
		whole = count(text)
	}
	if whole <= limit && (s.Tokens == 0 || count(text) <= limit) {
		return text
	}
	c := cutter{id: s.ID, text: text, whole: whole, limit: limit, count: count}
	switch s.Class {
	case provenance.Transcript:
		return c.extract(transcriptUnits(text, terms))
	case provenance.Verified, provenance.Memory, provenance.Scratchpad:
		return c.extract(units(text, terms))
	case provenance.Retrieved, provenance.Document, provenance.Tool:
	}
	return c.ends()
}

// A cutter makes the brief form of one text that exceeds the limit.
type cutter struct {
	id    string
	text  string
	whole token.Count // tokens of text
	limit token.Count
	count func(string) token.Count
}

// fits reports whether text has at most limit tokens.
func (c *cutter) fits(text string) bool { return c.count(text) <= c.limit }

// marker returns the line that says how many tokens of the text are left out, if the tokens in kept
// remain.
func (c *cutter) marker(kept token.Count) string {
	id, _ := Neutralize(c.id)
	return fmt.Sprintf("[carrel %s: %d tokens left out here; recall by id]\n", strings.NewReplacer("\n", " ", "\r", " ").Replace(id), max(c.whole-kept, 0))
}

// rounds is the largest number of attempts of a cutter, each with less text. One attempt suffices
// where the tokens of the parts add up to about the tokens of the whole.
const rounds = 16

// ends returns the beginning and the end of the text with a marker between them.
func (c *cutter) ends() string {
	widest := c.marker(0)
	room := c.limit - c.count(widest)
	for range rounds {
		if room <= 0 {
			break
		}
		head := c.head(room - room/3)
		tail := c.tail(room/3, head)
		kept := c.count(c.text[:head]) + c.count(c.text[tail:])
		short := endLine(c.text[:head]) + c.marker(kept) + c.text[tail:]
		if c.fits(short) {
			return short
		}
		room -= max(c.count(short)-c.limit, room/8, 1)
	}
	if c.fits(widest) {
		return widest
	}
	return ""
}

// head returns the offset where the longest beginning of the text with at most room tokens
// ends. It prefers the end of a line.
func (c *cutter) head(room token.Count) int {
	n := largest(len(c.text), int(room), func(n int) bool { return c.count(c.text[:n]) <= room })
	if line := strings.LastIndexByte(c.text[:n], '\n') + 1; line > n/2 {
		return line
	}
	for n > 0 && !cuttable(c.text, n) {
		n--
	}
	return n
}

// tail returns the offset where the longest end of the text with at most room tokens starts. The
// offset is not less than the parameter from. If possible, tail returns the start of a line.
func (c *cutter) tail(room token.Count, from int) int {
	size := len(c.text)
	n := largest(size-from, int(room), func(n int) bool { return c.count(c.text[size-n:]) <= room })
	start := size - n
	if line := strings.IndexByte(c.text[start:], '\n') + 1; line > 0 && line < n/2 {
		return start + line
	}
	for start < size && !cuttable(c.text, start) {
		start++
	}
	return start
}

// largest returns the greatest n up to limit for which ok(n) is true. It assumes that ok is true up
// to some number and false above it; if that does not hold, the result may be smaller. The search
// starts at guess, so a good guess needs few calls of ok.
func largest(limit, guess int, ok func(int) bool) int {
	low, high := 0, min(max(guess, 1), limit)
	for high < limit && ok(high) {
		low, high = high, min(2*high, limit)
	}
	if ok(high) {
		return high
	}
	for low+1 < high {
		if mid := low + (high-low)/2; ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// cuttable reports whether text may be cut at offset i: on the boundary of a code point, and
// not between code points that belong together, such as a pictograph and its skin tone. So the
// parts of a neutralized text are neutralized too.
func cuttable(text string, i int) bool {
	if i <= 0 || i >= len(text) {
		return true
	}
	if !utf8.RuneStart(text[i]) {
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(text[:i])
	next, _ := utf8.DecodeRuneInString(text[i:])
	return !suspect(prev) && !suspect(next) && !unicode.IsMark(next) && !skinTone(next)
}

// endLine returns text with a line feed added, unless text is empty or ends in one.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// A unit is a piece of a text that is kept or left out as a whole: a sentence, a line, or a
// part of a long line.
type unit struct {
	text  string // including the white space after it
	score int
}

// mostMisses is the number of units without room after which extract stops.
const mostMisses = 32

// extract returns the units with the highest scores that fit, in the order of the text,
// followed by a marker.
func (c *cutter) extract(all []unit) string {
	widest := c.marker(0)
	room := c.limit - c.count(widest)
	var chosen []int
	misses := 0
	for _, i := range byScore(all) {
		if room <= 0 || misses == mostMisses {
			break
		}
		if n := c.count(all[i].text); n <= room {
			chosen = append(chosen, i)
			room -= n
		} else {
			misses++
		}
	}
	return c.write(all, chosen, c.join)
}

// byScore returns the indexes of units, highest score first.
func byScore(all []unit) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(all[j].score, all[i].score) })
	return order
}

// write returns join(all, chosen), or the beginning and the end of the text if no chosen unit
// fits.
//
// The joined text may have more tokens than the sum of its units. Then write drops the units
// that were chosen last, twice as many in every round.
func (c *cutter) write(all []unit, chosen []int, join func(all []unit, chosen []int) string) string {
	for drop := 1; len(chosen) > 0; drop *= 2 {
		if short := join(all, chosen); c.fits(short) {
			return short
		}
		chosen = chosen[:max(len(chosen)-drop, 0)]
	}
	return c.ends()
}

// join returns the chosen units in the order of the text, followed by the marker.
func (c *cutter) join(all []unit, chosen []int) string {
	keep := make([]bool, len(all))
	for _, i := range chosen {
		keep[i] = true
	}
	var kept strings.Builder
	for i, u := range all {
		if keep[i] {
			kept.WriteString(u.text)
		}
	}
	return endLine(strings.TrimRight(kept.String(), " \t")) + c.marker(c.count(kept.String()))
}

// Points that a unit scores.
const (
	pointsRequest  = 64 // part of the last request
	pointsAnswer   = 48 // part of the last answer
	pointsDecision = 24 // states a decision
	pointsTerm     = 16 // for each term of the query, up to termsCounted
	pointsNot      = 4  // negates something or requires it
	pointsExact    = 2  // has a number, a path or code
	termsCounted   = 5
)

// units splits a text and scores its units.
func units(text string, terms []string) []unit {
	terms = lower(terms)
	var all []unit
	for text != "" {
		n := unitEnd(text)
		all = append(all, unit{text[:n], score(text[:n], terms)})
		text = text[n:]
	}
	return all
}

// lower returns the terms in lower case, without duplicates and empty terms.
func lower(terms []string) []string {
	list := make([]string, 0, len(terms))
	seen := map[string]bool{"": true}
	for _, t := range terms {
		if t = strings.ToLower(t); !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	return list
}

// Sizes of units, in bytes. A sentence shorter than shortUnit is joined to the next one; a line
// longer than longUnit is cut between words.
const (
	shortUnit = 24
	longUnit  = 320
)

// unitEnd returns the offset where the first unit of a non-empty text ends.
func unitEnd(text string) int {
	word := 0 // end of the last word
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		space := i < len(text) && (text[i] == ' ' || text[i] == '\t')
		switch {
		case r == '\n':
			return i
		case i >= shortUnit && (strings.ContainsRune(".!?", r) && space || strings.ContainsRune("。！？", r)):
			for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
				i++
			}
			if i < len(text) && text[i] == '\n' {
				i++
			}
			return i
		case i >= longUnit && word > 0:
			return word
		case i >= longUnit && cuttable(text, i):
			return i
		case r == ' ' || r == '\t':
			word = i
		}
	}
	return len(text)
}

// score returns the points of a unit for the words in it.
func score(text string, terms []string) int {
	low := strings.ToLower(text)
	points, hits := 0, 0
	for _, t := range terms {
		if hits < termsCounted && strings.Contains(low, t) {
			hits++
		}
	}
	points += hits * pointsTerm
	exact := strings.ContainsAny(low, "0123456789`/")
	if exact {
		points += pointsExact
	}
	for w := range strings.FieldsFuncSeq(low, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		if negations.Get()[w] || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") {
			return points + pointsNot
		}
	}
	return points
}

// negations are words that negate a statement or make it an obligation.
var negations = lazy.Words("no not never none neither nor cannot without except unless only instead must avoid forbidden nothing nobody")

// decisions are words that show that a sentence states a decision.
var decisions = lazy.Words("decided decision decisions decide agreed agree chose chosen choose approved rejected settled conclusion will let's plan todo")

// transcriptUnits splits and scores the text of a conversation, in which each
// message begins on a new line with the name of its role and a colon.
func transcriptUnits(text string, terms []string) []unit {
	all := units(text, terms)
	roles := make([]string, len(all))
	role, start := "", true
	request, answer := -1, -1 // first units of the last request and answer
	for i, u := range all {
		if start {
			if r := roleOf(u.text); r != "" {
				role = r
				switch r {
				case "user":
					request = i
				case "assistant":
					answer = i
				}
			}
		}
		roles[i] = role
		start = strings.HasSuffix(u.text, "\n")
	}
	for i, u := range all {
		switch {
		case request >= 0 && i >= request && roles[i] == "user":
			all[i].score += max(pointsRequest-(i-request), 0)
		case answer >= 0 && i >= answer && roles[i] == "assistant":
			all[i].score += max(pointsAnswer-(i-answer), 0)
		}
		for w := range strings.FieldsFuncSeq(strings.ToLower(u.text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
			if decisions.Get()[w] {
				all[i].score += pointsDecision
				break
			}
		}
	}
	return all
}

// roleOf returns the role whose message begins with line: "user", "assistant" or "tool". It
// returns "" if line begins no message.
func roleOf(line string) string {
	head, _, ok := strings.Cut(line, ":")
	if !ok || len(head) > 16 {
		return ""
	}
	switch strings.Trim(strings.ToLower(head), "*#[]<> ") {
	case "user", "human":
		return "user"
	case "assistant", "agent", "model", "ai":
		return "assistant"
	case "tool", "system", "result":
		return "tool"
	}
	return ""
}
