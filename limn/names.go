package limn

// orOf returns r. If r is nil, it returns a new reading at the first line of
// the program p.
func (r *reading) orOf(p *Program) *reading {
	if r != nil {
		return r
	}
	w := nameWalk{bound: map[string]bool{"today": true}, defined: map[string]int{}}
	for _, l := range p.Lines {
		w.visit(l.stmt)
		if s, ok := l.stmt.(*sequence); ok && l.Amber == "" {
			for _, op := range s.Ops { // top-level operations run exactly once
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

// A nameWalk collects the names that a program binds or defines.
type nameWalk struct {
	bound map[string]bool // names of values and compositions
	// defined counts the definitions of each condition: 2 for a definition that may run any
	// number of times, 1 for a definition that runs exactly once. Only a count of 1 is certain.
	defined map[string]int
}

// visit collects the names in a node. It assumes that every operation in node may run any
// number of times.
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
