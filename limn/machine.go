package limn

import (
	"errors"
	"iter"
)

// Options adjusts [Parse] and a [Machine], which must get the same packs. A
// nil *Options is the language without packs.
type Options struct {
	// Packs are the loaded packs.
	Packs []*Pack

	// Today is the date named "today", as yyyy-mm-dd. If it is empty or
	// invalid, the name does not exist.
	Today string

	// Confirm reports whether a statement means its amber condition as amber
	// shows it, with parentheses. If Confirm is nil, such statements are not
	// executed.
	Confirm func(amber string) bool
}

// A Result is the outcome of a statement, or an event of a listening machine.
//
// Metadata is nil, or has texts, numbers, lists and maps that encoding/json
// can write. For [StatusNotMet] and [StatusViolated] it has the "verb", the
// "condition" and, if known, the "actual" value, and for a rule about items
// the "iteration", "binding", "collection" and "element_index". For
// [StatusPackFailure] it has the "verb", its "pack", the "failure_type", the
// arguments by the names of the slots, and figures of the execution. For
// events see [Machine.Listen].
type Result struct {
	Status   Status
	Line     *Line          // nil for events without a line
	Output   []string       // displayed lines
	Message  string         // reason of a failure or question to confirm; for people
	Err      *Error         // set for statuses that are errors
	Executed bool           // the statement ran
	Metadata map[string]any // see above
}

// A LiveValue is an update of a live name. Value must have the type that the packs declare for
// Name; if no pack declares Name, it may have any type. A text is not a date: a date comes only
// from Pack.Sequence or [Machine.Value].
//
// An update with another type, with the zero Value, or for the name of a composition gives a result
// with [StatusRuntimeError], as one with Err does. [Machine.Listen] then ignores further updates of
// Name, and no longer runs handlers that depend only on such names.
type LiveValue struct {
	Name  string
	Value Value
	Err   error // if set, the source of the name has failed and sends no further updates
}

// A Machine executes statements. Make one with [NewMachine].
//
// Its resources are bounded for every program: lists have at most a million
// items in total, numbers at most 10,000 digits, compositions nest at most
// 100 deep, and a statement that needs millions of steps fails.
type Machine struct {
	opts Options

	symbols    map[string]*symbol
	predicates map[string]*define
	live       map[string]bool // names whose values come from outside
	handlers   []*handler
	items      int // number of items in all named lists
	ticks      int // number of updates of the live name "tick"
	limit      int // most steps of a statement

	failed  bool // a result had a status for which [Status.Failed] is true
	blocked bool // a result had a status after which the machine must not listen
	firing  bool // a handler is running

	// The fields below belong to the statement that is running.
	out       []string
	steps     int      // steps that the statement may still take
	depth     int      // nesting depth of compositions and predicates
	iterating []string // names of the lists that are being iterated over
	changed   []string // names that a running handler has bound or changed
	edited    []string // those of changed whose list was changed in place
}

// NewMachine returns a machine that knows only the live names of its packs
// and "today".
func NewMachine(opts *Options) *Machine {
	m := &Machine{
		symbols:    make(map[string]*symbol),
		predicates: make(map[string]*define),
		live:       make(map[string]bool),
		limit:      maxSteps,
	}
	if opts != nil {
		m.opts = *opts
	}
	for _, p := range m.opts.Packs {
		for _, n := range p.Declarations {
			m.live[n.Name] = true
		}
	}
	if today, err := dateOf(m.opts.Today); err == nil {
		m.symbols["today"] = &symbol{value: today}
	}
	return m
}

// Run yields a result for each line of a program, whose statement it executes
// when the iteration reaches it. A handler is registered, with
// [StatusSuccess]; a line with an error gives [StatusParseError]. If requirements and prohibitions
// contradict one another, one more result comes first: it has [StatusSuccess], no Line, Executed
// false, and a warning in each text of Output.
func (m *Machine) Run(p *Program) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		if w := warnings(p); len(w) > 0 && !yield(Result{Status: StatusSuccess, Output: w}) {
			return
		}
		for _, l := range p.Lines {
			if !yield(m.Exec(l)) {
				return
			}
		}
	}
}

// Value returns a copy of the value with a name.
func (m *Machine) Value(name string) (Value, bool) {
	v, ok := m.value(name)
	return v.copy(), ok
}

// value returns the current value of a name, without copying. The caller must not change it.
func (m *Machine) value(name string) (Value, bool) {
	s, ok := m.symbols[name]
	if !ok || s.teach != nil {
		return Value{}, false
	}
	return m.current(s), true
}

// Exec executes the statement of a line. If an operation of it fails, what
// earlier ones changed stays.
func (m *Machine) Exec(l *Line) Result {
	r := m.execLine(l)
	r.Line = l
	m.note(r.Status)
	return r
}

// note updates m.failed and m.blocked for a status.
func (m *Machine) note(s Status) {
	m.failed = m.failed || s.Failed(false)
	switch s {
	case StatusParseError, StatusSemanticError, StatusAmber, StatusPackFailure:
		m.blocked = true
	case StatusSuccess, StatusRuntimeError, StatusNotMet, StatusViolated,
		StatusListening, StatusFired, StatusShutdown:
	}
}

func (m *Machine) execLine(l *Line) Result {
	if l.Err != nil {
		return failed(l.Err)
	}
	if r, ok := m.unconfirmed(l); ok {
		return r
	}
	m.begin()
	var err error
	switch s := l.stmt.(type) {
	case *when:
		return m.register(l)
	case *sequence:
		if err = m.checkMeaning(s); err == nil {
			_, err = m.run(s, nil, false)
		}
	case *about:
	}
	r := failed(err)
	r.Output = m.out
	return r
}

// unconfirmed returns true and the result for a line whose amber condition was not
// confirmed, and false for all other lines.
func (m *Machine) unconfirmed(l *Line) (Result, bool) {
	if l.Amber == "" || m.opts.Confirm != nil && m.opts.Confirm(l.Amber) {
		return Result{}, false
	}
	return Result{Status: StatusAmber, Message: "this reads as: " + l.Amber}, true
}

// begin resets the fields of the running statement.
func (m *Machine) begin() {
	m.out, m.steps, m.depth, m.iterating = nil, m.limit, 0, nil
}

// A failure is an error that has the reason why a statement failed, and its
// status and metadata.
type failure struct {
	status   Status
	message  string
	err      *Error // set if status is an error
	metadata map[string]any
}

func (f *failure) Error() string { return f.message }

// errFinish is returned by "finish". It ends the body of the handler and then listening.
var errFinish = errors.New("the machine was told to finish")

// failed returns the result of a statement that ended with err, which may be nil.
func failed(err error) Result {
	if err == nil {
		return Result{Status: StatusSuccess, Executed: true}
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return Result{Status: f.status, Message: f.message, Err: f.err, Executed: true, Metadata: f.metadata}
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{fault: faultRuntime, Text: err.Error()}
	}
	return Result{Status: e.fault.status(), Message: e.Text, Err: e, Executed: e.fault == faultRuntime}
}

// status returns the status of a statement that failed with a fault of this kind.
// For a fault at run time it is [StatusSemanticError], because [StatusRuntimeError]
// is only for events of listening.
func (f faultKind) status() Status {
	switch f {
	case faultParse:
		return StatusParseError
	case faultSemantic, faultRuntime:
	}
	return StatusSemanticError
}
