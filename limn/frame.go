package limn

// A frame says what names mean at an item of an iteration, besides what they mean
// everywhere. Outside iterations there is none, that is, nil.
type frame struct {
	outer   *frame
	of      *iteration // or nil if the item is no item of a list
	item    Value
	binding string // the name that the item goes by, or empty
	bare    bool   // fields of the item are values by their names, as in an each
	strict  bool   // subjects must be fields of the item, as in a filter: a check refuses others
}

// An iteration is a list and how many of its records have a field.
type iteration struct {
	name   string
	list   *list
	fields map[string]int
}

// iterate returns an iteration over a list that has a name.
func (m *Machine) iterate(name string, l *list) (*iteration, error) {
	it := &iteration{name: name, list: l}
	if l.kind != kindRecord {
		return it, m.spend(1)
	}
	it.fields = make(map[string]int)
	for item := range l.all() {
		if err := m.spend(1 + item.len()); err != nil {
			return nil, err
		}
		for _, e := range item.entries() {
			it.fields[e.Name]++
		}
	}
	return it, nil
}

// missing reports whether a field is on some records but not on all, or, where
// that is asked for, on none.
func (it *iteration) missing(field string, orNone bool) bool {
	if it == nil || it.fields == nil {
		return false
	}
	n := it.fields[field]
	return n < it.list.len() && (n > 0 || orNone)
}

// withoutField is the error about a field that is not on every record of a list.
func (it *iteration) withoutField(pos Pos, field string) error {
	if it.fields[field] == 0 {
		return semanticError(pos, "no item of '%s' has a field called '%s'", it.name, field)
	}
	number := 0
	for item := range it.list.all() {
		number++
		if _, ok := item.field(field); ok {
			continue
		}
		if r, ok := item.v.(*record); ok && r.name != "" {
			return semanticError(pos, "'%s' in '%s' has no field called '%s', others have it", r.name, it.name, field)
		}
		break
	}
	return semanticError(pos, "item %d of '%s' has no field called '%s', others have it", number, it.name, field)
}

// A role is where a bare word stands: that decides what it may mean.
type role int

const (
	asValue   role = iota // what something is compared with, or made from
	asSubject             // what a condition is about
)

// find returns what a name stands for: a field of an item, an item that goes by a
// name, or a value of that name.
func (m *Machine) find(name string, f *frame, as role) (Value, bool) {
	for ; f != nil; f = f.outer {
		if f.bare || as == asSubject {
			if v, ok := f.item.field(name); ok {
				return v, true
			}
		}
		if f.binding == name {
			return f.item, true
		}
	}
	return m.value(name)
}

// known reports whether a name stands for a value, or will when it arrives from
// outside. It is an error if fields of that name are on some items of a list and
// not on others.
func (m *Machine) known(pos Pos, name string, f *frame, as role) (bool, error) {
	for g := f; g != nil; g = g.outer {
		if !g.bare && as != asSubject {
			continue
		}
		if g.of.missing(name, false) {
			return false, g.of.withoutField(pos, name)
		}
		if _, ok := g.item.field(name); ok {
			return true, nil
		}
	}
	if _, ok := m.find(name, f, as); ok || m.live[name] {
		return true, nil
	}
	if s, ok := m.symbols[name]; ok && s.teach != nil {
		return false, semanticError(pos, "'%s' is something to do, no value", name)
	}
	return false, nil
}

// mustKnow is [Machine.known] where a name must stand for something.
func (m *Machine) mustKnow(pos Pos, name string, f *frame, as role) error {
	ok, err := m.known(pos, name, f, as)
	switch {
	case err != nil:
		return err
	case ok:
		return nil
	case f != nil && f.of.missing(name, true):
		return f.of.withoutField(pos, name)
	}
	return m.unknown(pos, name)
}
