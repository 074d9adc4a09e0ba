package limn

import (
	"cmp"
	"strings"
)

// A packRun is the execution of a statement with a pack verb.
type packRun struct {
	m *Machine
	c *packCall
	f *frame
}

// check checks a statement with a pack verb, given the names that m knows now.
func (c *packCall) check(m *Machine, f *frame) error {
	kinds := make([]kind, len(c.Slots))
	for i, s := range c.Verb.Slots {
		if c.Slots[i] == nil {
			continue
		}
		kind, err := m.checkSlot(c, s, c.Slots[i], f)
		if err != nil {
			return err
		}
		kinds[i] = kind
	}
	return packRun{m, c, f}.check(kinds)
}

// checkSlot checks the argument of a slot and returns its kind.
func (m *Machine) checkSlot(c *packCall, s packSlot, e expr, f *frame) (kind, error) {
	if !s.IsName {
		return m.kindOf(e, f)
	}
	kind, err := m.operandKind(e, f)
	if err != nil || s.Constraint == "" {
		return kind, err
	}
	w, ok := e.(*word)
	if !ok {
		return kind, semanticError(e.pos(), "%q needs a name remembered as a %s, not an item", c.Verb.Word, s.Constraint)
	}
	if of := descriptorOf(m.symbols[w.Text]); !strings.EqualFold(of, s.Constraint) {
		return kind, semanticError(w.Pos, "%q needs a %s, and '%s' was remembered as %s", c.Verb.Word, s.Constraint, w.Text, quoteOr(of, "something else"))
	}
	return kind, nil
}

func quoteOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return "'" + s + "'"
}

// check checks that the arguments have the kinds that the execution needs. kinds[i] is the
// kind of the argument of slot i.
func (x packRun) check(kinds []kind) error {
	want := func(param string, kind kind) error { return x.want(param, kind, kinds) }
	switch x.c.Verb.Execution.Type {
	case "set_value", "append_to_list", "set_field":
		return x.checkWrite(kinds)
	case "substring_check", "range_check":
		return want(paramAgainst, kindText)
	case "numeric_extract_compare":
		return cmp.Or(want(paramAgainst, kindText), x.checkNumberOrText(paramCheck, kinds), x.checkNumberOrText(paramTolerance, kinds))
	case "conformance_check":
		return cmp.Or(want("record_slot", kindRecord), want("shape_slot", kindRecord))
	}
	return nil
}

// want checks that the argument for a parameter is of a kind. It also accepts
// [kindNone], the kind of a live name without a value.
func (x packRun) want(param string, kind kind, kinds []kind) error {
	i := x.index(param)
	if kinds[i] == kind || kinds[i] == kindNone {
		return nil
	}
	return semanticError(x.c.Slots[i].pos(), "%q takes a %s as %s, not a %s", x.c.Verb.Word, kind, x.param(param), kinds[i])
}

// checkNumberOrText checks that the argument for a parameter is a number or a text.
func (x packRun) checkNumberOrText(param string, kinds []kind) error {
	if kinds[x.index(param)] == kindText {
		return nil
	}
	return x.want(param, kindNumber, kinds)
}

// callPack executes a statement with a pack verb, which must have been checked. Verifying
// executions bind their result before they fail.
func (m *Machine) callPack(c *packCall, f *frame) error {
	x := packRun{m, c, f}
	var err error
	switch c.Verb.Execution.Type {
	case "set_value":
		err = x.setValue()
	case "append_to_list":
		err = x.appendToList()
	case "set_field":
		err = x.setField()
	case "substring_check":
		err = x.conclude(x.substring())
	case "compare_values":
		err = x.conclude(x.compare())
	case "numeric_extract_compare":
		err = x.conclude(x.measure())
	case "range_check":
		err = x.conclude(x.ranges())
	case "conformance_check":
		err = x.conclude(x.conform())
	}
	return located(c.Pos, err)
}

func (x packRun) param(name string) string { return x.c.Verb.Execution.Params[name] }

// index returns the index of the slot for a parameter.
func (x packRun) index(param string) int { return x.c.Verb.slot(x.param(param)) }

// value evaluates the argument for a parameter.
func (x packRun) value(param string) (Value, error) {
	return x.m.evalNow(x.c.Slots[x.index(param)], x.f)
}

// values evaluates the arguments for several parameters.
func (x packRun) values(params ...string) ([]Value, error) {
	values := make([]Value, len(params))
	for i, p := range params {
		var err error
		if values[i], err = x.value(p); err != nil {
			return nil, err
		}
		if err := x.m.spend(values[i].effort()); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// said returns the source text of the argument for a parameter, for messages.
func (x packRun) said(param string) string { return canonical(x.c.Slots[x.index(param)]) }
