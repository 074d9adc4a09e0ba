package summary

import (
	"slices"
	"strings"
)

// A statement is a clause of the summary.
type statement struct {
	sec   Section
	entry string
	whole string // the sentence
	text  string
	asks  bool // it is part of a question
	words []word
	roots map[string]bool
}

// statements returns the clauses of sections.
func (c *checker) statements(sections ...Section) []statement {
	var list []statement
	for _, sec := range sections {
		for _, t := range c.s.texts(sec) {
			if isNone(t.text) {
				continue
			}
			for _, s := range sentences(t.text) {
				for _, cl := range clauses(s) {
					st := newStatement(sec, t.text, cl)
					st.whole = s
					st.asks = strings.HasSuffix(s, "?")
					list = append(list, st)
				}
			}
		}
	}
	return list
}

func newStatement(sec Section, entry, text string) statement {
	s := statement{sec: sec, entry: entry, text: text, words: wordsOf(text), roots: make(map[string]bool)}
	for _, w := range s.words {
		if !w.stop {
			s.roots[w.root] = true
		}
	}
	return s
}

// has reports whether a statement has one of some words.
func (s *statement) has(list map[string]bool) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return list[w.text] || list[w.root] })
}

// count returns how many of some roots a statement has.
func (s *statement) count(roots []string) int {
	n := 0
	for _, r := range roots {
		if s.roots[r] {
			n++
		}
	}
	return n
}

// A said is a clause of the talk.
type said struct {
	statement // its entry is the sentence
	user      bool
	at        int // number of the message
}

// saidClauses returns the clauses of the talk that have a word of the summary:
// others bear out nothing that it says, and contradict nothing.
func (c *checker) saidClauses() []said {
	if c.talked != nil {
		return c.talked
	}
	known := make(map[string]bool) // words that were met: the summary has them
	c.talked = []said{}
	for i, m := range c.src.Said {
		if len(m.Text) > longest {
			continue
		}
		for _, s := range sentences(m.Text) {
			if !c.shares(s, known) {
				continue
			}
			for _, cl := range clauses(s) {
				if !c.shares(cl, known) {
					continue
				}
				st := newStatement("", s, cl)
				st.asks = strings.HasSuffix(s, "?")
				c.talked = append(c.talked, said{st, m.User, i})
			}
		}
	}
	return c.talked
}

// longest is how long a message may be: a longer one is a document.
const longest = 20000

// shares reports whether a text has a word that tells something and that the
// summary has.
func (c *checker) shares(text string, known map[string]bool) bool {
	found := false
	spell(text, func(w string, _, _ int) {
		if found {
			return
		}
		has, ok := known[w]
		if !ok {
			low := lower(w)
			has = !stops()[low] && !auxiliary()[low] && c.roots[root(low)]
			known[w] = has
		}
		found = has
	})
	return found
}
