package limn

import "strconv"

// check checks the conditions of a rule.
func (r *rule) check(m *Machine, f *frame) error {
	if err := m.checkCond(r.Cond, f, true); err != nil {
		return err
	}
	return m.checkCond(r.Unless, f, true)
}

// rule evaluates a rule. It fails if a required condition is false or a forbidden condition
// is true. A permitted condition that is true, or an expected condition that is false, only
// shows a message.
func (m *Machine) rule(r *rule, f *frame) error {
	ok, err := m.holds(r.Cond, f)
	if err != nil {
		return err
	}
	bad := r.Verb == verbForbid || r.Verb == verbPermit // the result of the condition that has a consequence
	if ok != bad {
		return nil
	}
	if r.Unless != nil {
		if excused, err := m.holds(r.Unless, f); err != nil || excused {
			return err
		}
	}
	v := m.verdict(r.Verb, r.Cond, bad, f, "")
	if v.status == StatusSuccess {
		return m.emit(String(v.message))
	}
	return &v
}

// verdict returns the consequence of a rule whose condition c has the result want. Its
// status is success if the rule only shows a message. If the rule is about items, where is
// the part of the message that names the item.
func (m *Machine) verdict(verb string, c condition, want bool, f *frame, where string) failure {
	text := canonical(c)
	v := failure{status: StatusSuccess, metadata: map[string]any{"verb": verb, "condition": text}}
	switch verb {
	case verbRequire:
		v.status, v.message = StatusNotMet, "Requirement not met: "
	case verbForbid:
		v.status, v.message = StatusViolated, "Prohibition violated: "
	case verbPermit:
		v.message = "Permitted: "
	default:
		v.message = "Expectation not met: "
	}
	v.message += text + "."
	if t := m.deciding(c, want, f); t != nil {
		if subject, err := m.subject(t, f); err == nil && subject.v != nil {
			actual := canonical(t.Subject) + " is " + inMessage(subject)
			v.metadata["actual"] = actual + "."
			v.message += " " + actual + where + "."
		}
	}
	return v
}

func (r *requireEach) check(m *Machine, _ *frame) error {
	if r.Binding == r.List.Text {
		return semanticError(r.List.Pos, "'%s' cannot name both the list and an item of it", r.Binding)
	}
	l, err := m.listNamed("require each", r.List)
	if err != nil {
		return err
	}
	return m.checkItemsBy(r.List, l, r.Binding, r.Cond)
}

// requireEach evaluates a rule for the items of a list and fails at the first item that
// breaks the rule.
func (m *Machine) requireEach(r *requireEach) error {
	l, err := m.listNamed("require each", r.List)
	if err != nil {
		return err
	}
	f := &frame{of: &iteration{name: r.List.Text, list: l}, binding: r.Binding}
	number := 0
	for f.item = range l.all() {
		number++
		ok, err := m.holds(r.Cond, f)
		if err != nil {
			return err
		}
		if !ok {
			return m.itemVerdict(r, number, f)
		}
	}
	return nil
}

// itemVerdict returns the failure of a rule about items. The item with the given
// number, counted from 1, breaks the rule.
func (m *Machine) itemVerdict(r *requireEach, number int, f *frame) error {
	where := ", at " + r.Binding + " " + strconv.Itoa(number) + " of " + r.List.Text
	v := m.verdict(verbRequire, r.Cond, false, f, where)
	v.metadata["iteration"] = "each"
	v.metadata["binding"] = r.Binding
	v.metadata["collection"] = r.List.Text
	v.metadata["element_index"] = number - 1
	return &v
}
