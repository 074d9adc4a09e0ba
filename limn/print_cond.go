package limn

// expr writes an expression.
func (p *printer) expr(e expr) {
	switch e := e.(type) {
	case *number:
		p.words(e.Text)
	case *date:
		p.words(e.Text)
	case *quotation:
		p.quote(e.Text)
	case *word:
		p.words(e.Text)
	case *field:
		p.words(e.Field, "of", e.Of.Text)
	case *extremum:
		p.words(e.word())
		if e.Field != "" {
			p.words(e.Field)
		}
		p.words("of", e.List.Text)
	case *currentItem:
		p.words("each")
	case *binary:
		p.expr(e.Left)
		p.words(e.Op)
		p.expr(e.Right)
	}
}

// cond writes a condition.
func (p *printer) cond(c condition) {
	switch c := c.(type) {
	case *test:
		p.test(c, true)
	case *junction:
		p.junction(c, true)
	}
}

// defined writes the condition of a definition. It omits "each" before "not includes",
// because the parser refuses "each not includes" there.
func (p *printer) defined(c condition) {
	said := !c.first().excludes()
	switch c := c.(type) {
	case *test:
		p.test(c, said)
	case *junction:
		p.junction(c, said)
	}
}

// excludes reports whether the operator of a test is "not includes".
func (t *test) excludes() bool { return t.Not && t.Op == opIncludes }

// junction writes joined conditions. Only the first test of the whole condition may begin
// with "each"; in a later test "each" would begin a new operation.
func (p *printer) junction(j *junction, first bool) {
	for i, c := range j.Conds {
		if i > 0 {
			p.words(j.connective())
			first = false
		}
		switch c := c.(type) {
		case *test:
			p.test(c, first)
		case *junction:
			p.junction(c, first)
		}
	}
}

func (j *junction) connective() string {
	if j.Or {
		return "or"
	}
	return "and"
}

// test writes a comparison.
func (p *printer) test(t *test, first bool) {
	if _, item := t.Subject.(*currentItem); !item || first {
		p.expr(t.Subject)
	}
	if t.Op != opIncludes {
		p.words("is")
	}
	if t.Not {
		p.words("not")
	}
	if t.Op != opIs {
		p.words(string(t.Op))
	}
	if t.Within != nil {
		p.expr(t.Within)
		p.words("of")
	}
	p.expr(t.Value)
}

// grouped returns the canonical form of a condition, with parentheses around each group of
// tests joined by "and". The text is only for people: the language has no parentheses.
func grouped(j *junction) string {
	var p printer
	for i, c := range j.Conds {
		text := canonical(c)
		if _, ok := c.(*junction); ok {
			text = "(" + text + ")"
		}
		if i > 0 {
			p.words(j.connective())
		}
		p.words(text)
	}
	return p.String()
}
