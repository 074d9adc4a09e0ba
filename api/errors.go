package api

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
)

// Errors with which the engine refuses a job; test with errors.Is. A thing
// that does not exist is [store.ErrNotFound].
var (
	// ErrBudget means that required parts do not fit: the blocks that rules
	// keep in a session's window, or the fixed parts of a context. In the error,
	// errors.As finds a [*pager.FloorError] or an [*assembly.FloorError] with the
	// figures.
	ErrBudget = pager.ErrFloor

	// ErrInvalid means that a provider would refuse the result, and nothing
	// was changed. The error is an [*InvalidError] with the reasons.
	ErrInvalid = errors.New("result would be refused by the provider")

	// ErrRequest means that a request is invalid, for example a negative size
	// or an index out of range.
	ErrRequest = errors.New("bad request")

	// ErrPolicy means that a rule or a setting forbids the job.
	ErrPolicy = errors.New("refused by policy")

	// ErrAmbiguous means that an abbreviated id matches several things.
	ErrAmbiguous = errors.New("ambiguous")

	// ErrFormat means that no format recognizes the input. Input that a
	// format recognizes but cannot read is a [*transcript.SyntaxError].
	ErrFormat = errors.New("unknown format")

	// ErrGone means that the bytes were erased.
	ErrGone = store.ErrGone

	// ErrIntegrity means that a record does not verify: it was changed after
	// it was sealed.
	ErrIntegrity = errors.New("does not verify")
)

// A FieldError is an invalid header, parameter or field. It is an
// [ErrRequest].
type FieldError struct {
	Field string
	Text  string // the error in the value
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrRequest, e.Field, e.Text)
}

// Is makes errors.Is(e, ErrRequest) true.
func (e *FieldError) Is(target error) bool { return target == ErrRequest }

// FloorOf returns the [*pager.FloorError] in err. It returns false for every other error, also for
// an [ErrBudget] with an [*assembly.FloorError].
func FloorOf(err error) (*pager.FloorError, bool) { return errors.AsType[*pager.FloorError](err) }

// RefusedOf returns the reasons of a refused discard if err holds them.
func RefusedOf(err error) (*pager.DiscardError, bool) { return errors.AsType[*pager.DiscardError](err) }

// A Subject names the thing that an error is about. A surface uses it to
// suggest a next step.
type Subject string

// The subjects of errors.
const (
	SubjectSession    Subject = "session"
	SubjectStore      Subject = "store"   // the store has no session at all
	SubjectSummary    Subject = "summary" // a summary named by its id
	SubjectNoSummary  Subject = "no-summary"
	SubjectArtifact   Subject = "artifact"
	SubjectManifest   Subject = "manifest"
	SubjectBlock      Subject = "block"
	SubjectHistory    Subject = "history"    // there is no operation to undo
	SubjectCritical   Subject = "critical"   // the session is marked critical
	SubjectCredential Subject = "credential" // a text looks as if it held a credential
)

// A SubjectError is an error with its subject.
type SubjectError struct {
	Subject Subject
	Err     error
}

func (e *SubjectError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the subject.
func (e *SubjectError) Unwrap() error { return e.Err }

// About returns err with the subject s, or nil if err is nil.
func About(s Subject, err error) error {
	if err == nil {
		return nil
	}
	return &SubjectError{s, err}
}

// SubjectOf returns the subject of err, or "".
func SubjectOf(err error) Subject {
	if e, ok := errors.AsType[*SubjectError](err); ok {
		return e.Subject
	}
	return ""
}
