package summary

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

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
	for _, cl := range c.saidClauses() {
		if !cl.user || cl.asks || len(c.src.Said[cl.at].Text) > longest/5 {
			continue // a plan that was pasted orders nothing by itself
		}
		// A colon parts an order from what is to be done in its place.
		text, _, _ := strings.Cut(cl.text, ": ")
		if o, ok := orderOf(text); ok && forbidding().MatchString(text) && !ignorant().MatchString(text) {
			o.at = cl.at
			forbidden = append(forbidden, o)
		} else if !cl.denies() {
			forbidden = slices.DeleteFunc(forbidden, func(o order) bool {
				return o.at < cl.at && cl.roots[o.denied] && 2*cl.count(o.words) > len(o.words)
			})
		}
	}
	for _, s := range c.statements(SectionIntent, SectionDecisions, SectionState, SectionNext, SectionContext) {
		if i := slices.IndexFunc(forbidden, func(o order) bool { return s.sec == SectionDecisions && !s.overruled() && c.softens(&s, &o) }); i >= 0 {
			c.add(s.sec, s.entry, RuleFlipped, "the user said %q", clip(forbidden[i].text, 120))
			continue
		}
		if s.denies() || s.asks || s.overruled() {
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
	for _, cl := range c.saidClauses() {
		if cl.denies() {
			denied = append(denied, cl.statement)
		} else if cl.user && !cl.asks {
			wanted = append(wanted, cl.statement)
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

// softens reports whether a decision that is said to be the person's speaks of
// what that person forbade and does not deny it, or under conditions only.
func (c *checker) softens(s *statement, o *order) bool {
	if !persons[strings.ToLower(personWord().FindString(s.entry))] {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(o.words), func(w string) bool { return w == o.denied })
	n := s.count(rest)
	if s.has(permissive()) && n > 0 && s.roots[c.index.rarest(rest)] && !s.roots[o.denied] {
		return !slices.ContainsFunc(s.words, func(w word) bool { return denials()[w.text] && !permissive()[w.text] })
	}
	if s.roots[o.denied] && n > 0 && 2*n >= len(rest) {
		return !s.denies()
	}
	return n >= 2 && n == len(rest) && !s.denies()
}

var (
	personWord = lazy.Regexp(`(?i)\b(?:user|customer|client)\b`)

	// permissive are words that allow something, under a condition.
	permissive = set("only where allowed allow allows fine may ok okay permitted accepted")
)

// orderOf returns what a clause forbids.
func orderOf(clause string) (o order, ok bool) {
	o.text = clause
	denies := false
	for _, w := range wordsOf(strings.ReplaceAll(clause, "’", "'")) {
		switch {
		case negations()[w.text] || excluding()[w.text] || w.text == "don" || w.text == "mustn" || w.text == "shouldn":
			if o.denied == "" {
				denies = true
			}
			continue
		case w.text == "t" || w.stop || orderly()[w.text]:
			continue
		}
		if denies && o.denied == "" {
			o.denied = w.root
		}
		if !slices.Contains(o.words, w.root) {
			o.words = append(o.words, w.root)
		}
	}
	return o, denies && o.denied != "" && len(o.words) <= 8 && (len(o.words) > 1 || forbids().MatchString(clause))
}

// forbidding finds clauses that forbid, by how they begin.
var forbidding = lazy.Regexp(`(?i)^\W*(?:(?:please|but|and|so|ok(?:ay)?|also|again|just|you|we|they|it|this|that|he|she) )*(?:do not|don['’]t|never|no (?:\w+\W*){1,3}$|must(?:n['’]t| not| never)|should(?:n['’]t| not| never)|may not|can['’]t|cannot|(?:always )?(?:exclude|skip|omit|avoid|ignore))\b`)

// forbids finds denials of a verb alone, such as "Don't deploy it".
var forbids = lazy.Regexp(`(?i)\b(?:do not|don['’]t|never|must not|mustn['’]t) \w+(?: (?:it|that|this|them|anything))?\W*$`)

// excluding are words that order to leave something out.
var excluding = set("exclude skip omit avoid ignore")

// ignorant are denials that forbid nothing: of what is known or liked.
var ignorant = lazy.Regexp(`(?i)\b(?:(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:know|think|see|need|mind|have|care|understand|remember|care)|not (?:sure|yet)|is not|isn['’]t|was not|wasn['’]t|are not|aren['’]t|did not|didn['’]t|does not|doesn['’]t|has not|hasn['’]t|have not|haven['’]t)\b`)

// orderly are words of orders that are not what is ordered.
var orderly = set("please ok okay thanks just ever wait actually want wants let make sure she he they user customer " +
	"but so also then again always")

// denies reports whether a statement has a word that says no, in any way.
func (s *statement) denies() bool {
	return s.has(denials()) || strings.Contains(s.text, "n't") || strings.Contains(s.text, "n’t")
}

// overruled reports whether a statement tells what somebody other than the person
// meant to do, or whether its sentence says that the person would not have it.
func (s *statement) overruled() bool {
	if s.has(intending()) && !slices.ContainsFunc(s.words, func(w word) bool { return persons[w.text] }) {
		return true
	}
	return refusing().MatchString(s.whole)
}

var (
	// intending are words by which one tells what was meant and may not have come
	// to pass.
	intending = set("wanted planned proposed suggested offered intended meant attempted tempted about proposal suggestion idea plan")

	refusing = lazy.Regexp(`(?i)\b(?:(?:user|customer|client|he|she|they) (?:\w+ )?(?:forbade|forbid|forbids|refused|refuses|rejected|rejects|vetoed|declined|declines|objected|objects|disagreed|prohibited|stopped|overruled|ruled)|(?:was|were|is|got) (?:\w+ )?(?:forbidden|refused|rejected|vetoed|declined|overruled|prohibited|ruled out|turned down))\b`)
)

// denials are words by which one says that something is not, must not be or is
// left as it was.
var denials = set("not no never cannot without neither nor nothing none forbid forbade forbidden forbids refuse refused refuses reject rejected " +
	"rejects veto vetoed decline declined avoid avoided prohibit prohibited ban banned against untouched unchanged keep keeps kept stay stays " +
	"stayed remain remains leave leaves left exclude excluded except instead rather drop dropped skip skipped off stop prevent only unless " +
	"until before over but limit limited most maximum less fewer zero unwanted wrong false disabled deny denied nowhere away out exempt free exclude excludes skips passes omit omits ignore ignored ignores")
