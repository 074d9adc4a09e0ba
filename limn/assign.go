package limn

// check fails if the name cannot be assigned to, or if the value cannot be evaluated.
func (a *assign) check(m *Machine, f *frame) error {
	if err := m.bindable(a.Name); err != nil {
		return err
	}
	if m.live[a.Name.Text] {
		return semanticError(a.Name.Pos, "'%s' is a live value, which cannot be assigned", a.Name.Text)
	}
	_, err := m.kindOf(a.Value, f)
	return err
}

// assign evaluates a.Value and binds it to a.Name.
func (m *Machine) assign(a *assign, f *frame) error {
	v, err := m.eval(a.Value, f)
	if err != nil {
		return err
	}
	if v.v == nil {
		return runtimeError(a.Name.Pos, "there is no value yet for '%s'", a.Name.Text)
	}
	return m.bind(a.Name.Text, "", v)
}
