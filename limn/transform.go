package limn

// check checks the expression for every item of the list.
func (t *transform) check(m *Machine, f *frame) error {
	l, err := m.ownList("transform", t.List)
	if err != nil {
		return err
	}
	it, err := m.iterate(t.List.Text, l)
	if err != nil {
		return err
	}
	switch {
	case l.len() == 0:
		return nil
	case l.kind != kindRecord && t.Field != "":
		return semanticError(t.List.Pos, "the items of '%s' have no fields", t.List.Text)
	case t.Field != "" && it.missing(t.Field, true):
		return it.withoutField(t.List.Pos, t.Field)
	}
	inner := &frame{outer: f, of: it, bare: true}
	for inner.item = range l.all() {
		kind, err := m.kindOf(t.Value, inner)
		if err != nil {
			return err
		}
		if kind == kindList || kind == kindRecord && t.Field != "" {
			return semanticError(t.Value.pos(), "%s cannot become a %s", t.what(), kind)
		}
	}
	return nil
}

// what returns "a field" or "an item", for messages.
func (t *transform) what() string {
	if t.Field != "" {
		return "a field"
	}
	return "an item"
}

// transform replaces every item of a list, or one field of every record. Without a field,
// the new values replace whole records.
func (m *Machine) transform(t *transform, f *frame) error {
	l, err := m.ownList("transform", t.List)
	if err != nil {
		return err
	}
	items := make([]Value, 0, l.len())
	inner := &frame{outer: f, bare: true}
	for inner.item = range l.all() {
		if err := m.spend(inner.item.extent()); err != nil {
			return err
		}
		v, err := m.evalNow(t.Value, inner)
		if err != nil {
			return err
		}
		if t.Field != "" {
			v = inner.item.with(t.Field, v)
		}
		items = append(items, v)
	}
	if _, err := listOf(items...); err != nil {
		return runtimeError(t.List.Pos, "the items of '%s' would not be of one kind any more", t.List.Text)
	}
	return m.replace(t.List.Text, Value{newList(items)})
}
