package limn

// packed is the descriptor of names that pack verbs bind.
const packed = "value"

// checkWrite checks that the target of a write accepts a value of the source's kind.
func (x packRun) checkWrite(kinds []kind) error {
	target, err := x.target()
	if err != nil {
		return err
	}
	source := kindText
	if x.param("source_slot") != "" {
		source = kinds[x.index("source_slot")]
	}
	switch x.c.Verb.Execution.Type {
	case "append_to_list":
		return x.checkAppend(target, source)
	case "set_field":
		return x.checkSetField(target, source)
	}
	return x.m.bindable(target)
}

func (x packRun) checkAppend(target Name, source kind) error {
	l, err := x.m.ownList(x.c.Verb.Word, target)
	switch {
	case err != nil:
		return err
	case source == kindList:
		return semanticError(target.Pos, "a list cannot be an item of '%s'", target.Text)
	case source == kindNone || l.kind == kindNone || source == l.kind || l.onlyNone():
		return nil
	}
	return semanticError(target.Pos, "'%s' is %s, and this would be a %s", target.Text, describeList(l.kind), source)
}

func (x packRun) checkSetField(target Name, source kind) error {
	s, err := x.m.symbolNamed(target)
	switch {
	case err != nil:
		return err
	case s.value.kindOf() != kindRecord:
		return semanticError(target.Pos, "%q sets a field of a record, and '%s' is %s", x.c.Verb.Word, target.Text, describe(s.value))
	case source == kindRecord || source == kindList:
		return semanticError(target.Pos, "a field holds a number, a text or a date, not a %s", source)
	}
	return x.m.bindable(target)
}

// target returns the name that the execution writes.
func (x packRun) target() (Name, error) {
	if name := x.param("target_name"); name != "" {
		return Name{Pos: x.c.Pos, Text: name}, nil
	}
	e := x.c.Slots[x.index("target_slot")]
	if w, ok := e.(*word); ok {
		return Name{Pos: w.Pos, Text: w.Text}, nil
	}
	return Name{}, semanticError(e.pos(), "%q writes to a name, and an item has none", x.c.Verb.Word)
}

// source returns the value that a pack verb gives to its target, which is a name, a list or a
// field. It is the constant literal_value if the verb has one, and otherwise the value of the
// argument in its source slot.
func (x packRun) source() (Value, error) {
	if text := x.param("literal_value"); text != "" {
		return String(text), nil
	}
	return x.value("source_slot")
}

// operands returns the target and the source of a write.
func (x packRun) operands() (target Name, v Value, err error) {
	if target, err = x.target(); err == nil {
		v, err = x.source()
	}
	return target, v, err
}

// setValue binds a name to a value. If the source slot takes names, the value is the name
// itself as a text.
func (x packRun) setValue() error {
	target, v, err := x.operands()
	if err != nil {
		return err
	}
	if x.param("source_slot") != "" {
		i := x.index("source_slot")
		if w, ok := x.c.Slots[i].(*word); ok && x.c.Verb.Slots[i].IsName {
			v = String(w.Text)
		}
	}
	return x.m.bind(target.Text, keptDescriptor(x.m.symbols[target.Text]), v)
}

// keptDescriptor returns the descriptor of s, or [packed] if s has none.
func keptDescriptor(s *symbol) string {
	if d := descriptorOf(s); d != "" {
		return d
	}
	return packed
}

func (x packRun) appendToList() error {
	target, v, err := x.operands()
	if err != nil {
		return err
	}
	l, err := x.m.ownList(x.c.Verb.Word, target)
	if err != nil {
		return err
	}
	if v.kindOf() == kindList {
		return runtimeError(target.Pos, "a list cannot be an item of '%s'", target.Text)
	}
	x.m.edit(target.Text)
	return x.m.add(l, v)
}

func (x packRun) setField() error {
	target, err := x.target()
	if err != nil {
		return err
	}
	s, err := x.m.symbolNamed(target)
	if err != nil {
		return err
	}
	v, err := x.source()
	if err != nil {
		return err
	}
	if s.value.kindOf() != kindRecord || !v.scalar() {
		return runtimeError(target.Pos, "%q cannot set a field of '%s' to %s", x.c.Verb.Word, target.Text, describe(v))
	}
	return x.m.bind(target.Text, s.descriptor, s.value.with(x.param("field_name"), v))
}
