package governance

import (
	"errors"
	"slices"
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
		{"acme/*", []Scope{"acme/web", "acme/web/a"}, []Scope{"acme", "acme2/web", "acmeweb", ""}},
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
