package retrieval

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// A Turn is one utterance in a dialog.
type Turn struct {
	Session int    // session of the turn; turns of different sessions are not neighbors
	Date    string // of the session, as written
	Speaker string
	Text    string
}

// String returns the turn as a line, "[date] speaker: text", without empty
// parts.
func (t *Turn) String() string {
	s := t.Text
	if t.Speaker != "" {
		s = t.Speaker + ": " + s
	}
	if t.Date != "" {
		s = "[" + t.Date + "] " + s
	}
	return s
}

// near is how much of its score a turn lends to those one and two turns away: an
// answer stands behind its question, and a pronoun behind what it means. The
// figures were chosen by hand and are not fitted to anything.
var near = [...]ratio.Ratio{45 * ratio.One / 100, 20 * ratio.One / 100}

// A Dialog is a list of turns, analyzed for [Dialog.Rank]. It is immutable
// and may be shared.
type Dialog struct {
	turns []Turn
	said  *occurrences    // words of the texts
	frame *occurrences    // words of dates and speakers
	names map[string]bool // stems of the names of speakers
}

// NewDialog analyzes turns. The caller must not change the slice afterwards.
func NewDialog(turns []Turn) *Dialog {
	d := &Dialog{turns: turns, said: newOccurrences(len(turns)), frame: newOccurrences(len(turns)), names: make(map[string]bool)}
	stems := make(map[string]string) // of the words so far
	for i := range turns {
		t := &turns[i]
		d.said.add(i, t.Text, stems)
		d.frame.add(i, t.Date+" "+t.Speaker, stems)
		for w := range text.Words(t.Speaker) {
			d.names[stems[w]] = true
		}
	}
	return d
}

// Rank returns the turns that are relevant to a query, best first. The score
// of a turn is the sum of
//
//   - its own text's score by [Rank], for the words of the query that are not
//     function words;
//   - its neighbors' scores: 0.45 of those next to it in its session, and 0.2 of
//     those two turns away;
//   - the score by [Rank] of its speaker and date.
//
// A speaker's name counts only in turns of that speaker, not where others
// mention it. Irregular forms such as "taught" count as their base word. Ties
// go to the earlier turn; turns with a score of 0 are omitted.
func (d *Dialog) Rank(query string) []Hit {
	terms := contentTerms(query)
	said, frame := d.said.tally(terms, d.names), d.frame.tally(terms, nil)
	hits := make([]Hit, len(d.turns))
	for i := range hits {
		s, f := said.hit(i), frame.hit(i)
		hits[i].Index = i
		hits[i].Score += f.Score
		hits[i].Terms = union(terms, s.Terms, f.Terms)
		d.spread(hits, i, s.Score)
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Score == 0 })
	slices.SortFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Index, y.Index))
	})
	return hits
}

// union returns the words of terms that either list has, in their order.
func union(terms []term, a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	var words []string
	for _, t := range terms {
		if slices.Contains(a, t.word) || slices.Contains(b, t.word) {
			words = append(words, t.word)
		}
	}
	return words
}

// spread gives a turn its score, and its neighbors their share of it.
func (d *Dialog) spread(hits []Hit, i int, score ratio.Ratio) {
	hits[i].Score += score
	for k, share := range near {
		for _, at := range [2]int{i - k - 1, i + k + 1} {
			if at >= 0 && at < len(hits) && d.turns[at].Session == d.turns[i].Session {
				hits[at].Score += share.Mul(score)
			}
		}
	}
}

// A term is a word with what it is counted as.
type term struct{ word, stem string }

// contentTerms returns the words of a text but for function words, of those with one
// stem the first. A text of nothing else keeps them.
func contentTerms(text string) []term {
	var all, content []term
	for _, w := range Terms(text) {
		t := term{w, stemOfForm(w)}
		if slices.ContainsFunc(all, func(o term) bool { return o.stem == t.stem }) {
			continue
		}
		all = append(all, t)
		if !functionWords.Get()[t.stem] && !particles.Get()[w] {
			content = append(content, t)
		}
	}
	if len(content) == 0 {
		return all
	}
	return content
}

// occurrences say which texts have a stem, and how often.
type occurrences struct {
	of      map[string][]posting // by stem, ascending by text
	lengths []int                // of the texts, in words
	total   int                  // of the lengths
}

type posting struct{ text, count int }

func newOccurrences(texts int) *occurrences {
	return &occurrences{of: make(map[string][]posting), lengths: make([]int, texts)}
}

// add adds text i. Texts come in their order. Stems are what is known of words.
func (p *occurrences) add(i int, s string, stems map[string]string) {
	for w := range text.Words(s) {
		p.lengths[i]++
		p.total++
		stem, known := stems[w]
		if !known {
			stem = stemOfForm(w)
			stems[w] = stem
		}
		list := p.of[stem]
		if n := len(list); n > 0 && list[n-1].text == i {
			list[n-1].count++
		} else {
			p.of[stem] = append(list, posting{i, 1})
		}
	}
}

// tally counts terms, but for those with a stem that is left out.
func (p *occurrences) tally(terms []term, without map[string]bool) *tally {
	t := &tally{
		terms: make([]string, len(terms)), counts: make([][]int, len(p.lengths)),
		lengths: p.lengths, total: p.total, having: make([]int, len(terms)),
	}
	all := make([]int, len(terms)*len(p.lengths))
	for i := range t.counts {
		t.counts[i] = all[i*len(terms) : (i+1)*len(terms)]
	}
	for k := range terms {
		t.terms[k] = terms[k].word
		if without[terms[k].stem] {
			continue
		}
		list := p.of[terms[k].stem]
		t.having[k] = len(list)
		for _, at := range list {
			t.counts[at.text][k] = at.count
		}
	}
	return t
}
