package limn

import "slices"

// A watcher collects the names that conditions depend on.
type watcher struct {
	m     *Machine
	names []string
	seen  []*define // definitions whose conditions were visited
}

// visit collects the names in a condition or an expression.
func (w *watcher) visit(node any) {
	walk(node, func(node any) bool {
		switch n := node.(type) {
		case *test:
			p := w.m.predicate(n)
			if p == nil {
				return true
			}
			w.visit(n.Subject)
			if !slices.Contains(w.seen, p) {
				w.seen = append(w.seen, p)
				w.visit(p.Cond)
			}
			return false
		case *word:
			w.name(n.Text)
		case *field:
			w.name(n.Of.Text)
		case *extremum:
			w.name(n.List.Text)
		}
		return true
	})
}

// name adds a word if it is the name of a value or a live name.
func (w *watcher) name(name string) {
	s, ok := w.m.symbols[name]
	if (ok && s.teach == nil || w.m.live[name]) && !slices.Contains(w.names, name) {
		w.names = append(w.names, name)
	}
}
