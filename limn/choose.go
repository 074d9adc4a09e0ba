package limn

// check checks all conditions and the first operation of each branch. The other
// operations may depend on the results of the first; each is checked just before it runs.
func (c *choose) check(m *Machine, f *frame) error {
	if f != nil {
		return semanticError(Pos{}, "\"choose\" cannot stand in an \"each\": keep the items first")
	}
	for _, b := range c.Branches {
		if err := m.checkCond(b.Cond, f, true); err != nil {
			return err
		}
	}
	for _, b := range c.Branches {
		if err := m.checkFirst(b.Then, f); err != nil {
			return err
		}
	}
	return m.checkFirst(c.Otherwise, f)
}

func (m *Machine) checkFirst(s *sequence, f *frame) error {
	if s == nil {
		return nil
	}
	return at(s.Ops[0].Pos, m.check(m.coreOf(s.Ops[0]), f))
}

// choose runs the first branch whose condition is true.
func (m *Machine) choose(c *choose, f *frame) error {
	for _, b := range c.Branches {
		ok, err := m.holds(b.Cond, f)
		if err != nil {
			return err
		}
		if ok {
			_, err := m.run(b.Then, f, false)
			return err
		}
	}
	if c.Otherwise == nil {
		return nil
	}
	_, err := m.run(c.Otherwise, f, false)
	return err
}
