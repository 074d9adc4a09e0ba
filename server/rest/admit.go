package rest

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/server/auth"
)

// A call is the state of one HTTP request while it is answered.
type call struct {
	name   string // name of the operation
	id     string // id of the request, also written to the log
	engine *carrel.Engine
	grant  *governance.Grant
	scope  governance.Scope
}

// actor returns the actor of the caller, or "" before the credential was checked.
func (c *call) actor() governance.Actor {
	if c.grant == nil {
		return ""
	}
	return c.grant.Actor
}

// credential returns the id of the caller's credential, or the actor if it has no id.
func (c *call) credential() string {
	if c.grant.ID != "" {
		return c.grant.ID
	}
	return string(c.grant.Actor)
}

type callKey struct{}

// callOf returns the call of a request's context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// newCall begins a call. The id of the call is the one in the client's header h if that is valid,
// and random otherwise.
func (s *server) newCall(h http.Header) *call {
	c := &call{name: "none", id: h.Get(api.HeaderRequest)}
	if !isName(c.id) {
		var b [8]byte
		_, _ = io.ReadFull(s.opts.Rand, b[:]) // without randomness the id is zero
		c.id = hex.EncodeToString(b[:])
	}
	return c
}

// isName reports whether a text is safe for logs and headers: 1 to 64 letters, digits, and ".", "_" or "-".
func isName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters) == ""
}

// admit sets the engine, the grant and the scope of the call. It fails if the caller is unknown
// or the grant does not allow the operation in the scope.
func (s *server) admit(r *http.Request, c *call, op *ops.Operation) error {
	if err := s.identify(r, c); err != nil {
		return err
	}
	scope, err := ops.ScopeOf(r.Header, c.grant)
	if err != nil {
		return err
	}
	c.scope = scope
	for _, p := range op.Needs() {
		if err := c.grant.Check(scope, p, s.opts.Now()); err != nil {
			return err
		}
	}
	return nil
}

// identify sets the engine and the grant of the caller.
func (s *server) identify(r *http.Request, c *call) error {
	engine, grant, err := s.opts.Engine(r.Context())
	switch {
	case err != nil:
		return err
	case engine == nil || grant == nil:
		return api.ErrUnauthenticated
	}
	c.engine, c.grant = engine, grant
	return nil
}

// admitAnywhere admits a caller to a route that belongs to no scope. It fails if the grant has
// expired, or if p is not empty and the grant lacks the permission p.
func (s *server) admitAnywhere(r *http.Request, c *call, p governance.Permission) error {
	if err := s.identify(r, c); err != nil {
		return err
	}
	expired := expired(c.grant, s.opts.Now())
	if expired || p != "" && !slices.Contains(c.grant.Permissions, p) {
		return &governance.DeniedError{Actor: c.grant.Actor, Permission: p, Expired: expired}
	}
	return nil
}

// holds returns an error if an admitted caller no longer has the permissions in needs, because the
// grant has expired, or because the credential was revoked or cannot be checked in the store.
func (s *server) holds(ctx context.Context, c *call, needs ...governance.Permission) error {
	if err := auth.Lost(ctx); err != nil {
		return err
	}
	for _, p := range needs {
		if err := c.grant.Check(c.scope, p, s.opts.Now()); err != nil {
			return err
		}
	}
	return s.opts.Holds(ctx)
}

func expired(g *governance.Grant, now time.Time) bool {
	return !g.Expires.IsZero() && !now.Before(g.Expires)
}
