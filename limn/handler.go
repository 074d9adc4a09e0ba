package limn

// A handler is a "when" that was registered.
type handler struct {
	line     *Line
	when     *When
	watches  []string // names that the conditions depend on, in the order they are mentioned
	eligible bool     // whether it was true when last looked at
	disabled bool     // whether nothing it depends on can change any more
}

// register checks the conditions of a handler, whose names must exist, and keeps
// it for [Machine.Listen]. What is in its body is checked when it runs, but for
// what could never be.
func (m *Machine) register(l *Line) Result {
	w, _ := l.Stmt.(*When)
	h := &handler{line: l, when: w}
	err := m.checkHandler(w)
	if err == nil {
		m.handlers = append(m.handlers, h)
	}
	r := failed(err)
	r.Executed = err == nil
	return r
}

func (m *Machine) checkHandler(w *When) error {
	if err := (meaningCheck{m}).when(w); err != nil {
		return err
	}
	if err := m.checkCond(w.Cond, nil, false); err != nil {
		return err
	}
	if w.Unless != nil {
		if err := m.checkCond(w.Unless, nil, false); err != nil {
			return err
		}
	}
	for _, l := range w.Body {
		if l.Err != nil {
			return l.Err
		}
		s, ok := l.Stmt.(*Sequence)
		if !ok {
			return semanticError(l.Pos, "only operations can stand in the body of a \"when\"")
		}
		if err := m.sparesLive(s); err != nil {
			return err
		}
	}
	return nil
}

// sparesLive refuses operations that would write to live names.
func (m *Machine) sparesLive(s *Sequence) error {
	for _, op := range s.Ops {
		if name, ok := written(op.Core); ok && m.live[name.Text] {
			return semanticError(name.Pos, "'%s' is a live value, which a handler cannot change", name.Text)
		}
	}
	return nil
}

// written returns the name that an operation writes to.
func written(c Core) (Name, bool) {
	switch c := c.(type) {
	case *Remember:
		return c.Name, true
	case *Teach:
		return c.Name, true
	case *Gather:
		return c.Name, true
	case *Assign:
		return c.Name, true
	case *Weakens:
		return c.Name, true
	case *Change:
		return c.List, true
	case *Sort:
		return c.List, true
	case *Transform:
		return c.List, true
	case *Select:
		return c.List, c.Verb == verbFilter
	default:
		return Name{}, false
	}
}
