package limn

// check checks the operation for every item of the list.
func (e *each) check(m *Machine, f *frame) error {
	return m.forEach(e, f, func(op action, inner *frame) error { return at(e.Op.Pos, m.check(op, inner)) })
}

// each runs the operation for every item of the list and stops at the first error.
func (m *Machine) each(e *each, f *frame) error {
	return m.forEach(e, f, func(op action, inner *frame) error {
		_, err := m.exec(op, inner, false)
		return located(e.Op.Pos, err)
	})
}

// forEach calls the function do once for every item of the list. It passes the operation,
// and a frame with the item as the current item. It stops at the first error.
func (m *Machine) forEach(e *each, f *frame, do func(op action, inner *frame) error) error {
	l, err := m.listNamed("each", e.List)
	if err != nil {
		return err
	}
	it, err := m.iterate(e.List.Text, l)
	if err != nil {
		return err
	}
	inner := &frame{outer: f, of: it, bare: true}
	m.iterating = append(m.iterating, e.List.Text)
	defer func() { m.iterating = m.iterating[:len(m.iterating)-1] }()
	for inner.item = range l.all() {
		if err := do(m.coreOf(e.Op), inner); err != nil {
			return err
		}
	}
	return nil
}
