package limn

// checkMeaning returns the parse errors that depend on the names known when the line runs: a
// call needs a composition of that name, and "is not" needs a defined condition. It checks
// the whole statement, including bodies that run later.
func (m *Machine) checkMeaning(s stmt) (err error) {
	walk(s, func(node any) bool {
		if err != nil {
			return false
		}
		switch n := node.(type) {
		case *operation:
			return m.coreOf(n) == n.Core // if coreOf differs, the operation copies a value: there is no call
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
