package limn

import (
	"cmp"
	"fmt"
	"slices"
)

// A contradiction is a defect of the rules of a program: rules that exclude one another,
// or a rule without effect.
type contradiction struct {
	Kind  contradictionKind
	Lines []*Line // lines involved, in order
	Text  string  // a sentence without a full stop
}

// A contradictionKind is the kind of a [contradiction].
type contradictionKind string

// The kinds of contradictions.
const (
	alwaysDenied      contradictionKind = "always-deny"             // the rule fails for all values
	deadForbid        contradictionKind = "dead-forbid"             // it forbids a condition that is never true
	requireForbid     contradictionKind = "require-forbid-conflict" // a requirement and a prohibition exclude one another
	requireRequire    contradictionKind = "require-conflict"        // two requirements exclude one another
	unlessSwallows    contradictionKind = "unless-swallows-rule"    // the exception covers every case of the rule
	redundantForbid   contradictionKind = "redundant-forbid"        // another rule forbids the same cases or more
	deadPermit        contradictionKind = "dead-permit"             // it permits a condition that is never true or is forbidden
	constantPredicate contradictionKind = "constant-predicate"      // the predicate is always true or never true
)

// The bounds of the comparisons of pairs of rules.
const (
	maxCompared  = 1_000_000 // literals that are compared in a program
	maxNeighbors = 64        // earlier rules that have a term in common with one rule
)

// contradictions returns the contradictions among the top-level rules (require, forbid and
// permit, with their exceptions) and predicates of a program, ordered by the last line
// that is involved.
//
// The check understands intervals of numbers and dates, equality of texts, and items that
// lists include. A comparison with another name is an opaque condition to it. The check is
// sound: if it reports that a condition is never true, no values make the condition true.
// It assumes that a bare word is a text unless the program defines a name of that spelling,
// and that all rules apply at the same time. The check is not complete: it skips conditions
// that expand to more than 64 alternatives, compares a rule with at most [maxNeighbors]
// earlier rules per term, and ends after [maxCompared] literals.
func contradictions(p *Program) []contradiction {
	rules := rulesOf(p)
	var found []contradiction
	c := comparer{left: maxCompared}
	for i, later := range rules.all {
		found = append(found, later.flaws...)
		if c.left <= 0 {
			continue
		}
		for _, earlier := range rules.related(i) {
			found = append(found, c.rules(earlier, later)...)
		}
	}
	found = append(found, rules.constants...)
	slices.SortStableFunc(found, func(a, b contradiction) int {
		return cmp.Compare(a.last(), b.last())
	})
	return found
}

func (c contradiction) last() int { return c.Lines[len(c.Lines)-1].Pos.Line }

// warnings returns the warnings that a run shows before its first statement: one for each
// contradiction between two requirements or between a requirement and a prohibition.
func warnings(p *Program) []string {
	var texts []string
	for _, c := range contradictions(p) {
		if c.Kind == requireForbid || c.Kind == requireRequire {
			texts = append(texts, fmt.Sprintf("possible contradiction: %s.", c.Text))
		}
	}
	return texts
}

// A provision is a rule that is converted to formulas.
type provision struct {
	line *Line
	verb string

	subject   formula // the condition
	exception formula // the condition after "unless", if there is one
	applies   formula // the condition is true and the exception is false
	passes    formula // a require or forbid is met
	bites     formula // a require or forbid is broken

	excused bool            // the rule has an exception
	known   bool            // all formulas above are within the size bounds
	flaws   []contradiction // contradictions that involve this rule only
}

// alone returns the contradictions that involve only p.
func (p *provision) alone() []contradiction {
	n := p.line.Pos.Line
	if !p.known {
		return nil
	}
	switch {
	case p.verb == "forbid" && never(p.subject):
		return p.found(deadForbid, "line %d forbids what can never be", n)
	case p.verb == "permit" && never(p.subject):
		return p.found(deadPermit, "line %d permits what can never be", n)
	case p.verb != "permit" && never(p.passes):
		return p.found(alwaysDenied, "line %d lets nothing pass, whatever the values are", n)
	case p.excused && p.isVoid():
		return p.found(unlessSwallows, "the exception in line %d covers all that the rule is about", n)
	}
	return nil
}

// isVoid reports whether a rule has no effect, because its exception covers
// every case.
func (p *provision) isVoid() bool {
	if p.verb == "permit" {
		return never(p.applies)
	}
	return never(p.bites)
}

func (p *provision) found(kind contradictionKind, format string, args ...any) []contradiction {
	return []contradiction{{Kind: kind, Lines: []*Line{p.line}, Text: fmt.Sprintf(format, args...)}}
}

// A comparer compares rules.
type comparer struct {
	left int // number of literals that it may still compare
}

// exclude reports whether it is certain that f and g are never both true. When no literals are
// left to compare, nothing is certain.
func (c *comparer) exclude(f, g formula) bool {
	for _, a := range f {
		for _, b := range g {
			c.left -= len(a) + len(b)
			if c.left < 0 || !slices.Concat(a, b).contradictory() {
				return false
			}
		}
	}
	return true
}

// rules returns the contradiction between two rules, if there is one. It returns nothing if
// one of the rules has a contradiction by itself.
func (c *comparer) rules(earlier, later *provision) []contradiction {
	c.left--
	if !earlier.known || !later.known || len(earlier.flaws)+len(later.flaws) > 0 {
		return nil
	}
	lines := []*Line{earlier.line, later.line}
	a, b := earlier.line.Pos.Line, later.line.Pos.Line
	say := func(kind contradictionKind, text string, first, second int) []contradiction {
		return []contradiction{{kind, lines, fmt.Sprintf(text, first, second)}}
	}
	switch {
	case earlier.verb == "permit" && later.verb == "permit":
	case later.verb == "permit":
		if earlier.verb == "forbid" && c.exclude(later.applies, earlier.passes) {
			return say(deadPermit, "all that line %d permits, line %d forbids", b, a)
		}
	case earlier.verb == "permit":
		if later.verb == "forbid" && c.exclude(earlier.applies, later.passes) {
			return say(deadPermit, "all that line %d permits, line %d forbids", a, b)
		}
	case c.exclude(earlier.passes, later.passes):
		return say(conflictOf(earlier, later), "line %d and line %d can never both be kept", a, b)
	case earlier.verb == "forbid" && later.verb == "forbid":
		if c.exclude(later.bites, earlier.passes) {
			return say(redundantForbid, "all that line %d forbids, line %d forbids as well", b, a)
		}
		if c.exclude(earlier.bites, later.passes) {
			return say(redundantForbid, "all that line %d forbids, line %d forbids as well", a, b)
		}
	}
	return nil
}

// conflictOf returns the kind of contradiction of two rules that exclude one another.
func conflictOf(p, q *provision) contradictionKind {
	switch {
	case p.verb != q.verb:
		return requireForbid
	case p.verb == "require":
		return requireRequire
	}
	return alwaysDenied
}

// ruleBook holds the rules of a program and indexes them by their terms.
type ruleBook struct {
	all       []*provision
	byTerm    map[string][]int // indexes into all of the rules with a term
	terms     [][]string       // the terms of each rule in all
	constants []contradiction  // predicates that are always true or never
}

// related returns the rules before rule i that share a term with rule i, the nearest
// first and at most [maxNeighbors] per term.
func (b *ruleBook) related(i int) []*provision {
	var before []int
	for _, t := range b.terms[i] {
		same := b.byTerm[t]
		at, _ := slices.BinarySearch(same, i)
		before = append(before, same[max(0, at-maxNeighbors):at]...)
	}
	slices.Sort(before)
	var rules []*provision
	for _, j := range slices.Backward(slices.Compact(before)) {
		rules = append(rules, b.all[j])
	}
	return rules
}

func (b *ruleBook) add(p *provision) {
	p.flaws = p.alone()
	var terms []string
	for _, f := range []formula{p.subject, p.exception} {
		for _, c := range f {
			for _, l := range c {
				if !slices.Contains(terms, l.term) {
					terms = append(terms, l.term)
				}
			}
		}
	}
	for _, t := range terms {
		b.byTerm[t] = append(b.byTerm[t], len(b.all))
	}
	b.all, b.terms = append(b.all, p), append(b.terms, terms)
}

// rulesOf collects the rules and the predicates of a program.
func rulesOf(p *Program) *ruleBook {
	b := &ruleBook{byTerm: make(map[string][]int)}
	var r *reading
	for _, l := range p.Lines {
		s, ok := l.stmt.(*sequence)
		if !ok {
			continue
		}
		for _, op := range s.Ops {
			switch core := op.Core.(type) {
			case *rule:
				r = r.orOf(p)
				if core.Verb != "expect" {
					b.add(r.provision(l, core))
				}
			case *define:
				r = r.orOf(p)
				b.constants = append(b.constants, r.define(l, core)...)
			default:
			}
		}
	}
	return b
}

// provision converts a rule to formulas.
func (r *reading) provision(l *Line, rule *rule) *provision {
	p := &provision{line: l, verb: rule.Verb}
	subject, ok := r.formula(rule.Cond, false, "", 0)
	denied, also := r.formula(rule.Cond, true, "", 0)
	p.subject, p.applies, p.passes, p.bites, p.known = subject, subject, subject, denied, ok && also
	if rule.Verb == "forbid" {
		p.passes, p.bites = denied, subject
	}
	if p.known && rule.Unless != nil {
		p.known = r.addException(p, rule.Unless)
	}
	return p
}

// addException adds an exception, the condition after "unless", to a provision. It
// reports whether the formulas are within the size bounds.
func (r *reading) addException(p *provision, unless condition) bool {
	holds, ok := r.formula(unless, false, "", 0)
	fails, also := r.formula(unless, true, "", 0)
	if !ok || !also {
		return false
	}
	p.exception, p.excused = holds, true
	var fits [3]bool
	p.applies, fits[0] = both(p.applies, fails)
	p.bites, fits[1] = both(p.bites, fails)
	p.passes, fits[2] = either(p.passes, holds)
	return fits == [3]bool{true, true, true}
}

// define adds a predicate to r.predicates, and returns a contradiction if the predicate is
// always true or never true.
func (r *reading) define(l *Line, d *define) []contradiction {
	p := &provision{line: l}
	var found []contradiction
	const item = "each"
	if f, ok := r.formula(d.Cond, false, item, 0); ok && never(f) {
		found = p.found(constantPredicate, "what line %d defines is never true", l.Pos.Line)
	}
	if f, ok := r.formula(d.Cond, true, item, 0); ok && never(f) {
		found = p.found(constantPredicate, "what line %d defines is always true", l.Pos.Line)
	}
	if !r.vague[d.Name.Text] {
		r.predicates[d.Name.Text] = d
	}
	return found
}
