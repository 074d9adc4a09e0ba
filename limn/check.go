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
	findingParse         FindingKind = "parse"         // the line is not a valid statement
	findingUnknown       FindingKind = "unknown"       // a name is used that is not defined at that point
	findingRelease       FindingKind = "release"       // the construct is newer than the release passed to Check
	findingContradiction FindingKind = "contradiction" // rules exclude one another, or a rule has no effect
	findingAmber         FindingKind = "amber"         // a condition mixes "and" with "or"; a run asks for confirmation
)

// Warns reports whether a finding is a warning, which the kinds "contradiction"
// and "amber" are: the program may be as intended.
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
		for _, s := range append([]*Line{l}, l.Body()...) {
			if s.Amber != "" {
				found = append(found, Finding{s.Pos, findingAmber, "this reads as: " + s.Amber, "a run asks whether that is meant; split it into two statements"})
			}
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

// unknownNames returns a finding for each use of a name before any statement can have
// defined it. It looks only at places where a bare word must be a name, not a text.
func unknownNames(p *Program, packs []*Pack) []Finding {
	c := &nameCheck{
		known: nameWalk{map[string]bool{"today": true}, map[string]int{}},
		later: nameWalk{map[string]bool{"today": true}, map[string]int{}},
		live:  map[string]bool{},
	}
	for _, pack := range packs {
		for _, n := range pack.Declarations {
			c.known.bound[n.Name], c.later.bound[n.Name], c.live[n.Name] = true, true, true
		}
	}
	for _, l := range p.Lines {
		c.later.visit(l.stmt)
	}
	for _, l := range p.Lines {
		c.meaning(l.stmt)
		c.line(l)
	}
	return c.found
}

// A nameCheck checks the lines of a program in order and tracks which names are defined.
// It treats the operations in branches and compositions as if all of them ran. The bodies of
// handlers run after the last line: what they define is in later only.
type nameCheck struct {
	known nameWalk        // names that are defined so far
	later nameWalk        // names that are defined at the end of the program
	live  map[string]bool // names whose values come from outside
	found []Finding

	any     bool // the code being checked may run after the last line, so names in later count as defined
	handler bool // the code being checked is the body of a handler
	fields  bool // a bare word may be a field of the current item
}

// meaning adds a finding for each condition after "is not" that no earlier line defines. The
// machine resolves these when it reaches the line, even inside a body.
func (c *nameCheck) meaning(s stmt) {
	walk(s, func(node any) bool {
		if t, ok := node.(*test); ok && t.Op == opIs && t.Not {
			if w, ok := t.Value.(*word); ok && c.known.defined[w.Text] == 0 {
				c.found = append(c.found, Finding{w.Pos, findingUnknown, fmt.Sprintf("no condition '%s' is defined", w.Text), `write "is not equal to" for a value, or define the condition first`})
			}
		}
		return true
	})
}

func (c *nameCheck) line(l *Line) {
	switch s := l.stmt.(type) {
	case *when:
		c.cond(s.Cond)
		c.cond(s.Unless)
		c.handler = true
		c.atAnyTime(func() {
			for _, inner := range s.Body {
				c.line(inner)
			}
		})
		c.handler = false
	case *sequence:
		c.sequence(s)
	case *about:
	}
}

// atAnyTime calls the function look with c.any set. It is for code that may run after the
// last line: the body of a handler or of a composition.
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
		c.operation(op)
		if !c.handler {
			c.known.visit(op.Core)
		}
	}
}

// operation checks the names that an operation uses. In one form the word after the second
// "from" may be an agent, and the first one a value or a composition: see [Machine.coreOf].
func (c *nameCheck) operation(op *operation) {
	if r, ok := op.Core.(*remember); ok && op.Inherited && op.From == "" {
		if from, ok := r.From.(*call); ok {
			c.must(from.Name)
			return
		}
	}
	c.core(op.Core)
}

// must adds a finding if the name n is not defined at this point of the
// program.
func (c *nameCheck) must(n Name) { c.mustBeIn(c.walk(), n) }

// mustBeIn adds a finding if the name n is not among the names that the
// argument walk has collected.
func (c *nameCheck) mustBeIn(walk nameWalk, n Name) {
	if n.Text != "" && !walk.bound[n.Text] && walk.defined[n.Text] == 0 {
		hint := "remember it before it is used"
		if c.later.bound[n.Text] {
			hint = "it gets its meaning only later: move that up"
		}
		c.found = append(c.found, Finding{n.Pos, findingUnknown, fmt.Sprintf("there is nothing called '%s'", n.Text), hint})
	}
}

// core checks the names that an action uses.
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
		c.mustBeIn(c.known, o.Name) // the machine resolves calls when it reaches the line, even inside a body
		c.name(o.Arg)
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

// each checks the operation of an iteration, in which bare words may be fields.
func (c *nameCheck) each(e *each) {
	c.must(e.List)
	before := c.fields
	c.fields = true
	c.operation(e.Op)
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

// cond checks the names in a condition without a current item.
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
		switch o.Op {
		case opAbove, opBelow, opWithin:
			c.name(o.Within)
			c.compared(o)
		case opIs, opEqual, opIncludes:
			c.value(o.Value)
		}
	}
}

// compared checks the right side of a test that compares numbers or dates. While a live subject
// has no value, the machine does not look at that side, so the names may get their values later.
func (c *nameCheck) compared(t *test) {
	if c.live[subjectName(t.Subject)] {
		c.atAnyTime(func() { c.name(t.Value) })
		return
	}
	c.name(t.Value)
}

// subjectName returns the name that the subject of a test takes its value from, or "".
func subjectName(e expr) string {
	switch o := e.(type) {
	case *word:
		return o.Text
	case *field:
		return o.Of.Text
	case *extremum:
		return o.List.Text
	}
	return ""
}

// applies reports whether a test applies a defined condition to its subject. If
// the subject of such a test is undefined, that is no error: the condition is
// then not met.
func (c *nameCheck) applies(t *test) bool {
	w, ok := t.Value.(*word)
	return ok && t.Op == opIs && c.walk().defined[w.Text] != 0
}

// walk returns the names that count as defined at the point of the program that
// is being checked.
func (c *nameCheck) walk() nameWalk {
	if c.any {
		return c.later
	}
	return c.known
}

// name checks an expression in a place where a bare word must be a name.
func (c *nameCheck) name(e expr) {
	if w, ok := e.(*word); ok {
		if !c.fields {
			c.must(Name(*w))
		}
		return
	}
	c.value(e)
}

// value checks an expression in a place where a bare word may be a text.
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
