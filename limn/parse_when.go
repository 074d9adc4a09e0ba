package limn

// whenAhead reports whether the line is a handler.
func (p *parser) whenAhead() bool {
	return p.toks[0].is(kwWhen) || p.toks[0].is(kwInherited) && p.toks[1].is(kwWhen)
}

// when reads a handler with its body, also if something is wrong with it, so that
// nothing of the body is ever taken for statements of the program.
func (p *parser) when(l *Line) {
	head := p.src
	w := p.whenHead()
	p.finish(l, w)
	end := p.place(len(head.text))
	w.Body = p.body(l, head.indent)
	l.Source = p.text[head.start : p.src.start+len(p.src.text)]
	if len(w.Body) == 0 && l.Err == nil {
		l.Err = &Error{Pos: end, Text: `"when" has no body`, Hint: "indent what it does on the lines below it"}
	}
	if l.Err != nil {
		l.Stmt, l.Amber = nil, ""
	}
}

// whenHead reads the first line of a handler.
func (p *parser) whenHead() *When {
	w := &When{Inherited: p.accept(kwInherited)}
	p.accept(kwWhen)
	w.Cond = p.cond(false)
	w.Unless = p.unless()
	if w.Inherited && p.accept(kwFrom) {
		w.From = p.name("the agent").Text
	}
	if p.peek().kind == tokColon {
		p.at++
	}
	return w
}

// body reads the lines of a handler that is indented itself by some bytes. The
// first error in it is that of the handler.
func (p *parser) body(when *Line, indent int) []*Line {
	var body []*Line
	depth := indent + 1
	for p.within(depth - 1) {
		if len(body) == 0 {
			depth = p.src.indent
		}
		s := p.begin()
		p.inner(s, depth)
		if when.Err == nil {
			when.Err = s.line.Err
		}
		body = append(body, &s.line)
	}
	return body
}

// inner reads a line of a body that is indented by some bytes.
func (p *parser) inner(s *statement, depth int) {
	switch {
	case p.src.indent > depth:
		p.at = 0
		p.fail("a line is indented deeper than the ones before it", "indent all lines of a body alike")
	case p.whenAhead():
		p.at = 0
		p.fail(`"when" inside a "when"`, "begin a line with it, at the left")
	case p.toks[0].is(kwAbout):
		p.at = 0
		p.fail(`"about" inside a "when"`, "put the title on the first line")
	}
	p.statement(s)
}
