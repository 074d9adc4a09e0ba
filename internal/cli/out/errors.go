package out

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An Error is an error with what a command knows of it. Only what is needed is set.
type Error struct {
	Err  error  // what happened
	Text string // says it in place of the text of Err
	Kind Kind   // of the error; that of Err if it is not set
	Hint string // what to try next; that of Err if it is not set

	File     string // that it is about
	Line     int    // in the file
	Problems []string

	Said bool // the command has printed what there is to say
}

// Error returns the text, behind the file and the line that it is about.
func (e *Error) Error() string {
	switch {
	case e.Text != "":
		return e.Text
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	case e.File != "":
		return e.File + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

// A Kind is a kind of error that only the command line has, or that has another exit
// code there.
type Kind struct {
	Slug string
	Exit int
}

// The kinds of errors.
var (
	KindNo        = Kind{"no", 1}         // the answer is no
	KindUsage     = Kind{"usage", 2}      // the command line makes no sense
	KindInput     = Kind{"input", 3}      // a file makes no sense
	KindSomeFiles = Kind{"some-files", 3} // some of several files
	KindIntegrity = Kind{"integrity", 6}  // something does not verify
	KindRefused   = Kind{"refused", 9}    // a policy forbids it
	KindConsent   = Kind{"consent", 10}   // a person has to consent first
)

// Errors of which the command has said what there is to say.
var (
	ErrNo      = &Error{Text: "no", Kind: KindNo, Said: true}
	ErrConsent = &Error{Text: "consent is needed", Kind: KindConsent, Said: true}
)

// Usagef returns an error about a command line that makes no sense.
func Usagef(format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Kind: KindUsage}
}

// Hinted returns an error with what to try next.
func Hinted(err error, hint string) error { return &Error{Err: err, Hint: hint} }

// InFile returns an error about a file that is not what it should be.
func InFile(file string, err error) error { return &Error{Err: err, File: file} }

// FindError returns the first Error in a chain of which something is true, or an empty one.
func FindError(err error, is func(*Error) bool) *Error {
	for e, ok := errors.AsType[*Error](err); ok; e, ok = errors.AsType[*Error](e.Err) {
		if is(e) {
			return e
		}
	}
	return &Error{}
}

// KindOf returns the kind that a command gave an error, or the zero Kind.
func KindOf(err error) Kind {
	return FindError(err, func(e *Error) bool { return e.Kind != Kind{} }).Kind
}

// HintOf returns the hint that a command gave an error, or "".
func HintOf(err error) string {
	return FindError(err, func(e *Error) bool { return e.Hint != "" }).Hint
}

// IsSaid reports whether a command has printed what there is to say of an error.
func IsSaid(err error) bool {
	return FindError(err, func(e *Error) bool { return e.Said }).Said
}

// OneOf returns a usage error if a value is none of the words.
func OneOf(name, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return Usagef("%s: %q is none of %s", name, value, strings.Join(words, ", "))
}

// SomeFailed returns an error about some of several files, and about the first of them.
func SomeFailed(failed, all int, first error) error {
	return &Error{Text: fmt.Sprintf("%d of %d files failed", failed, all), Err: first, Kind: KindSomeFiles}
}
