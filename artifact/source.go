package artifact

import (
	"context"
	"errors"
)

// Errors of a fetch. Every error of a [Source] wraps one of them and names
// the artifact; an ErrForbidden says how to allow it.
var (
	// ErrGone means that the source no longer has the artifact.
	ErrGone = errors.New("no longer there")

	// ErrForbidden means that a policy forbids the fetch.
	ErrForbidden = errors.New("not allowed")

	// ErrOffline is an ErrForbidden: the source needs a connection, and the
	// settings forbid all connections.
	ErrOffline error = offlineError{}

	// ErrUnavailable means that the source cannot be reached now. A retry may
	// succeed.
	ErrUnavailable = errors.New("cannot be reached now")
)

// A Source fetches artifacts from their origin. It must be safe for
// concurrent use.
type Source interface {
	// Fetch returns the present content of ref. have describes the caller's
	// copy and may be nil; if the content is the same, the source returns
	// Unchanged without content. An error wraps ErrGone, ErrForbidden or
	// ErrUnavailable; if ctx ended, it wraps ErrUnavailable and the error of ctx.
	Fetch(ctx context.Context, ref Ref, have *Have) (*Fetched, error)
}

// A SourceFunc is a function that implements [Source].
type SourceFunc func(ctx context.Context, ref Ref, have *Have) (*Fetched, error)

// Fetch calls f.
func (f SourceFunc) Fetch(ctx context.Context, ref Ref, have *Have) (*Fetched, error) {
	return f(ctx, ref, have)
}

// Have describes the caller's copy. Empty fields are unknown.
type Have struct {
	ETag     string // as the last fetch returned it
	Modified string // as the last fetch returned it

	// Same reports whether content equals the caller's copy, usually by
	// comparing hashes.
	Same func(content []byte) bool
}

// Holds reports whether content equals the caller's copy. It is false for a
// nil h or a nil Same.
func (h *Have) Holds(content []byte) bool {
	return h != nil && h.Same != nil && h.Same(content)
}

// Fetched is the answer of a [Source].
type Fetched struct {
	Content   []byte // the caller owns it
	ETag      string // for Have.ETag of the next fetch; empty if the source has none
	Modified  string // for Have.Modified of the next fetch; empty if the source has none
	Unchanged bool   // the caller's copy is current; Content is nil
}

type offlineError struct{}

func (offlineError) Error() string { return ErrForbidden.Error() }

// Is makes errors.Is(ErrOffline, ErrForbidden) true.
func (offlineError) Is(target error) bool { return target == ErrForbidden }
