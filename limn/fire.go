package limn

import (
	"errors"
	"maps"
	"slices"
)

// fire executes the body of handler i, and then the handlers that fire because the
// body changed something. chain lists the handlers that fired one after the other
// until this one fired.
func (l *listener) fire(i int, c cause, chain []int) {
	h := l.m.handlers[i]
	metadata := l.metadata(i, c)
	before := l.snapshot()
	for n, line := range h.when.Body {
		r, finished := l.m.execInner(line)
		r.Line, r.Metadata = line, merge(r.Metadata, metadata, map[string]any{"statement": n})
		if finished {
			l.finisher = i
		}
		if !finished || len(r.Output) > 0 {
			l.emit(r)
		}
		if l.over() {
			break
		}
	}
	touched, edited := l.m.changed, l.m.edited
	l.m.changed, l.m.edited = nil, nil
	if before.symbols != len(l.m.symbols) || !maps.Equal(before.predicates, l.m.predicates) {
		l.watch()
	}
	l.spread(cause{"cascade", before.changed(l.m, touched, edited)}, chain)
}

func merge(parts ...map[string]any) map[string]any {
	all := make(map[string]any)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// execInner executes a statement of the body of a handler and reports whether the statement
// was "finish".
func (m *Machine) execInner(l *Line) (r Result, finished bool) {
	if r, ok := m.unconfirmed(l); ok {
		return r, false
	}
	s, _ := l.stmt.(*sequence) // checkHandler accepts nothing else in a body
	m.begin()
	m.firing = true
	_, err := m.run(s, nil, false)
	m.firing = false
	finished = errors.Is(err, errFinish)
	if finished {
		err = nil
	}
	r = failed(err)
	r.Output = m.out
	if r.Status == StatusSuccess {
		r.Status = StatusFired
	}
	return r, finished
}

// A snapshot holds the values and conditions of names before a handler runs.
type snapshot struct {
	symbols    int // number of symbols of the machine
	values     map[string]Value
	predicates map[string]*define
}

// snapshot keeps the values of all watched names. It does not copy lists.
func (l *listener) snapshot() snapshot {
	s := snapshot{len(l.m.symbols), make(map[string]Value, len(l.names)), maps.Clone(l.m.predicates)}
	for _, name := range l.names {
		if v, ok := l.m.value(name); ok {
			s.values[name] = v
		}
	}
	return s
}

// changed returns those of the given names whose value differs from the snapshot. A name that
// the snapshot lacks counts as changed, and so does a list that was edited in place, whose
// former items the snapshot does not have.
func (s snapshot) changed(m *Machine, names, edited []string) []string {
	var changed []string
	for _, name := range names {
		now, _ := m.value(name)
		if slices.Contains(edited, name) || !s.values[name].Equal(now) {
			changed = append(changed, name)
		}
	}
	return changed
}
