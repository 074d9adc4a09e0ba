package summary

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
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
	c.moved()
	c.replaced()
}

// hollow checks that changes say what was changed: a list of files with nothing
// but "updated" is one of names.
func (c *checker) hollow() {
	if len(c.s.Files) < 2 {
		return
	}
	for _, f := range c.s.Files {
		for _, ch := range f.Changes {
			if !bare().MatchString(fold(ch.Text)) {
				return
			}
		}
	}
	c.add(SectionFiles, "", RuleVague, "no file says what was changed")
}

var bare = lazy.Regexp(`(?i)^(?:(?:was|were|been|has|have|file|the|some|minor|various|several|small|and|also|changes?|edits?|updates?|updated|modified|changed|edited|touched|adjusted|reworked|improved|made|fixed|created|added|new|written|deleted|removed|none)\b[\s,.;]*)*$`)

// An openClause is a clause of the source that leaves something open.
type openClause struct {
	statement
	at   int  // number of the message
	late bool // it is among the last ones
}

// pending checks that what is open at the end is not told as done or settled.
func (c *checker) pending() {
	open := c.openClauses()
	if len(open) == 0 {
		return
	}
	var done []said
	for _, cl := range c.saidClauses() {
		if !cl.asks && cl.done() {
			done = append(done, cl)
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
		if s.asks || !s.done() {
			continue
		}
		var about []string
		verbs := make(map[string]bool)
		for _, w := range s.words {
			if finishing()[w.text] || ended()[w.text] {
				verbs[w.root] = true
			} else if !w.stop && !vagueness()[w.text] && !slices.Contains(about, w.root) {
				about = append(about, w.root)
			}
		}
		for _, o := range open {
			n := o.count(about)
			named := slices.ContainsFunc(s.words, func(w word) bool { return w.name && len(w.text) > 2 && o.roots[w.root] })
			if !o.late && !slices.ContainsFunc(o.words, func(w word) bool { return ended()[w.text] && verbs[w.root] }) {
				continue
			}
			told := named || slices.ContainsFunc(o.words, func(w word) bool { return verbs[w.root] })
			same := n >= 3 && 4*n >= 3*len(about) || told && (n >= 2 || n == 1 && len(about) == 1)
			if !same || slices.ContainsFunc(done, func(d said) bool { return (o.late || d.at > o.at) && d.count(about) >= n }) {
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
		if unfinished()[w.text] || waiting()[w.text] || negations()[w.text] {
			return false
		}
		ends = ends || finishing()[w.text] || ended()[w.text]
	}
	return ends && !strings.HasSuffix(strings.TrimSpace(s.text), "?") && !strings.Contains(s.text, "n't") && !strings.Contains(s.text, "n’t")
}

var (
	// ended are words that say that something has come to its end, besides those
	// of finishing.
	ended = set("paid credited refunded settled decided agreed signed concluded approved answered confirmed cleared ended live active executed applied " +
		"switched sent delivered succeeded succeeds granted received repaired published cancelled measured proven proved entered known") //nolint:misspell // people write it

	// waiting are words that say that something has not come to its end.
	waiting = set("open remain waits await awaits held hold outstanding undecided unresolved unclear unknown unconfirmed missing due expected blocked blocks " +
		"lacks lacking propose proposed proposes upcoming future decide decides")
)

// vagueness are words that stand for others.
var vagueness = set("none same everything whole both thing things anything something entire")

// openClauses returns what the source leaves open: what it says is open, what the
// last replies and the words of a person behind them say to be, and what was said
// before not to have come to its end.
func (c *checker) openClauses() []openClause {
	var list []openClause
	steps := c.src.Steps
	if len(steps) == 0 {
		steps = c.announced()
	}
	for _, o := range slices.Concat(c.src.Open, steps) {
		if len(content(codeLike().ReplaceAllString(o, " "))) < 2 {
			continue // a name alone leaves nothing open
		}
		for _, cl := range clauses(o) {
			list = append(list, openClause{newStatement("", o, cl), len(c.src.Said), true})
		}
	}
	end := len(c.src.Said) // the last three replies and what is between and behind them
	for replies := 0; end > 0 && replies < 3 && len(c.src.Said)-end < 7; {
		if end--; !c.src.Said[end].User {
			replies++
		}
	}
	for _, cl := range c.saidClauses() {
		denied, late := cl.has(negations()), cl.at >= end
		if late && (cl.asks || denied || cl.has(unfinished()) || cl.has(waiting())) || denied && !cl.user && cl.has(ended()) {
			list = append(list, openClause{cl.statement, cl.at, late})
		}
	}
	return list
}

// codeLike finds paths and code spans.
var codeLike = lazy.Regexp("`[^`]*`|\\S*/\\S*|\\([^)]*\\)")

// nothing checks that a summary does not say that nothing is open, or nothing to
// do, where the source leaves something that it does not tell elsewhere.
func (c *checker) nothing() {
	var all []statement
	for _, e := range c.s.Entries() {
		if !leadsNone().MatchString(e.Text) {
			all = append(all, newStatement(e.Section, e.Text, e.Text))
		}
	}
	for _, sec := range [...]Section{SectionBlockers, SectionNext} {
		if !onlyNone(*c.s.items(sec)) {
			continue
		}
		open := slices.Concat(c.src.Open, c.unsure())
		if sec == SectionNext {
			open = c.src.Steps
			if len(open) == 0 {
				open = c.announced()
			}
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

// unsure returns the sentences of the last reply, and of the person behind it,
// that say in so many words that something is open.
func (c *checker) unsure() []string {
	var list []string
	for _, said := range slices.Backward(c.src.Said) {
		if len(said.Text) < longest {
			for _, s := range sentences(said.Text) {
				if uncertain().MatchString(s) {
					list = append(list, s)
				}
			}
		}
		if !said.User {
			break
		}
	}
	return list
}

var uncertain = lazy.Regexp(`(?i)\b(?:open question|(?:is|still|remains|stays) (?:open|undecided|unclear|unknown|blocked)|not (?:yet |been )*(?:clear|known|decided|fixed|settled)|(?:waits|waiting) for|cannot say|could not check|(?:don['’]t|do not) know yet|have to ask|need to ask)\b|^open: `)

// announced returns the entries of a list in the last reply that says what comes
// next.
func (c *checker) announced() []string {
	for _, said := range slices.Backward(c.src.Said) {
		if said.User {
			continue
		}
		at := numbered().FindAllStringIndex(said.Text, -1)
		if len(at) < 2 {
			return slices.DeleteFunc(sentences(said.Text), func(s string) bool { return !coming().MatchString(s) || !intended().MatchString(s) })
		}
		if !ahead().MatchString(said.Text[:at[0][0]]) {
			return nil
		}
		var list []string
		for i, a := range at {
			end := len(said.Text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			list = append(list, said.Text[a[1]:end])
		}
		return list
	}
	return nil
}

var (
	numbered  = lazy.Regexp(`(?m)(?:^|[\s:])[1-9][.)] `)
	ahead     = lazy.Regexp(`(?i)\b(?:then|next|left|to do|to be done|remains?|remaining|missing|afterwards|steps|to come)\b[^.!?]*$`)
	coming    = lazy.Regexp(`(?i)^(?:next|then|after that|left to do|what is left|remaining|once)\b`)
	intended  = lazy.Regexp(`(?i)^next(?: steps?)?\b *[:,]|\b(?:will|should|must|needs?|have to|has to|is to|are to|remains?|left|['’]ll)\b`)
	leadsNone = lazy.Regexp(`(?i)^\W*(?:none|nothing)\b`)
)

func onlyNone(list []Item) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(it Item) bool { return !leadsNone().MatchString(it.Text) })
}

// failing checks that no error is told as resolved whose call failed when it was
// last run, and which one of the last replies tells as it stands.
func (c *checker) failing(bad []int) {
	var late []statement
	replies := 0
	for _, said := range slices.Backward(c.src.Said) {
		if said.User {
			continue
		}
		if replies++; replies > 3 || len(said.Text) > 8000 {
			break
		}
		for _, s := range sentences(said.Text) {
			late = append(late, newStatement("", s, s))
		}
	}
	for _, e := range c.s.Errors {
		words := content(e.Error)
		if e.Status != StatusResolved || len(words) < 3 {
			continue
		}
		most := func(s statement) bool { return s.count(words) == len(words) }
		for _, i := range bad {
			if !most(newStatement("", "", clip(c.src.Runs[i].Result, 2000))) {
				continue
			}
			if k := slices.IndexFunc(late, func(s statement) bool { return most(s) && !s.done() }); k >= 0 {
				c.add(SectionErrors, e.Error, RuleSettled, "its last run failed, and the source says: %q", clip(late[k].text, 120))
			}
			break
		}
	}
}
