package summary

import (
	"regexp"
	"slices"
	"strings"
)

// standing checks how things stand: what a person ordered, what is open at the
// end, and what came of the last run of each call.
func (c *checker) standing() {
	c.hollow()
	c.orders()
	c.pending()
	c.nothing()
	c.runs()
	c.superseded()
}

// A statement is a clause of the summary.
type statement struct {
	sec   Section
	entry string
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

// has reports whether a statement has one of some words, or denies by an n't.
func (s *statement) has(any map[string]bool) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return any[w.text] || any[w.root] })
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

// hollow checks that changes say what was changed: a list of files with nothing
// but "updated" is one of names.
func (c *checker) hollow() {
	if len(c.s.Files) < 2 {
		return
	}
	for _, f := range c.s.Files {
		for _, ch := range f.Changes {
			if !bare.MatchString(fold(ch.Text)) {
				return
			}
		}
	}
	c.add(SectionFiles, "", RuleVague, "no file says what was changed")
}

var bare = regexp.MustCompile(`(?i)^(?:(?:was|were|been|has|have|file|the|some|minor|various|several|small|and|also|changes?|edits?|updates?|updated|modified|changed|edited|touched|adjusted|reworked|improved|made|fixed|created|added|new|written|deleted|removed|none)\b[\s,.;]*)*$`)

// An order is a clause in which a person forbids something.
type order struct {
	text   string
	denied string   // what is not to be done
	words  []string // of the whole clause
	at     int      // number of the message
}

// orders checks that what a person forbade is not told as wanted. What a reply
// says to it does not count, only what the person said later.
func (c *checker) orders() {
	var forbidden []order
	for i, said := range c.src.Said {
		if !said.User || len(said.Text) > 4000 {
			continue
		}
		for _, s := range sentences(said.Text) {
			if strings.HasSuffix(s, "?") {
				continue
			}
			for _, cl := range clauses(strings.ReplaceAll(s, ": ", "; ")) {
				if o, ok := orderOf(cl); ok && forbidding.MatchString(cl) && !ignorant.MatchString(cl) {
					o.at = i
					forbidden = append(forbidden, o)
				} else {
					st := newStatement("", "", cl)
					forbidden = slices.DeleteFunc(forbidden, func(o order) bool {
						return o.at < i && st.roots[o.denied] && 2*st.count(o.words) > len(o.words) && !st.denies()
					})
				}
			}
		}
	}
	for _, s := range c.statements(SectionIntent, SectionDecisions, SectionState, SectionNext, SectionContext) {
		if s.denies() || s.asks {
			continue
		}
		for _, o := range forbidden {
			if !s.roots[o.denied] || 5*s.count(o.words) < 4*len(o.words) {
				continue
			}
			if len(o.words) == 1 && (s.sec != SectionNext && s.sec != SectionDecisions || len(s.roots) > 4) {
				continue // a verb alone may mean much
			}
			c.add(s.sec, s.entry, RuleFlipped, "the user said %q", clip(o.text, 120))
			break
		}
	}
	c.wishes()
}

// wishes checks that what a person asked for is not told as unwanted.
func (c *checker) wishes() {
	var wanted, denied []statement
	for _, said := range c.src.Said {
		if len(said.Text) > 20000 {
			continue
		}
		for _, s := range sentences(said.Text) {
			for _, cl := range clauses(s) {
				st := newStatement("", s, cl)
				if st.denies() {
					denied = append(denied, st)
				} else if said.User && !strings.HasSuffix(s, "?") {
					wanted = append(wanted, st)
				}
			}
		}
	}
	for _, s := range c.statements(SectionIntent, SectionDecisions, SectionContext) {
		o, ok := orderOf(s.text)
		if !ok || s.asks || len(o.words) < 2 {
			continue
		}
		all := func(st statement) bool { return st.count(o.words) == len(o.words) }
		some := func(st statement) bool { return st.roots[o.denied] || 2*st.count(o.words) >= len(o.words) }
		if i := slices.IndexFunc(wanted, all); i >= 0 && !slices.ContainsFunc(denied, some) {
			c.add(s.sec, s.entry, RuleFlipped, "the user said %q", clip(wanted[i].text, 120))
		}
	}
}

// orderOf returns what a clause forbids.
func orderOf(clause string) (o order, ok bool) {
	o.text = clause
	denies := false
	for _, w := range wordsOf(strings.ReplaceAll(clause, "’", "'")) {
		switch {
		case negations[w.text] || w.text == "don" || w.text == "mustn" || w.text == "shouldn":
			if o.denied == "" {
				denies = true
			}
			continue
		case w.text == "t" || w.stop || orderly[w.text]:
			continue
		}
		if denies && o.denied == "" {
			o.denied = w.root
		}
		if !slices.Contains(o.words, w.root) {
			o.words = append(o.words, w.root)
		}
	}
	return o, denies && o.denied != "" && len(o.words) <= 8 && (len(o.words) > 1 || forbids.MatchString(clause))
}

// forbidding finds clauses that forbid, by how they begin.
var forbidding = regexp.MustCompile(`(?i)^\W*(?:(?:please|but|and|so|ok(?:ay)?|also|again|just|you|we|they|it|this|that|he|she) )*(?:do not|don['’]t|never|no (?:\w+\W*){1,3}$|must(?:n['’]t| not| never)|should(?:n['’]t| not| never)|may not|can['’]t|cannot)\b`)

// forbids finds denials of a verb alone: "Don't deploy it."
var forbids = regexp.MustCompile(`(?i)\b(?:do not|don['’]t|never|must not|mustn['’]t) \w+(?: (?:it|that|this|them|anything))?\W*$`)

// ignorant are denials that forbid nothing: of what is known or liked.
var ignorant = regexp.MustCompile(`(?i)\b(?:(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:know|think|see|need|mind|have|care|understand|remember|care)|not (?:sure|yet)|is not|isn['’]t|was not|wasn['’]t|are not|aren['’]t|did not|didn['’]t|does not|doesn['’]t|has not|hasn['’]t|have not|haven['’]t)\b`)

// orderly are words of orders that are not what is ordered.
var orderly = set("please ok okay thanks just ever wait actually want wants let make sure she he they user customer")

// denies reports whether a statement has a word that says no, in any way.
func (s *statement) denies() bool {
	return s.has(denials) || strings.Contains(s.text, "n't") || strings.Contains(s.text, "n’t")
}

// denials are words by which one says that something is not, must not be or is
// left as it was.
var denials = set("not no never cannot without neither nor nothing none forbid forbade forbidden forbids refuse refused refuses reject rejected " +
	"rejects veto vetoed decline declined avoid avoided prohibit prohibited ban banned against untouched unchanged keep keeps kept stay stays " +
	"stayed remain remains leave leaves left exclude excluded except instead rather drop dropped skip skipped off stop prevent only unless " +
	"until before than over but limit limited most maximum less fewer zero unwanted wrong false disabled deny denied")

// An openClause is a clause of the source that leaves something open.
type openClause struct {
	statement
	question bool
}

// pending checks that what is open at the end is not told as done or settled.
func (c *checker) pending() {
	open := c.openClauses()
	if len(open) == 0 {
		return
	}
	var done []statement
	for _, said := range c.src.Said {
		if len(said.Text) > 20000 {
			continue
		}
		for _, s := range sentences(said.Text) {
			if strings.HasSuffix(s, "?") {
				continue
			}
			for _, cl := range clauses(s) {
				if st := newStatement("", s, cl); st.done() {
					done = append(done, st)
				}
			}
		}
	}
	told := c.statements(SectionState, SectionBlockers, SectionContext)
	for _, e := range c.s.Errors {
		if e.Status == StatusResolved {
			st := newStatement(SectionErrors, e.Error, e.Error)
			st.words = append(st.words, word{text: "resolved", root: "resolv"})
			told = append(told, st)
		}
	}
	for _, s := range told {
		if !s.done() {
			continue
		}
		var about []string
		named := false
		verbs := make(map[string]bool)
		for _, w := range s.words {
			if finishing[w.text] || ended[w.text] {
				verbs[w.root] = true
			} else if !w.stop && !slices.Contains(about, w.root) {
				about = append(about, w.root)
			}
		}
		for _, o := range open {
			n := o.count(about)
			for _, w := range s.words {
				named = named || w.name && len(w.text) > 3 && o.roots[w.root]
			}
			told := named || slices.ContainsFunc(o.words, func(w word) bool { return verbs[w.root] })
			same := n >= 3 && 4*n >= 3*len(about) || told && (n >= 2 || n == 1 && len(about) == 1)
			if !same || slices.ContainsFunc(done, func(d statement) bool { return d.count(about) >= n }) {
				continue
			}
			c.add(s.sec, s.entry, RuleSettled, "the source leaves it open: %q", clip(o.entry, 120))
			break
		}
	}
}

// done reports whether a statement says that something has come to its end.
func (s *statement) done() bool {
	ends := false
	for _, w := range s.words {
		if unfinished[w.text] || waiting[w.text] || negations[w.text] {
			return false
		}
		ends = ends || finishing[w.text] || ended[w.text]
	}
	return ends && !strings.HasSuffix(strings.TrimSpace(s.text), "?") && !strings.Contains(s.text, "n't") && !strings.Contains(s.text, "n’t")
}

var (
	// ended are words that say that something has come to its end, besides those
	// of finishing.
	ended = set("paid credited refunded settled decided agreed signed concluded approved answered confirmed cleared ended live active executed applied " +
		"switched sent delivered succeeded succeeds granted received repaired published cancelled") //nolint:misspell // people write it

	// waiting are words that say that something has not come to its end.
	waiting = set("open waits await awaits held hold outstanding undecided unresolved unclear unknown unconfirmed missing due expected blocked blocks " +
		"lacks lacking propose proposed proposes upcoming future decide decides")
)

// openClauses returns what the source leaves open: what it says is open, and
// what the last reply and the words of a person behind it say to be.
func (c *checker) openClauses() []openClause {
	var list []openClause
	add := func(text string) {
		for _, s := range sentences(text) {
			for _, cl := range clauses(s) {
				st := newStatement("", s, cl)
				question := strings.HasSuffix(s, "?")
				if question || st.has(unfinished) || st.has(waiting) || st.has(negations) {
					list = append(list, openClause{st, question})
				}
			}
		}
	}
	for _, o := range slices.Concat(c.src.Open, c.src.Steps) {
		for _, cl := range clauses(o) {
			list = append(list, openClause{newStatement("", o, cl), strings.HasSuffix(o, "?")})
		}
	}
	said := c.src.Said
	for i, replies := len(said)-1, 0; i >= 0 && replies < 3 && len(said)-i < 7; i-- {
		if !said[i].User {
			replies++
		}
		if len(said[i].Text) < 8000 {
			add(said[i].Text)
		}
	}
	return list
}

// nothing checks that a summary does not say that nothing is open, or nothing to
// do, where the source leaves something that it does not tell elsewhere.
func (c *checker) nothing() {
	var all []statement
	for _, e := range c.s.Entries() {
		all = append(all, newStatement(e.Section, e.Text, e.Text))
	}
	for _, sec := range [...]Section{SectionBlockers, SectionNext} {
		open := c.src.Open
		if sec == SectionNext {
			open = c.src.Steps
		}
		if !onlyNone(*c.s.items(sec)) {
			continue
		}
		for _, o := range open {
			words := content(o)
			told := func(s statement) bool {
				n := s.count(words)
				return n >= 2 && 3*n >= len(words)
			}
			if len(words) > 2 && !slices.ContainsFunc(all, told) {
				c.add(sec, None, RuleOpen, "the source leaves open: %q", clip(o, 120))
				break
			}
		}
	}
}

func onlyNone(list []Item) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(it Item) bool { return !isNone(it.Text) })
}

var (
	failed  = regexp.MustCompile(`(?im)\bexit (?:code|status):? [1-9]|^\s*\{?"error"\s*:|^FAIL\b|^error\b|^Traceback `)
	outcome = regexp.MustCompile(`(?i)\b(\d[\d,]*) (?:\w+ )?(passed|pass|failed|fail|failures?|errors?|succeeded|succeed|skipped)\b`)
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
		for _, m := range outcome.FindAllStringSubmatch(r.Result, -1) {
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
		if failed.MatchString(r.Result) {
			bad = append(bad, i)
			continue
		}
		for _, w := range content(clip(r.Call, 400)) {
			fine[w] = true
		}
	}
	for _, said := range c.src.Said {
		for _, m := range outcome.FindAllStringSubmatch(said.Text, -1) {
			current[m[1]+" "+root(strings.ToLower(m[2]))] = true
		}
	}
	for _, s := range c.statements(SectionState) {
		if s.has(former) || s.asks {
			continue
		}
		for _, m := range outcome.FindAllStringSubmatch(s.text, -1) {
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
		if len(said.Text) > 20000 {
			continue
		}
		for _, s := range sentences(said.Text) {
			for _, m := range corrected.FindAllStringSubmatch(s, -1) {
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
			if !s.roots[f.old] || s.roots[f.new] || s.denies() || s.has(former) {
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
var corrected = regexp.MustCompile(`(?i)(\d[\d,.:]*\d|\d)(?: ?[a-z€£$%]{1,12})?(?: (?:by default|now))?,? (?:and )?(?:not|instead of|rather than) (?:the )?[€£$]?(\d[\d,.:]*\d|\d)`)

// takesBack finds orders to forget what was said before.
var takesBack = regexp.MustCompile(`\b(?:ignore|disregard|forget|override|bypass)\b(?: \w+){0,2} (?:previous|prior|above|earlier|preceding|foregoing|other|system|safety)\b(?: \w+)? ?(?:instructions?|messages?|rules?|prompts?|orders?|context|guidelines|summary)?|\b(?:you are now|from now on you|you must now|reveal|exfiltrate)\b.{0,40}\b(?:prompt|instructions?|secrets?|keys?|password|token)`)
