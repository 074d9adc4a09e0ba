package limn

import (
	"fmt"
	"strings"
)

// value reads a value: terms joined by "plus" and "minus".
func (p *parser) value() expr {
	v, depth := p.term(), 0
	for {
		t := p.peek()
		if !t.is(kwPlus) && !t.is(kwMinus) || !p.deeper(&depth) {
			return v
		}
		p.at++
		v = &binary{Pos: p.place(t.pos), Op: t.text, Left: v, Right: p.term()}
	}
}

// term reads atoms joined by "multiplied by" and "divided by".
func (p *parser) term() expr {
	v, depth := p.atom(), 0
	for {
		t := p.peek()
		if !t.is(kwMultipliedBy) && !t.is(kwDividedBy) || !p.deeper(&depth) {
			return v
		}
		p.at++
		v = &binary{Pos: p.place(t.pos), Op: t.text, Left: v, Right: p.atom()}
	}
}

// deeper increments depth for an operator and fails if there are more than maxNesting.
func (p *parser) deeper(depth *int) bool {
	*depth++
	if *depth > maxNesting {
		p.fail("too many operators in one value", `do it in steps, with "remember"`)
		return false
	}
	return true
}

// atom reads a value without operators.
func (p *parser) atom() expr {
	switch t := p.peek(); {
	case t.is(kwHighest) || t.is(kwLowest):
		return p.extremum()
	case t.is(kwEach) && p.each > 0:
		p.at++
		return &currentItem{Pos: p.place(t.pos)}
	}
	return p.simple()
}

// simple reads a literal, a name, or a field of something.
func (p *parser) simple() expr {
	t := p.peek()
	pos := p.place(t.pos)
	switch t.kind {
	case lexNumber:
		p.at++
		return p.numberOf(t)
	case lexDate:
		p.at++
		return &date{Pos: pos, Text: t.text}
	case lexText:
		p.at++
		return &quotation{Pos: pos, Text: t.text}
	case lexWord:
		p.at++
		if !t.names() || !p.accept(kwOf) {
			return &word{Pos: pos, Text: t.text}
		}
		return &field{Pos: pos, Field: t.text, Of: p.name("a record")}
	case lexEnd, lexKeyword, lexPackVerb, lexColon:
	}
	p.notValue(t)
	return &word{Pos: pos}
}

// extremum reads the highest or lowest of a list.
func (p *parser) extremum() *extremum {
	t := p.next()
	e := &extremum{Pos: p.place(t.pos), Highest: t.is(kwHighest)}
	if !p.peek().is(kwOf) {
		e.Field = p.name("a field").Text
	}
	p.expect(kwOf, "write highest of LIST, or highest FIELD of LIST")
	p.article()
	e.List = p.name("a list")
	return e
}

// numeral consumes a number. It fails if the next lexeme is not a number; form is the
// hint of the error.
func (p *parser) numeral(form string) *number {
	t := p.peek()
	if t.kind != lexNumber {
		p.fail(t.String()+" where a number belongs", form)
		return nil
	}
	p.at++
	return p.numberOf(t)
}

// numberOf returns a literal number. It is parsed here and not where it is used, because a use may
// repeat, and the time to parse grows faster than the length.
func (p *parser) numberOf(t lexeme) *number {
	n := &number{Pos: p.place(t.pos), Text: t.text}
	n.value, _ = parseNumber(t.text) // the error is that of the statement that uses it
	return n
}

// newName consumes a name that the statement defines. It fails if the next lexeme is a noun
// of a pack or cannot be a name. In the error, the text what describes the named thing.
func (p *parser) newName(what string) Name {
	if t := p.peek(); t.noun {
		p.notName(what, t)
		return Name{Pos: p.place(t.pos)}
	}
	return p.name(what)
}

// name consumes a name, and fails if the next lexeme cannot be a name. In the error, the
// text what describes the named thing.
func (p *parser) name(what string) Name {
	t := p.peek()
	if !t.names() {
		p.notName(what, t)
		return Name{Pos: p.place(t.pos)}
	}
	p.at++
	return Name{Pos: p.place(t.pos), Text: t.text}
}

// notName records a fault for a lexeme that cannot be a name.
func (p *parser) notName(what string, t lexeme) {
	switch t.kind {
	case lexEnd, lexColon:
		p.fail(t.String()+" where the name of "+what+" belongs", "write a name there")
	case lexText:
		hint := "write it without quotes"
		if strings.Contains(t.text, " ") {
			hint = "write one word; hyphens can join several"
		}
		p.fail("the name of "+what+" is in quotes", hint)
	case lexNumber, lexDate:
		p.fail(t.String()+" cannot be the name of "+what, "begin names with a letter")
	case lexWord, lexKeyword, lexPackVerb:
		p.fail(t.reserved()+" and cannot be the name of "+what, "choose another name")
	}
}

// notValue records a fault for a lexeme that is no value.
func (p *parser) notValue(t lexeme) {
	switch {
	case t.kind == lexEnd || t.kind == lexColon:
		p.fail(t.String()+" where a value belongs", "write a number, a date, a name or quoted text")
	case t.is(kwEach):
		p.fail(`"each" where there is no current item`, `use it inside an "each" or a "transform"`)
	case t.isArticle():
		p.fail(t.reserved()+" and no value", "leave it out, or put it in quotes")
	default:
		p.fail(t.reserved()+" and no value", fmt.Sprintf(`put it in quotes: "%s"`, t.text))
	}
}

// reserved describes the kind of a reserved word, for errors.
func (t lexeme) reserved() string {
	switch t.kind {
	case lexPackVerb:
		return fmt.Sprintf("%q is a verb of a pack", t.text)
	case lexEnd, lexWord, lexKeyword, lexNumber, lexDate, lexText, lexColon:
	}
	switch {
	case t.is(kwCombine):
		return fmt.Sprintf("%q has been renamed", t.text)
	case t.noun:
		return fmt.Sprintf("%q is a noun of a pack", t.text)
	}
	c := t.word.category()
	if c == catArticle || c == catOperator {
		return fmt.Sprintf("%q is an %s", t.text, c)
	}
	return fmt.Sprintf("%q is a %s", t.text, c)
}
