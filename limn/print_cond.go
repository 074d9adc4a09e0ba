package limn

// expr writes an expression.
func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case *Number:
		p.words(e.Text)
	case *Date:
		p.words(e.Text)
	case *Text:
		p.quote(e.Text)
	case *Word:
		p.words(e.Text)
	case *Field:
		p.words(e.Field, "of", e.Of.Text)
	case *Extremum:
		p.extremum(e)
	case *Item:
		p.words("each")
	case *Binary:
		p.expr(e.Left)
		p.words(e.Op)
		p.expr(e.Right)
	}
}

// extremum writes the highest or lowest of a list.
func (p *printer) extremum(e *Extremum) {
	if e.Highest {
		p.words("highest")
	} else {
		p.words("lowest")
	}
	if e.Field != "" {
		p.words(e.Field)
	}
	p.words("of", e.List.Text)
}

// cond writes a condition.
func (p *printer) cond(c Cond) {
	switch c := c.(type) {
	case *Test:
		p.test(c, true)
	case *Junction:
		p.junction(c, true)
	}
}

// defined writes what a name stands for. The language does not read "each" before
// "not includes" there.
func (p *printer) defined(c Cond) {
	said := !firstTest(c).excludes()
	switch c := c.(type) {
	case *Test:
		p.test(c, said)
	case *Junction:
		p.junction(c, said)
	}
}

// firstTest returns the test that a condition begins with.
func firstTest(c Cond) *Test {
	for {
		switch part := c.(type) {
		case *Test:
			return part
		case *Junction:
			c = part.Conds[0]
		}
	}
}

// excludes reports whether a test is that something does not include a value.
func (t *Test) excludes() bool { return t.Not && t.Op == OpIncludes }

// junction writes joined conditions. Only the first test of all may begin with
// "each", which ends a condition everywhere else.
func (p *printer) junction(j *Junction, first bool) {
	for i, c := range j.Conds {
		if i > 0 {
			p.words(j.connective())
			first = false
		}
		switch c := c.(type) {
		case *Test:
			p.test(c, first)
		case *Junction:
			p.junction(c, first)
		}
	}
}

func (j *Junction) connective() string {
	if j.Or {
		return "or"
	}
	return "and"
}

// test writes a comparison.
func (p *printer) test(t *Test, first bool) {
	if _, item := t.Subject.(*Item); !item || first {
		p.expr(t.Subject)
	}
	if t.Op != OpIncludes {
		p.words("is")
	}
	if t.Not {
		p.words("not")
	}
	if t.Op != OpIs {
		p.words(string(t.Op))
	}
	if t.Within != nil {
		p.expr(t.Within)
		p.words("of")
	}
	p.expr(t.Value)
}

// grouped returns the canonical form of a condition with parentheses around what
// "and" joins inside of "or". It is for people: the language has no parentheses.
func grouped(j *Junction) string {
	var p printer
	for i, c := range j.Conds {
		text := canonical(c)
		if _, ok := c.(*Junction); ok {
			text = "(" + text + ")"
		}
		if i > 0 {
			p.words(j.connective())
		}
		p.words(text)
	}
	return p.String()
}
