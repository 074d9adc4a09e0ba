package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
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
func (r *routes) asked(op *ops.Operation) bool {
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
// credential.
func remote(t *testing.T, s store.Database, noted *routes) *client.Client {
	t.Helper()
	key, err := auth.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	authority := auth.NewAuthority(s, key, nil)
	whole := governance.Whole(Actor)
	credential, _, err := authority.Mint(t.Context(), &auth.MintRequest{Actor: whole.Actor, Scopes: whole.Scopes, Permissions: whole.Permissions})
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
	c, err := client.New(server.URL, &client.Options{Credential: credential, Retries: client.NoRetries, HTTPClient: server.Client()})
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
			return &mirror{t: t, engine: engineOver(t, stores.New(t)), client: remote(t, stores.New(t), noted)}, "acme/web"
		})
	})
	for _, op := range ops.Operations() {
		if !noted.asked(op) {
			t.Errorf("%s %s, of %s, is never asked for", op.Method, op.Path, op.Name)
		}
	}
}

// A client is told what happens, from where it left off, and who it is.
func TestClientIsTold(t *testing.T) {
	c := remote(t, stores.New(t), &routes{seen: make(map[string]bool)})
	who, err := c.Whoami(t.Context())
	if err != nil || who.Actor != Actor || who.Policy == "" {
		t.Fatalf("%+v, %v", who, err)
	}
	const scope = "acme/web"
	say := func(text string) {
		t.Helper()
		message := fmt.Sprintf(`{"role":"user","content":%q}`, text)
		_, err := c.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: []json.RawMessage{json.RawMessage(message)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	say("one")
	say("two")
	after := func(since string) (*client.Event, error) {
		for e, err := range c.Events(t.Context(), scope, "s", since) {
			return e, err
		}
		t.Fatal("there are no events")
		return nil, nil
	}
	first, err := after("0")
	if err != nil || first.Session != "s" || first.Entry.Op != "import" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := after(first.ID)
	if err != nil || second.Entry.Revision <= first.Entry.Revision {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := after("yesterday"); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("events after no event: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range c.Events(ctx, scope, "", "0-0") {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			return
		}
		if e.ID == "" || e.Session != "s" {
			t.Errorf("%+v", e)
		}
		cancel()
	}
	t.Error("it ends without an error")
}
