package limn

import (
	"cmp"
	"math/big"
	"slices"
)

// A relation is the operator of a literal, such as "above" or "at most".
type relation uint8

// The relations come in pairs of a relation and its opposite.
const (
	relEqual relation = iota
	relUnequal
	relAbove
	relAtMost
	relBelow
	relAtLeast
	relHolds // the term is an opaque condition, which is true
	relFails
)

// opposite returns the relation that holds where r does not.
func (r relation) opposite() relation { return r ^ 1 }

// A constant is a literal number, date or text. Numbers are exact, dates are days.
type constant struct {
	kind   kind
	number *big.Rat
	text   string
}

func (c constant) equal(d constant) bool {
	if c.kind != d.kind {
		return false
	}
	if c.kind == kindText {
		return c.text == d.text
	}
	return c.number.Cmp(d.number) == 0
}

// String returns c as text that is equal for equal constants only.
func (c constant) String() string {
	if c.kind == kindText {
		return string(c.kind) + " " + c.text
	}
	return string(c.kind) + " " + c.number.RatString()
}

// constantOf converts a number, date or text to a constant.
func constantOf(v Value) (constant, bool) {
	switch x := v.v.(type) {
	case string:
		return constant{kind: kindText, text: x}, true
	case day:
		return constant{kind: kindDate, number: new(big.Rat).SetInt64(int64(x))}, true
	case float64:
		return constant{kind: kindNumber, number: new(big.Rat).SetFloat64(x)}, true
	}
	if v.kindOf() != kindNumber {
		return constant{}, false
	}
	return constant{kind: kindNumber, number: new(big.Rat).SetInt(v.asBig())}, true
}

// A literal states a relation between a term, such as "total of order", and a constant.
type literal struct {
	term string
	rel  relation
	c    constant
}

// A clause is a conjunction of literals. The empty clause is always true.
type clause []literal

// A formula is a disjunction of clauses. The empty formula is never true.
type formula []clause

// always returns the formula that is true for all values.
func always() formula { return formula{nil} }

// The size bounds of formulas. Rules with larger formulas are not checked.
const (
	maxClauses  = 64 // of a formula
	maxLiterals = 64 // of a clause
)

// both returns the conjunction of f and g, and whether it is within the size bounds.
func both(f, g formula) (formula, bool) {
	if len(f)*len(g) > maxClauses {
		return nil, false
	}
	var h formula
	for _, c := range f {
		for _, d := range g {
			if len(c)+len(d) > maxLiterals {
				return nil, false
			}
			h = append(h, slices.Concat(c, d))
		}
	}
	return h, true
}

// either returns the disjunction of f and g, and whether it is within the size bounds.
func either(f, g formula) (formula, bool) {
	return slices.Concat(f, g), len(f)+len(g) <= maxClauses
}

// never reports whether it is certain that f is false for all values.
func never(f formula) bool {
	return !slices.ContainsFunc(f, func(c clause) bool { return !c.contradictory() })
}

// contradictory reports whether it is certain that c is false for all values. It returns
// false if c orders a term against both numbers and dates: the machine refuses such a
// condition with an error instead of evaluating it to false.
func (c clause) contradictory() bool {
	if len(c) < 2 {
		return false
	}
	sorted := slices.SortedStableFunc(slices.Values(c), func(a, b literal) int { return cmp.Compare(a.term, b.term) })
	found := false
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(l literal) bool { return l.term != sorted[0].term })
		if n < 0 {
			n = len(sorted)
		}
		empty, mixed := spanOf(sorted[:n])
		if mixed {
			return false
		}
		found = found || empty
		sorted = sorted[n:]
	}
	return found
}

// A span is the set of values that a term may have.
type span struct {
	kind           kind // kind of lo and hi: number or date
	lo, hi         *big.Rat
	loOpen, hiOpen bool

	equal        *constant
	unequal      []constant
	holds, fails bool

	clash bool // two literals demand equality with different constants
	mixed bool // literals order the term against both numbers and dates
}

// spanOf takes literals about one term. It reports whether no value satisfies all of them,
// and whether they mix kinds that cannot be compared.
func spanOf(literals []literal) (empty, mixed bool) {
	var s span
	for _, l := range literals {
		s.meet(l)
	}
	switch {
	case s.equal != nil && s.kind != kindNone && s.kind != s.equal.kind:
		return false, true
	case s.mixed:
		return false, true
	}
	return s.empty(), false
}

// meet narrows a span to the values that satisfy a literal.
func (s *span) meet(l literal) {
	switch l.rel {
	case relEqual:
		s.clash = s.clash || s.equal != nil && !s.equal.equal(l.c)
		s.equal = &l.c
	case relUnequal:
		s.unequal = append(s.unequal, l.c)
	case relHolds:
		s.holds = true
	case relFails:
		s.fails = true
	case relAbove, relAtLeast, relBelow, relAtMost:
		s.mixed = s.mixed || s.kind != kindNone && s.kind != l.c.kind
		s.kind = l.c.kind
		s.bound(l)
	}
}

// bound narrows one end of a span to the limit in a literal. Dates are whole days, so "above"
// a date means from the next day on.
func (s *span) bound(l literal) {
	limit, open := l.c.number, l.rel == relAbove || l.rel == relBelow
	if open && l.c.kind == kindDate {
		limit, open = nextDay(limit, l.rel == relAbove), false
	}
	if l.rel == relAbove || l.rel == relAtLeast {
		if s.lo == nil || limit.Cmp(s.lo) > 0 || limit.Cmp(s.lo) == 0 && open {
			s.lo, s.loOpen = limit, open
		}
		return
	}
	if s.hi == nil || limit.Cmp(s.hi) < 0 || limit.Cmp(s.hi) == 0 && open {
		s.hi, s.hiOpen = limit, open
	}
}

// nextDay returns the smallest whole number that is greater than limit. If above
// is false, it returns the largest that is smaller than limit.
func nextDay(limit *big.Rat, above bool) *big.Rat {
	n := new(big.Int).Div(limit.Num(), limit.Denom()) // rounded down, as the denominator is positive
	switch {
	case above:
		n.Add(n, big.NewInt(1))
	case limit.IsInt():
		n.Sub(n, big.NewInt(1))
	}
	return new(big.Rat).SetInt(n)
}

// empty reports whether the span has no value.
func (s *span) empty() bool {
	if s.clash || s.holds && s.fails {
		return true
	}
	if s.equal != nil {
		return s.excludes(*s.equal)
	}
	if s.lo == nil || s.hi == nil || s.lo.Cmp(s.hi) < 0 {
		return false
	}
	return s.excludes(constant{kind: s.kind, number: s.lo}) // lo is above or equal to hi
}

// excludes reports whether the span does not contain c. It ignores s.equal.
func (s *span) excludes(c constant) bool {
	if slices.ContainsFunc(s.unequal, c.equal) {
		return true
	}
	if s.lo != nil {
		if d := c.number.Cmp(s.lo); d < 0 || d == 0 && s.loOpen {
			return true
		}
	}
	if s.hi != nil {
		if d := c.number.Cmp(s.hi); d > 0 || d == 0 && s.hiOpen {
			return true
		}
	}
	return false
}
