package limn

// orOf returns r or, if that is nil, a reading of p that is at its beginning.
func (r *reading) orOf(p *Program) *reading {
	if r != nil {
		return r
	}
	w := nameWalk{bound: map[string]bool{"today": true}, defined: map[string]int{}}
	for _, l := range p.Lines {
		w.visit(l.stmt)
		if s, ok := l.stmt.(*sequence); ok && l.Amber == "" {
			for _, op := range s.Ops { // which are executed once
				if d, ok := op.Core.(*define); ok {
					w.defined[d.Name.Text]--
				}
			}
		}
	}
	r = &reading{bound: w.bound, predicates: map[string]*define{}, vague: map[string]bool{}}
	for name, times := range w.defined {
		if times > 1 || w.bound[name] {
			r.vague[name] = true
		}
	}
	return r
}

// A nameWalk collects the names that a program gives a meaning to.
type nameWalk struct {
	bound   map[string]bool // values and compositions
	defined map[string]int  // how often, where that may not happen as often as it can
}

// visit collects the names in a node, all of whose operations may be executed again.
func (w nameWalk) visit(node any) {
	walk(node, func(node any) bool {
		switch c := node.(type) {
		case *define:
			w.defined[c.Name.Text] += 2
		case *teach:
			w.bound[c.Name.Text] = true
			if c.Param != nil {
				w.bound[c.Param.Text] = true
			}
		case *compare:
			w.bound[comparison] = true
		case *remember:
			w.bound[c.Name.Text] = true
		case *gather:
			w.bound[c.Name.Text] = true
		case *assign:
			w.bound[c.Name.Text] = true
		case *requireEach:
			w.bound[c.Binding] = true
		case *packCall:
			for name, value := range c.Verb.Execution.Params {
				if packTarget(name) {
					w.bound[value] = true
				}
			}
		}
		return true
	})
}
