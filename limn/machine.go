package limn

import (
	"iter"
)

// Options adjusts a [Parser] and a [Machine]. A nil *Options is the language
// as it is, without packs.
type Options struct {
	// Packs are what is added to the language.
	Packs []*Pack

	// Today is the date that programs know as "today", as yyyy-mm-dd. If it is
	// empty there is no such name.
	Today string

	// Confirm is asked whether a statement is meant as its amber condition, with
	// parentheses, says. If it is nil such a statement is not executed.
	Confirm func(amber string) bool
}

// A Result is what became of a statement, or an event of a listening machine.
type Result struct {
	Status   Status
	Line     *Line          // nil for events that belong to no line
	Output   []string       // lines that were shown
	Message  string         // why it failed, or what is to be confirmed; for people
	Err      *Error         // of the statuses that are errors
	Executed bool           // whether the statement ran at all
	Metadata map[string]any // figures of failed rules, of failed pack verbs, and of firings; nil if there are none
}

// An Update is a new value of a live name.
type Update struct {
	Name  string
	Value Value
	Err   error // if it is set, the source of the name has failed and gives nothing any more
}

// A Machine executes statements. Make one with [NewMachine].
type Machine struct {
	opts Options

	symbols    map[string]*symbol
	predicates map[string]*Define
	live       map[string]bool // names whose values come from outside
	handlers   []*handler
	failed     bool // an error that keeps the machine from listening
}

// Run executes the statements of a program and yields a result for each. What it
// yields first are warnings about rules that contradict one another, if there are
// any, see [Contradictions].
func (m *Machine) Run(p *Program) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		for _, l := range p.Lines {
			if !yield(m.Exec(l)) {
				return
			}
		}
	}
}
