package auth

import (
	"net/http"
	"strings"
)

// Local returns a handler that passes requests of programs to next without checking a credential,
// and refuses others as [Door.Guard] does. It is for a proxy, whose clients send the credentials
// of a provider. The header Host must be a name that a [Door] accepts whose [DoorOptions] have
// listen as Listen and others as Hosts. The request must not come from a page in a browser.
func Local(listen string, others []string, next http.Handler) (http.Handler, error) {
	names, err := newNames(listen, others)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/"):
			refuse(w, http.StatusMethodNotAllowed, errMethod)
		case !names.called(r):
			refuse(w, http.StatusMisdirectedRequest, errHost)
		case fromPage(r.Header):
			refuse(w, http.StatusForbidden, errOrigin)
		default:
			next.ServeHTTP(w, r)
		}
	}), nil
}

// fromPage reports whether a page in a browser has made the request.
func fromPage(h http.Header) bool {
	if len(h.Values("Origin")) > 0 {
		return true
	}
	for _, site := range h.Values("Sec-Fetch-Site") {
		if site != "none" {
			return true
		}
	}
	return false
}
