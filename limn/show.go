package limn

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// check checks that the shown values exist and that no name is shown twice.
func (s *show) check(m *Machine, f *frame) error {
	if f == nil && len(s.Values) != 1 {
		return semanticError(Pos{}, "outside an \"each\" there is no current item: \"show\" needs the name of one thing")
	}
	if len(s.Values) > 1 && f.item.kindOf() != kindRecord {
		return semanticError(s.Values[0].pos(), "several names can be shown of a record only")
	}
	for i, e := range s.Values {
		w, ok := e.(*word)
		if !ok {
			if _, err := m.kindOf(e, f); err != nil {
				return err
			}
			continue
		}
		for _, before := range s.Values[:i] {
			if b, ok := before.(*word); ok && b.Text == w.Text {
				return semanticError(w.Pos, "'%s' is shown twice in one statement: name it once", w.Text)
			}
		}
		if i > 0 && f.of.missing(w.Text, true) {
			return f.of.withoutField(w.Pos, w.Text)
		}
		if err := m.mustKnow(w.Pos, w.Text, f, asValue); err != nil {
			return err
		}
	}
	return nil
}

// show prints one value, or several values with their names.
func (m *Machine) show(s *show, f *frame) error {
	if len(s.Values) == 0 {
		return m.emit(f.item)
	}
	if len(s.Values) == 1 {
		v, err := m.evalNow(s.Values[0], f)
		if err != nil {
			return err
		}
		return m.emit(v)
	}
	parts := make([]string, len(s.Values))
	for i, e := range s.Values {
		v, err := m.eval(e, f)
		if err != nil {
			return err
		}
		if err := m.spendOn(v); err != nil {
			return err
		}
		parts[i] = canonical(e) + ": " + v.String()
	}
	m.out = append(m.out, strings.Join(parts, ", "))
	return nil
}

// spendOn spends the steps for formatting a value.
func (m *Machine) spendOn(v Value) error { return m.spend(v.width()/16 + 1) }

// emit shows a value: a list of records with one record on each line, other values on one
// line.
func (m *Machine) emit(v Value) error {
	if err := m.spend(v.extent()); err != nil {
		return err
	}
	if err := m.spendOn(v); err != nil {
		return err
	}
	if v.category() != kindRecord {
		m.out = append(m.out, v.String())
		return nil
	}
	for _, item := range v.items() {
		m.out = append(m.out, item.String())
	}
	return nil
}

// A list that is displayed implicitly is cut if it has more than maxShown
// items: shownEnds items at each end remain.
const (
	maxShown  = 20
	shownEnds = 10
)

// emitShort shows a list that a statement other than "show" displays. It cuts lists of more
// than maxShown items.
func (m *Machine) emitShort(v Value) error {
	items := v.items()
	if len(items) <= maxShown {
		return m.emit(v)
	}
	for _, item := range ends(items) {
		if err := m.spendOn(item); err != nil {
			return err
		}
	}
	if v.category() != kindRecord {
		m.out = append(m.out, strings.Join(shown(items, Value.String), ", "))
		return nil
	}
	m.out = append(m.out, shown(items, Value.String)...)
	return nil
}

// ends returns all items of a list that is shown as a whole. Of a list that is cut, it
// returns the first and the last shownEnds items.
func ends(items []Value) []Value {
	if len(items) <= maxShown {
		return items
	}
	return slices.Concat(items[:shownEnds], items[len(items)-shownEnds:])
}

// shown returns the items of a list as texts. If the list is cut, "..." stands for the missing
// items.
func shown(items []Value, show func(Value) string) []string {
	var texts []string
	for i, item := range ends(items) {
		if i == shownEnds && len(items) > maxShown {
			texts = append(texts, "...")
		}
		texts = append(texts, show(item))
	}
	return texts
}

// inMessage formats a value for messages: on one line and shortened.
func inMessage(v Value) string {
	l, ok := v.v.(*list)
	if !ok {
		return text.Clip(v.String(), maxInMessage)
	}
	if l.len() == 0 {
		return "empty"
	}
	separator := ", "
	if l.kind == kindRecord {
		separator = "; "
	}
	return strings.Join(shown(v.items(), func(item Value) string { return text.Clip(item.String(), maxInMessage) }), separator)
}

// maxInMessage is the most bytes of a text in a message.
const maxInMessage = 1000
