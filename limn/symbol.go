package limn

import "slices"

// The bounds of a machine.
const (
	maxItems = 1_000_000 // items of all lists together
	maxSteps = 5_000_000 // steps of a statement
	maxDepth = 100       // nesting depth of compositions and predicates
)

// A symbol is the thing that a name is bound to: a value or a composition.
type symbol struct {
	value      Value
	descriptor string // the word before "called"
	teach      *teach // or nil
	decay      *decay // or nil
}

// bind binds a name to a copy of a value. If the name has a number that weakens and v is a
// number, v weakens over the same number of ticks, from now on.
func (m *Machine) bind(name, descriptor string, v Value) error {
	before := m.symbols[name]
	if v.kindOf() == kindList {
		if err := m.spend(v.len() / 4); err != nil {
			return err
		}
		if err := m.reserve(v.len() - itemsOf(before)); err != nil {
			return err
		}
	} else {
		m.items -= itemsOf(before)
	}
	s := &symbol{value: v.copy(), descriptor: descriptor}
	if before != nil && before.decay != nil && v.kindOf() == kindNumber {
		s.decay = &decay{over: before.decay.over, since: m.ticks}
	}
	m.symbols[name] = s
	m.touch(name)
	return nil
}

// itemsOf returns the number of items of a list, and 0 for other symbols.
func itemsOf(s *symbol) int {
	if s == nil || s.value.kindOf() != kindList {
		return 0
	}
	return s.value.len()
}

// reserve adds n, which may be negative, to the number of items of the machine. It fails if
// there would be more than maxItems.
func (m *Machine) reserve(n int) error {
	if n > 0 && m.items+n > maxItems {
		return runtimeError(Pos{}, "the lists would hold more than %d items", maxItems)
	}
	m.items += n
	return nil
}

// touch records that a running handler has bound a name or changed its value.
func (m *Machine) touch(name string) {
	if m.firing && !slices.Contains(m.changed, name) {
		m.changed = append(m.changed, name)
	}
}

// edit records that the list of a name changes in place, as touch does, and that it does.
func (m *Machine) edit(name string) {
	m.touch(name)
	if m.firing && !slices.Contains(m.edited, name) {
		m.edited = append(m.edited, name)
	}
}

// spend subtracts n from the steps that the statement may still take. It fails
// if fewer are left.
func (m *Machine) spend(n int) error {
	if m.steps < n {
		m.steps = 0
		return runtimeError(Pos{}, "the statement takes too many steps")
	}
	m.steps -= n
	return nil
}

// enter counts the entry into the body of a composition or of a defined condition. It fails
// at a depth of maxDepth.
func (m *Machine) enter(n Name) error {
	if m.depth == maxDepth {
		return runtimeError(n.Pos, "more than %d compositions and conditions are nested, the last one is '%s'", maxDepth, n.Text)
	}
	m.depth++
	return nil
}

func (m *Machine) leave() { m.depth-- }

// listNamed returns the list with a name. It fails if the name has no list.
func (m *Machine) listNamed(verb string, n Name) (*list, error) {
	s, err := m.symbolNamed(n)
	if err != nil {
		return nil, err
	}
	l, ok := s.value.v.(*list)
	if !ok {
		return nil, semanticError(n.Pos, "%q needs a list, and '%s' is %s", verb, n.Text, describe(s.value))
	}
	return l, nil
}

// ownList returns the list with a name for a verb that changes it. It also fails if the list
// is a live value or is being iterated over.
func (m *Machine) ownList(verb string, n Name) (*list, error) {
	l, err := m.listNamed(verb, n)
	if err != nil {
		return nil, err
	}
	if m.live[n.Text] {
		return nil, semanticError(n.Pos, "'%s' is a live value, which %q cannot change", n.Text, verb)
	}
	if slices.Contains(m.iterating, n.Text) {
		return nil, semanticError(n.Pos, "%q cannot change '%s' while it is iterated over", verb, n.Text)
	}
	return l, nil
}

// symbolNamed returns the symbol of a name. It fails if the name has no value.
func (m *Machine) symbolNamed(n Name) (*symbol, error) {
	s, ok := m.symbols[n.Text]
	switch {
	case !ok:
		return nil, m.unknown(n.Pos, n.Text)
	case s.teach != nil:
		return nil, semanticError(n.Pos, "'%s' is a composition, not a value", n.Text)
	}
	return s, nil
}

// unknown returns the error about an undefined name or a live name without a value.
func (m *Machine) unknown(pos Pos, name string) error {
	if m.live[name] {
		return semanticError(pos, "'%s' has no value yet", name)
	}
	e := newError(faultSemantic, pos, "there is nothing called '%s'", name)
	e.Hint = "remember it first"
	return unknownName{e}
}

// bindable returns an error if a statement must not bind the name n: a handler cannot bind
// live names, and a list cannot change while it is iterated over.
func (m *Machine) bindable(n Name) error {
	if m.firing && m.live[n.Text] {
		return semanticError(n.Pos, "'%s' is a live value, which a handler cannot change", n.Text)
	}
	if slices.Contains(m.iterating, n.Text) {
		return semanticError(n.Pos, "'%s' cannot change while it is iterated over", n.Text)
	}
	return nil
}
