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

// DefaultRecheck is the default of [DoorOptions.Recheck].
const DefaultRecheck = time.Second

type checkKey struct{}

// Recheck checks the caller's credential again. It returns [api.ErrUnauthenticated] if the
// credential was revoked or has expired, [governance.ErrDenied] if its permissions changed,
// another error if the store does not answer, and nil if it is valid or the caller needed no
// credential.
func Recheck(ctx context.Context) error {
	if check, ok := ctx.Value(checkKey{}).(func(context.Context) error); ok {
		return check(ctx)
	}
	return nil
}

// Lost returns the reason if ctx was canceled because the caller's grant was lost, or nil.
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
		<-watched // otherwise its deadline could cut the next answer on the connection
	}()
	next.ServeHTTP(w, without(ctx, r))
}

// recheck returns an error if the credential text is no longer valid, or no longer gives the
// same grant.
func (d *Door) recheck(ctx context.Context, text string, grant *governance.Grant) error {
	is, err := d.verifier.Verify(ctx, text)
	if err == nil && (is.Actor != grant.Actor || !slices.Equal(is.Scopes, grant.Scopes) || !slices.Equal(is.Permissions, grant.Permissions)) {
		err = fmt.Errorf("%w: the permissions of the credential have changed", governance.ErrDenied)
	}
	return err
}

// watch checks the credential of a request at every tick, and ends the context when the grant is
// lost. If the answer is still being sent an interval later, watch cuts it off.
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
