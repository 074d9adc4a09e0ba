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

// A call is one request that is being answered.
type call struct {
	name   string // of the operation
	id     string // of the request
	engine *carrel.Engine
	grant  *governance.Grant
	scope  governance.Scope
}

// actor returns who asks, as far as that is known.
func (c *call) actor() governance.Actor {
	if c.grant == nil {
		return ""
	}
	return c.grant.Actor
}

// credential returns what tells apart who asks.
func (c *call) credential() string {
	if c.grant.ID != "" {
		return c.grant.ID
	}
	return string(c.grant.Actor)
}

type callKey struct{}

// callOf returns the call that a context belongs to.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// newCall begins a call. A client may bring an id for it.
func (s *server) newCall(h http.Header) *call {
	c := &call{name: "none", id: h.Get(api.HeaderRequest)}
	if !isName(c.id) {
		var b [8]byte
		_, _ = io.ReadFull(s.opts.Rand, b[:]) // an id that is not random still is one
		c.id = hex.EncodeToString(b[:])
	}
	return c
}

// isName reports whether a text may stand in logs and headers as it is.
func isName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters) == ""
}

// admit finds out who asks and lets them in, or not.
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

// identify finds out who asks.
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

// admitAnywhere lets in whoever has a grant that holds, and a permission in any
// scope if one is given: for what is of no scope.
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

// holds returns why somebody who was let in may not do something any more, or nil. That
// the store cannot say whether a credential still is one is a reason, too.
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
