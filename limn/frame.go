package limn

// A frame holds the names that are defined only for the current item of an iteration.
// Frames nest. Outside iterations the frame is nil.
type frame struct {
	outer   *frame
	of      *iteration // or nil if item is not from a list
	item    Value
	binding string // name of the item, or empty
	bare    bool   // bare words may be fields of the item, as in an each
	strict  bool   // subjects of tests must be fields of the item, as in a filter; a check refuses others
}

// An iteration is a list, and for each field the number of records that have it.
type iteration struct {
	name   string
	list   *list
	fields map[string]int
}

// iterate returns an iteration over l. name is used in messages.
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

// missing reports whether some records of the list have a field and others lack it. If orNone
// is true, it also returns true if all records lack the field.
func (it *iteration) missing(field string, orNone bool) bool {
	if it == nil || it.fields == nil {
		return false
	}
	n := it.fields[field]
	return n < it.list.len() && (n > 0 || orNone)
}

// withoutField returns the error about a field that some records lack.
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

// A role is the position of a bare word in a statement. The role decides whether the word
// may be a field.
type role int

const (
	asValue   role = iota // a value, such as the right side of a comparison
	asSubject             // the subject of a condition
)

// find returns the value of a name: a field of an item, an item bound to the name, or the
// value that the machine has under the name, in this order.
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

// known reports whether a name has a value or is a live name. It fails if some items of a
// list have a field of that name and others lack it.
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
	if m.symbols[name] != nil {
		return false, semanticError(pos, "'%s' is a composition, not a value", name)
	}
	return false, nil
}

// mustKnow is like [Machine.known], but fails if the name is not known.
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
