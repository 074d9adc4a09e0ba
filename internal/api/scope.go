package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
)

// A FieldError is a header, a parameter or a field that makes no sense. It is a
// [carrel.ErrRequest].
type FieldError struct {
	Field string
	Text  string // what is wrong with it
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%v: %s: %s", carrel.ErrRequest, e.Field, e.Text)
}

// Is makes errors.Is(e, carrel.ErrRequest) true.
func (e *FieldError) Is(target error) bool { return target == carrel.ErrRequest }

// ScopeOf returns whose context a request is about: that of its header, or, if it has
// none, the one scope that the grant names. It does not say that the grant allows
// anything there.
func ScopeOf(h http.Header, g *governance.Grant) (governance.Scope, error) {
	switch given := h.Values(HeaderScope); len(given) {
	case 0:
	case 1:
		scope, err := governance.ParseScope(given[0])
		if err != nil {
			return "", &FieldError{HeaderScope, "is no scope"}
		}
		return scope, nil
	default:
		return "", &FieldError{HeaderScope, "comes twice"}
	}
	var named []governance.Scope
	for _, p := range g.Scopes {
		if !strings.HasSuffix(string(p), "*") {
			named = append(named, governance.Scope(p))
		}
	}
	if len(named) != 1 {
		return "", &FieldError{HeaderScope, "is missing, and the token is not for one scope alone"}
	}
	return named[0], nil
}
