package limn

import (
	"fmt"
	"slices"
	"strings"
)

// sequence reads operations that are joined by "and" and "then".
func (p *parser) sequence() *sequence {
	s := &sequence{Ops: []*operation{p.op(&operation{})}}
	p.operations(s)
	return s
}

// operations reads further operations of a sequence.
func (p *parser) operations(s *sequence) {
	for p.joined() {
		s.Ops = append(s.Ops, p.op(&operation{Then: p.next().is(kwThen)}))
	}
}

// joined reports whether a further operation follows.
func (p *parser) joined() bool {
	switch t := p.peek(); {
	case t.is(kwAnd):
		return p.peekAt(1).startsOp()
	case t.is(kwThen):
		if p.peekAt(1).startsOp() {
			return true
		}
		p.at++
		p.fail(p.found()+` after "then"`, "go on with a verb")
	}
	return false
}

// op parses an operation and its annotations.
func (p *parser) op(op *operation) *operation {
	op.Pos = p.pos()
	if !p.enter() {
		return op
	}
	op.Starting = p.moment(kwStarting)
	op.Until = p.moment(kwUntil)
	op.Inherited = p.accept(kwInherited)
	op.Core = p.core()
	if p.accept(kwBecause) {
		op.Because = p.quotedText(`after "because"`)
	}
	if op.Inherited && p.accept(kwFrom) {
		op.From = p.name("the agent").Text
	}
	p.leave()
	return op
}

// moment parses the keyword k and the date after it, or returns nil if k is not next.
func (p *parser) moment(k keyword) *moment {
	if !p.accept(k) {
		return nil
	}
	t := p.peek()
	if !isDay(t.text) {
		p.fail(fmt.Sprintf("%v after %q is no day", t, k.String()), `write a day as "yyyy-mm-dd"`)
		return nil
	}
	p.at++
	return &moment{Text: t.text}
}

// quotedText consumes a quoted text, and fails if the next lexeme is not one.
func (p *parser) quotedText(where string) *quotation {
	if p.peek().kind != lexText {
		p.fail(p.found()+" "+where, "put the text in quotes")
		return nil
	}
	return p.takeText()
}

// takeText consumes the next lexeme, which is quoted text.
func (p *parser) takeText() *quotation {
	pos := p.pos()
	return &quotation{Pos: pos, Text: p.next().text}
}

// core parses the action of an operation.
func (p *parser) core() action {
	switch t := p.peek(); {
	case t.kind == lexWord:
		return p.call()
	case t.kind == lexPackVerb:
		return p.packCall()
	case t.isVerb():
		return p.verb()
	case t.is(kwDefine):
		return p.define()
	}
	p.notVerb()
	return nil
}

// notVerb records a fault for a lexeme that cannot begin an operation.
func (p *parser) notVerb() {
	switch t := p.peek(); {
	case t.is(kwUntil), t.is(kwStarting):
		p.unexpected()
	case t.is(kwOtherwise):
		p.fail(`"otherwise" without a "choose" on its line`, `keep a "choose" on one line with all its branches`)
	case t.is(kwWhen):
		p.fail(`"when" inside a statement`, "begin a line with it, at the left")
	case t.kind == lexText:
		p.fail("quoted text where a verb belongs", `to display it write "show" before it`)
	case t.kind == lexEnd:
		p.fail("the line ends where a verb belongs", "say what is to be done")
	default:
		p.fail(t.String()+" where a verb belongs", `begin with what is to be done, such as "remember", "add" or "require"`)
	}
}

// verb reads a statement of a verb of the language.
func (p *parser) verb() action {
	t := p.next()
	switch {
	case t.is(kwRemember):
		return p.remember()
	case t.is(kwShow):
		return p.show()
	case t.is(kwFilter), t.is(kwKeep):
		return p.selection(t.text)
	case t.is(kwCount), t.is(kwSum):
		return &tally{Verb: t.text, List: p.listName(t.text)}
	case t.is(kwGather):
		return p.gather()
	case t.is(kwEach):
		return p.eachOf()
	case t.is(kwChoose):
		return p.choose()
	case t.is(kwFinish):
		return &finish{}
	case t.is(kwAdd):
		return p.change(t.text, kwTo)
	case t.is(kwRemove):
		return p.change(t.text, kwFrom)
	case t.is(kwWeakens):
		return p.weakens()
	case t.is(kwRequire):
		if p.peek().is(kwEach) && (p.each == 0 || p.peekAt(1).kind == lexWord) {
			return p.requireEach()
		}
		return p.rule(t.text)
	case t.is(kwForbid), t.is(kwPermit), t.is(kwExpect):
		return p.rule(t.text)
	case t.is(kwAssign):
		return p.assign()
	case t.is(kwSort):
		return p.sort()
	case t.is(kwCompare):
		return p.compare()
	default:
		return p.transform()
	}
}

// call parses the name of a composition and its argument.
func (p *parser) call() *call {
	switch t := p.peek(); {
	case strings.HasPrefix(t.text, "--"):
		p.fail("a name that begins like a comment, with --", "rename the composition")
	case t.is(kwCombine):
		p.fail(`"combine" has been renamed`, `write "sum"`)
	}
	c := &call{Name: p.name("a composition")}
	if p.accept(kwFrom) {
		c.Arg = p.arg()
	}
	return c
}

// arg parses the argument of a composition: a name or a literal.
func (p *parser) arg() expr {
	switch t := p.peek(); t.kind {
	case lexWord:
		p.at++
		return &word{Pos: p.place(t.pos), Text: t.text}
	case lexNumber, lexDate, lexText:
		return p.simple()
	case lexEnd, lexKeyword, lexPackVerb, lexColon:
	}
	p.fail(p.found()+" where an argument belongs", "give a name, a number, a date or quoted text")
	return nil
}

// define parses the definition of a condition.
func (p *parser) define() *define {
	p.at++
	d := &define{Name: p.newName("a condition")}
	p.colon(`write define NAME: CONDITION`)
	if p.peek().is(kwEach) && p.excludesBehind(1) {
		p.at++
		p.fail(`"not includes" after "each"`, "leave the \"each\" out: define NAME: not includes VALUE")
	}
	d.Cond = p.cond(true)
	return d
}

// packCall reads a statement of a verb of a pack.
func (p *parser) packCall() *packCall {
	c := &packCall{Pos: p.pos()}
	c.Verb = p.verbs[p.next().text]
	c.Slots = make([]expr, len(c.Verb.Slots))
	for i, s := range c.Verb.Slots {
		switch {
		case p.slotAhead(c, s):
			if s.Connective != "" {
				p.at++
			}
			c.Slots[i] = p.slot(s)
		case s.Required:
			p.fail(fmt.Sprintf("%q has no %s", c.Verb.Word, s.Name), "write "+c.Verb.usage())
		}
	}
	return c
}

// slotAhead reports whether the next lexeme begins the slot s. It does if it is the
// connective of s. If s has no connective, it does unless it is the connective of
// another slot.
func (p *parser) slotAhead(c *packCall, s packSlot) bool {
	t := p.peek()
	if s.Connective != "" {
		return t.kind != lexText && t.text == s.Connective
	}
	return !p.atEnd() && (t.kind == lexText || !slices.ContainsFunc(c.Verb.Slots, func(o packSlot) bool {
		return o.Connective == t.text
	}))
}

// slot parses the argument of a slot.
func (p *parser) slot(s packSlot) expr {
	if !s.IsName || p.each > 0 && p.peek().is(kwEach) {
		return p.atom()
	}
	n := p.listName("put into " + s.Name)
	return &word{Pos: n.Pos, Text: n.Text}
}

// usage returns the form of a statement with the verb, for hints.
func (v *packVerb) usage() string {
	words := []string{v.Word}
	for _, s := range v.Slots {
		if s.Connective != "" {
			words = append(words, s.Connective)
		}
		words = append(words, strings.ToUpper(s.Name))
	}
	return strings.Join(words, " ")
}
