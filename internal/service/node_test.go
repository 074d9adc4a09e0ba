package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/store"
)

// The console's page about its server has what the server serves, does and permits.
func TestStateOfAServer(t *testing.T) {
	s := newStage(t).service
	s.opts.Limits = rest.Limits{Body: 1 << 20, Bodies: 2 << 20}
	turns := &auth.Turns{}
	_, release, err := turns.Take(t.Context(), "tester")
	if err != nil {
		t.Fatal(err)
	}
	want := &console.ServerState{Surfaces: []string{"http", "console", "mcp"}, Running: 1, Limits: []console.Limit{
		{Name: "body of a request", Value: "1 MiB"},
		{Name: "bodies in memory at once", Value: "2 MiB"},
		{Name: "jobs at once", Value: "64"},
		{Name: "wait of a request for its turn", Value: "10s"},
		{Name: "time of a job", Value: "10m0s"},
		{Name: "event streams of a credential", Value: "4"},
	}}
	if diff := cmp.Diff(want, s.node(t.Context(), turns)); diff != "" {
		t.Errorf("a server with a job (-want +got):\n%s", diff)
	}
	release()
	s.opts.MCP = false
	s.ending.Store(true)
	want.Surfaces, want.Running, want.Problem = want.Surfaces[:2], 0, api.NewProblem(rest.ErrEnding).Detail
	if diff := cmp.Diff(want, s.node(t.Context(), turns)); diff != "" || want.Problem == "" {
		t.Errorf("a server that ends (-want +got):\n%s", diff)
	}
}

// A console of its own answers at its address and leads to its first page, until it ends.
func TestServeConsole(t *testing.T) {
	s := newStage(t)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := console.Options{Verifier: s.authority, Engine: func(context.Context) (*carrel.Engine, *governance.Grant, error) {
		return s.service.opts.Engine, nil, nil
	}}
	if err := ServeConsole(t.Context(), l, &console.Options{Hosts: []string{"a/b"}}); err == nil {
		t.Error("a console without its parts is served")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ServeConsole(ctx, l, &o) }()
	for path, want := range map[string]string{"/": "/console/sign-in", "/console/": "/console/sign-in", "/elsewhere": ""} {
		r, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if got := r.Request.URL.Path; err != nil || want != "" && (got != want || !strings.Contains(string(page), "<html")) || want == "" && r.StatusCode != http.StatusNotFound {
			t.Errorf("%s leads to %s: %d %s", path, got, r.StatusCode, page)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the console ends with %v", err)
	}
}

// A broken store fails at its jobs, or at its blobs.
type broken struct {
	store.Database
	jobs, blobs error
}

func (b *broken) OpenJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	if b.jobs != nil {
		return nil, b.jobs
	}
	return b.Database.OpenJobs(ctx, scope)
}

func (b *broken) DropLoose(context.Context, governance.Scope) (int, error) { return 0, b.blobs }

// What keeps a server from finishing what others left is logged, unless another server is at it or
// the server ends.
func TestFinishingThatFails(t *testing.T) {
	unplugged := errors.New("unplugged")
	for name, tt := range map[string]struct {
		jobs, blobs error
		ended       bool
		want        bool
	}{
		"nothing":           {},
		"jobs":              {jobs: unplugged, want: true},
		"blobs":             {blobs: unplugged, want: true},
		"another is at it":  {blobs: fmt.Errorf("blobs: %w", store.ErrTaken)},
		"the server ends":   {jobs: unplugged, ended: true},
		"jobs, then others": {jobs: unplugged, blobs: store.ErrTaken, want: true},
	} {
		b := &broken{Database: stores.New(t)}
		s := stageOn(t, b, nil)
		s.must("acme/web", http.MethodPost, "/v1/sessions", []byte(`{"messages":[{"role":"user","content":"Hello."}]}`))
		b.jobs, b.blobs = tt.jobs, tt.blobs
		var log bytes.Buffer
		s.service.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		if tt.ended {
			cancel()
		}
		s.service.finish(ctx)
		cancel()
		if got := strings.Contains(log.String(), "are not finished") && strings.Contains(log.String(), "unplugged"); got != tt.want || !tt.want && log.Len() > 0 {
			t.Errorf("%s: the log is %q", name, log.String())
		}
	}
}
