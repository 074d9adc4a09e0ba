package governance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScopePatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		names   []Scope
		leaves  []Scope
	}{
		{"acme/web", []Scope{"acme/web"}, []Scope{"acme", "acme/we", "acme/web2", "acme/web/a", "Acme/web", ""}},
		{"acme/*", []Scope{"acme/web", "acme/web/a"}, []Scope{"acme", "acme/", "acme2/web", "acmeweb", ""}},
		{"acme/web/a", []Scope{"acme/web/a"}, []Scope{"acme/web", "acme/web/ab"}},
		{"acme/web/*", []Scope{"acme/web/a"}, []Scope{"acme/web", "acme/web2/a", "acme/x/a"}},
		{"*", []Scope{"local", "acme/web/a"}, []Scope{""}},
	} {
		p, err := ParseScopePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
		}
		for _, s := range tt.names {
			if !p.Matches(s) {
				t.Errorf("%s does not name %s", p, s)
			}
		}
		for _, s := range tt.leaves {
			if p.Matches(s) {
				t.Errorf("%s names %q", p, s)
			}
		}
	}
	for _, bad := range []string{"", "/", "/*", "a//*", "*/a", "a/*/b", "a*", "a/b*", "**", "a/b/c/*", "a/b/c/d", "a b"} {
		if p, err := ParseScopePattern(bad); err == nil {
			t.Errorf("%q is taken for a pattern: %s", bad, p)
		}
	}
	if ScopePattern("").Matches("") {
		t.Error("no pattern names no scope")
	}
}

// A grant allows exactly what it names, and never anything that a smaller one
// would not.
func TestGrantAllowsWhatItNames(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	scopes := []Scope{"acme", "acme/web", "acme/web/a", "other/web", "local"}
	patterns := []ScopePattern{"acme", "acme/web", "acme/*", "acme/web/*", "*", "local"}
	rapid.Check(t, func(t *rapid.T) {
		g := &Grant{
			Actor:       "a",
			Scopes:      rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 3).Draw(t, "scopes"),
			Permissions: rapid.SliceOfN(rapid.SampledFrom(Permissions()), 0, 3).Draw(t, "permissions"),
		}
		if rapid.Bool().Draw(t, "expires") {
			g.Expires = now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "in")))
		}
		s, p := rapid.SampledFrom(scopes).Draw(t, "scope"), rapid.SampledFrom(Permissions()).Draw(t, "permission")
		want := slices.Contains(g.Permissions, p) && (g.Expires.IsZero() || now.Before(g.Expires))
		named := false
		for _, sp := range g.Scopes {
			named = named || sp.Matches(s)
		}
		err := g.Check(s, p, now)
		if (err == nil) != (want && named) {
			t.Fatalf("%+v in %s for %s: %v", g, s, p, err)
		}
		if err != nil && !errors.Is(err, ErrDenied) {
			t.Fatalf("%v is no ErrDenied", err)
		}
	})
	if err := (&Grant{}).Check("local", Read, now); err == nil {
		t.Error("the zero grant allows something")
	}
	for _, p := range Permissions() {
		if err := Whole(ActorUser).Check("acme/web", p, now); err != nil {
			t.Error(err)
		}
	}
}

// A scope is as long as is said, and no longer.
func TestScopeLength(t *testing.T) {
	longest := "acme/" + strings.Repeat("x", 195)
	if s, err := ParseScope(longest); err != nil || string(s) != longest {
		t.Errorf("200 bytes are %q, %v", s, err)
	}
	if s, err := ParseScope(longest + "x"); err == nil || s != "" {
		t.Errorf("201 bytes are the scope %q", s)
	}
}

func TestParsePermission(t *testing.T) {
	for _, p := range Permissions() {
		if got, err := ParsePermission(string(p)); err != nil || got != p {
			t.Errorf("%s is read as %q, %v", p, got, err)
		}
	}
	for _, bad := range []string{"", "Read", "everything"} {
		if got, err := ParsePermission(bad); err == nil || got != "" {
			t.Errorf("%q is taken for the permission %q", bad, got)
		}
	}
}

// A refusal tells whether to ask for another permission or for a new token.
func TestDeniedSaysWhy(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := Whole("dana")
	g.Permissions = []Permission{Read}
	for _, tt := range []struct {
		name    string
		expires time.Time
		want    DeniedError
		text    string
	}{
		{"a permission that is lacking", time.Time{}, DeniedError{Actor: "dana", Scope: "acme", Permission: Write}, "not allowed: dana may not write in scope acme"},
		{"a grant that has expired", now, DeniedError{Actor: "dana", Scope: "acme", Permission: Write, Expired: true}, "not allowed: the grant of dana has expired"},
	} {
		g.Expires = tt.expires
		err := g.Check("acme", Write, now)
		denied, ok := errors.AsType[*DeniedError](err)
		if !ok || *denied != tt.want || err.Error() != tt.text {
			t.Errorf("%s: %+v, %v", tt.name, denied, err)
		}
	}
}
