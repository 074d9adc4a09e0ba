// Package auth decides who comes in: it makes bearer credentials and checks them, and it
// is the door in front of every surface that speaks HTTP.
//
// # Credentials
//
// An [Authority] makes credentials, which look like "carrel_tok_5c1f09ab_" and 43 more
// characters, of 256 random bits. A credential is shown once, by [Authority.Mint]. The store
// keeps its hash under a [Key] that is not in the store: whoever has a copy of the
// store has no credential and can make none, and whoever has the key alone can neither.
// [Authority.Verify] turns a credential into the [governance.Grant] of somebody. It asks the
// store each time, so that a credential which was revoked lets nobody in from then on, in
// this process or any other. A request that was let in before may finish if it takes no
// longer than [DefaultRecheck]: from then on its credential is looked at again and again, and
// with the grant the request ends, too.
//
// A backup of the store brings back what it has: a credential that was revoked after the
// backup was made is valid again once that is restored. Revoke it again, or take
// another key, which makes all credentials worthless.
//
// # The door
//
// A [Door] lets a request through to a handler if the client calls this server by a
// name that it has, no page of another site is behind it, and it brings a credential, also
// on the loopback interface: other programs and any web page can reach that. The grant
// is in the context from then on, see [GrantFrom]. Nothing of the credential is.
//
// There is no CORS: no page of another origin may read anything.
//
// [Listen] takes addresses of this machine, unless it is told otherwise, and what [Server]
// returns has a time limit for everything that a client can be slow at.
package auth

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

type grantKey struct{}

// WithGrant returns a context in which somebody acts by a grant.
func WithGrant(ctx context.Context, g *governance.Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantFrom returns the grant by which somebody acts, if there is one.
func GrantFrom(ctx context.Context) (*governance.Grant, bool) {
	g, ok := ctx.Value(grantKey{}).(*governance.Grant)
	return g, ok && g != nil
}
