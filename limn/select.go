package limn

// check checks the condition of a filter or a keep for every item.
func (s *selection) check(m *Machine, _ *frame) error {
	get := m.listNamed
	if s.Verb == verbFilter {
		get = m.ownList
	}
	l, err := get(s.Verb, s.List)
	if err != nil {
		return err
	}
	return m.checkItemsBy(s.List, l, "", s.Cond)
}

// checkItemsBy checks a condition for every item of l, with the name in binding bound
// to the item. If binding is empty, the subjects of the condition must be fields of the
// item.
func (m *Machine) checkItemsBy(name Name, l *list, binding string, c condition) error {
	it, err := m.iterate(name.Text, l)
	if err != nil {
		return err
	}
	f := &frame{of: it, binding: binding, strict: binding == ""}
	for f.item = range l.all() {
		if err := m.checkCond(c, f, false); err != nil {
			return err
		}
	}
	return nil
}

// selectItems selects the items that meet a condition. "filter" replaces the list by them,
// "keep" shows them.
func (m *Machine) selectItems(s *selection, captured bool) (Value, error) {
	l, err := m.listNamed(s.Verb, s.List)
	if err != nil {
		return Value{}, err
	}
	f := &frame{of: &iteration{name: s.List.Text, list: l}}
	var items []Value
	for f.item = range l.all() {
		ok, err := m.holds(s.Cond, f)
		if err != nil {
			return Value{}, err
		}
		if ok {
			items = append(items, f.item)
		}
	}
	v := Value{newList(items)}
	if s.Verb == verbFilter {
		return Value{}, m.replace(s.List.Text, v)
	}
	if captured {
		return v, nil
	}
	return v, m.emitShort(v)
}

// replace replaces the list that is bound to a name.
func (m *Machine) replace(name string, v Value) error {
	s := m.symbols[name]
	if err := m.reserve(v.len() - itemsOf(s)); err != nil {
		return err
	}
	s.value = v
	m.touch(name)
	return nil
}

// check checks that the name is a list and, for "sum", that its items are numbers.
func (t *tally) check(m *Machine, _ *frame) error {
	l, err := m.listNamed(t.Verb, t.List)
	if err != nil || t.Verb != verbSum || l.len() == 0 || l.kind == kindNumber {
		return err
	}
	return semanticError(t.List.Pos, "only numbers can be summed, and '%s' is %s", t.List.Text, describeList(l.kind))
}

// tally counts or sums a list.
func (m *Machine) tally(t *tally, captured bool) (Value, error) {
	l, err := m.listNamed(t.Verb, t.List)
	if err != nil {
		return Value{}, err
	}
	v := Int(int64(l.len()))
	if t.Verb == verbSum {
		if v, err = m.sum(l); err != nil {
			return Value{}, err
		}
	}
	if captured {
		return v, nil
	}
	return v, m.emit(v)
}

func (m *Machine) sum(l *list) (Value, error) {
	total := Int(0)
	for item := range l.all() {
		if err := m.spend(1 + item.digits()/64); err != nil {
			return Value{}, err
		}
		var err error
		if total, err = arithmetic(opPlus, total, item); err != nil {
			return Value{}, err
		}
	}
	return total, nil
}
