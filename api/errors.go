package api

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
)

// The reasons for which the engine refuses a job. Test for them with errors.Is.
// What does not exist is [store.ErrNotFound].
var (
	// ErrBudget means that what must be there does not fit: what rules hold in
	// the window of a session, or the fixed parts of a context. The error is a
	// [*pager.FloorError] or an [*assembly.FloorError] with the figures, or wraps
	// one.
	ErrBudget = pager.ErrFloor

	// ErrInvalid means that a provider would refuse the result, so that nothing
	// was changed. The error is an [*InvalidError] with the reasons.
	ErrInvalid = errors.New("result would be refused by the provider")

	// ErrRequest means that a request makes no sense: a size below 0, a range
	// outside of what there is.
	ErrRequest = errors.New("bad request")

	// ErrPolicy means that a rule or a setting forbids the job.
	ErrPolicy = errors.New("refused by policy")

	// ErrAmbiguous means that an abbreviation fits several things.
	ErrAmbiguous = errors.New("ambiguous")

	// ErrFormat means that no format reads the input. Input that a format
	// recognizes but cannot read is a [*transcript.SyntaxError].
	ErrFormat = errors.New("unknown format")

	// ErrGone means that the bytes were erased.
	ErrGone = store.ErrGone

	// ErrIntegrity means that a record does not verify: it was changed after it
	// was sealed.
	ErrIntegrity = errors.New("does not verify")
)

// A FieldError is a header, a parameter or a field that makes no sense. It is an
// [ErrRequest].
type FieldError struct {
	Field string
	Text  string // what is wrong with it
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrRequest, e.Field, e.Text)
}

// Is makes errors.Is(e, ErrRequest) true.
func (e *FieldError) Is(target error) bool { return target == ErrRequest }

// FloorOf says by how much a budget is too small and what holds it up, if err is
// an [ErrBudget].
func FloorOf(err error) (*pager.FloorError, bool) { return errors.AsType[*pager.FloorError](err) }

// RefusedOf says why a discard was refused, if err is such an error.
func RefusedOf(err error) (*pager.DiscardError, bool) { return errors.AsType[*pager.DiscardError](err) }

// A Subject is the thing that an error is about. A surface says by it what to try next.
type Subject string

// The subjects of errors.
const (
	SubjectSession    Subject = "session"
	SubjectStore      Subject = "store"   // it has no session at all
	SubjectSummary    Subject = "summary" // that an id names
	SubjectNoSummary  Subject = "no-summary"
	SubjectArtifact   Subject = "artifact"
	SubjectManifest   Subject = "manifest"
	SubjectBlock      Subject = "block"
	SubjectHistory    Subject = "history"    // there is no operation to take back
	SubjectCritical   Subject = "critical"   // the session is marked as such
	SubjectCredential Subject = "credential" // a text looks as if it held one
)

// A SubjectError is an error with the thing that it is about.
type SubjectError struct {
	Subject Subject
	Err     error
}

func (e *SubjectError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *SubjectError) Unwrap() error { return e.Err }

// About returns an error that is about something, or nil if err is nil.
func About(s Subject, err error) error {
	if err == nil {
		return nil
	}
	return &SubjectError{s, err}
}

// SubjectOf returns the thing that an error is about, or "".
func SubjectOf(err error) Subject {
	if e, ok := errors.AsType[*SubjectError](err); ok {
		return e.Subject
	}
	return ""
}
