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
		want := &Program{Lines: []*Line{{stmt: g.sequence(2)}}}
		if rapid.Bool().Draw(t, "handler") {
			want.Lines = append(want.Lines, &Line{stmt: g.when()})
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
func (g *generator) text() *quotation {
	return &quotation{Text: g.pick("x", "Big", "in progress", "filter", "12", " ", "\t", ", and.", "2026-01-31", "a: b", "--", "ü\x00")}
}

func (g *generator) number() *number {
	return &number{Text: g.pick("0", "7", "-1", "3.25", "-0.5", "007")}
}

func (g *generator) day() string { return g.pick("2026-01-31", "1999-12-01", "2024-02-29") }

func (g *generator) moment() *moment {
	if !g.chance() {
		return nil
	}
	return &moment{Text: g.day()}
}

// atom makes a value without operators.
func (g *generator) atom() expr {
	switch g.n(0, 6) {
	case 0:
		return g.number()
	case 1:
		return &date{Text: g.day()}
	case 2:
		return g.text()
	case 3:
		return &field{Field: g.word(), Of: g.name()}
	case 4:
		return g.extremum()
	case 5:
		if g.each > 0 {
			return &currentItem{}
		}
	}
	return &word{Text: g.word()}
}

func (g *generator) extremum() *extremum {
	e := &extremum{Highest: g.chance(), List: g.name()}
	if g.chance() {
		e.Field = g.word()
	}
	return e
}

func (g *generator) term() expr {
	v := g.atom()
	for range g.n(0, 2) {
		v = &binary{Op: g.pick("multiplied by", "divided by"), Left: v, Right: g.atom()}
	}
	return v
}

func (g *generator) value() expr {
	v := g.term()
	for range g.n(0, 2) {
		v = &binary{Op: g.pick("plus", "minus"), Left: v, Right: g.term()}
	}
	return v
}

// values makes values that can be joined by "and", which none that begins with
// "each" can.
func (g *generator) values(low int) []expr {
	each := g.each
	g.each = 0
	defer func() { g.each = each }()
	var values []expr
	for range g.n(low, 3) {
		values = append(values, g.value())
	}
	return values
}

// test makes a comparison; of some the item is the subject.
func (g *generator) test(item bool) *test {
	t := &test{Subject: &word{Text: g.word()}}
	switch g.n(0, 3) {
	case 0:
		t.Subject = &field{Field: g.word(), Of: g.name()}
	case 1:
		t.Subject = g.extremum()
	case 2:
		if item {
			t.Subject = &currentItem{}
		}
	}
	t.Op = rapid.SampledFrom([]operator{opIs, opEqual, opAbove, opBelow, opWithin, opIncludes}).Draw(g.T, "op")
	t.Not = t.Op != opWithin && g.chance()
	switch {
	case t.Op == opIs && t.Not:
		t.Value = &word{Text: g.word()}
		return t
	case t.Op == opWithin && g.chance():
		t.Within = g.number()
	case t.Op == opWithin:
		t.Within = &word{Text: g.word()}
	}
	t.Value = g.value()
	if t.Op == opIs && beginsWithExtremum(t.Value) {
		t.Op = opEqual
	}
	return t
}

// beginsWithExtremum reports whether a value cannot stand behind a bare "is".
func beginsWithExtremum(e expr) bool {
	for {
		b, ok := e.(*binary)
		if !ok {
			break
		}
		e = b.Left
	}
	_, ok := e.(*extremum)
	return ok
}

// selecting makes a condition for "where", which cannot begin with "not includes".
func (g *generator) selecting() condition {
	c := g.cond(false)
	if t := c.first(); t.excludes() {
		t.Not = false
	}
	return c
}

// cond makes a condition. Where the subject can be left out, all tests can have
// the item; elsewhere only the first one.
func (g *generator) cond(elided bool) condition {
	or := &junction{Or: true}
	for i := range g.n(1, 3) {
		and := &junction{}
		for j := range g.n(1, 3) {
			and.Conds = append(and.Conds, g.test(elided || i == 0 && j == 0))
		}
		or.Conds = append(or.Conds, only(and))
	}
	return only(or)
}

// only returns the only condition of a junction that has one, or the junction.
func only(j *junction) condition {
	if len(j.Conds) == 1 {
		return j.Conds[0]
	}
	return j
}

func (g *generator) unless() condition {
	if !g.chance() {
		return nil
	}
	return g.cond(false)
}

func (g *generator) when() *when {
	w := &when{Inherited: g.chance(), Cond: g.cond(false), Unless: g.unless()}
	if w.Inherited && g.chance() {
		w.From = g.word()
	}
	for range g.n(1, 3) {
		w.Body = append(w.Body, &Line{stmt: g.sequence(1)})
	}
	return w
}

// sequence makes operations. Those that hold operations themselves can only be the
// last.
func (g *generator) sequence(depth int) *sequence {
	s := &sequence{}
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
func (g *generator) bare(core action, i int) *operation {
	op := &operation{Core: core, Then: i > 0 && g.chance(), Inherited: g.chance()}
	if i == 0 {
		op.Starting, op.Until = g.moment(), g.moment()
	}
	if _, verb := core.(*call); verb && i > 0 {
		op.Inherited = true
	}
	if _, verb := core.(*define); verb && i > 0 {
		op.Inherited = true
	}
	return op
}

// op makes an operation with what is said about it. The agent comes behind a reason,
// so that no "from" of the operation takes it.
func (g *generator) op(core action, i int) *operation {
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
func (g *generator) plain() action {
	switch g.n(0, 15) {
	case 0:
		return g.remember()
	case 1:
		return g.show()
	case 2:
		if g.each == 0 {
			return &selection{Verb: g.pick("filter", "keep"), List: g.name(), Cond: g.selecting()}
		}
	case 3:
		return &tally{Verb: g.pick("count", "sum"), List: g.name()}
	case 4:
		return g.gather()
	case 5:
		return &change{Verb: g.pick("add", "remove"), Value: g.value(), List: g.name()}
	case 6:
		return &weakens{Name: g.name(), Over: g.number()}
	case 7:
		return &assign{Name: g.name(), Value: g.value()}
	case 8:
		return g.rule()
	case 9:
		return &requireEach{Binding: g.word(), List: g.name(), Cond: g.cond(true)}
	case 10:
		return &sort{List: g.name(), Field: g.word(), Reverse: g.chance()}
	case 11:
		return &compare{Left: g.name(), Right: g.name()}
	case 12:
		return g.transform()
	case 13:
		return &define{Name: g.name(), Cond: g.cond(true)}
	case 14:
		return g.call()
	}
	return &finish{}
}

// rule makes a rule. Outside of iterations "require each" begins another one.
func (g *generator) rule() *rule {
	r := &rule{Verb: g.pick("require", "forbid", "permit", "expect"), Cond: g.cond(false), Unless: g.unless()}
	t := r.Cond.first()
	if _, item := t.Subject.(*currentItem); item && r.Verb == "require" && g.each == 0 {
		t.Subject = &word{Text: g.word()}
	}
	return r
}

func (g *generator) remember() *remember {
	r := &remember{Descriptor: []string{g.word()}, Name: g.name()}
	if g.chance() {
		r.Descriptor = append(r.Descriptor, "list")
		r.List = true
		r.Values = g.values(0)
		return r
	}
	switch g.n(0, 3) {
	case 0:
		for range g.n(1, 3) {
			r.Fields = append(r.Fields, assignment{Field: g.name(), Value: g.value()})
		}
	case 1:
		r.Values = g.values(1)
		r.List = len(r.Values) > 1
	case 2:
		r.From = &tally{Verb: g.pick("count", "sum"), List: g.name()}
	default:
		r.From = &call{Name: Name{Text: "find-big"}, Arg: &word{Text: g.word()}}
	}
	return r
}

func (g *generator) show() *show {
	switch g.n(0, 4) {
	case 0:
		if g.each == 0 {
			return &show{Values: []expr{g.text()}}
		}
	case 1:
		return &show{Values: []expr{g.extremum()}}
	case 2:
		return &show{Values: []expr{&field{Field: g.word(), Of: g.name()}}}
	}
	s := &show{Values: []expr{&word{Text: g.word()}}}
	if g.each > 0 {
		s.Values = nil
		for range g.n(0, 3) {
			s.Values = append(s.Values, &word{Text: g.word()})
		}
	}
	return s
}

func (g *generator) gather() *gather {
	c := &gather{Name: g.name(), From: g.number(), To: g.number()}
	if g.chance() {
		c.By = &number{Text: g.pick("1", "2", "0.5")}
	}
	return c
}

func (g *generator) transform() *transform {
	t := &transform{List: g.name()}
	if g.chance() {
		t.Field = g.word()
	}
	g.each++
	t.Value = g.value()
	g.each--
	return t
}

func (g *generator) call() *call {
	c := &call{Name: Name{Text: g.pick("x", "find-big", "x/y")}}
	switch g.n(0, 4) {
	case 0:
		c.Arg = g.number()
	case 1:
		c.Arg = &date{Text: g.day()}
	case 2:
		c.Arg = g.text()
	case 3:
		c.Arg = &word{Text: g.word()}
	}
	return c
}

// nesting makes what an operation does that holds others.
func (g *generator) nesting(depth int) action {
	switch g.n(0, 2) {
	case 0:
		t := &teach{Name: g.name(), Body: g.sequence(depth)}
		if g.chance() {
			param := g.name()
			t.Param = &param
		}
		return t
	case 1:
		g.each++
		defer func() { g.each-- }()
		return &each{List: g.name(), Op: g.op(g.plain(), 0)}
	}
	c := &choose{}
	for range g.n(1, 3) {
		c.Branches = append(c.Branches, branch{Cond: g.cond(false), Then: g.sequence(0)})
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
	rule := Parse("", "forbid the-list includes X and y is NOT below 5", nil).Lines[0].stmt.(*sequence).Ops[0].Core.(*rule)
	if got, want := canonical(rule.Cond), "the-list includes x and y is not below 5"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if strings.Contains(canonical(rule.Cond), "X") {
		t.Error("upper case outside of quotes")
	}
}
