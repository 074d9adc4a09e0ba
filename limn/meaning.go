package limn

// checkMeaning finds what makes a line no statement of the language because of the
// names there are when it is its turn: a call of what is no composition has no verb,
// and behind "is not" only conditions can stand that are defined. It looks at the
// whole line, also at what is to run later.
func (m *Machine) checkMeaning(s stmt) (err error) {
	walk(s, func(node any) bool {
		if err != nil {
			return false
		}
		switch n := node.(type) {
		case *operation:
			return m.coreOf(n) == n.Core // a copy of a value calls nothing
		case *call:
			_, err = m.teachOf(n)
			err = asParse(err)
		case *test:
			if w, ok := n.Value.(*word); ok && n.Op == opIs && n.Not && m.predicates[w.Text] == nil {
				err = newError(faultParse, w.Pos, "no condition '%s' is defined, and \"is not\" takes nothing else", w.Text)
			}
		}
		return true
	})
	return err
}
