package limn

import (
	"cmp"
	"fmt"
	"slices"
)

// A contradiction is something about the rules of a program that cannot be meant.
type contradiction struct {
	Kind  contradictionKind
	Lines []*Line // lines involved, in order
	Text  string  // a sentence without a full stop
}

// A contradictionKind is what sort of thing is wrong with rules.
type contradictionKind string

// The kinds of contradictions.
const (
	alwaysDenied      contradictionKind = "always-deny"             // nothing passes, whatever the values are
	deadForbid        contradictionKind = "dead-forbid"             // it forbids what cannot be
	requireForbid     contradictionKind = "require-forbid-conflict" // to keep the one is to break the other
	requireRequire    contradictionKind = "require-conflict"        // two requirements exclude one another
	unlessSwallows    contradictionKind = "unless-swallows-rule"    // the exception covers all that the rule is about
	redundantForbid   contradictionKind = "redundant-forbid"        // another one forbids as much or more
	deadPermit        contradictionKind = "dead-permit"             // it permits what cannot be, or what is forbidden
	constantPredicate contradictionKind = "constant-predicate"      // it is always true or never
)

// The bounds of comparing rules.
const (
	maxComparisons = 20_000 // in a program
	maxNeighbors   = 64     // of a rule with those before it that are about one thing
)

// contradictions returns what contradicts what among the rules of a program: its
// lines with require, forbid, permit and unless that are not inside of others, and
// its predicates. They come in the order of the last line that is involved.
//
// The check knows intervals of numbers and dates, equality of texts, and what
// lists include; comparisons with other names it takes as they are written. It is
// sound: of what it says can never be, no values make an example. A bare word
// counts as text if nothing in the program gives it another meaning, and rules
// are taken as if all held at the same time. It is not complete: conditions that
// come to more than 64 alternatives are passed over, and of a great many rules
// about the same things only those that are near one another are compared.
func contradictions(p *Program) []contradiction {
	rules := rulesOf(p)
	var found []contradiction
	compared := 0
	for i, later := range rules.all {
		found = append(found, later.flaws...)
		if compared > maxComparisons {
			continue
		}
		for _, earlier := range rules.related(i) {
			found = append(found, compareRules(earlier, later)...)
			compared++
		}
	}
	found = append(found, rules.constants...)
	slices.SortStableFunc(found, func(a, b contradiction) int {
		return cmp.Compare(a.last(), b.last())
	})
	return found
}

func (c contradiction) last() int { return c.Lines[len(c.Lines)-1].Pos.Line }

// warnings returns what a run says of contradictions before it begins: of those
// among requirements and prohibitions.
func warnings(p *Program) []string {
	var texts []string
	for _, c := range contradictions(p) {
		if c.Kind == requireForbid || c.Kind == requireRequire {
			texts = append(texts, fmt.Sprintf("possible contradiction: %s.", c.Text))
		}
	}
	return texts
}

// A provision is a rule as formulas.
type provision struct {
	line *Line
	verb string

	subject   formula // the condition
	exception formula // what stands after "unless", if anything does
	applies   formula // the condition, and not the exception
	passes    formula // what a require or a forbid lets through
	bites     formula // what it does not

	excused bool            // whether there is an exception
	known   bool            // whether all this is within the bound
	flaws   []contradiction // what is wrong with it by itself
}

// alone returns what is wrong with a rule by itself.
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

// isVoid reports whether the exception leaves nothing of a rule.
func (p *provision) isVoid() bool {
	if p.verb == "permit" {
		return never(p.applies)
	}
	return never(p.bites)
}

func (p *provision) found(kind contradictionKind, format string, args ...any) []contradiction {
	return []contradiction{{Kind: kind, Lines: []*Line{p.line}, Text: fmt.Sprintf(format, args...)}}
}

// compareRules returns what is wrong with two rules that are both sound alone.
func compareRules(earlier, later *provision) []contradiction {
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
		if earlier.verb == "forbid" && exclude(later.applies, earlier.passes) {
			return say(deadPermit, "all that line %d permits, line %d forbids", b, a)
		}
	case earlier.verb == "permit":
		if later.verb == "forbid" && exclude(earlier.applies, later.passes) {
			return say(deadPermit, "all that line %d permits, line %d forbids", a, b)
		}
	case exclude(earlier.passes, later.passes):
		return say(conflictOf(earlier, later), "line %d and line %d can never both be kept", a, b)
	case earlier.verb == "forbid" && later.verb == "forbid":
		if exclude(later.bites, earlier.passes) {
			return say(redundantForbid, "all that line %d forbids, line %d forbids as well", b, a)
		}
		if exclude(earlier.bites, later.passes) {
			return say(redundantForbid, "all that line %d forbids, line %d forbids as well", a, b)
		}
	}
	return nil
}

// conflictOf names what two rules are that cannot both be kept.
func conflictOf(p, q *provision) contradictionKind {
	switch {
	case p.verb != q.verb:
		return requireForbid
	case p.verb == "require":
		return requireRequire
	}
	return alwaysDenied
}

// ruleBook is the rules of a program, and by what they are about.
type ruleBook struct {
	all       []*provision
	byTerm    map[string][]int
	terms     [][]string      // of each rule
	constants []contradiction // predicates that are always true or never
}

// related returns the rules before one that are about something it is about, the
// nearest ones first.
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

// provision returns a rule as formulas.
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

// addException adds the exception to a rule, and reports whether that is within the bound.
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

// define learns a predicate and says whether it is always true or never.
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
