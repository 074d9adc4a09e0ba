package limn

// checkDefine refuses a condition that would apply itself.
func (m *Machine) checkDefine(d *Define) error {
	s := applySearch{m: m, name: d.Name, seen: make(map[string]bool)}
	return s.cond(d.Cond, 1)
}

// An applySearch looks for a name among the conditions that a condition applies, in
// one step or more.
type applySearch struct {
	m    *Machine
	name Name
	seen map[string]bool
}

func (s applySearch) cond(c Cond, depth int) error {
	switch c := c.(type) {
	case *Test:
		return s.test(c, depth)
	case *Junction:
		for _, part := range c.Conds {
			if err := s.cond(part, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s applySearch) test(t *Test, depth int) error {
	if depth == 1 && (s.is(t.Subject) || s.is(t.Value) || s.is(t.Within)) {
		return s.itself()
	}
	w, ok := t.Value.(*Word)
	switch {
	case !ok || t.Op != OpIs || s.seen[w.Text]:
		return nil
	case w.Text == s.name.Text:
		return s.itself()
	case depth > maxDepth:
		return semanticError(s.name.Pos, "'%s' would apply more than %d conditions in one another", s.name.Text, maxDepth)
	}
	s.seen[w.Text] = true
	if p := s.m.predicates[w.Text]; p != nil {
		return s.cond(p.Cond, depth+1)
	}
	return nil
}

// is reports whether an expression is the name that is looked for.
func (s applySearch) is(e Expr) bool {
	w, ok := e.(*Word)
	return ok && w.Text == s.name.Text
}

func (s applySearch) itself() error {
	return semanticError(s.name.Pos, "'%s' would be defined by itself", s.name.Text)
}

// define names a condition, and tells if the name had one.
func (m *Machine) define(d *Define) error {
	_, known := m.predicates[d.Name.Text]
	m.predicates[d.Name.Text] = d
	if known {
		return m.emit(String("'" + d.Name.Text + "' is defined anew."))
	}
	return nil
}
