// Package governance names owners of contexts, authors of actions, and their permissions.
//
// A [Scope] is the owner of a context. Every function that reads or writes content has a Scope
// as its first argument after the context.Context, and every cache, key and index has one. A
// [Grant] gives an [Actor] permissions in scopes; [Grant.Check] returns [ErrDenied] for all
// others.
//
//	g := governance.Grant{Actor: "ci", Scopes: []governance.ScopePattern{"acme/*"}, Permissions: []governance.Permission{governance.Read}}
//	err := g.Check("acme/web", governance.Write, time.Now()) // ErrDenied
//
// The package does no I/O and reads no clock. Values that nobody changes may be used
// concurrently.
package governance

import (
	"fmt"
	"strings"
)

// A Scope names the owner of a context: "tenant/project/agent", or fewer
// parts. Scopes are compared as a whole; none contains another.
type Scope string

// DefaultScope is the scope of a single user.
const DefaultScope Scope = "local"

// ParseScope returns s as a scope. It fails if s is not one to three parts, separated by "/", of
// ASCII letters and digits, ".", "_", "@" and "-", with 200 bytes at most. Upper and lower case
// differ.
func ParseScope(s string) (Scope, error) {
	parts := strings.Split(s, "/")
	if len(parts) > 3 || len(s) > 200 {
		return "", fmt.Errorf("scope %q: want tenant/project/agent, 200 bytes at most", s)
	}
	for _, p := range parts {
		if p == "" {
			return "", fmt.Errorf("scope %q: a part is empty: put a name before and after each slash", s)
		}
		if strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "" {
			return "", fmt.Errorf("scope %q: part %q has something else than letters, digits and . _ @ -", s, p)
		}
	}
	return Scope(s), nil
}

// An Actor is the author of an action: "user", "agent", "hook", or a name.
type Actor string

// ActorUser is the person at the command line.
const ActorUser Actor = "user"
