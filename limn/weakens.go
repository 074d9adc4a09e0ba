package limn

// A decay makes a number fall to 0 over some ticks.
type decay struct {
	over  Value // how many ticks, above 0
	since int   // the tick it began at
}

// current returns what the value of a symbol is by now.
func (m *Machine) current(s *symbol) Value {
	if s.decay == nil {
		return s.value
	}
	left, err := arithmetic(opMinus, s.decay.over, Int(int64(m.ticks-s.decay.since)))
	if err != nil || left.order(Int(0)) <= 0 {
		return Int(0)
	}
	v, err := arithmetic(opTimes, s.value, left)
	if err != nil {
		return s.value
	}
	if v, err = arithmetic(opDivided, v, s.decay.over); err != nil {
		return s.value
	}
	return v
}

// check checks that a number is to fall, and that it has time to.
func (w *weakens) check(m *Machine, _ *frame) error {
	s, err := m.symbolNamed(w.Name)
	if err != nil {
		return err
	}
	if s.value.kindOf() != kindNumber {
		return semanticError(w.Name.Pos, "only a number can weaken, and '%s' is %s", w.Name.Text, describe(s.value))
	}
	if m.live[w.Name.Text] {
		return semanticError(w.Name.Pos, "'%s' is a live value, which cannot weaken", w.Name.Text)
	}
	over, err := parseNumber(w.Over.Text)
	if err != nil {
		return asSemantic(at(w.Over.Pos, err))
	}
	if over.order(Int(0)) <= 0 {
		return semanticError(w.Over.Pos, "a number weakens over more than 0 ticks")
	}
	return m.bindable(w.Name)
}

// weakens lets a number fall to 0, from what it is now.
func (m *Machine) weakens(w *weakens) error {
	over, err := parseNumber(w.Over.Text)
	if err != nil {
		return err
	}
	s, err := m.symbolNamed(w.Name)
	if err != nil {
		return err
	}
	s.value = m.current(s)
	s.decay = &decay{over: over, since: m.ticks}
	m.touch(w.Name.Text)
	return nil
}
