package store

import (
	"context"
	"errors"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
)

// ErrRepeated says that a write was made already, for the same request.
var ErrRepeated = errors.New("it was made already, under the same key")

// RequestTime is how long it is known that a write was made for a request.
const RequestTime = 24 * time.Hour

// A Request is a write that an actor asks for under a key, so that it is made once, however
// often and wherever it is asked for. It has no content.
type Request struct {
	Scope   governance.Scope
	Actor   governance.Actor
	Key     string
	Attempt string        // random: which of several that are the same this is
	Asking  digest.Digest // of what is asked for
	Time    time.Time     // UTC, whole milliseconds
	Outcome []byte        // ids and figures of what came of it; nil while that is not known
}

// Requests knows which writes were made for requests. A driver has the role if several
// processes on several machines may have its store open; it is no part of [Store], and a
// store that is guarded does not have it.
//
// The first Apply or Update in a scope whose context has a request of that scope, see
// [WithRequest], records it in the same transaction, so that it is known if and only if the
// write was made. If another attempt has recorded it, less than RequestTime before, they fail
// with ErrRepeated and write nothing.
type Requests interface {
	// Request returns a request that was recorded, or ErrNotFound.
	Request(ctx context.Context, scope governance.Scope, actor governance.Actor, key string) (*Request, error)

	// SettleRequest records what came of a request, durably, and the request itself if no
	// write has. It leaves one alone that another attempt has recorded. Requests of the
	// scope that are older than RequestTime are forgotten.
	SettleRequest(ctx context.Context, r *Request) error

	// DropRequest forgets a request that the same attempt has recorded.
	DropRequest(ctx context.Context, r *Request) error
}

type requestKey struct{}

// WithRequest returns a context of a write that is made for a request.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom returns the request in a scope that a write is made for, or nil.
func RequestFrom(ctx context.Context, scope governance.Scope) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok && r.Scope == scope {
		return r
	}
	return nil
}

// Precedes reports whether a request was recorded so long before another with the same key that
// it is forgotten.
func (r *Request) Precedes(other *Request) bool { return other.Time.Sub(r.Time) >= RequestTime }
