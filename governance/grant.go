package governance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Permission is a kind of thing that a [Grant] allows. It is stored as its
// text.
type Permission string

// The permissions. None contains another: who may erase may not read by that.
const (
	Read    Permission = "read"    // see what is in a scope
	Write   Permission = "write"   // add, change, page, pin, undo
	Review  Permission = "review"  // speak as a person: decide what the gate held, vouch for what is put in
	Erase   Permission = "erase"   // take back and purge
	Observe Permission = "observe" // read what is measured of the whole process; shows nothing of any scope
)

// Permissions returns every permission, in the order of their weight.
func Permissions() []Permission { return []Permission{Read, Write, Review, Erase, Observe} }

// ParsePermission returns the permission with a name.
func ParsePermission(s string) (Permission, error) {
	if p := Permission(s); slices.Contains(Permissions(), p) {
		return p, nil
	}
	return "", fmt.Errorf("no permission is called %q: there are %v", s, Permissions())
}

// A ScopePattern names scopes: one of them, or "acme/*" for all below acme, or
// "*" for all. What stands before the star is no scope by itself: "acme/*" does not
// name "acme".
type ScopePattern string

// ParseScopePattern checks a pattern.
func ParseScopePattern(s string) (ScopePattern, error) {
	if s == "*" {
		return ScopePattern(s), nil
	}
	parent, below := strings.CutSuffix(s, "/*")
	if _, err := ParseScope(parent); err != nil {
		return "", err
	}
	if below && strings.Count(parent, "/") > 1 {
		return "", fmt.Errorf("scope %q: nothing is below tenant/project/agent", s)
	}
	return ScopePattern(s), nil
}

// Matches reports whether a pattern names a scope.
func (p ScopePattern) Matches(s Scope) bool {
	if p == "*" {
		return s != ""
	}
	if parent, below := strings.CutSuffix(string(p), "*"); below {
		return len(s) > len(parent) && strings.HasPrefix(string(s), parent)
	}
	return p != "" && string(p) == string(s)
}

// A Grant says what somebody may do, and where. The zero value allows nothing.
type Grant struct {
	ID          string         `json:"id"` // of the token that carries it; empty for who needs none
	Actor       Actor          `json:"actor"`
	Scopes      []ScopePattern `json:"scopes"`
	Permissions []Permission   `json:"permissions"`
	Expires     time.Time      `json:"expires,omitzero"` // zero means never
}

// ErrDenied means that a grant does not allow something. The error is a
// [*DeniedError].
var ErrDenied = errors.New("not allowed")

// A DeniedError says what was not allowed. It tells nothing of what is in the
// scope, nor whether there is one.
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

// Check returns nil if the grant allows something at a time, or else a
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

// Whole returns the grant of somebody who may do everything everywhere: the
// person whose files the store is in.
func Whole(actor Actor) *Grant {
	return &Grant{Actor: actor, Scopes: []ScopePattern{"*"}, Permissions: Permissions()}
}
