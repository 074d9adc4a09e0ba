package limn

// orOf returns r or, if that is nil, a reading of p that is at its beginning.
func (r *reading) orOf(p *Program) *reading {
	if r != nil {
		return r
	}
	w := nameWalk{bound: map[string]bool{"today": true}, defined: map[string]int{}}
	for _, l := range p.Lines {
		w.line(l, true)
	}
	r = &reading{bound: w.bound, predicates: map[string]*Define{}, vague: map[string]bool{}}
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

// line visits a statement. What is at the top is executed once.
func (w nameWalk) line(l *Line, top bool) {
	switch s := l.Stmt.(type) {
	case *When:
		for _, inner := range s.Body {
			w.line(inner, false)
		}
	case *Sequence:
		w.sequence(s, top && l.Amber == "")
	case *About:
	}
}

func (w nameWalk) sequence(s *Sequence, top bool) {
	if s == nil {
		return
	}
	for _, op := range s.Ops {
		w.core(op.Core, top)
	}
}

func (w nameWalk) core(c Core, top bool) {
	switch c := c.(type) {
	case *Define:
		w.defined[c.Name.Text]++
		if !top {
			w.defined[c.Name.Text]++
		}
	case *Teach:
		w.bound[c.Name.Text] = true
		if c.Param != nil {
			w.bound[c.Param.Text] = true
		}
		w.sequence(c.Body, false)
	case *Choose:
		for _, b := range c.Branches {
			w.sequence(b.Then, false)
		}
		w.sequence(c.Otherwise, false)
	case *Each:
		w.core(c.Op.Core, false)
	case *Compare:
		w.bound["comparison"] = true
	case *Remember:
		w.bound[c.Name.Text] = true
		if from, ok := c.From.(Core); ok {
			w.core(from, top)
		}
	case *Gather:
		w.bound[c.Name.Text] = true
	case *Assign:
		w.bound[c.Name.Text] = true
	case *RequireEach:
		w.bound[c.Binding] = true
	case *PackCall:
		w.packCall(c)
	default:
	}
}

// packCall visits the names that a verb of a pack writes to.
func (w nameWalk) packCall(c *PackCall) {
	for name, value := range c.Verb.Execution.Params {
		if packTarget(name) {
			w.bound[value] = true
		}
	}
}
