package limn

// check returns an error if the condition would apply itself, directly or through others.
func (d *define) check(m *Machine, _ *frame) error {
	s := applySearch{m: m, name: d.Name, seen: make(map[string]bool)}
	return s.cond(d.Cond, 1)
}

// An applySearch looks for a name among the conditions that a condition applies,
// directly or through other conditions.
type applySearch struct {
	m    *Machine
	name Name
	seen map[string]bool
}

// cond returns an error at the first test by which the condition with the
// searched name would apply itself.
func (s applySearch) cond(c condition, depth int) (err error) {
	walk(c, func(node any) bool {
		if t, ok := node.(*test); ok && err == nil {
			err = s.test(t, depth)
		}
		return err == nil
	})
	return err
}

func (s applySearch) test(t *test, depth int) error {
	if depth == 1 && (s.is(t.Subject) || s.is(t.Value) || s.is(t.Within)) {
		return s.itself()
	}
	w, ok := t.Value.(*word)
	switch {
	case !ok || t.Op != opIs || s.seen[w.Text]:
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

// is reports whether an expression is the word s.name.
func (s applySearch) is(e expr) bool {
	w, ok := e.(*word)
	return ok && w.Text == s.name.Text
}

func (s applySearch) itself() error {
	return semanticError(s.name.Pos, "'%s' would be defined by itself", s.name.Text)
}

// define binds a name to a condition, and shows a message if the name had another condition.
func (m *Machine) define(d *define) error {
	_, known := m.predicates[d.Name.Text]
	m.predicates[d.Name.Text] = d
	if known {
		return m.emit(String("'" + d.Name.Text + "' is defined anew."))
	}
	return nil
}
