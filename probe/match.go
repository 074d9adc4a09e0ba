package probe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// A matcher searches texts for the keywords of probes.
type matcher struct {
	probes    []Probe
	keys      [][]int // term of each keyword of each probe, or -1 for one that has no words or repeats another
	terms     []term
	words     map[string]int   // index of each word in terms that are no paths
	paths     map[string][]int // indexes of terms, by the last segment of their paths
	questions map[string]bool  // the normal forms of the probes' questions
}

func newMatcher(probes []Probe) *matcher {
	m := &matcher{
		probes: probes, keys: make([][]int, len(probes)),
		words: make(map[string]int), paths: make(map[string][]int), questions: make(map[string]bool),
	}
	seen := make(map[string]int)
	for i, p := range probes {
		m.questions[normal(p.Question)] = true
		for _, t := range p.terms() {
			id, ok := seen[t.key()]
			switch {
			case len(t.words) == 0:
				id = -1
			case !ok:
				id = len(m.terms)
				seen[t.key()] = id
				m.add(t)
			}
			if slices.Contains(m.keys[i], id) {
				id = -1
			}
			m.keys[i] = append(m.keys[i], id)
		}
	}
	return m
}

func (m *matcher) add(t term) {
	if t.path != "" {
		_, last := cutLast(t.path)
		m.paths[last] = append(m.paths[last], len(m.terms))
	} else {
		for _, w := range t.words {
			if _, ok := m.words[w]; !ok {
				m.words[w] = len(m.words)
			}
		}
	}
	m.terms = append(m.terms, t)
}

// A span is a range of bytes in the texts of a reading, joined with gaps longer than a passage.
type span struct{ start, end int }

// A post is an occurrence of a word. Adjacent words have consecutive numbers.
type post struct {
	number int
	span
}

// A reading has the occurrences of a matcher's terms in texts.
type reading struct {
	*matcher
	texts []string
	base  []int
	hits  [][]span // by term, in the order of the texts
}

// read searches the texts for all terms in one pass.
func (m *matcher) read(texts []string) *reading {
	r := &reading{matcher: m, texts: texts, hits: make([][]span, len(m.terms))}
	posts := make([][]post, len(m.words))
	number := 0
	s := scanner{
		word: func(form []byte, start, end int) {
			number++
			if id, ok := m.words[string(form)]; ok {
				posts[id] = append(posts[id], post{number, span{start, end}})
			}
		},
		path: func(form []byte, start, end int) {
			last := form[strings.LastIndexByte(string(form), '/')+1:]
			for _, id := range m.paths[string(last)] {
				if agree(m.terms[id].path, string(form)) {
					r.hits[id] = append(r.hits[id], span{start, end})
				}
			}
		},
	}
	base := 0
	for _, text := range texts {
		r.base = append(r.base, base)
		for at := 0; at < len(text); {
			line := text[at:]
			if i := strings.IndexByte(line, '\n'); i >= 0 {
				line = line[:i+1]
			}
			if !m.asked(line) {
				s.scan(line, base+at)
			}
			at += len(line)
		}
		base += len(text) + 2*passageBytes
		number++
	}
	for id, t := range m.terms {
		if t.path == "" {
			r.hits[id] = m.follow(t, posts)
		}
	}
	return r
}

// asked reports whether a line is the question of a probe.
func (m *matcher) asked(line string) bool {
	if len(line) > 1000 || !strings.HasSuffix(strings.TrimRight(line, " \t\r\n*_`\"')]}>,"), "?") {
		return false
	}
	return m.questions[normal(line)]
}

// follow returns the places where the words of a term follow each other in
// their order.
func (m *matcher) follow(t term, posts [][]post) []span {
	rare := 0
	for i, w := range t.words {
		if len(posts[m.words[w]]) < len(posts[m.words[t.words[rare]]]) {
			rare = i
		}
	}
	var found []span
	for _, p := range posts[m.words[t.words[rare]]] {
		at, ok := p.span, true
		for i, w := range t.words {
			list := posts[m.words[w]]
			k, there := slices.BinarySearchFunc(list, p.number+i-rare, func(p post, n int) int { return cmp.Compare(p.number, n) })
			if ok = there; !ok {
				break
			}
			at.start, at.end = min(at.start, list[k].start), max(at.end, list[k].end)
		}
		if ok {
			found = append(found, at)
		}
	}
	return found
}

// A match is the best passage for a probe.
type match struct {
	found []bool // by keyword
	ok    bool   // they are enough
	span
}

// find returns the first passage with enough keywords of probe i. If there is none, it returns
// the first of those with the most keywords.
func (r *reading) find(i int) match {
	keys, need := r.keys[i], r.probes[i].need()
	best := match{found: make([]bool, len(keys))}
	type hit struct {
		key int
		span
	}
	var passage []hit // hits that are near enough to each other, by start
	next, count := make([]int, len(keys)), make([]int, len(keys))
	distinct, most := 0, 0
	for {
		h := hit{key: -1}
		for k, id := range keys {
			if id >= 0 && next[k] < len(r.hits[id]) {
				if s := r.hits[id][next[k]]; h.key < 0 || s.start < h.start {
					h = hit{k, s}
				}
			}
		}
		if h.key < 0 {
			return best
		}
		next[h.key]++
		for len(passage) > 0 && h.start-passage[0].start > passageBytes {
			if best.ok {
				return best
			}
			if k := passage[0].key; count[k] == 1 {
				distinct--
			}
			count[passage[0].key]--
			passage = passage[1:]
		}
		if count[h.key]++; count[h.key] == 1 {
			distinct++
		}
		passage = append(passage, h)
		if distinct > most {
			most = distinct
			best.span, best.ok = span{passage[0].start, h.end}, need > 0 && distinct >= need
			for k := range count {
				best.found[k] = count[k] > 0
			}
			if distinct == len(keys) {
				return best
			}
		}
	}
}

// answers does the same as find, but faster, and only reports whether a passage has enough
// keywords of probe i. Any such passage has one of the rarest keywords, because the other
// keywords alone are not enough. So only the places around those are examined.
func (r *reading) answers(i int) bool {
	need := r.probes[i].need()
	keys := slices.DeleteFunc(slices.Clone(r.keys[i]), func(id int) bool { return id < 0 })
	if need <= 0 || len(keys) < need {
		return false
	}
	slices.SortStableFunc(keys, func(a, b int) int { return cmp.Compare(len(r.hits[a]), len(r.hits[b])) })
	for _, rare := range keys[:len(keys)-need+1] {
		for _, hit := range r.hits[rare] {
			if r.near(keys, hit.start) >= need {
				return true
			}
		}
	}
	return false
}

// near returns the largest number of different terms that one passage near the offset at
// contains. One of the terms occurs at that offset.
func (r *reading) near(terms []int, at int) int {
	type hit struct{ key, start int }
	var hits []hit
	for k, id := range terms {
		list := r.hits[id]
		from, _ := slices.BinarySearchFunc(list, at-passageBytes, func(s span, n int) int { return cmp.Compare(s.start, n) })
		for _, s := range list[from:] {
			if s.start > at+passageBytes {
				break
			}
			hits = append(hits, hit{k, s.start})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	count, distinct, most, first := make([]int, len(terms)), 0, 0, 0
	for _, h := range hits {
		for ; h.start-hits[first].start > passageBytes; first++ {
			if count[hits[first].key]--; count[hits[first].key] == 0 {
				distinct--
			}
		}
		if count[h.key]++; count[h.key] == 1 {
			distinct++
		}
		most = max(most, distinct)
	}
	return most
}

// quote returns the text at a span together with the rest of its lines, cut to about the size
// of a passage.
func (r *reading) quote(s span) string {
	if s.end == 0 {
		return ""
	}
	i, ok := slices.BinarySearch(r.base, s.start)
	if !ok {
		i--
	}
	of := r.texts[i]
	start, end := s.start-r.base[i], s.end-r.base[i]
	from := strings.LastIndexByte(of[:start], '\n') + 1
	to := len(of)
	if n := strings.IndexByte(of[end:], '\n'); n >= 0 {
		to = end + n
	}
	if spare := max(passageBytes-(end-start), 0); to-from > passageBytes {
		from = max(from, start-spare/2)
		to = min(to, from+max(passageBytes, end-from))
	}
	to = min(to, from+2*passageBytes)
	return text.Fold(of[text.Floor(of, from):text.Floor(of, to)])
}
