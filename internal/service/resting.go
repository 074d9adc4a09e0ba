package service

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A resting store calls [auth.Rest] around Apply and Update: while a large job waits until its
// write is durable, another large job of the same actor may begin. It does not do so around Record
// and the methods of [store.Jobs].
type resting struct{ store.Store }

// Apply implements [store.Sessions].
func (r resting) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	defer auth.Rest(ctx)()
	return r.Store.Apply(ctx, scope, id, at, c)
}

// Update implements [store.Artifacts].
func (r resting) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	defer auth.Rest(ctx)()
	return r.Store.Update(ctx, scope, u)
}
