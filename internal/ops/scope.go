package ops

import (
	"net/http"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// ScopeOf returns the scope of a request: that of its header or, without the header, the only
// scope of the grant. It does not check that the grant allows anything there.
func ScopeOf(h http.Header, g *governance.Grant) (governance.Scope, error) {
	switch given := h.Values(api.HeaderScope); len(given) {
	case 0:
	case 1:
		scope, err := governance.ParseScope(given[0])
		if err != nil {
			return "", &api.FieldError{Field: api.HeaderScope, Text: "is no scope such as acme/support"}
		}
		return scope, nil
	default:
		return "", &api.FieldError{Field: api.HeaderScope, Text: "comes twice: send it once"}
	}
	var named []governance.Scope
	for _, p := range g.Scopes {
		if !strings.HasSuffix(string(p), "*") {
			named = append(named, governance.Scope(p))
		}
	}
	if len(named) != 1 {
		return "", &api.FieldError{Field: api.HeaderScope, Text: "is missing: name a scope, as the credential is not for one scope alone"}
	}
	return named[0], nil
}
