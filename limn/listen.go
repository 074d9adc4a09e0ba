package limn

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// tick is the live name whose updates make numbers weaken.
const tick = "tick"

// maxFirings is the most firings of handlers because of one update. It guarantees that
// handlers that trigger one another stop.
const maxFirings = 10_000

// Listens reports whether [Machine.Listen] has work to do: there are
// handlers, and no earlier statement was refused, unconfirmed, failed as a
// pack verb, or had an error.
func (m *Machine) Listens() bool { return len(m.handlers) > 0 && !m.blocked }

// Listen runs handlers. It evaluates all of them first; then it takes updates
// one by one, with all consequences of each, until updates end, a handler
// finishes, or no handler can fire again. With nil updates it ends after the
// first evaluation.
//
// A handler fires when its condition becomes true and its exception is false;
// it does not fire again while the condition stays true. Each statement of
// its body gives a result, with status [StatusFired] on success. Changes by
// the body may fire other handlers, which run before the next update. A
// handler that would fire twice in such a chain is an error.
//
// The metadata of the first result, [StatusListening], has the names that are
// "watching"; that of the last, [StatusShutdown], a "reason": "no_adapters",
// "adapter_complete" or "finish". A result of a firing has a "trigger" with
// its "source" ("initial", "adapter_update", "cascade" or, for numbers that a
// tick of a timer made weaker, "decay_tick"), the "handler_index", the names
// of the "values_changed" and their "new_values". Beside the trigger is the
// index of the "statement" in the body, from 0.
func (m *Machine) Listen(updates iter.Seq[LiveValue]) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		if !m.Listens() {
			return
		}
		for _, h := range m.handlers {
			h.eligible, h.disabled = false, false
		}
		l := &listener{m: m, yield: yield, gone: make(map[string]bool), finisher: -1}
		l.watch()
		l.run(updates)
	}
}

// A listener is a machine that listens.
type listener struct {
	m     *Machine
	yield func(Result) bool

	names    []string        // names that handlers watch, in the order of their first use
	gone     map[string]bool // live names whose sources have failed
	fired    int             // number of firings because of the current update
	finisher int             // the index of the handler that finished, or -1
	stopped  bool            // the consumer of the results has stopped
}

func (l *listener) emit(r Result) {
	l.m.note(r.Status)
	l.stopped = l.stopped || !l.yield(r)
}

// over reports whether listening has ended.
func (l *listener) over() bool { return l.stopped || l.finisher >= 0 }

func (l *listener) run(updates iter.Seq[LiveValue]) {
	message := "listening"
	if len(l.names) > 0 {
		message += " for changes of " + strings.Join(l.names, ", ")
	}
	l.emit(Result{
		Status: StatusListening, Executed: true,
		Message:  message,
		Metadata: map[string]any{"watching": append([]string{}, l.names...)},
	})
	for i := range l.m.handlers {
		l.fired = 0
		l.look(i, cause{source: "initial"}, nil)
	}
	reason := "no_adapters"
	if updates != nil {
		reason = "adapter_complete"
		l.drain(updates)
	}
	if l.stopped {
		return
	}
	metadata := map[string]any{"reason": reason}
	if l.finisher >= 0 {
		metadata = map[string]any{"reason": "finish", "handler_index": l.finisher}
	}
	l.emit(Result{Status: StatusShutdown, Executed: true, Message: "nothing is listened for any more", Metadata: metadata})
}

// drain applies updates until there are no more, listening ends, or all handlers are disabled.
func (l *listener) drain(updates iter.Seq[LiveValue]) {
	if l.over() {
		return
	}
	for u := range updates {
		l.fired = 0
		l.update(u)
		if l.over() || !slices.ContainsFunc(l.m.handlers, func(h *handler) bool { return !h.disabled }) {
			return
		}
	}
}

// watch recomputes the names that each handler depends on.
func (l *listener) watch() {
	l.names = nil
	seen := make(map[string]bool)
	for _, h := range l.m.handlers {
		w := watcher{m: l.m}
		w.visit(h.when.Cond)
		w.visit(h.when.Unless)
		h.watches = w.names
		for _, name := range h.watches {
			if !seen[name] {
				seen[name] = true
				l.names = append(l.names, name)
			}
		}
	}
}

// A cause is the reason to evaluate handlers: an update or the firing of another handler.
type cause struct {
	source  string
	changed []string // the names whose values changed; nil for the first evaluation
}

// touches reports whether a handler depends on a changed name.
func (c cause) touches(h *handler) bool {
	return slices.ContainsFunc(c.changed, func(name string) bool { return slices.Contains(h.watches, name) })
}

// spread evaluates the handlers that depend on the names in c.changed, and fires those
// whose conditions became true.
func (l *listener) spread(c cause, chain []int) {
	if len(c.changed) == 0 {
		return
	}
	for i, h := range l.m.handlers {
		if l.over() {
			return
		}
		if c.touches(h) {
			l.look(i, c, chain)
		}
	}
}

// look evaluates the condition of handler i, and fires the handler if the condition
// became true. chain lists the handlers that fired one after the other until this
// evaluation.
func (l *listener) look(i int, c cause, chain []int) {
	h := l.m.handlers[i]
	if h.disabled || l.over() {
		return
	}
	now, err := l.holds(h)
	if err != nil {
		r := failed(err)
		r.Line, r.Metadata = h.line, l.metadata(i, c)
		l.emit(r)
	}
	was := h.eligible
	h.eligible = now
	switch {
	case !now || was || l.over():
	case slices.Contains(chain, i):
		l.refuse(i, c, fmt.Sprintf("the handlers of lines %s trigger one another in a circle", l.path(append(chain, i))))
	case l.fired >= maxFirings:
		l.refuse(i, c, fmt.Sprintf("more than %d handlers fire because of one update", maxFirings))
	default:
		l.fired++
		l.fire(i, c, append(slices.Clone(chain), i))
	}
}

// holds reports whether the condition of a handler is true and its exception false.
func (l *listener) holds(h *handler) (bool, error) {
	l.m.begin()
	ok, err := l.m.holds(h.when.Cond, nil)
	if err != nil || !ok || h.when.Unless == nil {
		return ok && err == nil, err
	}
	guarded, err := l.m.holds(h.when.Unless, nil)
	return !guarded && err == nil, err
}

// refuse emits a result with an error: handler i should fire, but it does not for
// the reason in why.
func (l *listener) refuse(i int, c cause, why string) {
	h := l.m.handlers[i]
	err := newError(faultRuntime, h.line.Pos, "%s", why)
	l.emit(Result{Status: StatusRuntimeError, Line: h.line, Message: why, Err: err, Metadata: l.metadata(i, c)})
}

// path returns the line numbers of the handlers in chain, separated by commas.
func (l *listener) path(chain []int) string {
	lines := make([]string, len(chain))
	for j, i := range chain {
		lines[j] = fmt.Sprint(l.m.handlers[i].line.Pos.Line)
	}
	return strings.Join(lines, ", ")
}

// metadata returns the metadata of the results of handler i, which was
// evaluated because of the cause c.
func (l *listener) metadata(i int, c cause) map[string]any {
	h := l.m.handlers[i]
	changed, values := []string{}, map[string]any{}
	for _, name := range c.changed {
		if slices.Contains(h.watches, name) {
			v, _ := l.m.Value(name)
			changed = append(changed, name)
			values[name] = toJSON(v)
		}
	}
	trigger := map[string]any{"source": c.source, "handler_index": i, "values_changed": changed, "new_values": values}
	if h.when.Inherited {
		trigger["inherited"] = true
		trigger["inherited_from"] = h.when.From
	}
	return map[string]any{"trigger": trigger}
}
