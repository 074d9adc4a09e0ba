// Package auth makes and checks bearer credentials, and guards every surface that speaks HTTP:
//
//	key, err := auth.LoadKey(auth.KeyFile("carrel.db"))
//	...
//	a := auth.NewAuthority(s, key, nil) // s is of sqlite.Open; a.Mint makes a credential
//	door, err := auth.NewDoor(a, &auth.DoorOptions{Listen: addr})
//	...
//	l, err := auth.Listen(addr, false)
//	...
//	err = auth.Server(door.Guard(handler)).Serve(l) // handler is of rest.New, for example
//
// # Credentials
//
// An [Authority] makes credentials, which look like "carrel_tok_5c1f09ab_" and 43 more
// characters, of 256 random bits. [Authority.Mint] returns the text of a credential once. The
// store keeps only its hash under a [Key] that is not in the store: a copy of the store has no
// credentials and is not enough to make one, and neither is the key alone.
// [Authority.Verify] returns the [governance.Grant] of a credential. It reads the record from the
// store each time, so a revoked credential admits no further request, in this or any other
// process; it computes the hash only if the record is not the one that it verified before. A running
// request is checked again every [DefaultRecheck], and is canceled when its credential is no
// longer valid.
//
// If a backup of the store is restored, a credential that was revoked after the backup is valid
// again. Revoke it again, or use another key, which makes all credentials invalid.
//
// # The door
//
// A [Door] passes a request to a handler if its header Host is a name of this server, it does not
// come from a page of another site, and it has a valid credential. The loopback interface is no
// exception, because other programs and any web page can reach it. The context of the request
// then has the grant, see [GrantFrom], but not the credential.
//
// There is no CORS: pages of other origins cannot read answers.
//
// [Listen] accepts only loopback addresses unless allowRemote is set. [Server] returns a server
// with time limits for slow clients.
package auth

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

type grantKey struct{}

// WithGrant returns a context that has the grant of the caller.
func WithGrant(ctx context.Context, g *governance.Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantFrom returns the grant of the caller, if the context has one.
func GrantFrom(ctx context.Context) (*governance.Grant, bool) {
	g, ok := ctx.Value(grantKey{}).(*governance.Grant)
	return g, ok && g != nil
}
