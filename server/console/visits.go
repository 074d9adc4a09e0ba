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

// credential returns the credential for the cookie of a request. It is [auth.DoorOptions].Credential.
func (c *Console) credential(r *http.Request) (string, bool) {
	key, _ := r.Context().Value(keyOf{}).(string)
	return c.visits.credential(key, c.opts.Now())
}

// unknown redirects a person who is not signed in to the sign-in page. It is
// [auth.DoorOptions].Unknown.
func (c *Console) unknown(w http.ResponseWriter, r *http.Request, reason error) {
	if r.Method != http.MethodGet || r.FormValue("format") == "json" {
		c.writeJSON(w, http.StatusUnauthorized, "application/problem+json", api.NewProblem(reason))
		return
	}
	http.Redirect(w, r, c.link(c.opts.Scope, "sign-in", "to", r.URL.RequestURI()), http.StatusSeeOther)
}

// askSignIn shows the sign-in page. A key in the URL, as the command that starts a console prints
// it, signs in at once.
func (c *Console) askSignIn(w http.ResponseWriter, r *http.Request) {
	if key := r.FormValue("key"); key != "" {
		c.enterWith(w, r, key)
		return
	}
	c.write(w, http.StatusOK, "sign-in", &frame{Title: "Sign in", Path: r.FormValue("to"), Version: c.opts.Version})
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	c.enterWith(w, r, strings.TrimSpace(r.PostFormValue("credential")))
}

// enterWith signs in with a credential.
func (c *Console) enterWith(w http.ResponseWriter, r *http.Request, credential string) {
	err := api.ErrUnauthenticated
	if len(credential) <= mostSecret {
		_, err = c.opts.Verifier.Verify(r.Context(), credential)
	}
	if err != nil {
		if !errors.Is(err, api.ErrUnauthenticated) {
			c.opts.Logger.WarnContext(r.Context(), "a credential could not be checked", "reason", err)
		}
		c.write(w, http.StatusUnauthorized, "sign-in", &frame{
			Title: "Sign in", Path: r.FormValue("to"), Version: c.opts.Version, Problem: api.NewProblem(err),
		})
		return
	}
	http.SetCookie(w, c.cookie(c.visits.begin(credential, c.opts.Now()), visitLife))
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
