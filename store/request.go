package store

import (
	"context"
	"errors"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
)

// ErrRepeated means that another attempt at the same request has already made its write.
var ErrRepeated = errors.New("the write was already made, for a request with the same key")

// RequestTime is how long the store remembers a request.
const RequestTime = 24 * time.Hour

// A Request identifies a write by an idempotency key that its actor has chosen. A client that
// repeats the request, even at another server, does not make the write again. A Request holds no
// text.
type Request struct {
	Scope   governance.Scope
	Actor   governance.Actor
	Key     string
	Attempt string        // random text that differs for each attempt at the same request
	Asking  digest.Digest // digest of the content of the request; the store does not compare it, its reader does
	Time    time.Time     // UTC, whole milliseconds
	Outcome []byte        // ids and figures of the result; nil while it is not known
}

// Requests stores the requests for which writes were made. A driver has this role if several
// processes on several machines can have its store open; store/memory has it for tests. It is not
// part of [Store], and a guarded store does not have it.
//
// The context of Apply and Update may have a request of the same scope, see [WithRequest]. The
// first write with it records the request in its transaction, so the store knows the request if and
// only if the write was made. If another attempt has recorded a request of the same actor and key
// less than RequestTime before, Apply and Update fail with ErrRepeated and write nothing.
type Requests interface {
	// Request returns a recorded request, or ErrNotFound.
	Request(ctx context.Context, scope governance.Scope, actor governance.Actor, key string) (*Request, error)

	// AllRequests returns the recorded requests of a scope, ordered by time, actor and key.
	AllRequests(ctx context.Context, scope governance.Scope) ([]Request, error)

	// SettleRequest durably records the outcome of r, and also r itself if no write has recorded
	// it. It does not change the record of another attempt at the request. It deletes the
	// requests of the scope that precede r, see [Request.Precedes].
	SettleRequest(ctx context.Context, r *Request) error

	// DropRequest deletes the request if the attempt of r has recorded it.
	DropRequest(ctx context.Context, r *Request) error
}

type requestKey struct{}

// WithRequest returns a context for a write that is made for r.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom returns the request of [WithRequest] in ctx, or nil if there is none or it is of
// another scope.
func RequestFrom(ctx context.Context, scope governance.Scope) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok && r.Scope == scope {
		return r
	}
	return nil
}

// Precedes reports whether r is at least RequestTime older than other. Then r no longer counts,
// and other may use its key.
func (r *Request) Precedes(other *Request) bool { return other.Time.Sub(r.Time) >= RequestTime }
