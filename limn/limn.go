// Package limn is the Liminate language: prose of a bounded vocabulary that
// executes. It lexes, parses, checks, runs and prints programs of the release
// with 61 reserved words, and can tell what of a program older releases know.
//
// # Programs
//
// A program is lines. Each line is a statement, a comment, or blank, which a line of
// nothing but punctuation is, too; only a "when" is followed by indented lines, which
// are its body. A line that is wrong does not stop the lines after it: [Parse] returns
// every line with its statement or its error, and running goes on behind a statement
// that failed.
//
//	remember a list called paged-blocks
//	add "block-0x04" to paged-blocks
//	require paged-blocks includes "block-0x04" because "it was resolved"
//
// # Running
//
// A [Machine] holds names and their values and executes one statement after the
// other; each gives a [Result] with a [Status]. Nothing of an operation happens
// before all of it was checked against the names that there are. Statements of
// the form "when …" are handlers: [Machine.Listen] runs them on updates of live
// values. Where updates come from, such as a timer, is not this package's concern.
//
// # Packs
//
// A [Pack] adds nouns, verbs and live values to the language. The session pack
// and the research pack are built in.
//
// # The published program
//
// Statuses, kinds of errors and what statements show are those of the program that
// its authors publish. doc/spec/limn.md lists what differs on purpose; the cases of
// package conform hold an implementation to the rest.
//
// # Determinism
//
// The package does no I/O, starts no goroutine and reads no clock: the date called
// "today" is given. Equal programs, packs and updates give equal results.
// Programs and packs are immutable once made and may be shared; a Machine must not
// be used concurrently.
package limn

import (
	"cmp"
	"fmt"
)

// A Pos is a place in a program.
type Pos struct {
	Line   int // first is 1
	Column int // in bytes; first is 1
}

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A faultKind is the kind of an [Error].
type faultKind int

// The faults.
const (
	faultParse    faultKind = iota // no statement of the language
	faultSemantic                  // a statement that makes no sense where it stands
	faultRuntime                   // a statement that went wrong while it ran
)

// An Error says where and why a statement cannot be executed.
type Error struct {
	Pos   Pos
	fault faultKind
	Text  string // what is wrong, without the position
	Hint  string // what to do, or empty
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %s", e.Pos, e.Text) }

// A Status says what became of a statement, or what a listening machine did.
type Status string

// The statuses, spelled as other implementations of the language do.
const (
	StatusSuccess       Status = "success"
	StatusAmber         Status = "amber_precedence" // "and" beside "or": to be confirmed
	StatusParseError    Status = "error_parse"
	StatusSemanticError Status = "error_semantic"
	StatusRuntimeError  Status = "error_runtime" // of listening: handlers in a cycle, a source that failed
	StatusNotMet        Status = "requirement_not_met"
	StatusViolated      Status = "prohibition_violated"
	StatusPackFailure   Status = "pack_verb_failure"
	StatusListening     Status = "listening"
	StatusFired         Status = "handler_fire"
	StatusShutdown      Status = "shutdown"
)

// Failed reports whether a status makes a run exit with 1. Unless strict,
// requirements that are not met, prohibitions that are violated, and statements
// that nobody has confirmed do not.
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
