package limn

import "strings"

// String returns the canonical form of the statements of a program, one a line.
// Comments, blank lines and lines with errors are not in it. Parsing it gives the
// same statements again, and the same text.
func (p *Program) String() string {
	var b strings.Builder
	for _, l := range p.Lines {
		if l.Stmt != nil {
			b.WriteString(l.String())
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// String returns the canonical form of a statement, of a "when" with its body. It
// is empty for a line with an error.
func (l *Line) String() string {
	if l.Stmt == nil {
		return ""
	}
	return canonical(l.Stmt)
}

// Canonical returns the canonical form of a condition.
func Canonical(c Cond) string { return canonical(c) }

// canonical returns the canonical form of a node: a [Stmt], an [*Op], a [Core], an
// [Expr] or a [Cond].
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
	case Stmt:
		p.stmt(n)
	case *Op:
		p.op(n)
	case Core:
		p.core(n)
	case Expr:
		p.expr(n)
	case Cond:
		p.cond(n)
	}
}

// stmt writes a statement.
func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *About:
		p.words("about")
		p.quote(s.Text)
	case *When:
		p.when(s)
	case *Sequence:
		p.sequence(s)
	}
}

// when writes a handler and its body.
func (p *printer) when(w *When) {
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
func (p *printer) unless(c Cond) {
	if c != nil {
		p.words("unless")
		p.cond(c)
	}
}

// sequence writes operations.
func (p *printer) sequence(s *Sequence) {
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

// op writes an operation with what is said about it.
func (p *printer) op(op *Op) {
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

// core writes what an operation does.
func (p *printer) core(core Core) {
	switch c := core.(type) {
	case *Remember:
		p.remember(c)
	case *Teach:
		p.teach(c)
	case *Show:
		p.words("show")
		p.list(c.Values)
	case *Select:
		p.words(c.Verb, "the", c.List.Text, "where")
		p.cond(c.Cond)
	case *Tally:
		p.words(c.Verb, "the", c.List.Text)
	case *Gather:
		p.gather(c)
	case *Each:
		p.words("each", "the", c.List.Text)
		p.op(c.Op)
	case *Choose:
		p.choose(c)
	case *Change:
		p.change(c)
	case *Weakens:
		p.words("weakens", c.Name.Text, "over", c.Over.Text)
	case *Assign:
		p.words("assign", c.Name.Text, "to")
		p.expr(c.Value)
	case *Rule:
		p.words(c.Verb)
		p.cond(c.Cond)
		p.unless(c.Unless)
	case *RequireEach:
		p.words("require", "each", c.Binding, "in", c.List.Text)
		p.cond(c.Cond)
	case *Sort:
		p.sort(c)
	case *Compare:
		p.words("compare", c.Left.Text, "to", c.Right.Text)
	case *Transform:
		p.transform(c)
	case *Define:
		p.words("define", c.Name.Text+":")
		p.defined(c.Cond)
	case *Call:
		p.call(c)
	case *PackCall:
		p.packCall(c)
	case *Finish:
		p.words("finish")
	}
}

// remember writes the binding of a name.
func (p *printer) remember(r *Remember) {
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
func (p *printer) list(values []Expr) {
	for i, v := range values {
		if i > 0 {
			p.words("and")
		}
		p.expr(v)
	}
}

// teach writes a composition.
func (p *printer) teach(t *Teach) {
	p.words("remember", "how", "to", t.Name.Text)
	if t.Param != nil {
		p.words("from", t.Param.Text)
	}
	p.WriteByte(':')
	p.sequence(t.Body)
}

// gather writes the bounds of a list.
func (p *printer) gather(g *Gather) {
	p.words("gather", "the", g.Name.Text, "from", g.From.Text, "to", g.To.Text)
	if g.By != nil {
		p.words("by", g.By.Text)
	}
}

// choose writes branches.
func (p *printer) choose(c *Choose) {
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

// change writes the change of a list.
func (p *printer) change(c *Change) {
	p.words(c.Verb)
	p.expr(c.Value)
	if c.Verb == "add" {
		p.words("to", c.List.Text)
	} else {
		p.words("from", c.List.Text)
	}
}

// sort writes the order of a list.
func (p *printer) sort(s *Sort) {
	p.words("sort", "the", s.List.Text, "by", s.Field)
	if s.Reverse {
		p.words("in", "reverse")
	}
}

// transform writes the rewriting of a list.
func (p *printer) transform(t *Transform) {
	p.words("transform")
	if t.Field != "" {
		p.words(t.Field, "of")
	}
	p.words(t.List.Text, "by")
	p.expr(t.Value)
}

// call writes the use of a composition.
func (p *printer) call(c *Call) {
	p.words(c.Name.Text)
	if c.Arg != nil {
		p.words("from")
		p.expr(c.Arg)
	}
}

// packCall writes the use of a verb of a pack.
func (p *printer) packCall(c *PackCall) {
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
