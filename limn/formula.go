package limn

import (
	"math/big"
	"strings"
)

// A reading converts the conditions of a program to formulas.
type reading struct {
	bound      map[string]bool    // names of values and compositions anywhere in the program
	predicates map[string]*define // conditions that are certainly defined at the current line
	vague      map[string]bool    // names whose definition is uncertain: defined twice, conditionally, or also a value
}

// formula converts a condition or, if denied is set, its negation, and reports whether the
// formula is within the size bounds. item is the term for "each".
func (r *reading) formula(c condition, denied bool, item string, depth int) (formula, bool) {
	if depth > maxDepth {
		return nil, false
	}
	switch c := c.(type) {
	case *test:
		return r.test(c, denied, item, depth)
	case *junction:
		return r.junction(c, denied, item, depth)
	}
	return nil, false
}

func (r *reading) junction(c *junction, denied bool, item string, depth int) (formula, bool) {
	join, f := both, always()
	if c.Or != denied {
		join, f = either, nil
	}
	for _, part := range c.Conds {
		g, ok := r.formula(part, denied, item, depth+1)
		if !ok {
			return nil, false
		}
		if f, ok = join(f, g); !ok {
			return nil, false
		}
	}
	return f, true
}

// test returns the formula of a comparison, or its negation if denied is set.
func (r *reading) test(t *test, denied bool, item string, depth int) (formula, bool) {
	denied = denied != t.Not
	subject := subjectTerm(t.Subject, item)
	if name, ok := t.Value.(*word); ok && t.Op == opIs {
		if p := r.predicates[name.Text]; p != nil {
			return r.formula(p.Cond, denied, subject, depth+1)
		}
		if r.vague[name.Text] {
			return formulaOf(literal{term: subject + " is " + name.Text, rel: relHolds}, denied), true
		}
	}
	value, known := r.constant(t.Value)
	switch t.Op {
	case opIs, opEqual:
		return formulaOf(r.relate(t, subject, item, relEqual), denied), true
	case opAbove:
		return formulaOf(r.relate(t, subject, item, relAbove), denied), !known || value.kind != kindText
	case opBelow:
		return formulaOf(r.relate(t, subject, item, relBelow), denied), !known || value.kind != kindText
	case opWithin:
		distance, ok := r.constant(t.Within)
		if known && ok && value.kind != kindText && distance.kind == kindNumber {
			return reaching(subject, value, distance.number, denied), true
		}
	case opIncludes:
		if known {
			return formulaOf(literal{term: subject + " includes " + value.String(), rel: relHolds}, denied), true
		}
	}
	whole := strings.Join([]string{subject, string(t.Op), term(t.Within, item), term(t.Value, item)}, " ")
	return formulaOf(literal{term: whole, rel: relHolds}, denied), true
}

// relate returns a comparison as a literal. A literal compares a term with a constant. So
// if the right side is not a constant, the term is the subject minus the right side, and
// the constant is 0.
func (r *reading) relate(t *test, subject, item string, rel relation) literal {
	if c, ok := r.constant(t.Value); ok {
		return literal{subject, rel, c}
	}
	zero := constant{kind: kindNumber, number: new(big.Rat)}
	return literal{subject + " against " + term(t.Value, item), rel, zero}
}

// formulaOf returns the formula with only the literal l or, if denied is set, its negation.
func formulaOf(l literal, denied bool) formula {
	if denied {
		l.rel = l.rel.opposite()
	}
	return formula{{l}}
}

// reaching returns the formula "subject is within distance of c" or its negation. The machine
// rounds distances, so the interval is widened a little (and its complement too): a value
// that the machine may accept always satisfies the formula.
func reaching(subject string, c constant, distance *big.Rat, denied bool) formula {
	slack := new(big.Rat)
	if c.kind == kindNumber {
		slack.Abs(c.number)
		slack.Add(slack, new(big.Rat).Abs(distance))
		slack.Mul(slack, big.NewRat(1, 1<<50))
	}
	if denied {
		slack.Neg(slack)
	}
	reach := new(big.Rat).Add(distance, slack)
	lo := constant{kind: c.kind, number: new(big.Rat).Sub(c.number, reach)}
	hi := constant{kind: c.kind, number: new(big.Rat).Add(c.number, reach)}
	if denied {
		return formula{{{subject, relBelow, lo}}, {{subject, relAbove, hi}}}
	}
	return formula{{{subject, relAtLeast, lo}, {subject, relAtMost, hi}}}
}

// constant returns the value of an expression that does not depend on any name: a literal,
// or a word that is never bound.
func (r *reading) constant(e expr) (constant, bool) {
	switch e := e.(type) {
	case *number:
		if v, err := e.parsed(); err == nil {
			return constantOf(v)
		}
	case *date:
		if v, err := dateOf(e.Text); err == nil {
			return constantOf(v)
		}
	case *quotation:
		return constantOf(String(e.Text))
	case *word:
		if !r.bound[e.Text] {
			return constantOf(String(e.Text))
		}
	}
	return constant{}, false
}

// subjectTerm returns the term of the subject of a test. In a predicate, a bare word may be
// a field of the item that the predicate is applied to; so the term of such a word includes
// the term of the item.
func subjectTerm(e expr, item string) string {
	if w, ok := e.(*word); ok {
		return w.Text + " at " + item
	}
	return term(e, item)
}

// term returns the text of an expression. Different expressions have different texts.
func term(e expr, item string) string {
	switch e := e.(type) {
	case *number:
		return e.Text
	case *date:
		return e.Text
	case *quotation:
		return `"` + e.Text + `"`
	case *word:
		return e.Text
	case *field:
		return e.Field + " of " + e.Of.Text
	case *extremum:
		return e.word() + " " + e.Field + " of " + e.List.Text
	case *currentItem:
		return item
	case *binary:
		return "(" + strings.Join([]string{term(e.Left, item), e.Op, term(e.Right, item)}, " ") + ")"
	}
	return ""
}
