package limn

import "errors"

// kindOf checks an expression and returns the kind of its value, or [kindNone] if
// that depends on a live name without a value.
func (m *Machine) kindOf(e expr, f *frame) (kind, error) {
	switch e := e.(type) {
	case *word:
		if _, err := m.known(e.Pos, e.Text, f, asValue); err != nil {
			return kindNone, err
		}
		return m.evalWord(e, f).kindOf(), nil
	case *field:
		return m.kindOfField(e, f)
	case *extremum:
		return m.kindOfExtremum(e)
	case *binary:
		return m.kindOfBinary(e, f)
	case *quotation:
		return kindText, nil
	case *number, *date, *currentItem:
	}
	v, err := m.eval(e, f)
	if err != nil {
		return kindNone, asSemantic(err)
	}
	return v.kindOf(), nil
}

// asParse turns err into a parse error.
func asParse(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.fault = faultParse
	}
	return err
}

// asSemantic turns err into a semantic error.
func asSemantic(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.fault = faultSemantic
	}
	return err
}

func (m *Machine) kindOfField(e *field, f *frame) (kind, error) {
	if f != nil && f.binding == e.Of.Text && f.of.missing(e.Field, true) {
		return kindNone, f.of.withoutField(e.Pos, e.Field)
	}
	v, err := m.evalField(e, f)
	return v.kindOf(), err
}

func (m *Machine) kindOfBinary(e *binary, f *frame) (kind, error) {
	left, err := m.operandKind(e.Left, f)
	if err != nil {
		return kindNone, err
	}
	right, err := m.operandKind(e.Right, f)
	if err != nil {
		return kindNone, err
	}
	return binaryKind(e, left, right)
}

// operandKind is like kindOf, but for operands of arithmetic, where a bare word must be
// a name and not a text.
func (m *Machine) operandKind(e expr, f *frame) (kind, error) {
	if w, ok := e.(*word); ok {
		if err := m.mustKnow(w.Pos, w.Text, f, asValue); err != nil {
			return kindNone, err
		}
	}
	return m.kindOf(e, f)
}

// kindOfExtremum checks that "highest" or "lowest" is applied to numbers or dates, and
// returns their kind.
func (m *Machine) kindOfExtremum(e *extremum) (kind, error) {
	if m.unset(e.List.Text) {
		return kindNone, nil
	}
	l, err := m.listNamed(e.word(), e.List)
	if err != nil || l.len() == 0 {
		return kindNone, err
	}
	records := l.kind == kindRecord
	switch {
	case records && e.Field == "":
		return kindNone, semanticError(e.Pos, "'%s' of a list of records needs a field: %s F of %s", e.word(), e.word(), e.List.Text)
	case !records && e.Field != "":
		return kindNone, semanticError(e.Pos, "the items of '%s' have no fields: %s of %s", e.List.Text, e.word(), e.List.Text)
	case !records && !ordered(l.kind, l.kind):
		return kindNone, semanticError(e.Pos, "'%s' needs numbers or dates, and '%s' is %s", e.word(), e.List.Text, describeList(l.kind))
	case !records:
		return l.kind, nil
	}
	it, err := m.iterate(e.List.Text, l)
	if err != nil {
		return kindNone, err
	}
	return it.kindOfField(e.Pos, e.Field)
}

// kindOfField checks that a field is a number in all records or a date in all records,
// and returns its kind.
func (it *iteration) kindOfField(pos Pos, field string) (kind, error) {
	if it.missing(field, true) {
		return kindNone, it.withoutField(pos, field)
	}
	kind := kindNone
	for item := range it.list.all() {
		v, _ := item.field(field)
		if kind == kindNone {
			kind = v.kindOf()
		}
		if !ordered(kind, v.kindOf()) {
			return kindNone, semanticError(pos, "the field '%s' of '%s' is neither a number everywhere nor a date", field, it.name)
		}
	}
	return kind, nil
}
