package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
)

// What signing in gives, and how long it holds.
const (
	visitLife  = 12 * time.Hour
	mostVisits = 1000
	mostSecret = 256 // bytes of a credential
)

// visits are the people who have signed in: what stands in their cookie leads to their
// credential, which is verified again with every request. A cookie is not the credential, so
// what a browser keeps is worth nothing elsewhere.
type visits struct {
	mu  sync.Mutex
	all map[string]entered
}

type entered struct {
	credential string
	until      time.Time
}

// begin notes a credential and returns what the cookie gets.
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
	if len(s.all) >= mostVisits { // whoever signed in first does so again
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

// credential returns what a cookie leads to.
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

// cookie returns the cookie of the console with a value. Under TLS its name says that no other
// host and no plain connection has set it.
func (c *Console) cookie(value string, age time.Duration) *http.Cookie {
	k := &http.Cookie{Name: "carrel-console", Value: value, Path: Root, HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(age / time.Second)}
	if c.opts.Secure {
		k.Name, k.Path, k.Secure = "__Host-carrel-console", "/", true
	}
	return k
}

type keyOf struct{}

// remember keeps what stands in the cookie of a request in its context: behind the door no
// request has cookies.
func (c *Console) remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k, err := r.Cookie(c.cookie("", 0).Name); err == nil {
			r = r.WithContext(context.WithValue(r.Context(), keyOf{}, k.Value))
		}
		next.ServeHTTP(w, r)
	})
}

// credential is [auth.DoorOptions].Credential: what the cookie of a request leads to.
func (c *Console) credential(r *http.Request) (string, bool) {
	key, _ := r.Context().Value(keyOf{}).(string)
	return c.visits.credential(key, c.opts.Now())
}

// unknown is [auth.DoorOptions].Unknown: it leads whoever is not signed in to where they sign in.
func (c *Console) unknown(w http.ResponseWriter, r *http.Request, reason error) {
	if r.Method != http.MethodGet || r.FormValue("format") == "json" {
		c.writeJSON(w, http.StatusUnauthorized, "application/problem+json", api.NewProblem(reason))
		return
	}
	http.Redirect(w, r, c.link(c.opts.Scope, "sign-in", "to", r.URL.RequestURI()), http.StatusSeeOther)
}

// askSignIn shows where to sign in. A key in the URL signs in at once: it is what a command
// that starts a console prints.
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
			c.opts.Logger.WarnContext(r.Context(), "a credential could not be looked at", "reason", err)
		}
		c.write(w, http.StatusUnauthorized, "sign-in", &frame{
			Title: "Sign in", Path: r.FormValue("to"), Version: c.opts.Version, Problem: api.NewProblem(err),
		})
		return
	}
	http.SetCookie(w, c.cookie(c.visits.begin(credential, c.opts.Now()), visitLife))
	http.Redirect(w, r, c.back(r.FormValue("to")), http.StatusSeeOther)
}

// back returns where to go after signing in: a page of the console, whatever is asked for.
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
