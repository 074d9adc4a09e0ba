package limn

import (
	"fmt"
	"slices"
)

// remember parses the rest of a statement after "remember".
func (p *parser) remember() action {
	if p.peek().is(kwHow) {
		return p.teach()
	}
	r := &remember{Descriptor: p.descriptor()}
	p.expect(kwCalled, "write remember a KIND called NAME with VALUE")
	r.Name = p.newName("a value")
	listed := slices.Contains(r.Descriptor, "list")
	fallback := "value"
	switch {
	case p.accept(kwFrom):
		r.From = p.source()
	case !p.accept(kwWith):
		r.List = true
		if !listed {
			p.fail("nothing to remember", `go on with "with" and a value; only a list may be empty`)
		}
	case p.peekAt(1).is(kwAs):
		fallback = "record"
		r.Fields = p.assignments()
	default:
		r.Values = p.values()
		r.List = listed || len(r.Values) > 1
		if r.List {
			fallback = "list"
		}
	}
	if len(r.Descriptor) == 0 {
		r.Descriptor = []string{fallback}
	}
	return r
}

// descriptor reads the words between "remember" and "called".
func (p *parser) descriptor() []string {
	var words []string
	for {
		t := p.peek()
		switch {
		case t.kind == lexWord:
			words = append(words, t.text)
		case !t.isArticle():
			return words
		}
		p.at++
	}
}

// assignments reads the fields of a record.
func (p *parser) assignments() []assignment {
	var fields []assignment
	for {
		f := assignment{Field: p.name("a field")}
		p.expect(kwAs, "write FIELD as VALUE, for every field")
		f.Value = p.value()
		fields = append(fields, f)
		if !p.more() {
			return fields
		}
	}
}

// values reads values joined by "and".
func (p *parser) values() []expr {
	values := []expr{p.value()}
	for p.more() {
		values = append(values, p.value())
	}
	return values
}

// more consumes an "and" that continues a list, and reports whether it did. An "and" before
// an operation is left in place.
func (p *parser) more() bool {
	if !p.peek().is(kwAnd) || p.peekAt(1).startsOp() {
		return false
	}
	p.at++
	return true
}

// source parses the source after "from" in a remember: an operation or a value.
func (p *parser) source() any {
	switch t := p.peek(); {
	case t.is(kwEach) && p.each > 0 && !p.namesList(1):
		return p.value()
	case t.isVerb():
		if !p.enter() {
			return nil
		}
		core := p.core()
		p.leave()
		return core
	case t.kind == lexWord && p.peekAt(1).is(kwFrom):
		return p.call()
	}
	return p.value()
}

// namesList reports whether the lexeme n places ahead can begin the name of a list.
func (p *parser) namesList(n int) bool {
	t := p.peekAt(n)
	return t.kind == lexWord || t.isArticle()
}

// teach parses the definition of a composition.
func (p *parser) teach() *teach {
	p.at++
	p.expect(kwTo, "write remember how to NAME: STATEMENT")
	t := &teach{Name: p.newName("a composition")}
	if p.accept(kwFrom) {
		param := p.newName("a parameter")
		t.Param = &param
	}
	p.colon("write remember how to NAME: STATEMENT")
	outer := p.each
	p.each = 0 // a body cannot use the items of enclosing iterations
	t.Body = p.sequence()
	p.each = outer
	return t
}

// show parses the rest of a statement after "show".
func (p *parser) show() *show {
	p.article()
	t := p.peek()
	switch {
	case t.is(kwEach) && p.each > 0:
		p.at++
		return &show{}
	case t.kind == lexText && p.each > 0:
		p.fail(`quoted text after "show" in an "each"`, "name a field there, without quotes")
	case t.kind == lexText:
		return &show{Values: []expr{p.takeText()}}
	case t.is(kwHighest) || t.is(kwLowest):
		return &show{Values: []expr{p.extremum()}}
	case t.kind == lexWord:
		return p.showNames()
	case p.opEnds():
		return &show{} // the current item, if there is one
	case t.kind == lexNumber || t.kind == lexDate:
		p.fail("only names and quoted text can be shown", fmt.Sprintf("put it in quotes: %q", t.text))
	default:
		p.notName("what to show", t)
	}
	return &show{}
}

// opEnds reports whether the next lexeme can follow an operation.
func (p *parser) opEnds() bool {
	t := p.peek()
	return t.kind == lexEnd || t.is(kwAnd) || t.is(kwThen) || t.is(kwBecause) || t.is(kwOtherwise) || t.is(kwFrom)
}

// showNames reads a name or a field, and inside an each any number of names.
func (p *parser) showNames() *show {
	s := &show{Values: []expr{p.simple()}}
	if _, ok := s.Values[0].(*field); ok || p.each == 0 {
		return s
	}
	for p.more() {
		n := p.name("a field")
		s.Values = append(s.Values, &word{Pos: n.Pos, Text: n.Text})
	}
	return s
}

// selection parses the rest of a statement after "filter" or "keep".
func (p *parser) selection(verb string) *selection {
	s := &selection{Verb: verb, List: p.listName(verb)}
	p.expect(kwWhere, `go on with "where" and a condition`)
	if p.excludesBehind(1) {
		p.at++
		p.fail(`"not includes" in the first test after "where"`, `put another test first, and join the two with "and"`)
	}
	s.Cond = p.cond(false)
	return s
}

// excludesBehind reports whether "not includes" follows the next n lexemes.
func (p *parser) excludesBehind(n int) bool {
	return p.err == nil && p.peekAt(n).is(kwNot) && p.peekAt(n+1).is(kwIncludes)
}

// listName reads the name of a list, with or without an article.
func (p *parser) listName(verb string) Name {
	p.article()
	if t := p.peek(); !t.names() {
		p.notName("what to "+verb, t)
	}
	return p.name("")
}

// gather parses the bounds of a list of numbers.
func (p *parser) gather() *gather {
	const form = "write gather the NAME from NUMBER to NUMBER"
	p.article()
	g := &gather{Name: p.newName("a list")}
	p.expect(kwFrom, form)
	g.From = p.numeral(form)
	p.expect(kwTo, form)
	g.To = p.numeral(form)
	if p.accept(kwBy) {
		if t := p.peek(); t.kind == lexNumber && !positive(t.text) {
			p.fail("a step of "+t.text, "count by a number above 0; the direction is that of the bounds")
		}
		g.By = p.numeral(form + " by NUMBER")
	}
	return g
}

// positive reports whether a number is above 0.
func positive(number string) bool {
	if number[0] == '-' {
		return false
	}
	for i := range len(number) {
		if number[i] != '0' && number[i] != '.' {
			return true
		}
	}
	return false
}

// eachOf reads an iteration.
func (p *parser) eachOf() *each {
	e := &each{List: p.listName("go through")}
	if p.peek().is(kwChoose) {
		p.fail(`"choose" inside an "each"`, `select the items with "keep" first`)
	}
	p.each++
	e.Op = p.op(&operation{})
	p.each--
	return e
}

// choose reads branches.
func (p *parser) choose() *choose {
	c := &choose{Branches: []branch{p.branch()}}
	for p.accept(kwOtherwise) {
		if !p.peek().is(kwIf) {
			c.Otherwise = p.sequence()
			return c
		}
		c.Branches = append(c.Branches, p.branch())
	}
	return c
}

// branch parses a condition and the sequence that runs if it is true.
func (p *parser) branch() branch {
	const form = "write choose if CONDITION: STATEMENT"
	p.expect(kwIf, form)
	b := branch{Cond: p.cond(false)}
	p.colon(form)
	b.Then = p.sequence()
	return b
}

// change parses the rest of a statement after "add" or "remove".
func (p *parser) change(verb string, k keyword) *change {
	p.article()
	c := &change{Verb: verb, Value: p.value()}
	p.expect(k, "write add VALUE to LIST, or remove VALUE from LIST")
	p.article()
	c.List = p.name("a list")
	return c
}

// weakens parses the rest of a statement after "weakens".
func (p *parser) weakens() *weakens {
	const form = "write weakens NAME over NUMBER"
	p.article()
	w := &weakens{Name: p.name("a number")}
	p.expect(kwOver, form)
	w.Over = p.numeral(form)
	return w
}

// assign reads a name and its value.
func (p *parser) assign() *assign {
	p.article()
	a := &assign{Name: p.newName("a value")}
	p.expect(kwTo, "write assign NAME to VALUE")
	a.Value = p.value()
	return a
}

// rule reads a condition and its exception.
func (p *parser) rule(verb string) *rule {
	return &rule{Verb: verb, Cond: p.cond(false), Unless: p.unless()}
}

// unless reads an exception, if one is next.
func (p *parser) unless() condition {
	if !p.accept(kwUnless) {
		return nil
	}
	return p.cond(false)
}

// requireEach reads a rule for the items of a list.
func (p *parser) requireEach() *requireEach {
	p.at++
	r := &requireEach{Binding: p.newName("an item").Text}
	if !p.word("in") {
		p.fail(p.found()+` where "in" belongs`, "write require each NAME in the LIST CONDITION")
	}
	p.article()
	r.List = p.name("a list")
	r.Cond = p.cond(true)
	return r
}

// sort parses the rest of a statement after "sort".
func (p *parser) sort() *sort {
	s := &sort{List: p.listName("sort")}
	p.expect(kwBy, "write sort the LIST by FIELD")
	s.Field = p.name("a field").Text
	if p.word("in") && !p.peek().is(kwReverse) {
		p.fail(p.found()+` after "in"`, `write "in reverse"`)
	}
	s.Reverse = p.accept(kwReverse)
	return s
}

// compare parses the rest of a statement after "compare".
func (p *parser) compare() *compare {
	c := &compare{Left: p.listName("compare")}
	p.expect(kwTo, "write compare NAME to NAME")
	c.Right = p.listName("compare with")
	return c
}

// transform parses the rest of a statement after "transform".
func (p *parser) transform() *transform {
	t := &transform{List: p.listName("transform")}
	if p.accept(kwOf) {
		t.Field = t.List.Text
		t.List = p.listName("transform")
	}
	p.expect(kwBy, "write transform the LIST by VALUE, or transform FIELD of the LIST by VALUE")
	p.each++
	t.Value = p.value()
	p.each--
	return t
}
