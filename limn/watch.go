package limn

import "slices"

// A watcher collects the names that conditions depend on.
type watcher struct {
	m     *Machine
	names []string
	seen  []*Define // whose conditions were visited
}

func (w *watcher) cond(c Cond) {
	switch c := c.(type) {
	case *Test:
		w.expr(c.Subject)
		if p := w.m.predicate(c); p != nil {
			if !slices.Contains(w.seen, p) {
				w.seen = append(w.seen, p)
				w.cond(p.Cond)
			}
			return
		}
		w.expr(c.Within)
		w.expr(c.Value)
	case *Junction:
		for _, part := range c.Conds {
			w.cond(part)
		}
	}
}

func (w *watcher) expr(e Expr) {
	switch e := e.(type) {
	case *Word:
		w.name(e.Text)
	case *Field:
		w.name(e.Of.Text)
	case *Extremum:
		w.name(e.List.Text)
	case *Binary:
		w.expr(e.Left)
		w.expr(e.Right)
	case *Number, *Date, *Text, *Item:
	}
}

// name adds a word if it is the name of something.
func (w *watcher) name(name string) {
	s, ok := w.m.symbols[name]
	if (ok && s.teach == nil || w.m.live[name]) && !slices.Contains(w.names, name) {
		w.names = append(w.names, name)
	}
}
