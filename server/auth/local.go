package auth

import (
	"net/http"
	"strings"
)

// Local returns a handler that passes on what programs of this machine ask, and answers
// everything else itself as [Door.Guard] does. It is for a server whose clients bring
// credentials of somebody else, and which therefore wants no credential: the header Host has to
// be a name of the server, one of the loopback interface or of others, and no page of any
// site may ask, its own included. Listen and others are those of [DoorOptions].
func Local(listen string, others []string, next http.Handler) (http.Handler, error) {
	names, err := newNames(listen, others)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/"):
			refuse(w, http.StatusMethodNotAllowed, errMethod)
		case !names.has(r.Host):
			refuse(w, http.StatusMisdirectedRequest, errHost)
		case fromPage(r.Header):
			refuse(w, http.StatusForbidden, errOrigin)
		default:
			next.ServeHTTP(w, r)
		}
	}), nil
}

// fromPage reports whether a browser has made a request for a page.
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
