package governance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Permission is one kind of action that a [Grant] allows. It is stored as its text.
type Permission string

// The permissions. None implies another: jobs that need Review or Erase need Write, too.
const (
	Read    Permission = "read"    // see the content of a scope
	Write   Permission = "write"   // add, change, page, pin, undo
	Review  Permission = "review"  // act as a person: decide about held memories, verify a memory
	Erase   Permission = "erase"   // remove, refute, restore and purge
	Observe Permission = "observe" // read the metrics of the process, but no content of a scope
)

// Permissions returns every permission, in the order above.
func Permissions() []Permission { return []Permission{Read, Write, Review, Erase, Observe} }

// ParsePermission returns the permission with a name, or an error that lists the names.
func ParsePermission(s string) (Permission, error) {
	if p := Permission(s); slices.Contains(Permissions(), p) {
		return p, nil
	}
	return "", fmt.Errorf("no permission is called %q: want one of %v", s, Permissions())
}

// A ScopePattern matches scopes: a scope matches itself, "acme/*" matches
// every scope below acme but not "acme", and "*" matches every scope.
type ScopePattern string

// ParseScopePattern returns s as a pattern. It fails if s is neither "*" nor a scope as
// [ParseScope] accepts it, with or without "/*" at its end.
func ParseScopePattern(s string) (ScopePattern, error) {
	if s == "*" {
		return ScopePattern(s), nil
	}
	parent, below := strings.CutSuffix(s, "/*")
	if _, err := ParseScope(parent); err != nil {
		return "", err
	}
	if below && strings.Count(parent, "/") > 1 {
		return "", fmt.Errorf("scope %q: a scope has at most three parts, tenant/project/agent, so none is below it", s)
	}
	return ScopePattern(s), nil
}

// Matches reports whether a pattern matches a scope.
func (p ScopePattern) Matches(s Scope) bool {
	if p == "*" {
		return s != ""
	}
	if parent, below := strings.CutSuffix(string(p), "*"); below {
		return len(s) > len(parent) && strings.HasPrefix(string(s), parent)
	}
	return p != "" && string(p) == string(s)
}

// A Grant has the permissions of an actor in scopes. The zero value permits
// nothing.
type Grant struct {
	ID          string         `json:"id"` // id of the credential; empty if none is needed
	Actor       Actor          `json:"actor"`
	Scopes      []ScopePattern `json:"scopes"`
	Permissions []Permission   `json:"permissions"`
	Expires     time.Time      `json:"expires,omitzero"` // zero means never
}

// ErrDenied means that a grant lacks a permission. The error is a [*DeniedError].
var ErrDenied = errors.New("not allowed")

// A DeniedError names the missing permission. It reveals neither the content
// nor the existence of a scope.
type DeniedError struct {
	Actor      Actor
	Scope      Scope
	Permission Permission
	Expired    bool
}

func (e *DeniedError) Error() string {
	if e.Expired {
		return fmt.Sprintf("%v: the grant of %s has expired", ErrDenied, e.Actor)
	}
	return fmt.Sprintf("%v: %s may not %s in scope %s", ErrDenied, e.Actor, e.Permission, e.Scope)
}

// Is makes errors.Is(e, ErrDenied) true.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// Check returns nil if the grant has permission p in a scope at time now, and otherwise a
// [*DeniedError].
func (g *Grant) Check(scope Scope, p Permission, now time.Time) error {
	denied := &DeniedError{Actor: g.Actor, Scope: scope, Permission: p}
	switch {
	case !g.Expires.IsZero() && !now.Before(g.Expires):
		denied.Expired = true
	case !slices.Contains(g.Permissions, p):
	case !slices.ContainsFunc(g.Scopes, func(sp ScopePattern) bool { return sp.Matches(scope) }):
	default:
		return nil
	}
	return denied
}

// Whole returns a grant of all permissions in all scopes, for the owner of the store's files.
func Whole(actor Actor) *Grant {
	return &Grant{Actor: actor, Scopes: []ScopePattern{"*"}, Permissions: Permissions()}
}
