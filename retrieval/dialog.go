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

// NeighborShares has the shares of a text's score that are added to the scores of its
// neighbors in the session: the first for texts one place away, the second for texts two
// places away. They are useful because an answer follows its question, and a pronoun follows
// its noun. The numbers were chosen by hand, not fitted.
var NeighborShares = [...]ratio.Ratio{45 * ratio.One / 100, 20 * ratio.One / 100}

// A Dialog is a list of turns, analyzed for [Dialog.Rank]. It is immutable
// and may be shared.
type Dialog struct {
	turns  []Turn
	texts  *occurrences    // of the words in texts
	frames *occurrences    // of the words in dates and speakers
	names  map[string]bool // stems of the names of speakers
}

// NewDialog analyzes turns. The caller must not change the slice afterwards.
func NewDialog(turns []Turn) *Dialog {
	d := &Dialog{turns: turns, texts: newOccurrences(len(turns)), frames: newOccurrences(len(turns)), names: make(map[string]bool)}
	stems := make(map[string]string) // of the words so far
	for i := range turns {
		t := &turns[i]
		d.texts.add(i, t.Text, stems)
		d.frames.add(i, t.Date+" "+t.Speaker, stems)
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
//   - shares of the scores of its neighbors' texts: 0.45 of those next to it in its
//     session, and 0.2 of those two turns away;
//   - the score by [Rank] of its speaker and date.
//
// A speaker's name counts only in turns of that speaker, not where others
// mention it. Irregular forms such as "taught" count as their base word. Ties
// go to the earlier turn; turns with a score of 0 are omitted.
func (d *Dialog) Rank(query string) []Hit {
	terms := contentTerms(query)
	said, frame := d.texts.tally(terms, d.names), d.frames.tally(terms, nil)
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

// union returns the words of terms that are in the list a or in the list b, in
// the order of terms.
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

// spread adds a score to turn i, and shares of it to its neighbors in the session.
func (d *Dialog) spread(hits []Hit, i int, score ratio.Ratio) {
	hits[i].Score += score
	for k, share := range NeighborShares {
		for _, at := range [2]int{i - k - 1, i + k + 1} {
			if at >= 0 && at < len(hits) && d.turns[at].Session == d.turns[i].Session {
				hits[at].Score += share.Mul(score)
			}
		}
	}
}

// A term is a word of a query with its stem.
type term struct{ word, stem string }

// contentTerms returns the words of a text without function words, and of words with the
// same stem only the first. If all are function words, it returns them.
func contentTerms(text string) []term {
	var all, content []term
	seen := make(map[string]bool)
	for _, w := range Terms(text) {
		t := term{w, stemOfForm(w)}
		if seen[t.stem] {
			continue
		}
		seen[t.stem] = true
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

// occurrences has, for each stem, the texts that have it and the number of times.
type occurrences struct {
	of      map[string][]posting // by stem, ascending by text
	lengths []int                // of the texts, in words
	total   int                  // sum of the lengths
}

type posting struct{ text, count int }

func newOccurrences(texts int) *occurrences {
	return &occurrences{of: make(map[string][]posting), lengths: make([]int, texts)}
}

// add adds the text s with the index i, which must not be below that of an earlier
// text. The map stems is a cache from words to stems; add adds new words to it.
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

// tally returns the counts of terms in the texts. A term counts 0 if the set without
// contains its stem.
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
