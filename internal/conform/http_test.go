package conform

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/server/auth"
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

// remote returns a client of a whole service over a store, which it comes into with a
// token.
func remote(t *testing.T, s *memory.Store, noted *routes) *client.Client {
	t.Helper()
	key, err := auth.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	authority := auth.NewAuthority(s, key, nil)
	whole := governance.Whole(Actor)
	token, _, err := authority.Mint(t.Context(), &auth.MintRequest{Actor: whole.Actor, Scopes: whole.Scopes, Permissions: whole.Permissions})
	if err != nil {
		t.Fatal(err)
	}
	all, err := service.New(&service.Options{Engine: engineOver(t, s), Store: s, Authority: authority})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noted.note(r)
		all.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, &client.Options{Token: token, Retries: client.NoRetries, HTTPClient: server.Client()})
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
