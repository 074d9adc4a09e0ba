package limn

// walk visits a node and what it consists of, in the order of the text, but not what is
// in a node for which visit returns false. A node is a [Stmt], an [*Op], a [Core], an
// [Expr] or a [Cond], or nil.
func walk(node any, visit func(node any) bool) {
	if node == nil || !visit(node) {
		return
	}
	switch n := node.(type) {
	case *When:
		walk(n.Cond, visit)
		walk(n.Unless, visit)
		for _, l := range n.Body {
			walk(l.Stmt, visit)
		}
	case *Sequence:
		for _, op := range n.Ops {
			walk(op, visit)
		}
	case *Op:
		walk(n.Core, visit)
	case Core:
		walkCore(n, visit)
	case *Binary:
		walk(n.Left, visit)
		walk(n.Right, visit)
	case *Junction:
		for _, c := range n.Conds {
			walk(c, visit)
		}
	case *Test:
		walk(n.Subject, visit)
		walk(n.Within, visit)
		walk(n.Value, visit)
	}
}

// walkCore visits what an operation consists of.
func walkCore(core Core, visit func(node any) bool) {
	switch c := core.(type) {
	case *Remember:
		for _, f := range c.Fields {
			walk(f.Value, visit)
		}
		walkExprs(c.Values, visit)
		walk(c.From, visit)
	case *Teach:
		walk(c.Body, visit)
	case *Show:
		walkExprs(c.Values, visit)
	case *Select:
		walk(c.Cond, visit)
	case *Gather:
		walk(c.From, visit)
		walk(c.To, visit)
		if c.By != nil {
			walk(c.By, visit)
		}
	case *Each:
		walk(c.Op, visit)
	case *Choose:
		for _, b := range c.Branches {
			walk(b.Cond, visit)
			walk(b.Then, visit)
		}
		if c.Otherwise != nil {
			walk(c.Otherwise, visit)
		}
	case *Change:
		walk(c.Value, visit)
	case *Weakens:
		walk(c.Over, visit)
	case *Assign:
		walk(c.Value, visit)
	case *Rule:
		walk(c.Cond, visit)
		walk(c.Unless, visit)
	case *RequireEach:
		walk(c.Cond, visit)
	case *Transform:
		walk(c.Value, visit)
	case *Define:
		walk(c.Cond, visit)
	case *Call:
		walk(c.Arg, visit)
	case *PackCall:
		walkExprs(c.Slots, visit)
	}
}

// walkExprs visits expressions.
func walkExprs(values []Expr, visit func(node any) bool) {
	for _, v := range values {
		walk(v, visit)
	}
}

// Body returns the lines of the body of a handler, which begins with "when". It is nil
// for other statements.
func (l *Line) Body() []*Line {
	if w, ok := l.Stmt.(*When); ok {
		return w.Body
	}
	return nil
}

// Writes returns the names whose meaning a statement changes, in the order of the text:
// those of values, lists, compositions with their parameters, and conditions. What packs
// write, and the name of the result of "compare", are not among them.
func (l *Line) Writes() []Name {
	var names []Name
	walk(l.Stmt, func(node any) bool {
		core, ok := node.(Core)
		if !ok {
			return true
		}
		if name, ok := written(core); ok {
			names = append(names, name)
		}
		switch c := core.(type) {
		case *Teach:
			if c.Param != nil {
				names = append(names, *c.Param)
			}
		case *Define:
			names = append(names, c.Name)
		}
		return true
	})
	return names
}
