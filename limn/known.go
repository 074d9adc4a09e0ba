package limn

import (
	"maps"
	"slices"
	"strings"
)

// A Meaning is what a name stands for.
type Meaning struct {
	Name string
	Type string // as of a [PackName], or "composition" or "predicate"
	Text string // the value as it is shown, or the statement that gave the meaning
}

// Names returns what the names stand for that a machine knows, sorted by name. A
// live name without a value is not among them.
func (m *Machine) Names() []Meaning {
	all := make([]Meaning, 0, len(m.symbols)+len(m.predicates))
	for _, name := range slices.Sorted(maps.Keys(m.symbols)) {
		s := m.symbols[name]
		if s.teach != nil {
			all = append(all, Meaning{name, "composition", canonical(s.teach)})
			continue
		}
		v := m.current(s)
		all = append(all, Meaning{name, v.typeName(), v.String()})
	}
	for _, name := range slices.Sorted(maps.Keys(m.predicates)) {
		all = append(all, Meaning{name, "predicate", canonical(m.predicates[name])})
	}
	slices.SortStableFunc(all, func(a, b Meaning) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// OpensBlock reports whether a line is the beginning of a handler, so that
// indented lines belong to it.
func OpensBlock(line string) bool {
	p := &parser{lexer: newLexer(nil), text: line, rest: line}
	if !p.advance() {
		return false
	}
	p.begin()
	return p.whenAhead()
}
