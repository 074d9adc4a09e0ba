package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// DefaultRecheck is how often the grant of a request that takes long is checked again.
const DefaultRecheck = time.Second

type checkKey struct{}

// Recheck returns why the grant by which somebody acts does not hold any more, now, or
// nil: the credential was revoked or has expired, which is an [api.ErrUnauthenticated], or it
// allows something else, a [governance.ErrDenied]. Other errors say that this could not
// be found out. Who acts without a credential needs none.
func Recheck(ctx context.Context) error {
	if check, ok := ctx.Value(checkKey{}).(func(context.Context) error); ok {
		return check(ctx)
	}
	return nil
}

// Lost returns why the grant by which somebody acts was lost while they acted, or nil.
// The context is done then.
func Lost(ctx context.Context) error {
	if cause := context.Cause(ctx); isLost(cause) {
		return cause
	}
	return nil
}

func isLost(err error) bool {
	return errors.Is(err, api.ErrUnauthenticated) || errors.Is(err, governance.ErrDenied)
}

// serve passes a request to next with a context that ends when the grant is lost.
func (d *Door) serve(w http.ResponseWriter, r *http.Request, next http.Handler, text string, grant *governance.Grant) {
	check := func(ctx context.Context) error { return d.recheck(ctx, text, grant) }
	ctx, cancel := context.WithCancelCause(context.WithValue(WithGrant(r.Context(), grant), checkKey{}, check))
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		d.watch(ctx, cancel, w, over)
	}()
	defer func() {
		close(over)
		cancel(nil)
		<-watched // or it would cut off what comes next on the connection
	}()
	next.ServeHTTP(w, without(ctx, r))
}

// recheck returns why a credential does not give the grant any more, or nil.
func (d *Door) recheck(ctx context.Context, text string, grant *governance.Grant) error {
	is, err := d.verifier.Verify(ctx, text)
	if err == nil && (is.Actor != grant.Actor || !slices.Equal(is.Scopes, grant.Scopes) || !slices.Equal(is.Permissions, grant.Permissions)) {
		err = fmt.Errorf("%w: the credential allows something else now", governance.ErrDenied)
	}
	return err
}

// watch looks at the credential of a request again and again, and ends the context when the
// grant is lost. What is still being sent an interval later is cut off.
func (d *Door) watch(ctx context.Context, cancel context.CancelCauseFunc, w http.ResponseWriter, over <-chan struct{}) {
	tick, stop := d.ticker(d.interval)
	defer stop()
	for Lost(ctx) == nil {
		select {
		case <-over:
			return
		case <-tick:
		}
		if err := Recheck(ctx); isLost(err) {
			cancel(err)
		}
	}
	select {
	case <-over:
	case <-tick:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // where there is a connection
	}
}
