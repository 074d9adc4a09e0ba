package limn

// A meaningCheck finds what makes a line no statement of the language because of the
// names there are when it is its turn: a call of what is no composition has no verb,
// and behind "is not" only conditions can stand that are defined. It looks at the
// whole line, also at what is to run later.
type meaningCheck struct {
	m *Machine
}

func (c meaningCheck) when(w *When) error {
	if err := c.cond(w.Cond); err != nil {
		return err
	}
	if err := c.cond(w.Unless); err != nil {
		return err
	}
	for _, l := range w.Body {
		if s, ok := l.Stmt.(*Sequence); ok {
			if err := c.sequence(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c meaningCheck) sequence(s *Sequence) error {
	if s == nil {
		return nil
	}
	for _, op := range s.Ops {
		if err := c.core(c.m.coreOf(op)); err != nil {
			return err
		}
	}
	return nil
}

func (c meaningCheck) core(core Core) error {
	switch o := core.(type) {
	case *Call:
		return c.call(o)
	case *Remember:
		if from, ok := o.From.(Core); ok {
			return c.core(from)
		}
	case *Teach:
		return c.sequence(o.Body)
	case *Each:
		return c.core(c.m.coreOf(o.Op))
	case *Choose:
		return c.choose(o)
	case *Select:
		return c.cond(o.Cond)
	case *Define:
		return c.cond(o.Cond)
	case *RequireEach:
		return c.cond(o.Cond)
	case *Rule:
		if err := c.cond(o.Cond); err != nil {
			return err
		}
		return c.cond(o.Unless)
	default:
	}
	return nil
}

func (c meaningCheck) choose(o *Choose) error {
	for _, b := range o.Branches {
		if err := c.cond(b.Cond); err != nil {
			return err
		}
		if err := c.sequence(b.Then); err != nil {
			return err
		}
	}
	return c.sequence(o.Otherwise)
}

func (c meaningCheck) call(o *Call) error {
	if _, err := c.m.teachOf(o); err != nil {
		return asParse(err)
	}
	return nil
}

func (c meaningCheck) cond(cond Cond) error {
	switch o := cond.(type) {
	case *Junction:
		for _, part := range o.Conds {
			if err := c.cond(part); err != nil {
				return err
			}
		}
	case *Test:
		w, ok := o.Value.(*Word)
		if ok && o.Op == OpIs && o.Not && c.m.predicates[w.Text] == nil {
			return newError(FaultParse, w.Pos, "no condition '%s' is defined, and \"is not\" takes nothing else", w.Text)
		}
	}
	return nil
}
