package out

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// An Error adds information for printing to an error. All fields are optional.
type Error struct {
	Err  error  // the cause
	Text string // replaces the text of Err
	Kind Kind   // of the error; that of Err if not set
	Hint string // the next step; that of Err if not set

	File     string // file that the error is about
	Line     int    // in the file
	Problems []string

	Said bool // the command has already printed the error
}

// Error returns the text, preceded by the file and line.
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

// A Kind is a kind of error that only the command line has, or that has its own exit code there.
type Kind struct {
	Slug string
	Exit int
}

// The kinds of errors.
var (
	KindNo        = Kind{"no", 1}         // the answer to the command's question is no
	KindUsage     = Kind{"usage", 2}      // the command line is invalid
	KindInput     = Kind{"input", 3}      // the content of a file is invalid
	KindSomeFiles = Kind{"some-files", 3} // some of several files failed
	KindIntegrity = Kind{"integrity", 6}  // a check of integrity failed
	KindRefused   = Kind{"refused", 9}    // a policy forbids it
	KindConsent   = Kind{"consent", 10}   // a person has to consent first
)

// Errors that the command has already printed.
var (
	ErrNo      = &Error{Text: "no", Kind: KindNo, Said: true}
	ErrConsent = &Error{Text: "consent is needed", Kind: KindConsent, Said: true}
)

// Usagef returns an error about an invalid command line.
func Usagef(format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Kind: KindUsage}
}

// Hinted returns an error with a hint at the next step.
func Hinted(err error, hint string) error { return &Error{Err: err, Hint: hint} }

// InFile returns an error about the content of a file.
func InFile(file string, err error) error { return &Error{Err: err, File: file} }

// FindError returns the first Error in the chain of err for which the function is returns true. It
// returns an empty Error if there is none.
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

// IsSaid reports whether the command has already printed an error.
func IsSaid(err error) bool {
	return FindError(err, func(e *Error) bool { return e.Said }).Said
}

// OneOf returns a usage error if value is not one of words.
func OneOf(name, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return Usagef("%s: %q is none of %s", name, value, strings.Join(words, ", "))
}

// Given returns those of the named flags that were given, each with its dashes.
func Given(cmd *cobra.Command, names ...string) []string {
	var given []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// SomeFailed returns the error that some of several files failed. It wraps the argument first, the
// error of the first file that failed.
func SomeFailed(failed, all int, first error) error {
	return &Error{Text: fmt.Sprintf("%d of %d files failed", failed, all), Err: first, Kind: KindSomeFiles}
}
