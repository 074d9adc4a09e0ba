package limn

import (
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A Release is a version of the vocabulary, named by the number of its
// reserved words.
type Release struct {
	size int
}

// ReleaseNamed returns the release with 35, 53 or 61 reserved words. The
// first is version 0.2.0, the second added "because", the third is the one
// that this package implements.
func ReleaseNamed(name string) (*Release, error) {
	switch name {
	case "35":
		return &Release{35}, nil
	case "53":
		return &Release{53}, nil
	case "61":
		return &Release{61}, nil
	}
	return nil, fmt.Errorf("no release is called %q: there are 35, 53 and 61", name)
}

// String returns the name for [ReleaseNamed].
func (r *Release) String() string { return fmt.Sprint(r.size) }

// Words returns the reserved words of a release. In releases with fewer than
// 60 words, "sum" is "combine".
func (r *Release) Words() []string {
	var words []string
	for k := kwRemember; k < kwCombine; k++ {
		switch {
		case k == kwSum && r.size < renamed:
			words = append(words, kwCombine.String())
		case k.reserved() <= r.size:
			words = append(words, k.String())
		}
	}
	return words
}

// Check returns an error for each construct of a program that the release
// does not know, in the order of the program. It skips lines with errors.
//
// Check judges constructs, not only words: "unless" is old, but not after
// "require". A word that only a newer release reserves is a valid name. The
// one reverse case is "combine", which is a verb in releases with fewer than 60
// words and a text without quotes in later ones.
func (r *Release) Check(p *Program) []*Error {
	a := &audit{release: r}
	for _, l := range p.Lines {
		a.line(l)
	}
	slices.SortStableFunc(a.found, func(x, y *Error) int { return x.Pos.compare(y.Pos) })
	return a.found
}

// renamed is the release that renamed "combine" to "sum".
const renamed = 60

// reserved returns the first release in which the word is reserved.
func (k keyword) reserved() int {
	if k == kwCompare || k == kwTransform {
		return 35 // reserved since 35, but without a meaning until 51
	}
	return k.since()
}

// since returns the first release in which the word has its present meaning.
func (k keyword) since() int {
	if n, ok := newer.Get()[k]; ok {
		return n
	}
	return 35
}

// newer maps each word that came after release 35 to the release that introduced it. The map
// is never changed.
var newer = lazy.Value[map[keyword]int]{Make: func() map[keyword]int {
	return map[keyword]int{
		kwIncludes: 37, kwRemove: 37,
		kwWithin:  38,
		kwWeakens: 40, kwOver: 40,
		kwRequire: 42, kwThen: 42,
		kwAssign: 44, kwExpect: 44,
		kwBy: 49, kwPlus: 49, kwMinus: 49, kwMultiplied: 49, kwDivided: 49,
		kwSort: 51, kwReverse: 51, kwCompare: 51, kwTransform: 51,
		kwAbout:     52,
		kwBecause:   53,
		kwInherited: 54,
		kwForbid:    56, kwPermit: 56,
		kwStarting: 58, kwUntil: 58,
		kwHighest: renamed, kwLowest: renamed, kwSum: renamed,
		kwDefine: 61,
	}
}}

// An audit collects the constructs that a release does not know.
type audit struct {
	release *Release
	pos     Pos // position of the current operation
	found   []*Error
}

// word records the keyword k at a position if the release does not know it.
func (a *audit) word(pos Pos, k keyword) {
	a.need(pos, k.since(), fmt.Sprintf("%q", k.String()))
}

// verb records a verb of the current operation if the release does not know it.
func (a *audit) verb(verb string) { a.word(a.pos, keywords.Get()[verb]) }

// need records a construct that is newer than the release. The argument since
// is the first release that knows the construct.
func (a *audit) need(pos Pos, since int, what string) {
	if since <= a.release.size {
		return
	}
	hint := fmt.Sprintf("leave it out, or have it read by a release with %d words or more", since)
	if what == `"sum"` {
		hint = `that release calls it "combine"`
	}
	a.found = append(a.found, &Error{
		Pos: pos, fault: faultSemantic,
		Text: fmt.Sprintf("%s is not known to the release with %d words", what, a.release.size),
		Hint: hint,
	})
}

// line checks a line.
func (a *audit) line(l *Line) {
	a.pos = l.Pos
	walk(l.stmt, func(node any) bool {
		switch n := node.(type) {
		case *about:
			a.word(a.pos, kwAbout)
		case *when:
			if n.Inherited {
				a.word(a.pos, kwInherited)
			}
		case *operation:
			a.op(n)
		case action:
			a.action(n)
		case *test:
			a.test(n)
		case expr:
			a.expr(n)
		}
		return true
	})
}

// op checks the annotations of an operation.
func (a *audit) op(op *operation) {
	a.pos = op.Pos
	if op.Then {
		a.word(op.Pos, kwThen)
	}
	if op.Starting != nil {
		a.word(op.Pos, kwStarting)
	}
	if op.Until != nil {
		a.word(op.Pos, kwUntil)
	}
	if op.Inherited {
		a.word(op.Pos, kwInherited)
	}
	if op.Because != nil {
		a.word(op.Because.Pos, kwBecause)
	}
}

// action checks an action, without its conditions and expressions.
func (a *audit) action(core action) {
	switch c := core.(type) {
	case *remember:
		for _, w := range c.Descriptor {
			a.text(a.pos, w)
		}
	case *tally:
		a.verb(c.Verb)
	case *gather:
		if c.By != nil { // steps are newer than the word "by"
			a.need(c.By.Pos, 61, `a step after "by"`)
		}
	case *change:
		a.verb(c.Verb)
	case *weakens:
		a.word(a.pos, kwWeakens)
	case *assign:
		a.word(a.pos, kwAssign)
	case *rule:
		a.verb(c.Verb)
		if c.Unless != nil { // exceptions are newer than the word "unless"
			a.need(c.Unless.first().Pos, 61, fmt.Sprintf(`"unless" after %q`, c.Verb))
		}
	case *requireEach:
		a.need(a.pos, 61, `"require each"`)
	case *sort:
		a.word(a.pos, kwSort)
	case *compare:
		a.word(a.pos, kwCompare)
	case *transform:
		a.word(a.pos, kwTransform)
	case *define:
		a.word(a.pos, kwDefine)
	case *call: // older releases accept only names as arguments
		if _, ok := c.Arg.(*word); !ok && c.Arg != nil {
			a.need(c.Name.Pos, 61, "a composition from a literal")
		}
	case *packCall:
		for i, s := range c.Verb.Slots {
			if k := keywords.Get()[s.Connective]; k != kwNone && c.Slots[i] != nil {
				a.word(c.Pos, k)
			}
		}
	}
}

// test checks the operator of a comparison.
func (a *audit) test(t *test) {
	switch {
	case t.Op == opIncludes:
		a.word(t.Pos, kwIncludes)
	case t.Op == opWithin:
		a.word(t.Pos, kwWithin)
	case t.Op == opIs && t.Not:
		a.need(t.Pos, kwDefine.since(), `"is not" with the name of a condition`)
	}
}

// expr checks a node of an expression, without its operands.
func (a *audit) expr(e expr) {
	switch e := e.(type) {
	case *number:
		if e.Text[0] == '-' {
			a.need(e.Pos, 61, "a number below 0")
		}
	case *date:
		a.need(e.Pos, 61, "a date")
	case *extremum:
		a.word(e.Pos, keywords.Get()[e.word()])
	case *binary:
		a.need(e.Pos, kwPlus.since(), fmt.Sprintf("%q", e.Op))
	case *word:
		a.text(e.Pos, e.Text)
	}
}

// text checks an unquoted word.
func (a *audit) text(pos Pos, word string) {
	if word == kwCombine.String() {
		a.need(pos, renamed, `"combine" as a word`)
	}
}
