package ops

import (
	"errors"
	"net/http"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

func TestScopeOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given []string
		grant []governance.ScopePattern
		want  governance.Scope
		says  string
	}{
		{"named", []string{"acme/web"}, nil, "acme/web", ""},
		{"named, of a credential for one", []string{"acme/web"}, []governance.ScopePattern{"acme/api"}, "acme/web", ""},
		{"not named, of a credential for one", nil, []governance.ScopePattern{"acme/api"}, "acme/api", ""},
		{"not named, of a credential for one and for all below another", nil, []governance.ScopePattern{"rival/*", "acme/api"}, "acme/api", ""},
		{"not named, of a credential for two", nil, []governance.ScopePattern{"acme/web", "acme/api"}, "", "is missing: name a scope, as the credential is not for one scope alone"},
		{"not named, of a credential for all", nil, []governance.ScopePattern{"*"}, "", "is missing: name a scope, as the credential is not for one scope alone"},
		{"not named, of a credential for all below one", nil, []governance.ScopePattern{"acme/*"}, "", "is missing: name a scope, as the credential is not for one scope alone"},
		{"not named, of a credential for nothing", nil, nil, "", "is missing: name a scope, as the credential is not for one scope alone"},
		{"named twice", []string{"acme/web", "acme/web"}, []governance.ScopePattern{"acme/web"}, "", "comes twice: send it once"},
		{"named badly", []string{"acme/*"}, []governance.ScopePattern{"acme/web"}, "", "is no scope such as acme/support"},
		{"named with nothing", []string{""}, []governance.ScopePattern{"acme/web"}, "", "is no scope such as acme/support"},
	} {
		h := http.Header{}
		for _, s := range tt.given {
			h.Add(api.HeaderScope, s)
		}
		got, err := ScopeOf(h, &governance.Grant{Scopes: tt.grant})
		if got != tt.want || (err != nil) != (tt.says != "") {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*api.FieldError](err); !ok || e.Field != api.HeaderScope || e.Text != tt.says {
			t.Errorf("%s: %v, want that %s %s", tt.name, err, api.HeaderScope, tt.says)
		}
		if !errors.Is(err, api.ErrRequest) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v is another error than that of a bad request", tt.name, err)
		}
	}
}
