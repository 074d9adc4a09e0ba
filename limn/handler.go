package limn

// A handler is a "when" that was registered.
type handler struct {
	line     *Line
	when     *when
	watches  []string // names that the conditions depend on, in the order they are mentioned
	eligible bool     // result of the last evaluation of the condition
	disabled bool     // all live names that it watches have failed, so it never fires again
}

// register checks a handler and keeps it for [Machine.Listen]. The names in its conditions
// must exist. The statements of its body are checked when they run; register refuses only
// bodies that can never run: parse errors, statements that are not operations, calls of
// unknown compositions, unknown conditions after "is not", and writes to live names.
func (m *Machine) register(l *Line) Result {
	w, _ := l.stmt.(*when)
	h := &handler{line: l, when: w}
	err := m.checkHandler(w)
	if err == nil {
		m.handlers = append(m.handlers, h)
	}
	r := failed(err)
	r.Executed = err == nil
	return r
}

func (m *Machine) checkHandler(w *when) error {
	if err := m.checkMeaning(w); err != nil {
		return err
	}
	if err := m.checkCond(w.Cond, nil, false); err != nil {
		return err
	}
	if err := m.checkCond(w.Unless, nil, false); err != nil {
		return err
	}
	for _, l := range w.Body {
		if l.Err != nil {
			return l.Err
		}
		s, ok := l.stmt.(*sequence)
		if !ok {
			return semanticError(l.Pos, "only operations can stand in the body of a \"when\"")
		}
		if err := m.checkNoLiveWrites(s); err != nil {
			return err
		}
	}
	return nil
}

// checkNoLiveWrites returns an error if an operation would write to a live name.
func (m *Machine) checkNoLiveWrites(s *sequence) error {
	for _, op := range s.Ops {
		if name, ok := written(op.Core); ok && m.live[name.Text] {
			return semanticError(name.Pos, "'%s' is a live value, which a handler cannot change", name.Text)
		}
	}
	return nil
}

// written returns the name that an action writes to, and false if it writes to none.
func written(c action) (Name, bool) {
	switch c := c.(type) {
	case *remember:
		return c.Name, true
	case *teach:
		return c.Name, true
	case *gather:
		return c.Name, true
	case *assign:
		return c.Name, true
	case *weakens:
		return c.Name, true
	case *change:
		return c.List, true
	case *sort:
		return c.List, true
	case *transform:
		return c.List, true
	case *selection:
		return c.List, c.Verb == verbFilter
	default:
		return Name{}, false
	}
}
