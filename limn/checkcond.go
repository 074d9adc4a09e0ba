package limn

// checkCond checks a condition that is evaluated in the frame f. If rule is set, one
// operand of each product or quotient must be a literal number.
func (m *Machine) checkCond(c condition, f *frame, rule bool) error {
	switch c := c.(type) {
	case *test:
		return m.checkTest(c, f, rule)
	case *junction:
		for _, part := range c.Conds {
			if err := m.checkCond(part, f, rule); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Machine) checkTest(t *test, f *frame, rule bool) error {
	if err := m.spend(1); err != nil {
		return err
	}
	if p := m.predicate(t); p != nil {
		if err := m.checkApply(p, t, f, rule); !isUnknown(err) {
			return err
		}
		return nil // the subject is unknown, so the condition is not met
	}
	subject, err := m.subjectKind(t, f)
	if err != nil {
		return err
	}
	if rule {
		if err := linear(t.Value); err != nil {
			return err
		}
	}
	value, err := m.kindOf(t.Value, f)
	if err != nil {
		return err
	}
	switch t.Op {
	case opAbove, opBelow:
		return m.checkOrdered(t, subject, value, f)
	case opWithin:
		tolerance, err := m.operandKind(t.Within, f)
		if err != nil {
			return err
		}
		if tolerance != kindNone && tolerance != kindNumber {
			return noTolerance(t, tolerance)
		}
		return m.checkOrdered(t, subject, value, f)
	case opIs, opEqual, opIncludes:
	}
	return nil
}

// checkOrdered checks that both sides of a test are numbers or dates.
func (m *Machine) checkOrdered(t *test, subject, value kind, f *frame) error {
	if subject == kindNone || value == kindNone || ordered(subject, value) {
		return nil
	}
	if w, ok := t.Value.(*word); ok && value == kindText {
		if err := m.mustKnow(w.Pos, w.Text, f, asValue); err != nil {
			return err
		}
	}
	return notOrdered(t, subject, value)
}

// subjectKind checks the subject of a test and returns its kind.
func (m *Machine) subjectKind(t *test, f *frame) (kind, error) {
	w, ok := t.Subject.(*word)
	if !ok {
		return m.kindOf(t.Subject, f)
	}
	if f != nil && f.strict {
		if err := f.fieldOnly(w); err != nil {
			return kindNone, err
		}
	} else if err := m.mustKnow(w.Pos, w.Text, f, asSubject); err != nil {
		return kindNone, err
	}
	v, err := m.subject(t, f)
	return v.kindOf(), err
}

// fieldOnly returns an error unless a word is a field of every item of the
// list.
func (f *frame) fieldOnly(w *word) error {
	if f.item.kindOf() != kindRecord {
		return semanticError(w.Pos, "the items of '%s' have no field '%s': say \"each\" for the item itself", f.of.name, w.Text)
	}
	if f.of.missing(w.Text, true) {
		return f.of.withoutField(w.Pos, w.Text)
	}
	return nil
}

// checkApply checks the defined condition p with the subject of a test as the current
// item. An [unknownName] as the result does not make the test invalid: the condition is
// then not met.
func (m *Machine) checkApply(p *define, t *test, f *frame, rule bool) error {
	if _, err := m.subjectKind(t, f); err != nil {
		return err
	}
	subject, err := m.subject(t, f)
	if err != nil || subject.v == nil {
		return err
	}
	if err := m.enter(p.Name); err != nil {
		return err
	}
	defer m.leave()
	return m.checkCond(p.Cond, &frame{outer: f, item: subject}, rule)
}

// linear returns an error if a product or quotient in e has no literal number among its operands.
func linear(e expr) error {
	b, ok := e.(*binary)
	if !ok {
		return nil
	}
	if b.Op == opTimes || b.Op == opDivided {
		_, left := b.Left.(*number)
		_, right := b.Right.(*number)
		if !left && !right {
			return semanticError(b.Pos, "in a rule, one side of %q must be a number as such", b.Op)
		}
	}
	if err := linear(b.Left); err != nil {
		return err
	}
	return linear(b.Right)
}
