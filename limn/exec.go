package limn

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// run executes a sequence and stops at the first error. If captured is set, the last
// operation returns its value instead of showing it.
func (m *Machine) run(s *sequence, f *frame, captured bool) (Value, error) {
	var v Value
	for i, op := range s.Ops {
		last := i == len(s.Ops)-1
		var err error
		if v, err = m.operation(op, f, captured && last); err != nil {
			return Value{}, afterOthers(s.Ops[:i], err)
		}
	}
	return v, nil
}

// operation checks an operation and, if the check passes, executes it.
func (m *Machine) operation(op *operation, f *frame, captured bool) (Value, error) {
	core := m.coreOf(op)
	if err := m.check(core, f); err != nil {
		return Value{}, at(op.Pos, err)
	}
	v, err := m.exec(core, f, captured)
	return v, located(op.Pos, err)
}

// coreOf returns the action of an operation. "inherited remember a KIND called NAME from X
// from Y" has two readings, and only the machine can decide between them: if X is a
// composition, Y is its argument; if X is a value, Y is the agent that it was inherited from.
func (m *Machine) coreOf(op *operation) action {
	r, ok := op.Core.(*remember)
	if !ok || !op.Inherited || op.From != "" {
		return op.Core
	}
	c, ok := r.From.(*call)
	if !ok {
		return op.Core
	}
	s := m.symbols[c.Name.Text]
	if _, named := c.Arg.(*word); !named || s != nil && s.teach != nil {
		return op.Core
	}
	copied := *r
	copied.From = &word{Pos: c.Name.Pos, Text: c.Name.Text}
	return &copied
}

// located adds a position to an error as [at] does, but returns a [failure] and
// errFinish unchanged.
func located(pos Pos, err error) error {
	_, ok := errors.AsType[*failure](err)
	if ok || errors.Is(err, errFinish) {
		return err
	}
	return at(pos, err)
}

// afterOthers adds to the message of an error which operations of the sequence had
// been completed before it.
func afterOthers(done []*operation, err error) error {
	if len(done) == 0 || errors.Is(err, errFinish) {
		return err
	}
	r := failed(err)
	wrapped := failure{status: r.Status, message: r.Message, err: r.Err, metadata: r.Metadata}
	wrapped.message = "I completed '" + canonical(done[len(done)-1]) + "' but then " + lowerFirst(wrapped.message)
	for _, op := range done {
		if s, ok := op.Core.(*selection); ok && s.Verb == verbFilter {
			wrapped.message = strings.TrimSuffix(wrapped.message, ".") + ". What was filtered stays filtered."
			break
		}
	}
	return &wrapped
}

// lowerFirst converts the first letter of s to lower case.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// exec executes an action that [Machine.check] has accepted. It returns the value of the
// action, or the zero Value if the action has none.
func (m *Machine) exec(core action, f *frame, captured bool) (Value, error) {
	if err := m.spend(1); err != nil {
		return Value{}, err
	}
	switch c := core.(type) {
	case *remember:
		return m.remember(c, f)
	case *selection:
		return m.selectItems(c, captured)
	case *tally:
		return m.tally(c, captured)
	case *gather:
		return m.gather(c, captured)
	case *call:
		return m.call(c, f, captured)
	}
	return Value{}, m.do(core, f)
}

// do executes an action that has no value.
func (m *Machine) do(core action, f *frame) error {
	switch c := core.(type) {
	case *teach:
		return m.learn(c)
	case *show:
		return m.show(c, f)
	case *each:
		return m.each(c, f)
	case *choose:
		return m.choose(c, f)
	case *change:
		return m.change(c, f)
	case *weakens:
		return m.weakens(c)
	case *assign:
		return m.assign(c, f)
	case *rule:
		return m.rule(c, f)
	case *requireEach:
		return m.requireEach(c)
	case *sort:
		return m.sort(c)
	case *compare:
		return m.compareValues(c)
	case *transform:
		return m.transform(c, f)
	case *define:
		return m.define(c)
	case *packCall:
		return m.callPack(c, f)
	case *finish:
		return errFinish
	}
	return errNothing
}

// Verbs that share a node type of the syntax tree.
const (
	verbFilter  = "filter"
	verbSum     = "sum"
	verbAdd     = "add"
	verbRemove  = "remove"
	verbRequire = "require"
	verbForbid  = "forbid"
	verbPermit  = "permit"
)

// check returns the first error of an action, given the names that m knows now.
func (m *Machine) check(core action, f *frame) error {
	if err := m.spend(1); err != nil {
		return err
	}
	return core.check(m, f)
}

func (*finish) check(m *Machine, _ *frame) error {
	if !m.firing {
		return semanticError(Pos{}, "only a handler, the body of a \"when\", can finish")
	}
	return nil
}
