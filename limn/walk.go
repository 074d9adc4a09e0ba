package limn

// walk calls the function visit with a node and then with its children, in the order of the
// text. If visit returns false for a node, walk skips the children of that node. A node is a
// [stmt], an [*operation], an [action], an [expr], a [condition] or nil.
func walk(node any, visit func(node any) bool) {
	if node == nil || !visit(node) {
		return
	}
	switch n := node.(type) {
	case *when:
		walk(n.Cond, visit)
		walk(n.Unless, visit)
		for _, l := range n.Body {
			walk(l.stmt, visit)
		}
	case *sequence:
		for _, op := range n.Ops {
			walk(op, visit)
		}
	case *operation:
		walk(n.Core, visit)
	case action:
		walkCore(n, visit)
	case *binary:
		walk(n.Left, visit)
		walk(n.Right, visit)
	case *junction:
		for _, c := range n.Conds {
			walk(c, visit)
		}
	case *test:
		walk(n.Subject, visit)
		walk(n.Within, visit)
		walk(n.Value, visit)
	}
}

// walkCore walks the children of an action with the function visit.
func walkCore(core action, visit func(node any) bool) {
	switch c := core.(type) {
	case *remember:
		for _, f := range c.Fields {
			walk(f.Value, visit)
		}
		walkExprs(c.Values, visit)
		walk(c.From, visit)
	case *teach:
		walk(c.Body, visit)
	case *show:
		walkExprs(c.Values, visit)
	case *selection:
		walk(c.Cond, visit)
	case *gather:
		walk(c.From, visit)
		walk(c.To, visit)
		if c.By != nil {
			walk(c.By, visit)
		}
	case *each:
		walk(c.Op, visit)
	case *choose:
		for _, b := range c.Branches {
			walk(b.Cond, visit)
			walk(b.Then, visit)
		}
		if c.Otherwise != nil {
			walk(c.Otherwise, visit)
		}
	case *change:
		walk(c.Value, visit)
	case *weakens:
		walk(c.Over, visit)
	case *assign:
		walk(c.Value, visit)
	case *rule:
		walk(c.Cond, visit)
		walk(c.Unless, visit)
	case *requireEach:
		walk(c.Cond, visit)
	case *transform:
		walk(c.Value, visit)
	case *define:
		walk(c.Cond, visit)
	case *call:
		walk(c.Arg, visit)
	case *packCall:
		walkExprs(c.Slots, visit)
	}
}

// walkExprs walks expressions with the function visit.
func walkExprs(values []expr, visit func(node any) bool) {
	for _, v := range values {
		walk(v, visit)
	}
}

// Body returns the lines of the body of a handler, or nil for other
// statements.
func (l *Line) Body() []*Line {
	if w, ok := l.stmt.(*when); ok {
		return w.Body
	}
	return nil
}

// Writes returns the names that a statement redefines, in text order: values,
// lists, compositions with their parameters, and conditions. Names that packs
// write, and the result of "compare", are omitted.
func (l *Line) Writes() []Name {
	var names []Name
	walk(l.stmt, func(node any) bool {
		core, ok := node.(action)
		if !ok {
			return true
		}
		if name, ok := written(core); ok {
			names = append(names, name)
		}
		switch c := core.(type) {
		case *teach:
			if c.Param != nil {
				names = append(names, *c.Param)
			}
		case *define:
			names = append(names, c.Name)
		}
		return true
	})
	return names
}
