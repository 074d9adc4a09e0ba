package limn

import "strings"

// check checks the value and whether the name can be bound.
func (r *remember) check(m *Machine, f *frame) error {
	if err := m.bindable(r.Name); err != nil {
		return err
	}
	switch {
	case r.Fields != nil:
		return m.checkFields(r.Fields, f)
	case r.From != nil:
		return m.checkSource(r.From, f)
	case r.List:
		return m.checkItems(r, f)
	case len(r.Values) == 1:
		_, err := m.kindOf(r.Values[0], f)
		return err
	}
	return semanticError(r.Name.Pos, "'%s' has no value to remember", r.Name.Text)
}

// checkFields checks the fields of a record.
func (m *Machine) checkFields(fields []assignment, f *frame) error {
	if len(fields) > maxFields {
		return semanticError(fields[maxFields].Field.Pos, "a record has at most %d fields", maxFields)
	}
	for i, a := range fields {
		for _, before := range fields[:i] {
			if before.Field.Text == a.Field.Text {
				return semanticError(a.Field.Pos, "the record has two fields called '%s'", a.Field.Text)
			}
		}
		kind, err := m.kindOf(a.Value, f)
		if err != nil {
			return err
		}
		if kind == kindRecord || kind == kindList {
			return semanticError(a.Value.pos(), "a field holds a number, a string or a date, and '%s' would be a %s", a.Field.Text, kind)
		}
	}
	return nil
}

// checkItems checks that the items of a list are of one kind.
func (m *Machine) checkItems(r *remember, f *frame) error {
	first := kindNone
	for _, e := range r.Values {
		kind, err := m.kindOf(e, f)
		switch {
		case err != nil:
			return err
		case kind == kindList:
			return semanticError(e.pos(), "a list cannot be an item of a list: remember it from '%s'", canonical(e))
		case kind == kindNone:
			return semanticError(e.pos(), "'%s' has no value yet", canonical(e))
		case first == kindNone:
			first = kind
		case kind != first:
			return semanticError(e.pos(), "the items of a list are of one kind: '%s' is a %s and '%s' is a %s",
				canonical(r.Values[0]), first, canonical(e), kind)
		}
	}
	return nil
}

// checkSource checks the source after "from".
func (m *Machine) checkSource(source any, f *frame) error {
	switch s := source.(type) {
	case action:
		return m.checkCapture(s, f)
	case *word:
		if c, ok := m.composition(s); ok {
			return m.checkCapture(c, f)
		}
		return m.mustKnow(s.Pos, s.Text, f, asValue)
	case expr:
		_, err := m.kindOf(s, f)
		return err
	}
	return errNothing
}

// composition returns a call of the composition with the name w, if there is one.
func (m *Machine) composition(w *word) (*call, bool) {
	s, ok := m.symbols[w.Text]
	if !ok || s.teach == nil {
		return nil, false
	}
	return &call{Name: Name(*w)}, true
}

// checkCapture checks an action whose value is bound to a name. It fails if the action has no
// value.
func (m *Machine) checkCapture(core action, f *frame) error {
	if err := m.check(core, f); err != nil {
		return err
	}
	return m.mustGive(core, 0)
}

// mustGive fails if an action has no value. depth is the number of compositions that
// enclose the action. A gather has a value only if it is the last operation of a
// composition, and then depth is above 0.
func (m *Machine) mustGive(core action, depth int) error {
	switch c := core.(type) {
	case *selection:
		if c.Verb != verbFilter {
			return nil
		}
	case *tally:
		return nil
	case *gather:
		if depth > 0 {
			return nil
		}
	case *remember:
		if c.From != nil {
			return nil
		}
	case *call:
		s, ok := m.symbols[c.Name.Text]
		if !ok || s.teach == nil || depth == maxDepth {
			return nil // the run reports the actual error
		}
		ops := s.teach.Body.Ops
		if m.mustGive(ops[len(ops)-1].Core, depth+1) != nil {
			return semanticError(c.Name.Pos, "'%s' gives no value: it ends with '%s'", c.Name.Text, canonical(ops[len(ops)-1]))
		}
		return nil
	}
	return semanticError(Pos{}, "'%s' gives no value", canonical(core))
}

// remember binds a name and returns its value.
func (m *Machine) remember(r *remember, f *frame) (Value, error) {
	v, err := m.remembered(r, f)
	if err != nil {
		return Value{}, err
	}
	if v.v == nil {
		return Value{}, runtimeError(r.Name.Pos, "there is no value yet for '%s'", r.Name.Text)
	}
	return v, m.bind(r.Name.Text, strings.Join(r.Descriptor, " "), v)
}

// remembered evaluates the value of a remember.
func (m *Machine) remembered(r *remember, f *frame) (Value, error) {
	switch {
	case r.Fields != nil:
		return m.recordOf(r, f)
	case r.From != nil:
		return m.sourced(r.From, f)
	case r.List:
		return m.listOf(r, f)
	}
	return m.eval(r.Values[0], f)
}

func (m *Machine) recordOf(r *remember, f *frame) (Value, error) {
	rec := &record{name: r.Name.Text, entries: make([]entry, len(r.Fields))}
	for i, a := range r.Fields {
		v, err := m.eval(a.Value, f)
		if err != nil {
			return Value{}, err
		}
		if v.v == nil {
			return Value{}, runtimeError(a.Value.pos(), "there is no value yet for '%s'", a.Field.Text)
		}
		if !v.scalar() { // the check cannot know: in an "each", an earlier item may have changed the value
			return Value{}, runtimeError(a.Value.pos(), "a field holds a number, a string or a date, and '%s' would be a %s", a.Field.Text, v.kindOf())
		}
		rec.entries[i] = entry{a.Field.Text, v}
	}
	return Value{rec}, nil
}

func (m *Machine) listOf(r *remember, f *frame) (Value, error) {
	items := make([]Value, len(r.Values))
	for i, e := range r.Values {
		var err error
		if items[i], err = m.eval(e, f); err != nil {
			return Value{}, err
		}
	}
	v, err := listOf(items...)
	if err != nil { // the check cannot know: in an "each", an earlier item may have changed a value
		return Value{}, runtimeError(r.Name.Pos, "the items of '%s' would not be of one kind, or one would be a list", r.Name.Text)
	}
	return v, nil
}

// sourced evaluates the source after "from".
func (m *Machine) sourced(source any, f *frame) (Value, error) {
	switch s := source.(type) {
	case action:
		return m.exec(s, f, true)
	case *word:
		if c, ok := m.composition(s); ok {
			return m.exec(c, f, true)
		}
		return m.eval(s, f)
	case expr:
		return m.eval(s, f)
	}
	return Value{}, errNothing
}
