package limn

import (
	"cmp"
	"slices"
)

// check checks that all items of a list have the field.
func (s *sort) check(m *Machine, _ *frame) error {
	l, err := m.ownList("sort", s.List)
	if err != nil || l.len() == 0 {
		return err
	}
	if l.kind != kindRecord {
		return semanticError(s.List.Pos, "only records can be sorted by a field, and '%s' is %s", s.List.Text, describeList(l.kind))
	}
	it, err := m.iterate(s.List.Text, l)
	if err != nil {
		return err
	}
	if it.missing(s.Field, true) {
		return it.withoutField(s.List.Pos, s.Field)
	}
	for item := range l.all() {
		if v, _ := item.field(s.Field); !v.scalar() { // the record of a "compare" has a list
			return semanticError(s.List.Pos, "records cannot be sorted by '%s', which is a %s: sort them by another field", s.Field, v.kindOf())
		}
	}
	return nil
}

// sort sorts records by a field. Records with equal fields keep their order.
func (m *Machine) sort(s *sort) error {
	l, err := m.ownList("sort", s.List)
	if err != nil {
		return err
	}
	if err := m.spend(4 * (Value{l}).effort()); err != nil {
		return err
	}
	items := slices.Collect(l.all())
	for _, item := range items[min(1, len(items)):] {
		first, _ := items[0].field(s.Field)
		if v, _ := item.field(s.Field); v.kindOf() != first.kindOf() {
			return runtimeError(s.List.Pos, "the field '%s' of '%s' is a %s in one record and a %s in another",
				s.Field, s.List.Text, first.kindOf(), v.kindOf())
		}
	}
	slices.SortStableFunc(items, func(a, b Value) int {
		x, _ := a.field(s.Field)
		y, _ := b.field(s.Field)
		if s.Reverse {
			x, y = y, x
		}
		return sortOrder(x, y)
	})
	return m.replace(s.List.Text, Value{newList(items)})
}

// sortOrder compares two scalars of one kind.
func sortOrder(a, b Value) int {
	if x, ok := a.text(); ok {
		y, _ := b.text()
		return cmp.Compare(x, y)
	}
	return a.order(b)
}
