package limn

// whenAhead reports whether the line begins a handler. A handler is not indented.
func (p *parser) whenAhead() bool { return p.src.depth == 0 && p.src.tab < 0 && p.beginsWithWhen() }

// beginsWithWhen reports whether the line begins with "when" or "inherited when".
func (p *parser) beginsWithWhen() bool {
	return p.toks[0].is(kwWhen) || p.toks[0].is(kwInherited) && p.toks[1].is(kwWhen)
}

// when parses a handler with its body. An error in any of its lines makes the whole handler
// an error, and no line of the body becomes a statement of the program.
func (p *parser) when(l *Line) {
	head := p.src
	w := p.whenHead()
	p.finish(l, w)
	end := p.place(len(head.text))
	w.Body = p.body(l)
	l.Source = p.text[head.start : p.src.start+len(p.src.text)]
	if len(w.Body) == 0 && l.Err == nil {
		l.Err = &Error{Pos: end, Text: `"when" has no body`, Hint: "indent what it does on the lines below it"}
	}
	if l.Err != nil {
		l.stmt, l.Amber = nil, ""
	}
}

// whenHead reads the first line of a handler.
func (p *parser) whenHead() *when {
	w := &when{Inherited: p.accept(kwInherited)}
	p.accept(kwWhen)
	w.Cond = p.cond(false)
	w.Unless = p.unless()
	if w.Inherited && p.accept(kwFrom) {
		w.From = p.name("the agent").Text
	}
	if p.peek().kind == lexColon {
		p.at++
	}
	return w
}

// body parses the body of a handler. The first error in the body becomes the error of the
// handler. A line that is indented by a tab, or deeper than the lines before it, is an error
// and ends the body: the lines after it do not belong to the handler.
func (p *parser) body(when *Line) []*Line {
	var body []*Line
	depth := 0
	for p.within(max(depth, 1)) {
		if depth == 0 {
			depth = p.src.depth
		}
		over := p.src.depth > depth || p.src.tab >= 0
		s := p.begin()
		if p.blank() && !over {
			continue
		}
		p.inner(s, depth)
		if when.Err == nil {
			when.Err = s.line.Err
		}
		body = append(body, &s.line)
		if over {
			break
		}
	}
	return body
}

// inner parses a line of a body whose first line is indented by depth spaces.
func (p *parser) inner(s *statement, depth int) {
	switch {
	case p.src.depth > depth:
		p.at = 0
		p.fail("a line is indented deeper than the ones before it", "indent all lines of a body alike")
	case p.beginsWithWhen():
		p.at = 0
		p.fail(`"when" inside a "when"`, "begin a line with it, at the left")
	case p.toks[0].is(kwAbout):
		p.at = 0
		p.fail(`"about" inside a "when"`, "put the title on the first line")
	}
	p.statement(s)
}
