package limn

import (
	"errors"
	"maps"
)

// fire executes the body of a handler, and then whatever that makes fire.
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
	touched := l.m.changed
	l.m.changed = nil
	if before.symbols != len(l.m.symbols) || !maps.Equal(before.predicates, l.m.predicates) {
		l.watch()
	}
	l.spread(cause{"cascade", before.changed(l.m, touched)}, chain)
}

func merge(parts ...map[string]any) map[string]any {
	all := make(map[string]any)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// execInner executes a statement of the body of a handler and reports whether it
// was told to finish.
func (m *Machine) execInner(l *Line) (r Result, finished bool) {
	s, ok := l.stmt.(*sequence)
	if !ok || l.Amber != "" && (m.opts.Confirm == nil || !m.opts.Confirm(l.Amber)) {
		return Result{Status: StatusAmber, Message: "this reads as: " + l.Amber}, false
	}
	m.firing = true
	output, err := m.execOps(s, nil)
	m.firing = false
	finished = errors.Is(err, errFinish)
	if finished {
		err = nil
	}
	r = failed(err)
	r.Output = output
	if r.Status == StatusSuccess {
		r.Status = StatusFired
	}
	return r, finished
}

// A snapshot is what names stood for.
type snapshot struct {
	symbols    int // how many there were
	values     map[string]Value
	predicates map[string]*define
}

// snapshot keeps what the names that are watched stand for.
func (l *listener) snapshot() snapshot {
	s := snapshot{len(l.m.symbols), make(map[string]Value, len(l.names)), maps.Clone(l.m.predicates)}
	for _, name := range l.names {
		if symbol, ok := l.m.symbols[name]; ok && symbol.teach == nil {
			s.values[name] = l.m.current(symbol)
		}
	}
	return s
}

// changed returns those of some names that do not stand for what they did. A list
// that was changed in place counts as changed, and so does what was not watched.
func (s snapshot) changed(m *Machine, names []string) []string {
	var changed []string
	for _, name := range names {
		before, now := s.values[name], Value{}
		if symbol, ok := m.symbols[name]; ok && symbol.teach == nil {
			now = m.current(symbol)
		}
		l, ok := now.v.(*list)
		if ok && before.v == l || !before.Equal(now) {
			changed = append(changed, name)
		}
	}
	return changed
}
