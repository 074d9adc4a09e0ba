package auth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
)

// A changing verifier returns the grant or the error that the test sets.
type changing struct {
	grant chan *governance.Grant // nil for a credential that is none
}

func (c *changing) Verify(context.Context, string) (*governance.Grant, error) {
	g := <-c.grant
	if g == nil {
		return nil, api.ErrUnauthenticated
	}
	if g.ID == "" {
		return nil, errors.New("the store is busy")
	}
	return g, nil
}

func grantOf(scope governance.ScopePattern) *governance.Grant {
	return &governance.Grant{ID: "t", Actor: "ada", Scopes: []governance.ScopePattern{scope}, Permissions: governance.Permissions()}
}

// guarded returns a server behind a door that looks again whenever tick is sent to.
func guarded(t *testing.T, v auth.Verifier, visit http.HandlerFunc) (srv *httptest.Server, tick chan time.Time) {
	t.Helper()
	tick = make(chan time.Time)
	door, err := auth.NewDoor(v, &auth.DoorOptions{Ticker: func(time.Duration) (<-chan time.Time, func()) { return tick, func() {} }})
	if err != nil {
		t.Fatal(err)
	}
	srv = httptest.NewServer(door.Guard(visit))
	t.Cleanup(srv.Close)
	return srv, tick
}

func ask(t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer x")
	return http.DefaultClient.Do(r)
}

// A request ends when its grant is lost, but not after another error of the verifier.
func TestRequestsEndWithTheirGrant(t *testing.T) {
	for name, tt := range map[string]struct {
		next *governance.Grant
		want error
	}{
		"revoked":              {nil, api.ErrUnauthenticated},
		"another scope":        {grantOf("other"), governance.ErrDenied},
		"fewer rights":         {&governance.Grant{ID: "t", Actor: "ada", Scopes: []governance.ScopePattern{"local"}}, governance.ErrDenied},
		"another's credential": {&governance.Grant{ID: "t", Actor: "bob", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions()}, governance.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			v := &changing{make(chan *governance.Grant)}
			begun, ended := make(chan struct{}), make(chan error, 1)
			srv, tick := guarded(t, v, func(_ http.ResponseWriter, r *http.Request) {
				if err := auth.Lost(r.Context()); err != nil {
					t.Errorf("lost at once: %v", err)
				}
				close(begun)
				<-r.Context().Done()
				ended <- auth.Lost(r.Context())
			})
			go func() {
				v.grant <- grantOf("local")
				tick <- time.Time{}
				v.grant <- grantOf("local")
				tick <- time.Time{}
				v.grant <- &governance.Grant{} // nobody can say
				tick <- time.Time{}
				<-begun
				v.grant <- tt.next
			}()
			res, err := ask(t, srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if err := <-ended; !errors.Is(err, tt.want) {
				t.Errorf("lost by %v, want %v", err, tt.want)
			}
		})
	}
}

// A response that goes on after the grant was lost is cut off.
func TestResponsesAreCutOff(t *testing.T) {
	v := &changing{make(chan *governance.Grant)}
	srv, tick := guarded(t, v, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	go func() { v.grant <- grantOf("local") }()
	res, err := ask(t, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	go func() { // the response has begun
		tick <- time.Time{}
		v.grant <- nil
		tick <- time.Time{}
	}()
	if _, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Error("the response ended as if it were whole")
	}
}

// A request for an open path, which needs no credential, never ends for a lost grant.
func TestNothingToLose(t *testing.T) {
	if err := errors.Join(auth.Recheck(t.Context()), auth.Lost(t.Context())); err != nil {
		t.Error(err)
	}
}
