package limn

import (
	"fmt"
	"slices"
)

// update applies a new value of a live name and runs the handlers that fire because of it.
func (l *listener) update(u LiveValue) {
	switch {
	case l.gone[u.Name]:
		return
	case u.Err != nil:
		l.lose(u.Name, fmt.Sprintf("the source of '%s' has failed: %v", u.Name, u.Err))
		return
	}
	s := l.m.symbols[u.Name]
	switch {
	case u.Value.v == nil:
		l.lose(u.Name, fmt.Sprintf("the source of '%s' gave no value", u.Name))
	case s != nil && s.teach != nil:
		l.lose(u.Name, fmt.Sprintf("'%s' is a composition and cannot have a live value", u.Name))
	case !l.m.suits(u):
		l.lose(u.Name, fmt.Sprintf("the source of '%s' gave %s, which is not the declared type", u.Name, describe(u.Value)))
	case s == nil || !l.m.current(s).Equal(u.Value):
		l.take(u)
	}
}

// take binds a live name to a new value and evaluates the handlers that depend on it.
func (l *listener) take(u LiveValue) {
	known := l.m.symbols[u.Name] != nil
	if err := l.m.bind(u.Name, descriptorOf(l.m.symbols[u.Name]), u.Value); err != nil {
		l.lose(u.Name, err.Error())
		return
	}
	if !known {
		l.watch()
	}
	weakened := l.weaken(u.Name)
	l.spread(cause{"adapter_update", []string{u.Name}}, nil)
	l.spread(cause{"decay_tick", weakened}, nil)
}

// weaken increments the ticks if name is "tick", and returns the watched names whose values
// weakened.
func (l *listener) weaken(name string) []string {
	if name != tick {
		return nil
	}
	before := l.weakening()
	l.m.ticks++
	now := l.weakening()
	var names []string
	for _, name := range l.names {
		if v, ok := before[name]; ok && !v.Equal(now[name]) {
			names = append(names, name)
		}
	}
	return names
}

// weakening returns the current values of all numbers that weaken, by name.
func (l *listener) weakening() map[string]Value {
	values := make(map[string]Value)
	for name, s := range l.m.symbols {
		if s.decay != nil {
			values[name] = l.m.current(s)
		}
	}
	return values
}

// suits reports whether the value of an update has the type that the packs declare.
func (m *Machine) suits(u LiveValue) bool {
	for _, p := range m.opts.Packs {
		for _, n := range p.Declarations {
			if n.Name == u.Name && !n.holds(u.Value) {
				return false
			}
		}
	}
	return true
}

// lose marks the source of a live name as failed. It disables the handlers that depend only
// on failed sources. The text why is the reason for the message.
func (l *listener) lose(name, why string) {
	l.gone[name] = true
	disabled := []int{}
	for i, h := range l.m.handlers {
		if !h.disabled && len(h.watches) > 0 && !slices.ContainsFunc(h.watches, func(w string) bool { return !l.gone[w] }) {
			h.disabled = true
			disabled = append(disabled, i)
		}
	}
	err := newError(faultRuntime, Pos{}, "%s", why)
	l.emit(Result{
		Status: StatusRuntimeError, Message: why, Err: err,
		Metadata: map[string]any{"name": name, "disabled": disabled},
	})
}

// unset reports whether a name is a live name without a value.
func (m *Machine) unset(name string) bool {
	_, ok := m.symbols[name]
	return !ok && m.live[name]
}
