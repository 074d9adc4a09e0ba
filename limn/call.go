package limn

import "slices"

func (t *teach) check(m *Machine, _ *frame) error { return m.bindable(t.Name) }

// learn binds the name of a composition to its definition.
func (m *Machine) learn(t *teach) error {
	m.items -= itemsOf(m.symbols[t.Name.Text])
	m.symbols[t.Name.Text] = &symbol{teach: t}
	m.touch(t.Name.Text)
	return nil
}

// teachOf returns the composition that the call c names. It fails if no composition has
// that name.
func (m *Machine) teachOf(c *call) (*teach, error) {
	s, ok := m.symbols[c.Name.Text]
	switch {
	case !ok:
		return nil, semanticError(c.Name.Pos, "'%s' is neither a verb nor a composition", c.Name.Text)
	case s.teach == nil:
		return nil, semanticError(c.Name.Pos, "'%s' is %s, not a composition", c.Name.Text, describe(s.value))
	}
	return s.teach, nil
}

// check checks the name and the argument of a call. It does not check the body of the
// composition: each operation of the body is checked when it runs.
func (c *call) check(m *Machine, f *frame) error {
	t, err := m.teachOf(c)
	if err != nil {
		return err
	}
	switch {
	case t.Param == nil && c.Arg != nil:
		return semanticError(c.Arg.pos(), "'%s' takes no argument: leave out \"from\"", c.Name.Text)
	case t.Param != nil && c.Arg == nil:
		return semanticError(c.Name.Pos, "'%s' needs an argument, as in: %s from %s", c.Name.Text, c.Name.Text, t.Param.Text)
	case c.Arg == nil:
		return nil
	}
	_, err = m.operandKind(c.Arg, f)
	return err
}

// call runs a composition. During the run, the name of the parameter is bound to
// a copy of the argument; afterwards that name has its previous binding again.
func (m *Machine) call(c *call, f *frame, captured bool) (Value, error) {
	t, err := m.teachOf(c)
	if err != nil {
		return Value{}, err
	}
	if err := m.enter(c.Name); err != nil {
		return Value{}, err
	}
	defer m.leave()
	if t.Param == nil {
		return m.runBody(t, captured)
	}
	v, err := m.eval(c.Arg, f)
	if err != nil {
		return Value{}, err
	}
	if v.v == nil {
		return Value{}, runtimeError(c.Name.Pos, "'%s' has no value yet", canonical(c.Arg))
	}
	restore, err := m.shadow(t.Param.Text, v)
	if err != nil {
		return Value{}, err
	}
	defer restore()
	return m.runBody(t, captured)
}

// shadow binds name to v until the returned function is called, which restores the
// previous binding.
func (m *Machine) shadow(name string, v Value) (restore func(), err error) {
	before, known := m.symbols[name]
	touched := slices.Contains(m.changed, name)
	delete(m.symbols, name)
	restore = func() {
		m.items -= itemsOf(m.symbols[name])
		delete(m.symbols, name)
		if known {
			m.symbols[name] = before
		}
		if !touched {
			m.changed = slices.DeleteFunc(m.changed, func(s string) bool { return s == name })
			m.edited = slices.DeleteFunc(m.edited, func(s string) bool { return s == name })
		}
	}
	if err := m.bind(name, descriptorOf(before), v); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

func descriptorOf(s *symbol) string {
	if s == nil {
		return ""
	}
	return s.descriptor
}

// runBody runs the body of a composition without a frame: the body cannot see the items
// of the caller's iterations.
func (m *Machine) runBody(t *teach, captured bool) (Value, error) {
	v, err := m.run(t.Body, nil, captured)
	if err == nil && captured && v.v == nil {
		return v, semanticError(t.Name.Pos, "'%s' gives no value", t.Name.Text)
	}
	return v.copy(), err
}
