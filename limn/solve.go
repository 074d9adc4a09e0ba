package limn

import (
	"cmp"
	"math/big"
	"slices"
)

// A relation is what a literal says of a term.
type relation uint8

// The relations come in pairs of a relation and its opposite.
const (
	relEqual relation = iota
	relUnequal
	relAbove
	relAtMost
	relBelow
	relAtLeast
	relHolds // of what is only known to be true or false
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

// constantOf returns what a value without structure is.
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

// A literal says of a term, such as "total of order", how it relates to a constant.
type literal struct {
	term string
	rel  relation
	c    constant
}

// A clause is literals that all have to hold. The empty clause always holds.
type clause []literal

// A formula is clauses of which one has to hold. The empty formula never does.
type formula []clause

// always is the formula that holds whatever the values are.
func always() formula { return formula{nil} }

// The bounds of formulas. Larger ones are not decided.
const (
	maxClauses  = 64 // of a formula
	maxLiterals = 64 // of a clause
)

// both returns the formula that holds where f and g do, and whether it is within
// the bound.
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

// either returns the formula that holds where f or g does, and whether it is
// within the bound.
func either(f, g formula) (formula, bool) {
	return slices.Concat(f, g), len(f)+len(g) <= maxClauses
}

// never reports whether it is certain that no values make f hold.
func never(f formula) bool {
	return !slices.ContainsFunc(f, func(c clause) bool { return !c.contradictory() })
}

// exclude reports whether it is certain that no values make f and g hold together.
func exclude(f, g formula) bool {
	for _, c := range f {
		for _, d := range g {
			if !slices.Concat(c, d).contradictory() {
				return false
			}
		}
	}
	return true
}

// contradictory reports whether it is certain that no values make c hold. It is
// not certain where something would be compared with both numbers and dates, as
// such a condition is refused, not false.
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

// A span is the values that a term may have.
type span struct {
	kind           kind // of what has an order
	lo, hi         *big.Rat
	loOpen, hiOpen bool

	equal        *constant
	unequal      []constant
	holds, fails bool

	clash bool // it was to be equal to two things
	mixed bool // it was to be ordered among both numbers and dates
}

// spanOf reports whether no value meets all literals, which are about one term,
// and whether they make no sense together.
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

// meet narrows a span to what meets a literal.
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

// bound moves an end of a span. Dates are whole days: above one is the next.
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

// nextDay returns the first whole number above limit, or the last one below it.
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

// empty reports whether no value is in a span.
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
	return s.excludes(constant{kind: s.kind, number: s.lo}) // which is above hi, or equal to it
}

// excludes reports whether a value is not in a span that has nothing equal to it.
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
