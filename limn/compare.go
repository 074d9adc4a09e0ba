package limn

import "slices"

// comparison is the name to which "compare" binds its result.
const comparison = "comparison"

func (c *compare) check(m *Machine, _ *frame) error {
	for _, n := range []Name{c.Left, c.Right} {
		if _, err := m.symbolNamed(n); err != nil {
			return err
		}
	}
	return m.bindable(Name{Pos: c.Left.Pos, Text: comparison})
}

// compareValues binds the name "comparison" to the difference of two values.
func (m *Machine) compareValues(c *compare) error {
	left, err := m.symbolNamed(c.Left)
	if err != nil {
		return err
	}
	right, err := m.symbolNamed(c.Right)
	if err != nil {
		return err
	}
	a, b := m.current(left), m.current(right)
	if err := m.spend(a.effort() + b.effort()); err != nil {
		return err
	}
	d := differ(a, b)
	slices.Sort(d.fields)
	return m.bind(comparison, "record", d.record())
}

// A difference is the result of comparing two values.
type difference struct {
	status string   // match, mismatch, length_mismatch or type_mismatch
	fields []string // for records: the fields that differ, those of the left record first
	places []int    // for lists: the positions that differ, from 0
}

// The statuses of differences.
const (
	differNot    = "match"
	differItem   = "mismatch"
	differLength = "length_mismatch"
	differType   = "type_mismatch"
)

// differ compares two values: records by fields, lists by positions.
func differ(a, b Value) difference {
	switch {
	case a.kindOf() != b.kindOf():
		return difference{status: differType}
	case a.kindOf() == kindRecord:
		return differRecords(a, b)
	case a.kindOf() == kindList:
		return differLists(a, b)
	case a.Equal(b):
		return difference{status: differNot}
	}
	return difference{status: differItem}
}

func differRecords(a, b Value) difference {
	d := difference{status: differNot}
	for _, e := range a.entries() {
		if other, ok := b.field(e.Name); !ok || !e.Value.Equal(other) {
			d.fields = append(d.fields, e.Name)
		}
	}
	for _, e := range b.entries() {
		if _, ok := a.field(e.Name); !ok {
			d.fields = append(d.fields, e.Name)
		}
	}
	if len(d.fields) > 0 {
		d.status = differItem
	}
	return d
}

func differLists(a, b Value) difference {
	if a.len() != b.len() {
		return difference{status: differLength}
	}
	d := difference{status: differNot}
	others := b.items()
	for i, item := range a.items() {
		if !item.Equal(others[i]) {
			d.places = append(d.places, i)
			d.status = differItem
		}
	}
	return d
}

// divergences returns the differing fields or positions as a list.
func (d difference) divergences() Value {
	items := make([]Value, 0, len(d.fields)+len(d.places))
	for _, name := range d.fields {
		items = append(items, String(name))
	}
	for _, at := range d.places {
		items = append(items, Int(int64(at)))
	}
	return Value{newList(items)}
}

// record returns the difference as a record of the language. It is the only record with
// a list as a field.
func (d difference) record() Value {
	return Value{&record{entries: []entry{
		{"status", String(d.status)},
		{"divergences", d.divergences()},
	}}}
}
