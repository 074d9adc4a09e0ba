package limn

// holds evaluates a condition. The result has no meaning if there is an error.
func (m *Machine) holds(c condition, f *frame) (bool, error) {
	switch c := c.(type) {
	case *test:
		return m.test(c, f)
	case *junction:
		for _, part := range c.Conds {
			if ok, err := m.holds(part, f); err != nil || ok == c.Or {
				return ok, err
			}
		}
		return !c.Or, nil
	}
	return false, errNothing
}

// test evaluates a comparison. If it uses a live name that has no value, the result is false.
func (m *Machine) test(t *test, f *frame) (bool, error) {
	if err := m.spend(1); err != nil {
		return false, err
	}
	p := m.predicate(t)
	subject, err := m.subject(t, f)
	if p != nil && isUnknown(err) {
		return t.Not, nil
	}
	if err != nil || subject.v == nil {
		return false, err
	}
	if p != nil {
		ok, err := m.apply(p, subject, f)
		return ok != t.Not, err
	}
	value, err := m.eval(t.Value, f)
	if err != nil || value.v == nil {
		return false, err
	}
	ok, err := m.compare(t, subject, value, f)
	return ok != t.Not, err
}

// subject returns the value of the subject of a test.
func (m *Machine) subject(t *test, f *frame) (Value, error) {
	switch s := t.Subject.(type) {
	case *word:
		v, ok := m.find(s.Text, f, asSubject)
		if !ok && !m.live[s.Text] {
			return Value{}, m.unknown(s.Pos, s.Text)
		}
		return v, nil
	}
	return m.eval(t.Subject, f)
}

// compare applies the operator of a test.
func (m *Machine) compare(t *test, subject, value Value, f *frame) (bool, error) {
	switch t.Op {
	case opAbove, opBelow:
		if !ordered(subject.kindOf(), value.kindOf()) {
			return false, notOrdered(t, subject.kindOf(), value.kindOf())
		}
		if t.Op == opAbove {
			return subject.order(value) > 0, nil
		}
		return subject.order(value) < 0, nil
	case opWithin:
		tolerance, err := m.eval(t.Within, f)
		if err != nil || tolerance.v == nil {
			return false, err
		}
		return near(t, subject, value, tolerance)
	case opIncludes:
		return m.includes(subject, value)
	case opIs, opEqual:
	}
	return subject.Equal(value), m.spend(subject.effort())
}

// includes reports whether v is a list that has the item.
func (m *Machine) includes(v, item Value) (bool, error) {
	l, ok := v.v.(*list)
	if !ok {
		return false, nil
	}
	if err := m.spend(l.searchSteps(item)); err != nil {
		return false, err
	}
	return l.find(item) >= 0, nil
}

// ordered reports whether values of kinds a and b have an order: two numbers or two dates.
func ordered(a, b kind) bool {
	return a == b && (a == kindNumber || a == kindDate)
}

func notOrdered(t *test, a, b kind) error {
	return semanticError(t.Pos, "%q cannot compare a %s with a %s: it compares two numbers or two dates", t.Op, a, b)
}

func noTolerance(t *test, k kind) error {
	return semanticError(t.Pos, "the tolerance of \"within\" is a %s, not a number", k)
}

// near reports whether the distance of two numbers, or of two dates in days, is at most
// tolerance.
func near(t *test, a, b, tolerance Value) (bool, error) {
	switch {
	case !ordered(a.kindOf(), b.kindOf()):
		return false, notOrdered(t, a.kindOf(), b.kindOf())
	case tolerance.kindOf() != kindNumber:
		return false, noTolerance(t, tolerance.kindOf())
	}
	if a.order(b) < 0 {
		a, b = b, a
	}
	distance, err := compute(opMinus, kindNumber, a, b)
	return err == nil && compareNumbers(distance, tolerance) <= 0, at(t.Pos, err)
}

// predicate returns the defined condition that a test applies, or nil.
func (m *Machine) predicate(t *test) *define {
	if t.Op != opIs {
		return nil
	}
	if w, ok := t.Value.(*word); ok {
		return m.predicates[w.Text]
	}
	return nil
}

// apply evaluates the defined condition p; "each" in p refers to subject. If p uses an
// unknown name, the condition is not met.
func (m *Machine) apply(p *define, subject Value, f *frame) (bool, error) {
	if err := m.enter(p.Name); err != nil {
		return false, err
	}
	defer m.leave()
	inner := &frame{outer: f, item: subject}
	ok, err := m.holds(p.Cond, inner)
	if err != nil && isUnknown(m.checkCond(p.Cond, inner, false)) {
		return false, nil
	}
	return ok, err
}

// deciding returns the first test in a condition that has the given result, or
// nil.
func (m *Machine) deciding(c condition, want bool, f *frame) *test {
	switch c := c.(type) {
	case *test:
		if ok, err := m.test(c, f); err == nil && ok == want {
			return c
		}
	case *junction:
		for _, part := range c.Conds {
			if t := m.deciding(part, want, f); t != nil {
				return t
			}
		}
	}
	return nil
}
