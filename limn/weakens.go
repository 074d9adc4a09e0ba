package limn

// A decay makes a number fall to 0 over some ticks.
type decay struct {
	over  Value // number of ticks until 0, above 0
	since int   // tick at which the decay began
}

// current returns the value of a symbol at the current tick.
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

// check checks that the name is a number that the program may change, and that the number of
// ticks is above 0.
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

// weakens starts the decay of a number from its current value to 0.
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
