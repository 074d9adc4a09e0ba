package limn

import (
	"fmt"
	"slices"
)

// A Finding is an error or a warning about a program, found without running it.
type Finding struct {
	Pos  Pos
	Kind FindingKind
	Text string // what is wrong
	Hint string // suggested correction, or empty
}

// A FindingKind is the kind of a finding: "parse", "unknown", "release",
// "contradiction" or "amber".
type FindingKind string

// The kinds of findings. The first three are errors.
const (
	findingParse         FindingKind = "parse"         // no statement of the language
	findingUnknown       FindingKind = "unknown"       // a name that nothing gives a meaning to
	findingRelease       FindingKind = "release"       // unknown to the reader's release
	findingContradiction FindingKind = "contradiction" // rules of which not all can be kept, or that say nothing
	findingAmber         FindingKind = "amber"         // "and" beside "or", which a run asks about
)

// Warns reports whether a finding is a warning: the program may be as
// intended.
func (k FindingKind) Warns() bool { return k == findingContradiction || k == findingAmber }

// Check returns the findings about a program in the order of its lines:
// errors, names used before they can have a meaning, contradictory rules, and
// conditions that need a confirmation. If release is not nil, constructs that
// it does not know are findings too. packs must be those that the program was
// parsed with.
//
// Types of values and fields of records are checked only by a run.
func Check(p *Program, packs []*Pack, release *Release) []Finding {
	var found []Finding
	for _, l := range p.Lines {
		if l.Err != nil {
			found = append(found, Finding{l.Err.Pos, findingParse, l.Err.Text, l.Err.Hint})
		}
		if l.Amber != "" {
			found = append(found, Finding{l.Pos, findingAmber, "this reads as: " + l.Amber, "a run asks whether that is meant; split it into two statements"})
		}
	}
	found = append(found, unknownNames(p, packs)...)
	for _, c := range contradictions(p) {
		found = append(found, Finding{c.Lines[len(c.Lines)-1].Pos, findingContradiction, c.Text, ""})
	}
	if release != nil {
		for _, e := range release.Check(p) {
			found = append(found, Finding{e.Pos, findingRelease, e.Text, e.Hint})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Pos.compare(b.Pos) })
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
		c.later.visit(l.stmt)
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
	switch s := l.stmt.(type) {
	case *when:
		c.cond(s.Cond)
		c.cond(s.Unless)
		c.atAnyTime(func() {
			for _, inner := range s.Body {
				c.line(inner)
			}
		})
	case *sequence:
		c.sequence(s)
	case *about:
	}
}

// atAnyTime looks at what runs later than where it stands.
func (c *nameCheck) atAnyTime(look func()) {
	before := c.any
	c.any = true
	look()
	c.any = before
}

func (c *nameCheck) sequence(s *sequence) {
	if s == nil {
		return
	}
	for _, op := range s.Ops {
		c.core(op.Core)
		c.known.visit(op.Core)
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
		c.found = append(c.found, Finding{n.Pos, findingUnknown, fmt.Sprintf("there is nothing called '%s'", n.Text), hint})
	}
}

// core looks at what takes names of things that exist.
func (c *nameCheck) core(core action) {
	switch o := core.(type) {
	case *remember:
		c.remember(o)
	case *teach:
		c.atAnyTime(func() { c.sequence(o.Body) })
	case *show:
		for _, e := range o.Values {
			c.name(e)
		}
	case *selection:
		c.must(o.List)
	case *tally:
		c.must(o.List)
	case *each:
		c.each(o)
	case *choose:
		c.choose(o)
	case *change:
		c.value(o.Value)
		c.must(o.List)
	case *weakens:
		c.must(o.Name)
	case *assign:
		c.value(o.Value)
	case *rule:
		c.cond(o.Cond)
		c.cond(o.Unless)
	case *requireEach:
		c.must(o.List)
	case *sort:
		c.must(o.List)
	case *compare:
		c.must(o.Left)
		c.must(o.Right)
	case *transform:
		c.must(o.List)
	case *call:
		c.mustBeIn(c.known, o.Name) // a line calls what there is when it is its turn, also in a body
	case *packCall:
		c.packCall(o)
	default:
	}
}

func (c *nameCheck) remember(r *remember) {
	for _, a := range r.Fields {
		c.value(a.Value)
	}
	for _, e := range r.Values {
		c.value(e)
	}
	switch from := r.From.(type) {
	case action:
		c.core(from)
	case expr:
		c.name(from)
	}
}

// each looks at an operation in which words may be fields.
func (c *nameCheck) each(e *each) {
	c.must(e.List)
	before := c.fields
	c.fields = true
	c.core(e.Op.Core)
	c.fields = before
}

func (c *nameCheck) choose(o *choose) {
	for _, b := range o.Branches {
		c.cond(b.Cond)
	}
	for _, b := range o.Branches {
		c.sequence(b.Then)
	}
	c.sequence(o.Otherwise)
}

func (c *nameCheck) packCall(p *packCall) {
	for i, s := range p.Verb.Slots {
		if s.IsName {
			c.name(p.Slots[i])
		} else {
			c.value(p.Slots[i])
		}
	}
}

// cond looks at a condition that has no current item.
func (c *nameCheck) cond(cond condition) {
	switch o := cond.(type) {
	case *junction:
		for _, part := range o.Conds {
			c.cond(part)
		}
	case *test:
		if !c.applies(o) {
			c.name(o.Subject)
		}
		c.value(o.Value)
	}
}

// applies reports whether a test applies a defined condition, which then is not met
// by what there is not.
func (c *nameCheck) applies(t *test) bool {
	w, ok := t.Value.(*word)
	return ok && t.Op == opIs && c.walk().defined[w.Text] != 0
}

// walk returns the names with a meaning where the check is.
func (c *nameCheck) walk() nameWalk {
	if c.any {
		return c.later
	}
	return c.known
}

// name looks at an expression where a bare word is a name.
func (c *nameCheck) name(e expr) {
	if w, ok := e.(*word); ok {
		if !c.fields {
			c.must(Name(*w))
		}
		return
	}
	c.value(e)
}

// value looks at an expression where a bare word may be text.
func (c *nameCheck) value(e expr) {
	switch o := e.(type) {
	case *field:
		if !c.fields {
			c.must(o.Of)
		}
	case *extremum:
		c.must(o.List)
	case *binary:
		c.name(o.Left)
		c.name(o.Right)
	}
}

// Pack returns the name of the pack that has the statement's verb, or "" if
// the verb is the language's own.
func (l *Line) Pack() string {
	if s, ok := l.stmt.(*sequence); ok {
		for _, op := range s.Ops {
			if c, ok := op.Core.(*packCall); ok {
				return c.Verb.Pack
			}
		}
	}
	return ""
}
