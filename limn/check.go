package limn

import (
	"cmp"
	"fmt"
	"slices"
)

// A Finding is something about a program that can be seen without running it.
type Finding struct {
	Pos  Pos
	Kind FindingKind
	Text string // what is wrong
	Hint string // what to do, or empty
}

// A FindingKind is what sort of finding it is.
type FindingKind string

// The kinds of findings. Only those of the first three kinds make a program one
// that does not do what it says, or that its reader cannot read.
const (
	FindingParse         FindingKind = "parse"         // no statement of the language
	FindingUnknown       FindingKind = "unknown"       // a name that nothing gives a meaning to
	FindingRelease       FindingKind = "release"       // unknown to the reader's release
	FindingContradiction FindingKind = "contradiction" // see [Contradictions]
	FindingAmber         FindingKind = "amber"         // "and" beside "or", which a run asks about
)

// Warns reports whether a finding may be meant.
func (k FindingKind) Warns() bool { return k == FindingContradiction || k == FindingAmber }

// Check returns what can be said of a program without running it, in the order of
// its lines: errors, names that are used before anything can have given them a
// meaning, contradictions, and conditions that have to be confirmed. If there is a
// release, constructs that it does not know are among them.
//
// Whether a value is of the right kind, or a record has a field, only a run tells.
// Packs are those that the program was parsed with.
func Check(p *Program, packs []*Pack, release *Release) []Finding {
	var found []Finding
	for _, l := range p.Lines {
		if l.Err != nil {
			found = append(found, Finding{l.Err.Pos, FindingParse, l.Err.Text, l.Err.Hint})
		}
		if l.Amber != "" {
			found = append(found, Finding{l.Pos, FindingAmber, "this reads as: " + l.Amber, "a run asks whether that is meant; split it into two statements"})
		}
	}
	found = append(found, unknownNames(p, packs)...)
	for _, c := range Contradictions(p) {
		found = append(found, Finding{c.Lines[len(c.Lines)-1].Pos, FindingContradiction, c.Text, ""})
	}
	if release != nil {
		for _, e := range release.Check(p) {
			found = append(found, Finding{e.Pos, FindingRelease, e.Text, e.Hint})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return found
}

// unknownNames returns where a program uses a name, in a place that takes nothing
// else, before anything can have given it a meaning.
func unknownNames(p *Program, packs []*Pack) []Finding {
	c := &nameCheck{
		known: nameWalk{map[string]bool{"today": true}, map[string]int{}},
		later: nameWalk{map[string]bool{"today": true}, map[string]int{}},
	}
	for _, pack := range packs {
		for _, n := range pack.Declarations {
			c.known.bound[n.Name], c.later.bound[n.Name] = true, true
		}
	}
	for _, l := range p.Lines {
		c.later.line(l, false)
	}
	for _, l := range p.Lines {
		c.line(l)
	}
	return c.found
}

// A nameCheck looks at names in the order in which they get their meanings. What
// stands in a branch or in a composition counts as if it had been executed.
type nameCheck struct {
	known nameWalk // what has a meaning so far
	later nameWalk // what has one at the end
	found []Finding

	any    bool // what is looked at runs at any time: whatever has a meaning at the end may have it
	fields bool // bare words may be fields of an item
}

func (c *nameCheck) line(l *Line) {
	switch s := l.Stmt.(type) {
	case *When:
		c.cond(s.Cond)
		c.cond(s.Unless)
		c.atAnyTime(func() {
			for _, inner := range s.Body {
				c.line(inner)
			}
		})
	case *Sequence:
		c.sequence(s)
	case *About:
	}
}

// atAnyTime looks at what runs later than where it stands.
func (c *nameCheck) atAnyTime(look func()) {
	before := c.any
	c.any = true
	look()
	c.any = before
}

func (c *nameCheck) sequence(s *Sequence) {
	if s == nil {
		return
	}
	for _, op := range s.Ops {
		c.core(op.Core)
		c.known.core(op.Core, false)
	}
}

// must reports a name without a meaning.
func (c *nameCheck) must(n Name) { c.mustBeIn(c.walk(), n) }

// mustBeIn reports a name that is not among some that have a meaning.
func (c *nameCheck) mustBeIn(walk nameWalk, n Name) {
	if n.Text != "" && !walk.bound[n.Text] && walk.defined[n.Text] == 0 {
		hint := "remember it before it is used"
		if c.later.bound[n.Text] {
			hint = "it gets its meaning only later: move that up"
		}
		c.found = append(c.found, Finding{n.Pos, FindingUnknown, fmt.Sprintf("there is nothing called '%s'", n.Text), hint})
	}
}

// core looks at what takes names of things that exist.
func (c *nameCheck) core(core Core) {
	switch o := core.(type) {
	case *Remember:
		c.remember(o)
	case *Teach:
		c.atAnyTime(func() { c.sequence(o.Body) })
	case *Show:
		for _, e := range o.Values {
			c.name(e)
		}
	case *Select:
		c.must(o.List)
	case *Tally:
		c.must(o.List)
	case *Each:
		c.each(o)
	case *Choose:
		c.choose(o)
	case *Change:
		c.value(o.Value)
		c.must(o.List)
	case *Weakens:
		c.must(o.Name)
	case *Assign:
		c.value(o.Value)
	case *Rule:
		c.cond(o.Cond)
		c.cond(o.Unless)
	case *RequireEach:
		c.must(o.List)
	case *Sort:
		c.must(o.List)
	case *Compare:
		c.must(o.Left)
		c.must(o.Right)
	case *Transform:
		c.must(o.List)
	case *Call:
		c.mustBeIn(c.known, o.Name) // a line calls what there is when it is its turn, also in a body
	case *PackCall:
		c.packCall(o)
	default:
	}
}

func (c *nameCheck) remember(r *Remember) {
	for _, a := range r.Fields {
		c.value(a.Value)
	}
	for _, e := range r.Values {
		c.value(e)
	}
	switch from := r.From.(type) {
	case Core:
		c.core(from)
	case Expr:
		c.name(from)
	}
}

// each looks at an operation in which words may be fields.
func (c *nameCheck) each(e *Each) {
	c.must(e.List)
	before := c.fields
	c.fields = true
	c.core(e.Op.Core)
	c.fields = before
}

func (c *nameCheck) choose(o *Choose) {
	for _, b := range o.Branches {
		c.cond(b.Cond)
	}
	for _, b := range o.Branches {
		c.sequence(b.Then)
	}
	c.sequence(o.Otherwise)
}

func (c *nameCheck) packCall(p *PackCall) {
	for i, s := range p.Verb.Slots {
		if s.IsName {
			c.name(p.Slots[i])
		} else {
			c.value(p.Slots[i])
		}
	}
}

// cond looks at a condition that has no current item.
func (c *nameCheck) cond(cond Cond) {
	switch o := cond.(type) {
	case *Junction:
		for _, part := range o.Conds {
			c.cond(part)
		}
	case *Test:
		if !c.applies(o) {
			c.name(o.Subject)
		}
		c.value(o.Value)
	}
}

// applies reports whether a test applies a defined condition, which then is not met
// by what there is not.
func (c *nameCheck) applies(t *Test) bool {
	w, ok := t.Value.(*Word)
	return ok && t.Op == OpIs && c.walk().defined[w.Text] != 0
}

// walk returns the names with a meaning where the check is.
func (c *nameCheck) walk() nameWalk {
	if c.any {
		return c.later
	}
	return c.known
}

// name looks at an expression where a bare word is a name.
func (c *nameCheck) name(e Expr) {
	if w, ok := e.(*Word); ok {
		if !c.fields {
			c.must(Name(*w))
		}
		return
	}
	c.value(e)
}

// value looks at an expression where a bare word may be text.
func (c *nameCheck) value(e Expr) {
	switch o := e.(type) {
	case *Field:
		if !c.fields {
			c.must(o.Of)
		}
	case *Extremum:
		c.must(o.List)
	case *Binary:
		c.name(o.Left)
		c.name(o.Right)
	}
}

// Pack returns the name of the pack whose verb a statement is; empty if it is none.
func (l *Line) Pack() string {
	if s, ok := l.Stmt.(*Sequence); ok {
		for _, op := range s.Ops {
			if c, ok := op.Core.(*PackCall); ok {
				return c.Verb.Pack
			}
		}
	}
	return ""
}
