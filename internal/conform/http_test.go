package conform

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/store/memory"
)

// A routes notes which routes were asked for.
type routes struct {
	mu   sync.Mutex
	seen map[string]bool // by method and path
}

func (r *routes) note(req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[req.Method+" "+req.URL.EscapedPath()] = true
}

// asked reports whether an operation was.
func (r *routes) asked(op *api.Operation) bool {
	for seen := range r.seen {
		method, path, _ := strings.Cut(seen, " ")
		if method == op.Method && fits(api.Prefix+op.Path, path) {
			return true
		}
	}
	return false
}

// fits reports whether a path is one of a pattern.
func fits(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// remote returns a client of a server over a store.
func remote(t *testing.T, s store.Store, noted *routes) *client.Client {
	t.Helper()
	clock := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	grant := governance.Whole(Actor)
	engine := engineOver(t, s).As(Actor, guard.New(s, grant, clock))
	handler := rest.New(&rest.Options{
		Engine: func(context.Context) (*carrel.Engine, *governance.Grant, error) { return engine, grant, nil }, Now: clock,
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noted.note(r)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, &client.Options{Token: "test", Retries: client.NoRetries, HTTPClient: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The client does every job as the engine does, and so comes by every route.
func TestClient(t *testing.T) {
	noted := &routes{seen: make(map[string]bool)}
	t.Run("jobs", func(t *testing.T) {
		Run(t, func(t *testing.T) (Jobs, governance.Scope) {
			return &mirror{t: t, engine: engineOver(t, memory.New()), client: remote(t, memory.New(), noted)}, "acme/web"
		})
	})
	for _, op := range api.Operations() {
		if !noted.asked(op) {
			t.Errorf("%s %s, of %s, is never asked for", op.Method, op.Path, op.Name)
		}
	}
}
