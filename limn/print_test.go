package limn

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Statements that are made at random print, and parse back as they were.
func TestPrintedStatementsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{T: t}
		want := &Program{Lines: []*Line{{Stmt: g.sequence(2)}}}
		if rapid.Bool().Draw(t, "handler") {
			want.Lines = append(want.Lines, &Line{Stmt: g.when()})
		}
		text := want.String()
		got := Parse("", text, nil)
		for _, l := range got.Lines {
			if l.Err != nil {
				t.Fatalf("%v\n%s", l.Err, text)
			}
		}
		if got := got.String(); got != text {
			t.Fatalf("printed\n%s\nand then\n%s", text, got)
		}
		if diff := diffStatements(got, want); diff != "" {
			t.Fatalf("%s\n(-got +want)\n%s", text, diff)
		}
	})
}

// A generator makes nodes as the parser does: names are no reserved words, values
// are grouped as arithmetic without parentheses is, and no part is such that the
// words after it would belong to it.
type generator struct {
	*rapid.T

	each int // of enclosing constructs that have a current item
}

func (g *generator) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(g.T, "pick")
}

func (g *generator) chance() bool { return rapid.Bool().Draw(g.T, "chance") }

func (g *generator) n(low, high int) int { return rapid.IntRange(low, high).Draw(g.T, "n") }

// word makes a word that is not reserved, nor "list" or "in". Not all of them look
// like names.
func (g *generator) word() string {
	return g.pick("x", "paged-blocks", "block-0x07", "x/y", "total", "1e5", "über", "b_1", "-", "a.b", "(y", "how-to", "--x")
}

func (g *generator) name() Name { return Name{Text: g.word()} }

// text makes quoted text, with everything in it that can be.
func (g *generator) text() *Text {
	return &Text{Text: g.pick("x", "Big", "in progress", "filter", "12", " ", "\t", ", and.", "2026-01-31", "a: b", "--", "ü\x00")}
}

func (g *generator) number() *Number {
	return &Number{Text: g.pick("0", "7", "-1", "3.25", "-0.5", "007")}
}

func (g *generator) day() string { return g.pick("2026-01-31", "1999-12-01", "2024-02-29") }

func (g *generator) moment() *Moment {
	if !g.chance() {
		return nil
	}
	return &Moment{Text: g.day()}
}

// atom makes a value without operators.
func (g *generator) atom() Expr {
	switch g.n(0, 6) {
	case 0:
		return g.number()
	case 1:
		return &Date{Text: g.day()}
	case 2:
		return g.text()
	case 3:
		return &Field{Field: g.word(), Of: g.name()}
	case 4:
		return g.extremum()
	case 5:
		if g.each > 0 {
			return &Item{}
		}
	}
	return &Word{Text: g.word()}
}

func (g *generator) extremum() *Extremum {
	e := &Extremum{Highest: g.chance(), List: g.name()}
	if g.chance() {
		e.Field = g.word()
	}
	return e
}

func (g *generator) term() Expr {
	v := g.atom()
	for range g.n(0, 2) {
		v = &Binary{Op: g.pick("multiplied by", "divided by"), Left: v, Right: g.atom()}
	}
	return v
}

func (g *generator) value() Expr {
	v := g.term()
	for range g.n(0, 2) {
		v = &Binary{Op: g.pick("plus", "minus"), Left: v, Right: g.term()}
	}
	return v
}

// values makes values that can be joined by "and", which none that begins with
// "each" can.
func (g *generator) values(low int) []Expr {
	each := g.each
	g.each = 0
	defer func() { g.each = each }()
	var values []Expr
	for range g.n(low, 3) {
		values = append(values, g.value())
	}
	return values
}

// test makes a comparison; of some the item is the subject.
func (g *generator) test(item bool) *Test {
	t := &Test{Subject: &Word{Text: g.word()}}
	switch g.n(0, 3) {
	case 0:
		t.Subject = &Field{Field: g.word(), Of: g.name()}
	case 1:
		t.Subject = g.extremum()
	case 2:
		if item {
			t.Subject = &Item{}
		}
	}
	t.Op = rapid.SampledFrom([]Op2{OpIs, OpEqual, OpAbove, OpBelow, OpWithin, OpIncludes}).Draw(g.T, "op")
	t.Not = t.Op != OpWithin && g.chance()
	switch {
	case t.Op == OpIs && t.Not:
		t.Value = &Word{Text: g.word()}
		return t
	case t.Op == OpWithin && g.chance():
		t.Within = g.number()
	case t.Op == OpWithin:
		t.Within = &Word{Text: g.word()}
	}
	t.Value = g.value()
	if t.Op == OpIs && beginsWithExtremum(t.Value) {
		t.Op = OpEqual
	}
	return t
}

// beginsWithExtremum reports whether a value cannot stand behind a bare "is".
func beginsWithExtremum(e Expr) bool {
	for {
		b, ok := e.(*Binary)
		if !ok {
			break
		}
		e = b.Left
	}
	_, ok := e.(*Extremum)
	return ok
}

// selecting makes a condition for "where", which cannot begin with "not includes".
func (g *generator) selecting() Cond {
	c := g.cond(false)
	if t := firstTest(c); t.excludes() {
		t.Not = false
	}
	return c
}

// cond makes a condition. Where the subject can be left out, all tests can have
// the item; elsewhere only the first one.
func (g *generator) cond(elided bool) Cond {
	or := &Junction{Or: true}
	for i := range g.n(1, 3) {
		and := &Junction{}
		for j := range g.n(1, 3) {
			and.Conds = append(and.Conds, g.test(elided || i == 0 && j == 0))
		}
		or.Conds = append(or.Conds, only(and))
	}
	return only(or)
}

// only returns the only condition of a junction that has one, or the junction.
func only(j *Junction) Cond {
	if len(j.Conds) == 1 {
		return j.Conds[0]
	}
	return j
}

func (g *generator) unless() Cond {
	if !g.chance() {
		return nil
	}
	return g.cond(false)
}

func (g *generator) when() *When {
	w := &When{Inherited: g.chance(), Cond: g.cond(false), Unless: g.unless()}
	if w.Inherited && g.chance() {
		w.From = g.word()
	}
	for range g.n(1, 3) {
		w.Body = append(w.Body, &Line{Stmt: g.sequence(1)})
	}
	return w
}

// sequence makes operations. Those that hold operations themselves can only be the
// last.
func (g *generator) sequence(depth int) *Sequence {
	s := &Sequence{}
	for i := range g.n(0, 2) {
		s.Ops = append(s.Ops, g.op(g.plain(), i))
	}
	last := g.plain()
	if depth > 0 && g.chance() {
		last = g.nesting(depth - 1)
		s.Ops = append(s.Ops, g.bare(last, len(s.Ops)))
		return s
	}
	s.Ops = append(s.Ops, g.op(last, len(s.Ops)))
	return s
}

// bare makes an operation of which nothing is said behind it.
func (g *generator) bare(core Core, i int) *Op {
	op := &Op{Core: core, Then: i > 0 && g.chance(), Inherited: g.chance()}
	if i == 0 {
		op.Starting, op.Until = g.moment(), g.moment()
	}
	if _, verb := core.(*Call); verb && i > 0 {
		op.Inherited = true
	}
	if _, verb := core.(*Define); verb && i > 0 {
		op.Inherited = true
	}
	return op
}

// op makes an operation with what is said about it. The agent comes behind a reason,
// so that no "from" of the operation takes it.
func (g *generator) op(core Core, i int) *Op {
	op := g.bare(core, i)
	if g.chance() {
		op.Because = g.text()
		if op.Inherited && g.chance() {
			op.From = g.word()
		}
	}
	return op
}

// plain makes what an operation does that holds no others.
func (g *generator) plain() Core {
	switch g.n(0, 15) {
	case 0:
		return g.remember()
	case 1:
		return g.show()
	case 2:
		if g.each == 0 {
			return &Select{Verb: g.pick("filter", "keep"), List: g.name(), Cond: g.selecting()}
		}
	case 3:
		return &Tally{Verb: g.pick("count", "sum"), List: g.name()}
	case 4:
		return g.gather()
	case 5:
		return &Change{Verb: g.pick("add", "remove"), Value: g.value(), List: g.name()}
	case 6:
		return &Weakens{Name: g.name(), Over: g.number()}
	case 7:
		return &Assign{Name: g.name(), Value: g.value()}
	case 8:
		return g.rule()
	case 9:
		return &RequireEach{Binding: g.word(), List: g.name(), Cond: g.cond(true)}
	case 10:
		return &Sort{List: g.name(), Field: g.word(), Reverse: g.chance()}
	case 11:
		return &Compare{Left: g.name(), Right: g.name()}
	case 12:
		return g.transform()
	case 13:
		return &Define{Name: g.name(), Cond: g.cond(true)}
	case 14:
		return g.call()
	}
	return &Finish{}
}

// rule makes a rule. Outside of iterations "require each" begins another one.
func (g *generator) rule() *Rule {
	r := &Rule{Verb: g.pick("require", "forbid", "permit", "expect"), Cond: g.cond(false), Unless: g.unless()}
	t := firstTest(r.Cond)
	if _, item := t.Subject.(*Item); item && r.Verb == "require" && g.each == 0 {
		t.Subject = &Word{Text: g.word()}
	}
	return r
}

func (g *generator) remember() *Remember {
	r := &Remember{Descriptor: []string{g.word()}, Name: g.name()}
	if g.chance() {
		r.Descriptor = append(r.Descriptor, "list")
		r.List = true
		r.Values = g.values(0)
		return r
	}
	switch g.n(0, 3) {
	case 0:
		for range g.n(1, 3) {
			r.Fields = append(r.Fields, Assignment{Field: g.name(), Value: g.value()})
		}
	case 1:
		r.Values = g.values(1)
		r.List = len(r.Values) > 1
	case 2:
		r.From = &Tally{Verb: g.pick("count", "sum"), List: g.name()}
	default:
		r.From = &Call{Name: Name{Text: "find-big"}, Arg: &Word{Text: g.word()}}
	}
	return r
}

func (g *generator) show() *Show {
	switch g.n(0, 4) {
	case 0:
		if g.each == 0 {
			return &Show{Values: []Expr{g.text()}}
		}
	case 1:
		return &Show{Values: []Expr{g.extremum()}}
	case 2:
		return &Show{Values: []Expr{&Field{Field: g.word(), Of: g.name()}}}
	}
	s := &Show{Values: []Expr{&Word{Text: g.word()}}}
	if g.each > 0 {
		s.Values = nil
		for range g.n(0, 3) {
			s.Values = append(s.Values, &Word{Text: g.word()})
		}
	}
	return s
}

func (g *generator) gather() *Gather {
	c := &Gather{Name: g.name(), From: g.number(), To: g.number()}
	if g.chance() {
		c.By = &Number{Text: g.pick("1", "2", "0.5")}
	}
	return c
}

func (g *generator) transform() *Transform {
	t := &Transform{List: g.name()}
	if g.chance() {
		t.Field = g.word()
	}
	g.each++
	t.Value = g.value()
	g.each--
	return t
}

func (g *generator) call() *Call {
	c := &Call{Name: Name{Text: g.pick("x", "find-big", "x/y")}}
	switch g.n(0, 4) {
	case 0:
		c.Arg = g.number()
	case 1:
		c.Arg = &Date{Text: g.day()}
	case 2:
		c.Arg = g.text()
	case 3:
		c.Arg = &Word{Text: g.word()}
	}
	return c
}

// nesting makes what an operation does that holds others.
func (g *generator) nesting(depth int) Core {
	switch g.n(0, 2) {
	case 0:
		t := &Teach{Name: g.name(), Body: g.sequence(depth)}
		if g.chance() {
			param := g.name()
			t.Param = &param
		}
		return t
	case 1:
		g.each++
		defer func() { g.each-- }()
		return &Each{List: g.name(), Op: g.op(g.plain(), 0)}
	}
	c := &Choose{}
	for range g.n(1, 3) {
		c.Branches = append(c.Branches, Branch{Cond: g.cond(false), Then: g.sequence(0)})
	}
	if g.chance() {
		c.Otherwise = g.sequence(depth)
	}
	return c
}

func TestLinesWithErrorsPrintNothing(t *testing.T) {
	prog := Parse("", "count\nshow x", nil)
	if got, want := prog.String(), "show x\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if got := prog.Lines[0].String(); got != "" {
		t.Errorf("printed %q", got)
	}
}

func TestCanonicalPrintsConditions(t *testing.T) {
	rule := Parse("", "forbid the-list includes X and y is NOT below 5", nil).Lines[0].Stmt.(*Sequence).Ops[0].Core.(*Rule)
	if got, want := Canonical(rule.Cond), "the-list includes x and y is not below 5"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if strings.Contains(Canonical(rule.Cond), "X") {
		t.Error("upper case outside of quotes")
	}
}
