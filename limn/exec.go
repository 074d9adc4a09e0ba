package limn

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// execOps executes a sequence for a handler and returns what it showed. The error
// is errFinish if it was told to finish.
func (m *Machine) execOps(s *Sequence, f *frame) ([]string, error) {
	m.begin()
	_, err := m.run(s, f, false)
	return m.out, err
}

// run executes a sequence up to the first operation that fails. If its value is
// captured, the last operation does not show it but returns it.
func (m *Machine) run(s *Sequence, f *frame, captured bool) (Value, error) {
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

// operation checks an operation and executes it if there is nothing wrong.
func (m *Machine) operation(op *Op, f *frame, captured bool) (Value, error) {
	core := m.coreOf(op)
	if err := m.check(core, f); err != nil {
		return Value{}, at(op.Pos, err)
	}
	v, err := m.exec(core, f, captured)
	return v, located(op.Pos, err)
}

// coreOf returns what an operation does. In "inherited remember a KIND called NAME
// from X from Y", only the machine knows whether Y is what the composition X is
// called with, or whom a copy of the value X is inherited from.
func (m *Machine) coreOf(op *Op) Core {
	r, ok := op.Core.(*Remember)
	if !ok || !op.Inherited || op.From != "" {
		return op.Core
	}
	c, ok := r.From.(*Call)
	if !ok {
		return op.Core
	}
	s := m.symbols[c.Name.Text]
	if _, named := c.Arg.(*Word); !named || s != nil && s.teach != nil {
		return op.Core
	}
	copied := *r
	copied.From = &Word{Pos: c.Name.Pos, Text: c.Name.Text}
	return &copied
}

// located is [at] for errors that may be failures of rules or ends.
func located(pos Pos, err error) error {
	_, ok := errors.AsType[*failure](err)
	if ok || errors.Is(err, errFinish) {
		return err
	}
	return at(pos, err)
}

// afterOthers says of an error which operations were done before.
func afterOthers(done []*Op, err error) error {
	if len(done) == 0 || errors.Is(err, errFinish) {
		return err
	}
	r := failed(err)
	wrapped := failure{status: r.Status, message: r.Message, err: r.Err, metadata: r.Metadata}
	wrapped.message = "I completed '" + canonical(done[len(done)-1]) + "' but then " + lowerFirst(wrapped.message)
	for _, op := range done {
		if s, ok := op.Core.(*Select); ok && s.Verb == verbFilter {
			wrapped.message = strings.TrimSuffix(wrapped.message, ".") + ". What was filtered stays filtered."
			break
		}
	}
	return &wrapped
}

// lowerFirst makes the first letter of a sentence a small one.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// exec does what an operation that was checked says.
func (m *Machine) exec(core Core, f *frame, captured bool) (Value, error) {
	if err := m.spend(1); err != nil {
		return Value{}, err
	}
	switch c := core.(type) {
	case *Remember:
		return m.remember(c, f)
	case *Select:
		return m.selectItems(c, captured)
	case *Tally:
		return m.tally(c, captured)
	case *Gather:
		return m.gather(c, captured)
	case *Call:
		return m.call(c, f, captured)
	}
	return Value{}, m.do(core, f)
}

// do executes the operations that have no value.
func (m *Machine) do(core Core, f *frame) error {
	switch c := core.(type) {
	case *Teach:
		return m.learn(c)
	case *Show:
		return m.show(c, f)
	case *Each:
		return m.each(c, f)
	case *Choose:
		return m.choose(c, f)
	case *Change:
		return m.change(c, f)
	case *Weakens:
		return m.weakens(c)
	case *Assign:
		return m.assign(c, f)
	case *Rule:
		return m.rule(c, f)
	case *RequireEach:
		return m.requireEach(c)
	case *Sort:
		return m.sort(c)
	case *Compare:
		return m.compareValues(c)
	case *Transform:
		return m.transform(c, f)
	case *Define:
		return m.define(c)
	case *PackCall:
		return m.callPack(c, f)
	case *Finish:
		return errFinish
	}
	return errNothing
}

// The words of verbs that share a node.
const (
	verbFilter  = "filter"
	verbSum     = "sum"
	verbAdd     = "add"
	verbRemove  = "remove"
	verbRequire = "require"
	verbForbid  = "forbid"
	verbPermit  = "permit"
)

// check finds what is wrong with an operation, by the names there are now.
func (m *Machine) check(core Core, f *frame) error {
	if err := m.spend(1); err != nil {
		return err
	}
	switch c := core.(type) {
	case *Remember:
		return m.checkRemember(c, f)
	case *Teach:
		return m.bindable(c.Name)
	case *Show:
		return m.checkShow(c, f)
	case *Select:
		return m.checkSelect(c)
	case *Tally:
		return m.checkTally(c)
	case *Gather:
		return m.checkGather(c)
	case *Each:
		return m.checkEach(c, f)
	case *Choose:
		return m.checkChoose(c, f)
	case *Change:
		return m.checkChange(c, f)
	case *Weakens:
		return m.checkWeakens(c)
	case *Assign:
		return m.checkAssign(c, f)
	case *Rule:
		return m.checkRule(c, f)
	case *RequireEach:
		return m.checkRequireEach(c)
	case *Sort:
		return m.checkSort(c)
	case *Compare:
		return m.checkCompare(c)
	case *Transform:
		return m.checkTransform(c, f)
	case *Define:
		return m.checkDefine(c)
	case *Call:
		return m.checkCall(c, f)
	case *PackCall:
		return m.checkPack(c, f)
	case *Finish:
		return m.checkFinish()
	}
	return errNothing
}

func (m *Machine) checkFinish() error {
	if !m.firing {
		return semanticError(Pos{}, "only a handler, the body of a \"when\", can finish")
	}
	return nil
}
