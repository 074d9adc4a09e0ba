package artifact

import (
	"context"
	"errors"
)

// The ways in which a fetch fails. Every error of a [Source] wraps one of them
// and says what it is about and, if something is forbidden, how to allow it.
var (
	// ErrGone means that the source no longer has the artifact, for good.
	ErrGone = errors.New("no longer there")

	// ErrForbidden means that policy does not let the artifact be fetched.
	ErrForbidden = errors.New("not allowed")

	// ErrOffline is an ErrForbidden: nothing may connect.
	ErrOffline error = offlineError{}

	// ErrUnavailable means that the source cannot be reached now. Trying again
	// may help.
	ErrUnavailable = errors.New("cannot be reached now")
)

// A Source fetches an artifact again from where it came from. It is safe for
// concurrent use.
type Source interface {
	// Fetch returns what ref refers to now. If the caller holds something it
	// says so by have, which may be nil; a source that finds the same answers
	// Unchanged, without the content. The error is one of ErrGone, ErrForbidden
	// and ErrUnavailable, wrapped.
	Fetch(ctx context.Context, ref Ref, have *Have) (*Fetched, error)
}

// A SourceFunc is a function as a [Source].
type SourceFunc func(ctx context.Context, ref Ref, have *Have) (*Fetched, error)

// Fetch implements [Source].
func (f SourceFunc) Fetch(ctx context.Context, ref Ref, have *Have) (*Fetched, error) {
	return f(ctx, ref, have)
}

// Have is what somebody who fetches holds already. A field that is not set is
// not known.
type Have struct {
	ETag     string // as the last fetch returned it
	Modified string // as the last fetch returned it

	// Same reports whether content is what the caller holds. It is usually a
	// comparison of hashes.
	Same func(content []byte) bool
}

// Holds reports whether content is what the caller holds. It is false for a nil
// h, and when the caller cannot tell.
func (h *Have) Holds(content []byte) bool {
	return h != nil && h.Same != nil && h.Same(content)
}

// Fetched is the answer of a [Source].
type Fetched struct {
	Content   []byte
	ETag      string // to hand back as Have.ETag; empty if the source has none
	Modified  string // to hand back as Have.Modified; empty if the source has none
	Unchanged bool   // the caller has it already; Content is nil
}

type offlineError struct{}

func (offlineError) Error() string { return ErrForbidden.Error() }

// Is makes errors.Is(ErrOffline, ErrForbidden) true.
func (offlineError) Is(target error) bool { return target == ErrForbidden }
