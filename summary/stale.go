package summary

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

var (
	failed  = lazy.Regexp(`(?im)\bexit(?: code| status)?:? [1-9]|^\s*\{?"error"\s*:|^FAIL\b|^error\b|^Traceback `)
	outcome = lazy.Regexp(`(?i)\b(\d[\d,]*) (?:\w+ )?(passed|pass|failed|fail|failures?|errors?|succeeded|succeed|skipped)\b`)
)

// runs checks that the state is that of the last runs: that no count of an
// earlier one is told, and none as passed that failed last.
func (c *checker) runs() {
	last := make(map[string]int)
	for i, r := range c.src.Runs {
		last[r.Call] = i
	}
	current, stale := make(map[string]bool), make(map[string]bool)
	fine := make(map[string]bool) // words of calls that ended well
	var bad []int
	for i, r := range c.src.Runs {
		now := last[r.Call] == i
		for _, m := range outcome().FindAllStringSubmatch(r.Result, -1) {
			key := m[1] + " " + root(strings.ToLower(m[2]))
			if now {
				current[key] = true
			} else {
				stale[key] = true
			}
		}
		if !now {
			continue
		}
		if failed().MatchString(r.Result) {
			bad = append(bad, i)
			continue
		}
		for _, w := range content(clip(r.Call, 400)) {
			fine[w] = true
		}
	}
	for _, said := range c.src.Said {
		for _, m := range outcome().FindAllStringSubmatch(said.Text, -1) {
			current[m[1]+" "+root(strings.ToLower(m[2]))] = true
		}
	}
	if len(bad) > 0 {
		c.failing(bad)
	}
	for _, s := range c.statements(SectionState) {
		if s.has(former()) || s.asks {
			continue
		}
		for _, m := range outcome().FindAllStringSubmatch(s.text, -1) {
			if key := m[1] + " " + root(strings.ToLower(m[2])); stale[key] && !current[key] {
				c.add(s.sec, s.entry, RuleStale, "%q came of an earlier run", m[0])
				return
			}
		}
		cm, certain := claimOf(s.text)
		if !certain || cm.family != "pass" || !cm.yes {
			continue
		}
		for _, i := range bad {
			own := slices.DeleteFunc(content(clip(c.src.Runs[i].Call, 400)), func(w string) bool { return fine[w] })
			if n := s.count(own); n >= 2 && 2*n >= len(cm.words) {
				c.add(s.sec, s.entry, RuleFlipped, "the last run of %q failed", clip(c.src.Runs[i].Call, 80))
				return
			}
		}
	}
}

// former are words by which one tells of what was.
var former = set("before earlier first initially previously formerly was were had from then originally until old after instead")

// superseded checks that no value is told which the source replaced: "3 months,
// not 12".
func (c *checker) superseded() {
	type fix struct {
		old, new string
		about    []string
		text     string
	}
	var fixes []fix
	for _, said := range c.src.Said {
		if len(said.Text) > longest || !corrected().MatchString(said.Text) {
			continue
		}
		for _, s := range sentences(said.Text) {
			for _, m := range corrected().FindAllStringSubmatch(s, -1) {
				now, old := wordsOf(m[1]), wordsOf(m[2])
				if len(now) == 0 || len(old) == 0 {
					continue
				}
				f := fix{old: old[0].root, new: now[0].root, about: content(s), text: s}
				fixes = slices.DeleteFunc(fixes, func(o fix) bool { return o.old == f.new })
				if f.old != f.new {
					fixes = append(fixes, f)
				}
			}
		}
	}
	for _, s := range c.statements(SectionIntent, SectionDecisions, SectionState, SectionNext, SectionContext, SectionBlockers) {
		for _, f := range fixes {
			if !s.roots[f.old] || s.roots[f.new] || s.denies() || s.has(former()) {
				continue
			}
			about := slices.DeleteFunc(slices.Clone(f.about), func(w string) bool { return w == f.old || w == f.new })
			if s.count(about) >= 1 && !strings.Contains(s.entry, f.new) {
				c.add(s.sec, s.entry, RuleStale, "the source put %s in place of %s: %q", f.new, f.old, clip(f.text, 120))
				return
			}
		}
	}
}

// corrected finds a number that stands in place of another.
var corrected = lazy.Regexp(`(?i)(\d[\d,.:]*\d|\d)(?: ?[a-z€£$%]{1,12})?(?: (?:by default|now))?,? (?:and )?(?:not|instead of|rather than) (?:the )?[€£$]?(\d[\d,.:]*\d|\d)`)

// A span is what a person gave numbers for: the numbers, and the word behind
// them.
type span struct {
	numbers []string
	of      string
}

var (
	spanOf = lazy.Regexp(`(?i)\b(\d[\d.:]*)(?:(?: ?[-–] ?| to | and | until )(\d[\d.:]*))? ([a-z]{3,})`)
	moving = lazy.Regexp(`(?i)\b(?:make (?:it|that|this)|(?:change|move|set|shift|put) (?:it|that|this|them) to|let['’]?s (?:say|take|make it)|rather|instead|(?:it|that) (?:is|should be|must be|has to be) now|now it is)\b`)
)

// spansOf returns the spans of a text.
func spansOf(text string) []span {
	var list []span
	for _, m := range spanOf().FindAllStringSubmatch(text, -1) {
		s := span{[]string{root(m[1])}, root(strings.ToLower(m[3]))}
		if m[2] != "" {
			s.numbers = append(s.numbers, root(m[2]))
		}
		list = append(list, s)
	}
	return list
}

// moved checks that what a person put in place of numbers they had given before is
// told, and not those: "make it 13 to 16 September".
func (c *checker) moved() {
	type move struct {
		old, new span
		text     string
	}
	last := make(map[string]span)
	var moves []move
	for _, said := range c.src.Said {
		if !said.User || len(said.Text) > longest/5 {
			continue
		}
		for _, s := range sentences(said.Text) {
			for _, sp := range spansOf(s) {
				old, ok := last[sp.of]
				if ok && len(old.numbers) == len(sp.numbers) && !meet(old.numbers, sp.numbers) && moving().MatchString(s) && !strings.HasSuffix(s, "?") {
					moves = append(moves, move{old, sp, s})
				}
				last[sp.of] = sp
			}
		}
	}
	for _, s := range c.statements(SectionIntent, SectionDecisions, SectionState, SectionNext, SectionContext) {
		if s.asks || s.denies() {
			continue
		}
		for _, m := range moves {
			has := func(sp span) bool { return s.roots[sp.of] && s.count(sp.numbers) == len(sp.numbers) }
			if has(m.old) && len(m.old.numbers) > 1 && !meet(content(s.entry), m.new.numbers) && !meet(last[m.old.of].numbers, m.old.numbers) {
				c.add(s.sec, s.entry, RuleStale, "the user said later: %q", clip(m.text, 120))
				return
			}
		}
	}
}

// replaced checks that no figure is told for which the replies have another, given
// later than the last place that has the one that is told: with the same word
// behind it, and all that the clause says besides.
func (c *checker) replaced() {
	type given struct {
		roots map[string]bool
		unit  string
		value string
		at    int // where it was said last
		text  string
	}
	var replies []given
	end := len(c.src.Text)
	for _, said := range slices.Backward(c.src.Said) {
		if len(said.Text) > 8000 {
			continue
		}
		at := strings.LastIndex(c.src.Text[:end], firstLine(said.Text))
		if at < 0 {
			continue
		}
		end = at
		if said.User {
			continue
		}
		for _, s := range sentences(said.Text) {
			for _, cl := range clauses(s) {
				st := newStatement("", s, cl)
				for i := range len(st.words) - 1 {
					if w, u := st.words[i], st.words[i+1]; digitAt(w.root, 0) && !u.stop && u.at == w.at+1 {
						replies = append(replies, given{st.roots, u.root, w.root, at, cl})
					}
				}
			}
		}
	}
	for _, s := range c.statements(SectionDecisions, SectionState, SectionContext) {
		if s.has(former()) || s.denies() {
			continue
		}
		for i := range len(s.words) - 1 {
			w, u := s.words[i], s.words[i+1]
			if !digitAt(w.root, 0) || u.stop || u.at != w.at+1 {
				continue
			}
			var rest []string
			for r := range s.roots {
				if r != u.root && !digitAt(r, 0) {
					rest = append(rest, r)
				}
			}
			if len(rest) == 0 {
				continue
			}
			last := -1 // where the source has the figure last
			others := func(g given) bool {
				if g.unit != u.root || s.roots[g.value] || slices.ContainsFunc(rest, func(r string) bool { return !g.roots[r] }) {
					return false
				}
				if last < 0 {
					last = lastFigure(c.src.Text, w.text, u.text)
				}
				return last < g.at
			}
			backed := func(g given) bool { return g.unit == u.root && g.value == w.root }
			if k := slices.IndexFunc(replies, others); k >= 0 && !slices.ContainsFunc(replies, backed) {
				c.add(s.sec, s.entry, RuleStale, "the source says later: %q", clip(replies[k].text, 120))
				return
			}
		}
	}
}

// firstLine returns the first line of a message, by which it is found in the
// source.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// lastFigure returns where a text last has a number that is followed by a word,
// or the end of the text if it has none: then it is written in another way.
func lastFigure(text, number, unit string) int {
	at := strings.LastIndex(text, number+" "+unit)
	if at < 0 {
		return len(text)
	}
	return at
}
