package limn

// cond parses a condition: parts joined by "or". If elided is set, a test may omit its
// subject, which then is the current item.
func (p *parser) cond(elided bool) condition {
	conds := []condition{p.conjunction(elided)}
	for p.continues(kwOr) {
		conds = append(conds, p.conjunction(elided))
	}
	if len(conds) == 1 {
		return conds[0]
	}
	j := &junction{Or: true, Conds: conds}
	if p.amber == "" && mixed(j) {
		p.amber = grouped(j)
	}
	return j
}

// conjunction parses tests joined by "and".
func (p *parser) conjunction(elided bool) condition {
	test := p.test(elided)
	if !p.continues(kwAnd) {
		return test
	}
	j := &junction{Conds: []condition{test, p.test(elided)}}
	for p.continues(kwAnd) {
		j.Conds = append(j.Conds, p.test(elided))
	}
	return j
}

// continues consumes the connective k and reports whether it did. If an operation follows the
// connective, the condition ends before it, and continues returns false.
func (p *parser) continues(k keyword) bool {
	if p.err != nil || !p.peek().is(k) || p.peekAt(1).startsOp() {
		return false
	}
	p.at++
	return true
}

// mixed reports whether a condition has both "and" and "or".
func mixed(j *junction) bool {
	for _, c := range j.Conds {
		if _, ok := c.(*junction); ok {
			return true
		}
	}
	return false
}

// test reads a comparison.
func (p *parser) test(elided bool) *test {
	t := &test{Pos: p.pos(), Subject: p.subject(elided)}
	switch {
	case p.accept(kwIs):
		p.comparison(t)
	case p.peek().is(kwNot) && p.peekAt(1).is(kwIncludes):
		p.at += 2
		t.Not, t.Op, t.Value = true, opIncludes, p.value()
	case p.accept(kwIncludes):
		t.Op, t.Value = opIncludes, p.value()
	default:
		p.fail(p.found()+" where a comparison belongs", `go on with "is" or "includes"`)
	}
	return t
}

// subject parses the left side of a comparison.
func (p *parser) subject(elided bool) expr {
	switch t := p.peek(); {
	case elided && (t.is(kwIs) || t.is(kwNot) || t.is(kwIncludes)):
		return &currentItem{Pos: p.place(t.pos)}
	case t.is(kwEach):
		p.at++
		return &currentItem{Pos: p.place(t.pos)}
	case t.is(kwHighest) || t.is(kwLowest):
		return p.extremum()
	case t.kind == lexWord:
		return p.simple()
	default:
		p.notSubject(t)
		return &currentItem{}
	}
}

// notSubject records a fault for a lexeme that cannot begin a test.
func (p *parser) notSubject(t lexeme) {
	switch {
	case t.kind == lexEnd || t.kind == lexColon:
		p.fail(t.String()+" where a condition belongs", "write NAME is VALUE")
	case t.kind == lexNumber || t.kind == lexDate || t.kind == lexText:
		p.fail(t.String()+" at the beginning of a condition", "begin with a name and put the value after it")
	case t.isArticle():
		p.fail(t.String()+" at the beginning of a condition", "leave the article out")
	default:
		p.fail(t.reserved()+" and cannot begin a condition", "begin with a name")
	}
}

// comparison parses the rest of a test after "is".
func (p *parser) comparison(t *test) {
	if p.accept(kwWithin) {
		p.tolerance(t)
		return
	}
	t.Not = p.accept(kwNot)
	switch {
	case p.accept(kwAbove):
		t.Op = opAbove
	case p.accept(kwBelow):
		t.Op = opBelow
	case p.accept(kwEqualTo):
		t.Op = opEqual
	case p.peek().is(kwEqual):
		p.fail(`"equal" without "to"`, `write "equal to"`)
	case p.peek().is(kwHighest), p.peek().is(kwLowest):
		p.fail(p.found()+` after "is"`, `write "is equal to"`)
	default:
		t.Op = opIs
		if t.Not {
			p.predicate(t)
			return
		}
	}
	t.Value = p.value()
}

// predicate parses the name of a condition after "is not".
func (p *parser) predicate(t *test) {
	next := p.peek()
	if next.kind != lexWord || p.peekAt(1).is(kwOf) {
		p.fail(next.String()+` after "is not"`, `write "is not equal to", or name a condition that is defined`)
		return
	}
	p.at++
	t.Value = &word{Pos: p.place(next.pos), Text: next.text}
}

// tolerance parses the rest of a test after "is within".
func (p *parser) tolerance(t *test) {
	t.Op = opWithin
	if k := p.peek().kind; k != lexNumber && k != lexWord {
		p.fail(p.found()+" is no tolerance", "write is within NUMBER of VALUE")
		return
	}
	next := p.next()
	if next.kind == lexNumber {
		t.Within = p.numberOf(next)
	} else {
		t.Within = &word{Pos: p.place(next.pos), Text: next.text}
	}
	p.expect(kwOf, "write is within NUMBER of VALUE")
	t.Value = p.value()
}
