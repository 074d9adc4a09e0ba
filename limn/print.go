package limn

import "strings"

// String returns the statements in canonical form, one a line, without
// comments, blank lines and lines with errors. Parsing the result gives the
// same statements and the same text.
func (p *Program) String() string {
	var b strings.Builder
	for _, l := range p.Lines {
		if l.stmt != nil {
			b.WriteString(l.String())
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// String returns the statement in canonical form, a "when" with its body. It
// is empty for a line with an error.
func (l *Line) String() string {
	if l.stmt == nil {
		return ""
	}
	return canonical(l.stmt)
}

// canonical returns the canonical form of a node: a [stmt], an [*operation], an [action], an
// [expr] or a [condition].
func canonical(node any) string {
	var p printer
	p.node(node)
	return p.String()
}

// A printer writes words with single spaces between them.
type printer struct{ strings.Builder }

// words writes words.
func (p *printer) words(words ...string) {
	for _, w := range words {
		if p.Len() > 0 {
			p.WriteByte(' ')
		}
		p.WriteString(w)
	}
}

// quote writes quoted text.
func (p *printer) quote(text string) { p.words(`"` + text + `"`) }

// node writes a part of a program.
func (p *printer) node(node any) {
	switch n := node.(type) {
	case stmt:
		p.stmt(n)
	case *operation:
		p.op(n)
	case action:
		p.core(n)
	case expr:
		p.expr(n)
	case condition:
		p.cond(n)
	}
}

// stmt writes a statement.
func (p *printer) stmt(s stmt) {
	switch s := s.(type) {
	case *about:
		p.words("about")
		p.quote(s.Text)
	case *when:
		p.when(s)
	case *sequence:
		p.sequence(s)
	}
}

// when writes a handler and its body.
func (p *printer) when(w *when) {
	if w.Inherited {
		p.words("inherited")
	}
	p.words("when")
	p.cond(w.Cond)
	p.unless(w.Unless)
	if w.From != "" {
		p.words("from", w.From)
	}
	for _, l := range w.Body {
		p.WriteString("\n  ")
		p.WriteString(l.String())
	}
}

// unless writes an exception, if there is one.
func (p *printer) unless(c condition) {
	if c != nil {
		p.words("unless")
		p.cond(c)
	}
}

// sequence writes operations.
func (p *printer) sequence(s *sequence) {
	for i, op := range s.Ops {
		switch {
		case i == 0:
		case op.Then:
			p.words("then")
		default:
			p.words("and")
		}
		p.op(op)
	}
}

// op writes an operation with its annotations.
func (p *printer) op(op *operation) {
	if op.Starting != nil {
		p.words("starting")
		p.quote(op.Starting.Text)
	}
	if op.Until != nil {
		p.words("until")
		p.quote(op.Until.Text)
	}
	if op.Inherited {
		p.words("inherited")
	}
	p.core(op.Core)
	if op.Because != nil {
		p.words("because")
		p.quote(op.Because.Text)
	}
	if op.From != "" {
		p.words("from", op.From)
	}
}

// core writes an action.
func (p *printer) core(core action) {
	switch c := core.(type) {
	case *remember:
		p.remember(c)
	case *teach:
		p.teach(c)
	case *show:
		p.words("show")
		p.list(c.Values)
	case *selection:
		p.words(c.Verb, "the", c.List.Text, "where")
		p.cond(c.Cond)
	case *tally:
		p.words(c.Verb, "the", c.List.Text)
	case *gather:
		p.gather(c)
	case *each:
		p.words("each", "the", c.List.Text)
		p.op(c.Op)
	case *choose:
		p.choose(c)
	case *change:
		p.change(c)
	case *weakens:
		p.words("weakens", c.Name.Text, "over", c.Over.Text)
	case *assign:
		p.words("assign", c.Name.Text, "to")
		p.expr(c.Value)
	case *rule:
		p.words(c.Verb)
		p.cond(c.Cond)
		p.unless(c.Unless)
	case *requireEach:
		p.words("require", "each", c.Binding, "in", c.List.Text)
		p.cond(c.Cond)
	case *sort:
		p.sort(c)
	case *compare:
		p.words("compare", c.Left.Text, "to", c.Right.Text)
	case *transform:
		p.transform(c)
	case *define:
		p.words("define", c.Name.Text+":")
		p.defined(c.Cond)
	case *call:
		p.call(c)
	case *packCall:
		p.packCall(c)
	case *finish:
		p.words("finish")
	}
}

// remember writes the binding of a name.
func (p *printer) remember(r *remember) {
	p.words("remember", article(r.Descriptor[0]))
	p.words(r.Descriptor...)
	p.words("called", r.Name.Text)
	switch {
	case r.From != nil:
		p.words("from")
		p.node(r.From)
	case len(r.Fields) > 0:
		p.words("with")
		for i, f := range r.Fields {
			if i > 0 {
				p.words("and")
			}
			p.words(f.Field.Text, "as")
			p.expr(f.Value)
		}
	case len(r.Values) > 0:
		p.words("with")
		p.list(r.Values)
	}
}

// article returns the article of a word.
func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}

// list writes expressions joined by "and".
func (p *printer) list(values []expr) {
	for i, v := range values {
		if i > 0 {
			p.words("and")
		}
		p.expr(v)
	}
}

// teach writes a composition.
func (p *printer) teach(t *teach) {
	p.words("remember", "how", "to", t.Name.Text)
	if t.Param != nil {
		p.words("from", t.Param.Text)
	}
	p.WriteByte(':')
	p.sequence(t.Body)
}

// gather writes a gather statement.
func (p *printer) gather(g *gather) {
	p.words("gather", "the", g.Name.Text, "from", g.From.Text, "to", g.To.Text)
	if g.By != nil {
		p.words("by", g.By.Text)
	}
}

// choose writes a choose statement.
func (p *printer) choose(c *choose) {
	p.words("choose")
	for i, b := range c.Branches {
		if i > 0 {
			p.words("otherwise")
		}
		p.words("if")
		p.cond(b.Cond)
		p.WriteByte(':')
		p.sequence(b.Then)
	}
	if c.Otherwise != nil {
		p.words("otherwise")
		p.sequence(c.Otherwise)
	}
}

// change writes an add or a remove statement.
func (p *printer) change(c *change) {
	p.words(c.Verb)
	p.expr(c.Value)
	if c.Verb == "add" {
		p.words("to", c.List.Text)
	} else {
		p.words("from", c.List.Text)
	}
}

// sort writes a sort statement.
func (p *printer) sort(s *sort) {
	p.words("sort", "the", s.List.Text, "by", s.Field)
	if s.Reverse {
		p.words("in", "reverse")
	}
}

// transform writes a transform statement.
func (p *printer) transform(t *transform) {
	p.words("transform")
	if t.Field != "" {
		p.words(t.Field, "of")
	}
	p.words(t.List.Text, "by")
	p.expr(t.Value)
}

// call writes a call: the name of the called composition, and its argument behind "from".
func (p *printer) call(c *call) {
	p.words(c.Name.Text)
	if c.Arg != nil {
		p.words("from")
		p.expr(c.Arg)
	}
}

// packCall writes a statement with a verb of a pack.
func (p *printer) packCall(c *packCall) {
	p.words(c.Verb.Word)
	for i, s := range c.Verb.Slots {
		if c.Slots[i] == nil {
			continue
		}
		if s.Connective != "" {
			p.words(s.Connective)
		}
		p.expr(c.Slots[i])
	}
}
