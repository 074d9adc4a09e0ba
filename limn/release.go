package limn

import "fmt"

// A Release is a vocabulary that readers of programs may have. Releases are told
// apart by how many words they reserve.
type Release struct {
	size int
}

// ReleaseNamed returns the release with 35, 53 or 61 reserved words. The first is
// that of 0.2.0; the second is the one that learned "because"; the third is what
// this package speaks.
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

// String returns the name of a release, for [ReleaseNamed].
func (r *Release) String() string { return fmt.Sprint(r.size) }

// Words returns what a release reserves. Before the release with 60 words, which
// renamed it, "sum" was "combine".
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

// Check returns what a program uses that a reader with the vocabulary of a release
// does not know, in the order of the program. Lines with errors are passed over.
//
// It is about constructs, not only about words: an "unless" is old, but not behind
// a "require". A word that a newer release reserves is a good name in an older one.
// The reverse occurs once: "combine", which was given up, is text without quotes in
// the newest releases only.
func (r *Release) Check(p *Program) []*Error {
	a := &audit{release: r}
	for _, l := range p.Lines {
		a.line(l)
	}
	return a.found
}

// renamed is the release that renamed "combine" to "sum".
const renamed = 60

// reserved returns the release since which a word is reserved.
func (k keyword) reserved() int {
	if k == kwCompare || k == kwTransform {
		return 35 // without a meaning until 51
	}
	return k.since()
}

// since returns the release since which a word has its meaning.
func (k keyword) since() int {
	if n, ok := newer[k]; ok {
		return n
	}
	return 35
}

// newer holds the releases of the words that came later. It is never written.
var newer = map[keyword]int{
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

// An audit looks for what a release does not know.
type audit struct {
	release *Release
	found   []*Error
}

// word needs a word of the language.
func (a *audit) word(pos Pos, k keyword) {
	a.need(pos, k.since(), fmt.Sprintf("%q", k.String()))
}

// verb needs a verb by its name.
func (a *audit) verb(pos Pos, verb string) { a.word(pos, keywords[verb]) }

// need reports a construct if it is newer than the release.
func (a *audit) need(pos Pos, since int, what string) {
	if since <= a.release.size {
		return
	}
	hint := fmt.Sprintf("leave it out, or have it read by a release with %d words or more", since)
	if what == `"sum"` {
		hint = `that release calls it "combine"`
	}
	a.found = append(a.found, &Error{
		Pos: pos, Fault: FaultSemantic,
		Text: fmt.Sprintf("%s is not known to the release with %d words", what, a.release.size),
		Hint: hint,
	})
}

// line looks at a line.
func (a *audit) line(l *Line) {
	switch s := l.Stmt.(type) {
	case *About:
		a.word(l.Pos, kwAbout)
	case *Sequence:
		a.sequence(s)
	case *When:
		if s.Inherited {
			a.word(l.Pos, kwInherited)
		}
		a.cond(s.Cond)
		a.cond(s.Unless)
		for _, l := range s.Body {
			a.line(l)
		}
	}
}

// sequence looks at operations.
func (a *audit) sequence(s *Sequence) {
	if s == nil {
		return
	}
	for _, op := range s.Ops {
		a.op(op)
	}
}

// op looks at an operation.
func (a *audit) op(op *Op) {
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
	a.core(op.Pos, op.Core)
	if op.Because != nil {
		a.word(op.Because.Pos, kwBecause)
	}
}

// core looks at what an operation does.
func (a *audit) core(pos Pos, core Core) {
	switch c := core.(type) {
	case *Remember:
		a.remember(pos, c)
	case *Teach:
		a.sequence(c.Body)
	case *Show:
		a.exprs(c.Values)
	case *Select:
		a.cond(c.Cond)
	case *Tally:
		a.verb(pos, c.Verb)
	case *Gather:
		a.gather(c)
	case *Each:
		a.op(c.Op)
	case *Choose:
		a.choose(c)
	case *Change:
		a.verb(pos, c.Verb)
		a.expr(c.Value)
	case *Weakens:
		a.word(pos, kwWeakens)
		a.expr(c.Over)
	case *Assign:
		a.word(pos, kwAssign)
		a.expr(c.Value)
	case *Rule:
		a.rule(pos, c)
	case *RequireEach:
		a.need(pos, 61, `"require each"`)
		a.cond(c.Cond)
	case *Sort:
		a.word(pos, kwSort)
	case *Compare:
		a.word(pos, kwCompare)
	case *Transform:
		a.word(pos, kwTransform)
		a.expr(c.Value)
	case *Define:
		a.word(pos, kwDefine)
		a.cond(c.Cond)
	case *Call:
		a.call(c)
	case *PackCall:
		a.packCall(c)
	case *Finish:
	}
}

// remember looks at what is bound.
func (a *audit) remember(pos Pos, r *Remember) {
	for _, w := range r.Descriptor {
		a.text(pos, w)
	}
	for _, f := range r.Fields {
		a.expr(f.Value)
	}
	a.exprs(r.Values)
	switch from := r.From.(type) {
	case Core:
		a.core(pos, from)
	case Expr:
		a.expr(from)
	}
}

// gather looks at bounds. Steps are newer than the word "by".
func (a *audit) gather(g *Gather) {
	a.expr(g.From)
	a.expr(g.To)
	if g.By != nil {
		a.need(g.By.Pos, 61, `a step behind "by"`)
		a.expr(g.By)
	}
}

// choose looks at branches.
func (a *audit) choose(c *Choose) {
	for _, b := range c.Branches {
		a.cond(b.Cond)
		a.sequence(b.Then)
	}
	a.sequence(c.Otherwise)
}

// rule looks at a rule. Exceptions are newer than the word "unless".
func (a *audit) rule(pos Pos, r *Rule) {
	a.verb(pos, r.Verb)
	a.cond(r.Cond)
	if r.Unless != nil {
		a.need(condPos(r.Unless), 61, fmt.Sprintf(`"unless" behind %q`, r.Verb))
		a.cond(r.Unless)
	}
}

// call looks at what is given to a composition: at first only names could be.
func (a *audit) call(c *Call) {
	if c.Arg == nil {
		return
	}
	if _, ok := c.Arg.(*Word); !ok {
		a.need(c.Name.Pos, 61, "a composition from a literal")
	}
	a.expr(c.Arg)
}

// packCall looks at the words of a pack's verb.
func (a *audit) packCall(c *PackCall) {
	for i, s := range c.Verb.Slots {
		if c.Slots[i] == nil {
			continue
		}
		if k := keywords[s.Connective]; k != kwNone {
			a.word(c.Pos, k)
		}
		a.expr(c.Slots[i])
	}
}

// exprs looks at expressions.
func (a *audit) exprs(values []Expr) {
	for _, v := range values {
		a.expr(v)
	}
}

// expr looks at an expression.
func (a *audit) expr(e Expr) {
	switch e := e.(type) {
	case *Number:
		if e.Text[0] == '-' {
			a.need(e.Pos, 61, "a number below 0")
		}
	case *Date:
		a.need(e.Pos, 61, "a date")
	case *Extremum:
		if e.Highest {
			a.word(e.Pos, kwHighest)
		} else {
			a.word(e.Pos, kwLowest)
		}
	case *Binary:
		a.expr(e.Left)
		a.need(e.Pos, kwPlus.since(), fmt.Sprintf("%q", e.Op))
		a.expr(e.Right)
	case *Word:
		a.text(e.Pos, e.Text)
	case *Text, *Field, *Item:
	}
}

// text looks at a word that is not quoted.
func (a *audit) text(pos Pos, word string) {
	if word == kwCombine.String() {
		a.need(pos, renamed, `"combine" as a word`)
	}
}

// cond looks at a condition.
func (a *audit) cond(c Cond) {
	switch c := c.(type) {
	case *Junction:
		for _, c := range c.Conds {
			a.cond(c)
		}
	case *Test:
		a.test(c)
	}
}

// test looks at a comparison.
func (a *audit) test(t *Test) {
	a.expr(t.Subject)
	switch {
	case t.Op == OpIncludes:
		a.word(t.Pos, kwIncludes)
	case t.Op == OpWithin:
		a.word(t.Pos, kwWithin)
		a.expr(t.Within)
	case t.Op == OpIs && t.Not:
		a.need(t.Pos, kwDefine.since(), `"is not" with the name of a condition`)
	}
	a.expr(t.Value)
}

// condPos returns where a condition begins.
func condPos(c Cond) Pos {
	switch c := c.(type) {
	case *Junction:
		return condPos(c.Conds[0])
	case *Test:
		return c.Pos
	}
	return Pos{}
}
