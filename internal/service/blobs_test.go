package service

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob/file"
	"github.com/carrel-dev/carrel/store/offload"
)

// inBlobs returns a stage whose texts are all in blobs, the store under it, and the directory.
func inBlobs(t *testing.T) (*stage, offload.Wrapped, string) {
	t.Helper()
	dir, under := t.TempDir(), stores.SQLite(t).(offload.Wrapped)
	bucket, err := file.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return stageOn(t, offload.New(under, &offload.Options{Place: bucket, Least: 1}), nil), under, dir
}

func (s *stage) say(id, text string) {
	s.t.Helper()
	s.must("acme/web", http.MethodPost, "/v1/sessions/"+id+"/messages", map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": text}},
	})
}

// A purge over HTTP leaves no text in any blob. A blob that a node has left is deleted by another one.
func TestBlobsOfPurgedSessionsAreDeleted(t *testing.T) {
	s, under, dir := inBlobs(t)
	s.say("kept", "build the violet pump")
	s.say("gone", "build the amber pump")
	holding := func(text string) (found []string) {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), text) {
				found = append(found, name)
			}
		}
		return found
	}
	if len(holding("amber")) == 0 || len(holding("violet")) == 0 {
		t.Fatal("the texts are in no blob")
	}
	s.must("acme/web", http.MethodPost, "/v1/sessions/gone/purge", map[string]any{})
	if found := holding("amber"); len(found) > 0 {
		t.Errorf("after the purge the text is in %q", found)
	}
	left := store.NewBlobKey(5)
	if err := under.ReserveBlobs(t.Context(), "acme/web", []store.BlobKey{left}); err != nil {
		t.Fatal(err)
	}
	if _, err := under.DropBlobs(t.Context(), "acme/web", []store.BlobKey{left}); err != nil {
		t.Fatal(err)
	}
	kept := holding("violet")
	if len(kept) == 0 {
		t.Fatal("the other session lost its blob")
	}
	name := filepath.Join(filepath.Dir(kept[0]), string(left))
	if err := os.WriteFile(name, []byte("amber"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.service.finish(t.Context())
	if found := holding("amber"); len(found) > 0 {
		t.Errorf("after a server has looked, there is %q", found)
	}
	if code, out := s.ask("acme/web", "", http.MethodGet, "/v1/sessions/kept/messages", nil); code != http.StatusOK || !strings.Contains(string(out), "violet") {
		t.Errorf("the other session: %d %s", code, out)
	}
}

// A server whose blobs cannot be reached is not ready, and says of a text that the store cannot be
// reached, not that it is damaged.
func TestBlobsThatCannotBeReached(t *testing.T) {
	s, _, dir := inBlobs(t)
	s.say("s", "build the violet pump")
	if code, out := s.ask("", "", http.MethodGet, "/readyz", nil); code != http.StatusOK {
		t.Fatalf("/readyz is %d %s", code, out)
	}
	if err := os.Rename(dir, dir+"-unmounted"); err != nil {
		t.Fatal(err)
	}
	if code, out := s.ask("", "", http.MethodGet, "/readyz", nil); code != http.StatusServiceUnavailable || !strings.Contains(string(out), "cannot be reached") {
		t.Errorf("/readyz is %d %s", code, out)
	}
	if code, out := s.ask("", "", http.MethodGet, "/healthz", nil); code != http.StatusOK {
		t.Errorf("/healthz is %d %s", code, out)
	}
	other := stageOn(t, s.service.opts.Store.(store.Database), nil) // without what the first has in memory
	code, out := other.ask("acme/web", "", http.MethodGet, "/v1/sessions/s/export", nil)
	if code != http.StatusServiceUnavailable || !strings.Contains(string(out), "store-unreachable") {
		t.Errorf("reading the session: %d %s", code, out)
	}
}
