// Package governance says whose context something is, who is asking, and what
// they may do.
//
// A [Scope] is an argument, first and typed, of everything that reads or
// writes: no cache, key or index exists without one. A [Grant] says in which
// scopes an [Actor] may do what.
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

// ParseScope checks a scope: one to three parts of letters, digits, ".", "_",
// "@" and "-", parted by "/", 200 bytes at most.
func ParseScope(s string) (Scope, error) {
	parts := strings.Split(s, "/")
	if len(parts) > 3 || len(s) > 200 {
		return "", fmt.Errorf("scope %q: want tenant/project/agent, 200 bytes at most", s)
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "" {
			return "", fmt.Errorf("scope %q: part %q is not made of letters, digits and . _ @ -", s, p)
		}
	}
	return Scope(s), nil
}

// An Actor is the author of an action: "user", "agent", "hook", or a name.
type Actor string

// ActorUser is the person at the command line.
const ActorUser Actor = "user"
