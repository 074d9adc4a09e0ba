package service

import (
	"net/http"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// A server finishes the purge that another one has left, in whatever scope it is, but not one that
// another process is at.
func TestLeftJobsAreFinished(t *testing.T) {
	s := newStage(t)
	for _, id := range []string{"left", "busy", "kept"} {
		s.must("acme/web", http.MethodPost, "/v1/sessions/"+id+"/messages", map[string]any{
			"messages": []any{map[string]any{"role": "user", "content": "build the pump"}},
		})
	}
	for id, rest := range map[string]time.Duration{"left": 0, "busy": time.Hour} {
		j := &store.Job{Scope: "acme/web", Name: "purge session " + id, Mark: "another", Actor: "tester", Data: []byte("{}")}
		if _, err := s.service.opts.Store.BeginJob(t.Context(), j, rest); err != nil {
			t.Fatal(err)
		}
	}
	s.service.finish(t.Context())
	for id, want := range map[string]int{"left": http.StatusGone, "busy": http.StatusOK, "kept": http.StatusOK} {
		if code, out := s.ask("acme/web", "", http.MethodGet, "/v1/sessions/"+id, nil); code != want {
			t.Errorf("session %s: %d %s, want %d", id, code, out, want)
		}
	}
}
