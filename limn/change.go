package limn

// none is a placeholder item. Older programs create a list with this text as its only
// item, and the first item that is added replaces it. Until then it counts as an
// ordinary item. New programs should create an empty list instead.
const none = "none"

// onlyNone reports whether the only item of the list is the text [none].
func (l *list) onlyNone() bool {
	return l.len() == 1 && l.kind == kindText && l.find(String(none)) >= 0
}

// check checks that the value to add or remove can be an item of the list.
func (c *change) check(m *Machine, f *frame) error {
	l, err := m.ownList(c.Verb, c.List)
	if err != nil {
		return err
	}
	kind, err := m.kindOf(c.Value, f)
	if err != nil {
		return err
	}
	switch {
	case kind == kindList:
		return semanticError(c.Value.pos(), "a list cannot be an item of '%s'", c.List.Text)
	case kind == kindNone || l.kind == kindNone || kind == l.kind:
		return nil
	case c.Verb == verbAdd && l.onlyNone():
		return nil
	}
	return semanticError(c.Value.pos(), "'%s' is %s, and %s is a %s", c.List.Text, describeList(l.kind), canonical(c.Value), kind)
}

// change adds an item to a list or removes one from it.
func (m *Machine) change(c *change, f *frame) error {
	l, err := m.ownList(c.Verb, c.List)
	if err != nil {
		return err
	}
	v, err := m.evalNow(c.Value, f)
	if err != nil {
		return err
	}
	if c.Verb == verbAdd {
		m.edit(c.List.Text)
		return m.add(l, v)
	}
	if err := m.spend(l.searchSteps(v)); err != nil {
		return err
	}
	m.edit(c.List.Text)
	if !l.remove(v) {
		return runtimeError(c.Value.pos(), "%s is not in '%s'", canonical(c.Value), c.List.Text)
	}
	m.items--
	return nil
}

// add appends v to l. If l holds only [none], v replaces that item.
func (m *Machine) add(l *list, v Value) error {
	if err := m.spend(v.effort()); err != nil {
		return err
	}
	if l.onlyNone() {
		l.remove(String(none))
		m.items--
	}
	if l.kind != kindNone && l.kind != v.kindOf() {
		return runtimeError(Pos{}, "a %s cannot be added to %s", v.kindOf(), describeList(l.kind))
	}
	if err := m.reserve(1); err != nil {
		return err
	}
	l.add(v)
	return nil
}
