package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/server/auth"
)

// Bounds of signed-in visits: their duration, their number and the length of a credential.
const (
	visitLife  = 12 * time.Hour
	mostVisits = 1000
	mostSecret = 256 // bytes of a credential
)

// visits has the credentials of the people who have signed in, by the random key in their cookie.
// The credential is verified again with every request. The cookie does not have the credential,
// so it is useless on other surfaces.
type visits struct {
	mu  sync.Mutex
	all map[string]entered
}

type entered struct {
	credential string
	until      time.Time
}

// begin stores a credential and returns the key for the cookie.
func (s *visits) begin(credential string, now time.Time) string {
	key := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]entered)
	}
	for k, e := range s.all {
		if !now.Before(e.until) {
			delete(s.all, k)
		}
	}
	if len(s.all) >= mostVisits { // the oldest visit has to sign in again
		oldest := ""
		for k, e := range s.all {
			if oldest == "" || e.until.Before(s.all[oldest].until) {
				oldest = k
			}
		}
		delete(s.all, oldest)
	}
	s.all[key] = entered{credential, now.Add(visitLife)}
	return key
}

// credential returns the credential for the key of a cookie.
func (s *visits) credential(key string, now time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.all[key]
	return e.credential, ok && now.Before(e.until)
}

func (s *visits) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
}

// cookie returns the cookie of the console with a value. Its name has the port, because a browser
// sends a cookie to all ports of a host: two consoles would end one another's visits. With TLS the
// name has the prefix __Host-, so that only this host can set it, and only over TLS.
func (c *Console) cookie(value string, age time.Duration) *http.Cookie {
	name := "carrel-console"
	if _, port, err := net.SplitHostPort(c.opts.Listen); err == nil {
		name += "-" + port
	}
	k := &http.Cookie{Name: name, Value: value, Path: Root, HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(age / time.Second)}
	if c.opts.Secure {
		k.Name, k.Path, k.Secure = "__Host-"+name, "/", true
	}
	return k
}

type keyOf struct{}

// remember puts the value of the cookie into the context, because the door removes cookies from
// requests.
func (c *Console) remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k, err := r.Cookie(c.cookie("", 0).Name); err == nil {
			r = r.WithContext(context.WithValue(r.Context(), keyOf{}, k.Value))
		}
		next.ServeHTTP(w, r)
	})
}

// credential returns the credential with which somebody signs in, or otherwise that for the cookie
// of a request. It is [auth.DoorOptions].Credential, so the door bounds guesses.
func (c *Console) credential(r *http.Request) (string, bool) {
	if r.URL.Path == Root+"sign-in" {
		text := offered(r)
		return text, text != "" && len(text) <= mostSecret
	}
	key, _ := r.Context().Value(keyOf{}).(string)
	return c.visits.credential(key, c.opts.Now())
}

// offered returns the credential of a sign-in: that of the form, or the key in the URL, as the
// command that starts a console prints it.
func offered(r *http.Request) string {
	if r.Method == http.MethodPost {
		return strings.TrimSpace(r.PostFormValue("credential"))
	}
	return r.FormValue("key")
}

// unknown shows the sign-in page, or redirects to it a person who is not signed in. It is
// [auth.DoorOptions].Unknown.
func (c *Console) unknown(w http.ResponseWriter, r *http.Request, reason error) {
	switch {
	case r.URL.Path == Root+"sign-in":
		status, f := http.StatusOK, &frame{Title: "Sign in", Path: r.FormValue("to"), Version: c.opts.Version}
		if r.Method == http.MethodPost || offered(r) != "" {
			status, f.Problem = http.StatusUnauthorized, api.NewProblem(reason)
			if !errors.Is(reason, auth.ErrUnbound) { // which says what to do
				f.Problem.Detail = "That credential is not valid, or not any more."
			}
		}
		c.write(w, status, "sign-in", f)
	case r.Method != http.MethodGet || r.FormValue("format") == "json":
		c.writeJSON(w, http.StatusUnauthorized, "application/problem+json", api.NewProblem(reason))
	default:
		http.Redirect(w, r, c.link(c.opts.Scope, "sign-in", "to", r.URL.RequestURI()), http.StatusSeeOther)
	}
}

// signIn begins a visit with a credential that the door has found valid.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, c.cookie(c.visits.begin(offered(r), c.opts.Now()), visitLife))
	http.Redirect(w, r, c.back(r.FormValue("to")), http.StatusSeeOther)
}

// back returns the path to which a person goes after signing in: the given one, if it is the
// path of a page of the console, or otherwise that of the first page.
func (c *Console) back(to string) string {
	if strings.HasPrefix(to, Root) && !strings.Contains(to, "//") && !strings.Contains(to, `\`) {
		return to
	}
	return Root
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	if key, ok := r.Context().Value(keyOf{}).(string); ok {
		c.visits.end(key)
	}
	http.SetCookie(w, c.cookie("", -time.Second))
	http.Redirect(w, r, Root+"sign-in", http.StatusSeeOther)
}
