package limn

import (
	"errors"
	"math/big"
)

// eval evaluates an expression. The result may be a list that is bound to a name: a caller
// that keeps it must copy it. The result is the zero Value if the expression uses a live
// name without a value.
func (m *Machine) eval(e expr, f *frame) (Value, error) {
	switch e := e.(type) {
	case *number:
		v, err := e.parsed()
		return v, at(e.Pos, err)
	case *date:
		v, err := dateOf(e.Text)
		return v, at(e.Pos, err)
	case *quotation:
		return String(e.Text), nil
	case *word:
		return m.evalWord(e, f), nil
	case *field:
		return m.evalField(e, f)
	case *extremum:
		return m.evalExtremum(e)
	case *currentItem:
		if f == nil {
			return Value{}, outsideEach(e.Pos)
		}
		return f.item, nil
	case *binary:
		return m.evalBinary(e, f)
	}
	return Value{}, errNothing
}

// parsed returns the value of a literal number.
func (e *number) parsed() (Value, error) {
	if e.value.v != nil {
		return e.value, nil
	}
	return parseNumber(e.Text)
}

// evalNow is like eval, but fails if the expression has no value yet.
func (m *Machine) evalNow(e expr, f *frame) (Value, error) {
	v, err := m.eval(e, f)
	if err == nil && v.v == nil {
		err = runtimeError(e.pos(), "'%s' has no value yet", canonical(e))
	}
	return v, err
}

// errNothing is an internal error: a node of the syntax tree is missing or of an unknown type.
var errNothing = errors.New("the statement has no content; please report it")

func outsideEach(pos Pos) error {
	return semanticError(pos, `"each" has no current item here: use it inside an "each" or a "transform"`)
}

// evalWord returns the value with the name e, or the word itself as a text if there is none.
func (m *Machine) evalWord(e *word, f *frame) Value {
	if v, ok := m.find(e.Text, f, asValue); ok || m.live[e.Text] {
		return v
	}
	return String(e.Text)
}

func (m *Machine) evalField(e *field, f *frame) (Value, error) {
	of, ok := m.find(e.Of.Text, f, asSubject)
	if !ok {
		if m.live[e.Of.Text] {
			return Value{}, nil
		}
		return Value{}, m.unknown(e.Of.Pos, e.Of.Text)
	}
	v, ok := of.field(e.Field)
	if ok {
		return v, nil
	}
	switch of.kindOf() {
	case kindRecord:
		return Value{}, semanticError(e.Pos, "'%s' has no field called '%s'", e.Of.Text, e.Field)
	case kindNone, kindNumber, kindText, kindDate, kindList:
	}
	err := newError(faultSemantic, e.Of.Pos, "\"of\" needs a record, and '%s' is %s", e.Of.Text, describe(of))
	if of.category() == kindRecord {
		err.Hint = "each the " + e.Of.Text + " show " + e.Field
	}
	return Value{}, err
}

// evalExtremum returns the largest or smallest number of a list, or its last or first date.
func (m *Machine) evalExtremum(e *extremum) (Value, error) {
	if m.unset(e.List.Text) {
		return Value{}, nil
	}
	l, err := m.listNamed(e.word(), e.List)
	if err != nil {
		return Value{}, err
	}
	if err := m.spend(l.len()); err != nil {
		return Value{}, err
	}
	var best Value
	for item := range l.all() {
		v := item
		if e.Field != "" {
			v, _ = item.field(e.Field)
		}
		if best.v == nil {
			best = v
		}
		if !ordered(best.kindOf(), v.kindOf()) {
			return Value{}, semanticError(e.Pos, "'%s' of '%s' would be %s", e.word(), e.List.Text, describe(v))
		}
		if (v.order(best) > 0) == e.Highest {
			best = v
		}
	}
	if best.v == nil {
		return Value{}, runtimeError(e.Pos, "there is no %s of '%s': the list is empty", e.word(), e.List.Text)
	}
	return best, nil
}

func (e *extremum) word() string {
	if e.Highest {
		return "highest"
	}
	return "lowest"
}

func (m *Machine) evalBinary(e *binary, f *frame) (Value, error) {
	left, err := m.eval(e.Left, f)
	if err != nil {
		return Value{}, err
	}
	right, err := m.eval(e.Right, f)
	if err != nil {
		return Value{}, err
	}
	if left.v == nil || right.v == nil {
		return Value{}, nil
	}
	kind, err := binaryKind(e, left.kindOf(), right.kindOf())
	if err != nil {
		return Value{}, err
	}
	if err := m.spend(1 + left.digits()/64 + right.digits()/64); err != nil {
		return Value{}, err
	}
	v, err := compute(e.Op, kind, left, right)
	return v, at(e.Pos, err)
}

// compute applies an operator to operands of kinds that [binaryKind] accepts.
func compute(op string, kind kind, left, right Value) (Value, error) {
	from, ok := left.v.(day)
	switch {
	case !ok:
		return arithmetic(op, left, right)
	case kind == kindNumber:
		to, _ := right.v.(day)
		return Int(int64(from - to)), nil
	}
	days, ok := right.wholeNumber()
	if !ok || days <= -small || days >= small {
		return Value{}, errors.New("only a whole number of days can be added to a date")
	}
	if op == opMinus {
		days = -days
	}
	d := int64(from) + days
	if d < int64(firstDay) || d > int64(lastDay) {
		return Value{}, errors.New("the date would be out of the years 1 to 9999")
	}
	return Value{day(d)}, nil
}

// wholeNumber returns v as an int64, and false if v is no number, has a fraction or is too
// large.
func (v Value) wholeNumber() (int64, bool) {
	if f, ok := v.v.(float64); ok {
		n := int64(f)
		return n, float64(n) == f && f > -1<<53 && f < 1<<53
	}
	n, ok := v.v.(int64)
	return n, ok
}

// digits estimates the number of decimal digits of a large number. For other values it
// returns 1.
func (v Value) digits() int {
	if n, ok := v.v.(*big.Int); ok {
		return n.BitLen() / 3
	}
	return 1
}

// binaryKind returns the kind of the result of an arithmetic operator. It fails if the
// operator does not accept the kinds of the operands; [kindNone], a kind that is not known
// yet, is always accepted.
func binaryKind(e *binary, left, right kind) (kind, error) {
	switch {
	case left == kindNone || right == kindNone:
		return kindNone, nil
	case left == kindNumber && right == kindNumber:
		return kindNumber, nil
	case left == kindDate && right == kindNumber && (e.Op == opPlus || e.Op == opMinus):
		return kindDate, nil
	case left == kindDate && right == kindDate && e.Op == opMinus:
		return kindNumber, nil
	}
	return kindNone, semanticError(e.Pos, "%q cannot combine a %s with a %s", e.Op, left, right)
}
