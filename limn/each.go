package limn

// checkEach checks an operation for every item of a list.
func (m *Machine) checkEach(e *Each, f *frame) error {
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
		if err := m.check(m.coreOf(e.Op), inner); err != nil {
			return at(e.Op.Pos, err)
		}
	}
	return nil
}

func (m *Machine) eachFrame(e *Each, l *list, outer *frame) (*frame, error) {
	it, err := m.iterate(e.List.Text, l)
	return &frame{outer: outer, of: it, bare: true}, err
}

func (m *Machine) leaveEach() { m.iterating = m.iterating[:len(m.iterating)-1] }

// each does an operation for every item of a list, up to the first that fails.
func (m *Machine) each(e *Each, f *frame) error {
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
		if _, err := m.exec(m.coreOf(e.Op), inner, false); err != nil {
			return located(e.Op.Pos, err)
		}
	}
	return nil
}
