package limn

import (
	"maps"
	"slices"
	"strings"
)

// A Meaning is the type and value of a name.
type Meaning struct {
	Name string
	Type string // as in a [PackName], or "composition" or "predicate"
	Text string // the value as displayed, or the statement that defined it
}

// Names returns the meanings of all names that the machine knows, sorted by
// name. A live name without a value is omitted.
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

// OpensBlock reports whether a line begins a handler, so that the indented
// lines after it are its body.
func OpensBlock(line string) bool {
	line = withoutMark(line)
	p := &parser{lexer: newLexer(nil), text: line, rest: line}
	if !p.advance() {
		return false
	}
	p.begin()
	return p.whenAhead()
}
