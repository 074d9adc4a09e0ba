package service

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// A server whose store was moved away is not ready, tells a writer why, and is ready
// when it was put back.
func TestReadyUntilTheStoreIsMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "carrel.db")
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e, err := carrel.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	st := newStage(t)
	st.authority = auth.NewAuthority(s, key, nil)
	st.service, err = New(&Options{Engine: e, Store: s, Authority: st.authority, Listen: "127.0.0.1:7717"})
	if err != nil {
		t.Fatal(err)
	}
	st.credential("acme") // which is written while that is possible
	check := func(want int, says string) {
		t.Helper()
		if status, body := st.ask("", "", http.MethodGet, "/readyz", nil); status != want || !strings.Contains(string(body), says) {
			t.Errorf("/readyz: %d %s, want %d and %q", status, body, want, says)
		}
	}
	check(http.StatusOK, "ready")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	check(http.StatusServiceUnavailable, "moved, removed or replaced")
	status, body := st.ask("acme", "acme", http.MethodPost, "/v1/artifacts", map[string]any{"artifacts": []any{map[string]any{"class": "document", "content": "eA=="}}})
	if status != http.StatusServiceUnavailable || !strings.Contains(string(body), "carrel:problem/store-moved") {
		t.Errorf("a write: %d %s, want 503 and store-moved", status, body)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	check(http.StatusOK, "ready")
}

// A service that is about to end says so where a balancer asks, and answers everything else.
func TestNotReadyWhileItDrains(t *testing.T) {
	s := newStage(t)
	s.credential("acme")
	s.service.Drain()
	if status, body := s.ask("", "", http.MethodGet, "/readyz", nil); status != http.StatusServiceUnavailable || !strings.Contains(string(body), "shutting down") {
		t.Errorf("/readyz: %d %s, want 503", status, body)
	}
	if status, body := s.ask("", "", http.MethodGet, "/healthz", nil); status != http.StatusOK {
		t.Errorf("/healthz: %d %s", status, body)
	}
	status, body := s.ask("acme", "acme", http.MethodPost, "/v1/artifacts", map[string]any{"artifacts": []any{map[string]any{"class": "document", "content": "eA=="}}})
	if status != http.StatusOK {
		t.Errorf("a write: %d %s", status, body)
	}
}
