package contract

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/limn"
)

// A FailureKind is the kind of a [Failure].
type FailureKind string

// The kinds of failures.
const (
	FailedGuard     FailureKind = "guard"     // an unmet requirement or a violated prohibition
	FailedStatement FailureKind = "statement" // a statement that cannot be executed
	FailedPin       FailureKind = "pin"       // a block that must stay in the window was evicted
	FailedBudget    FailureKind = "budget"    // the window is over its budget
	FailedDecision  FailureKind = "decision"  // two decisions contradict each other
)

// A Failure is a violated rule of a contract.
type Failure struct {
	Line int         `json:"line"` // from 1
	Kind FailureKind `json:"kind"`
	Text string      `json:"text"` // the failure in words
}

func (f Failure) String() string { return fmt.Sprintf("line %d: %s", f.Line, f.Text) }

// A Report is the result of running a contract.
type Report struct {
	State      *Contract `json:"-"`          // after the last statement
	Statements int       `json:"statements"` // number of executed statements
	Failures   []Failure `json:"failures"`   // by line; empty if the contract holds
	Shown      []string  `json:"shown"`      // output, for example that a source was not read
}

// Err returns a [*RunError] if there are failures, or nil.
func (r *Report) Err() error {
	if len(r.Failures) == 0 {
		return nil
	}
	return &RunError{Failures: r.Failures}
}

// A RunError lists the failures of a contract.
type RunError struct {
	Failures []Failure // at least one
}

func (e *RunError) Error() string {
	if n := len(e.Failures) - 1; n > 0 {
		return fmt.Sprintf("the contract does not hold in %v (and %d more)", e.Failures[0], n)
	}
	return fmt.Sprintf("the contract does not hold in %v", e.Failures[0])
}

// RunOptions adjusts [Run]. Nil and the zero value are the defaults.
type RunOptions struct {
	// Packs are loaded in addition to the session pack.
	Packs []*limn.Pack

	// Today is the date of the name "today", as yyyy-mm-dd, or empty.
	Today string
}

// Run replays a contract, executes it with the session pack, and checks the rules of contracts:
// no block that is pinned or records a correction is evicted, the window is within its budget,
// and no two decisions contradict each other. Replaying checks that each block is in one list
// only, and that foreign statements change no list or value of the contract.
//
// If the contract cannot be replayed, Run fails with a [*SyntaxError]. All other failures are
// in the report. Unmet requirements, and statements that mix "and" with "or" and so need a
// confirmation, are failures here, although the language itself does not treat them as errors.
func Run(lines iter.Seq[string], o *RunOptions) (*Report, error) {
	all := slices.Collect(lines)
	state, err := Replay(slices.Values(all))
	if err != nil {
		return nil, err
	}
	r := &Report{State: state, Failures: []Failure{}, Shown: []string{}}
	r.execute(all, o)
	r.Failures = append(r.Failures, examine(state, all)...)
	slices.SortStableFunc(r.Failures, func(a, b Failure) int { return a.Line - b.Line })
	return r, nil
}

// execute runs the statements of a contract and adds their failures.
func (r *Report) execute(lines []string, o *RunOptions) {
	opts := *language()
	if o != nil {
		opts.Packs = append(slices.Clone(opts.Packs), o.Packs...)
		opts.Today = o.Today
	}
	program := limn.Parse("", strings.Join(lines, "\n"), &opts)
	machine := limn.NewMachine(&opts)
	for result := range machine.Run(program) {
		r.note(&result)
	}
	for result := range machine.Listen(nil) {
		r.note(&result)
	}
}

// note adds the result of a statement to the report. If the statement failed, it adds a failure.
func (r *Report) note(result *limn.Result) {
	r.Shown = append(r.Shown, result.Output...)
	if result.Executed {
		r.Statements++
	}
	kind := FailedStatement
	switch result.Status {
	case limn.StatusNotMet, limn.StatusViolated:
		kind = FailedGuard
	case limn.StatusParseError, limn.StatusSemanticError, limn.StatusRuntimeError, limn.StatusPackFailure,
		limn.StatusAmber:
	case limn.StatusSuccess, limn.StatusListening, limn.StatusFired, limn.StatusShutdown:
		return
	}
	f := Failure{Kind: kind, Text: result.Message}
	if result.Line != nil {
		f.Line = result.Line.Pos.Line
	}
	r.Failures = append(r.Failures, f)
}
