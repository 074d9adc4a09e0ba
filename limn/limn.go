// Package limn implements the Liminate language: executable prose with a
// bounded vocabulary. It parses, checks, runs, formats and prints programs of
// the release with 61 reserved words, and reports constructs that older
// releases do not know.
//
//	program := limn.Parse("rules.limn", text, nil)
//	machine := limn.NewMachine(nil)
//	for result := range machine.Run(program) {
//		fmt.Println(result.Status, result.Output)
//	}
//
// # Programs
//
// Each line of a program is a statement, a comment, or blank; a line of only
// punctuation is blank. A "when" is followed by indented lines, its body. An
// invalid line does not affect the others: [Parse] returns each line with its
// statement or its error, and a run continues after a failed statement.
//
//	remember a list called paged-blocks
//	add "block-0x04" to paged-blocks
//	require paged-blocks includes "block-0x04" because "it was resolved"
//
// A composition is a statement with a name, and perhaps a parameter, that "remember how
// to" defines. A predicate is a condition with a name, which "define" gives it. A
// condition that mixes "and" with "or" is amber: its statement runs only if
// Options.Confirm permits it.
//
// # Running
//
// A [Machine] holds names with their values and executes one statement after
// the other; each gives a [Result] with a [Status]. A statement is one or more
// operations. Each is checked completely before it changes anything, but what
// earlier ones changed stays if a later one fails. Statements of the form "when …" are
// handlers: [Machine.Listen] runs them on updates of live values, which the
// caller supplies.
//
// # Packs
//
// A [Pack] adds nouns, verbs and live values to the language. The session
// pack and the research pack are built in.
//
// # Compatibility
//
// Statuses, kinds of errors and outputs are those of the program that the
// language's authors publish. doc/spec/limn.md lists the deliberate
// differences; the cases of package conform test the rest.
//
// # Determinism
//
// The package does no I/O, starts no goroutine and reads no clock: the caller
// supplies the date "today". Equal programs, packs and updates give equal
// results. Programs and packs are immutable and may be shared; a Machine must
// not be used concurrently.
package limn

import (
	"cmp"
	"fmt"
)

// A Pos is a position in a program.
type Pos struct {
	Line   int // from 1
	Column int // in bytes, from 1
}

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A faultKind is the kind of an [Error].
type faultKind int

// The faults.
const (
	faultParse    faultKind = iota // the line is not a valid statement
	faultSemantic                  // the check of a statement failed before it ran
	faultRuntime                   // a statement failed while it ran
)

// An Error is a positioned error of a statement.
type Error struct {
	Pos   Pos
	fault faultKind
	Text  string // what is wrong, without the position
	Hint  string // suggested correction, or empty
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %s", e.Pos, e.Text) }

// A Status is the outcome of a statement, or an event of a listening machine.
type Status string

// The statuses, spelled as in other implementations of the language.
const (
	StatusSuccess       Status = "success"
	StatusAmber         Status = "amber_precedence" // "and" beside "or" needs a confirmation
	StatusParseError    Status = "error_parse"
	StatusSemanticError Status = "error_semantic"
	StatusRuntimeError  Status = "error_runtime" // of listening: handlers form a cycle, or a source failed
	StatusNotMet        Status = "requirement_not_met"
	StatusViolated      Status = "prohibition_violated"
	StatusPackFailure   Status = "pack_verb_failure"
	StatusListening     Status = "listening"
	StatusFired         Status = "handler_fire"
	StatusShutdown      Status = "shutdown"
)

// Failed reports whether a run with this status exits with 1. Unless strict,
// unmet requirements, violated prohibitions and unconfirmed statements do not
// count.
func (s Status) Failed(strict bool) bool {
	switch s {
	case StatusParseError, StatusSemanticError, StatusRuntimeError, StatusPackFailure:
		return true
	case StatusNotMet, StatusViolated, StatusAmber:
		return strict
	case StatusSuccess, StatusListening, StatusFired, StatusShutdown:
	}
	return false
}
