package limn

// A handler is a "when" that was registered.
type handler struct {
	line     *Line
	when     *when
	watches  []string // names that the conditions depend on, in the order they are mentioned
	eligible bool     // whether it was true when last looked at
	disabled bool     // whether nothing it depends on can change any more
}

// register checks the conditions of a handler, whose names must exist, and keeps
// it for [Machine.Listen]. What is in its body is checked when it runs, but for
// what could never be.
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

// checkNoLiveWrites refuses operations that would write to live names.
func (m *Machine) checkNoLiveWrites(s *sequence) error {
	for _, op := range s.Ops {
		if name, ok := written(op.Core); ok && m.live[name.Text] {
			return semanticError(name.Pos, "'%s' is a live value, which a handler cannot change", name.Text)
		}
	}
	return nil
}

// written returns the name that an operation writes to.
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
