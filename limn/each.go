package limn

// check checks an operation for every item of a list.
func (e *each) check(m *Machine, f *frame) error {
	return m.forEach(e, f, func(op action, inner *frame) error { return at(e.Op.Pos, m.check(op, inner)) })
}

// each does an operation for every item of a list, up to the first that fails.
func (m *Machine) each(e *each, f *frame) error {
	return m.forEach(e, f, func(op action, inner *frame) error {
		_, err := m.exec(op, inner, false)
		return located(e.Op.Pos, err)
	})
}

// forEach calls do with an operation and a frame for every item of a list, up to the first
// that fails.
func (m *Machine) forEach(e *each, f *frame, do func(op action, inner *frame) error) error {
	l, err := m.listNamed("each", e.List)
	if err != nil {
		return err
	}
	inner, err := m.eachFrame(e, l, f)
	if err != nil {
		return err
	}
	m.iterating = append(m.iterating, e.List.Text)
	defer m.leaveEach()
	for inner.item = range l.all() {
		if err := do(m.coreOf(e.Op), inner); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) eachFrame(e *each, l *list, outer *frame) (*frame, error) {
	it, err := m.iterate(e.List.Text, l)
	return &frame{outer: outer, of: it, bare: true}, err
}

func (m *Machine) leaveEach() { m.iterating = m.iterating[:len(m.iterating)-1] }
