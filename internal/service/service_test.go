package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

// A stage is a service over a store in memory, which tests ask without a network.
type stage struct {
	t           testing.TB
	service     *Service
	authority   *auth.Authority
	credentials map[governance.Scope]string
	session     string // in which who asks says that it is, or ""
}

func newStage(t testing.TB) *stage {
	t.Helper()
	return stageOf(t, nil)
}

// stageOf returns a stage whose engine has these options.
func stageOf(t testing.TB, o *carrel.Options) *stage {
	t.Helper()
	return stageOn(t, stores.New(t), o)
}

// stageOn returns a stage over a store.
func stageOn(t testing.TB, s store.Database, o *carrel.Options) *stage {
	t.Helper()
	e, err := carrel.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	authority := auth.NewAuthority(s, key, nil)
	service, err := New(&Options{Engine: e, Store: s, Authority: authority, MCP: true, Listen: "127.0.0.1:7717", Door: auth.DoorLimits{CredentialRate: -1, AddressRate: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, service: service, authority: authority, credentials: make(map[governance.Scope]string)}
}

// credential returns a credential for everything in one scope.
func (s *stage) credential(scope governance.Scope) string {
	s.t.Helper()
	if s.credentials[scope] == "" {
		text, _, err := s.authority.Mint(s.t.Context(), &auth.MintRequest{
			Actor: "tester", Scopes: []governance.ScopePattern{governance.ScopePattern(scope)}, Permissions: governance.Permissions(),
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.credentials[scope] = text
	}
	return s.credentials[scope]
}

// ask sends a request with the credential of one scope, about a scope if one is given.
func (s *stage) ask(as, about governance.Scope, method, path string, body any) (int, []byte) {
	s.t.Helper()
	var content []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		content = b
	default:
		var err error
		if content, err = json.Marshal(b); err != nil {
			s.t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(s.t.Context(), method, "http://127.0.0.1:7717"+path, bytes.NewReader(content))
	r.RemoteAddr = "127.0.0.1:1"
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+s.credential(as))
	}
	if about != "" {
		r.Header.Set(api.HeaderScope, string(about))
	}
	if s.session != "" {
		r.Header.Set(api.HeaderSession, s.session)
	}
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if path == PathMCP {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	w := httptest.NewRecorder()
	s.service.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// must asks and decodes what a request that succeeds returns.
func (s *stage) must(as governance.Scope, method, path string, body any) map[string]any {
	s.t.Helper()
	code, out := s.ask(as, "", method, path, body)
	var v map[string]any
	if code != http.StatusOK || json.Unmarshal(out, &v) != nil {
		s.t.Fatalf("%s %s: %d %s", method, path, code, out)
	}
	return v
}

// Agents and services work on the same sessions, each by its own way in.
func TestSurfacesShareAStore(t *testing.T) {
	s := newStage(t)
	s.must("acme/web", http.MethodPost, "/v1/sessions/run-1/messages", map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": "build the pump"}},
	})
	code, out := s.ask("acme/web", "", http.MethodPost, PathMCP, call("search", map[string]any{"query": "pump"}))
	if code != http.StatusOK || !strings.Contains(string(out), "build the pump") {
		t.Errorf("a tool does not find what was appended over HTTP: %d %s", code, out)
	}
	if code, out := s.ask("acme/app", "", http.MethodPost, PathMCP, call("search", map[string]any{"query": "pump"})); strings.Contains(string(out), "build") {
		t.Errorf("a tool finds it in another scope, too: %d %s", code, out)
	}
	if code, _ := s.ask("", "", http.MethodPost, PathMCP, call("status", nil)); code != http.StatusUnauthorized {
		t.Errorf("a tool answers %d without a credential", code)
	}
	if code, _ := s.ask("", "", http.MethodGet, "/healthz", nil); code != http.StatusOK {
		t.Errorf("/healthz is %d", code)
	}
}

// Over HTTP an agent is in the session that it says it is in, if that is in its scope, and
// in none if it says nothing.
func TestAgentNamesItsSession(t *testing.T) {
	s := newStage(t)
	for _, id := range []string{"run-1", "run-2"} {
		s.must("acme/web", http.MethodPost, "/v1/sessions/"+id+"/messages", map[string]any{
			"messages": []any{map[string]any{"role": "user", "content": "build the pump"}},
		})
	}
	for _, tt := range []struct {
		session      string
		scope        governance.Scope
		want, hasNot string
	}{
		{"", "acme/web", "which session is yours", `"level"`},
		{"run-1", "acme/web", `"session":"run-1"`, "run-2"},
		{"run-2", "acme/web", `"session":"run-2"`, "run-1"},
		{"run", "acme/web", "nothing of it is stored", `"level"`},
		{"run-1", "acme/app", "nothing of it is stored", `"level"`},
	} {
		s.session = tt.session
		_, out := s.ask(tt.scope, "", http.MethodPost, PathMCP, call("status", nil))
		if !strings.Contains(string(out), tt.want) || strings.Contains(string(out), tt.hasNot) {
			t.Errorf("in %q of %s: %s", tt.session, tt.scope, out)
		}
	}
}

// call is a call of a tool.
func call(tool string, arguments map[string]any) map[string]any {
	if arguments == nil {
		arguments = map[string]any{}
	}
	return map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	}
}

// A service that ends finishes what it has begun, and takes nothing new.
func TestServeFinishesWhatItHasBegun(t *testing.T) {
	s := newStage(t)
	l, err := auth.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	entered, leave := make(chan struct{}), make(chan struct{})
	s.service.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		w.WriteHeader(http.StatusOK)
	})
	served := make(chan error, 1)
	go func() { served <- s.service.Serve(ctx, l) }()
	answered := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String() + "/healthz")
		if err != nil {
			answered <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }() // it was read, or does not matter
		answered <- r.Status
	}()
	<-entered
	end()
	<-s.service.stopping
	select {
	case err := <-served:
		t.Fatalf("it ended with a request under way: %v", err)
	default:
	}
	close(leave)
	if got := <-answered; got != "200 OK" {
		t.Errorf("the request that was under way got %s", got)
	}
	if err := <-served; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if r, err := http.Get("http://" + l.Addr().String() + "/healthz"); err == nil {
		_ = r.Body.Close() // there is none
		t.Error("it answers after its end")
	}
}

// A request that does not end is canceled when the grace is over, and Serve says so. Whether the
// client still gets an answer depends on which comes first, the handler or the end of the
// connection.
func TestServeEndsInTime(t *testing.T) {
	s := newStage(t)
	s.service.opts.Grace = time.Millisecond
	l, err := auth.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	canceled := make(chan error, 1)
	s.service.handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		end()
		<-r.Context().Done()
		canceled <- r.Context().Err()
	})
	served := make(chan error, 1)
	go func() { served <- s.service.Serve(ctx, l) }()
	if r, err := http.Get("http://" + l.Addr().String() + "/healthz"); err == nil {
		_ = r.Body.Close() // there is none
	}
	if err := <-canceled; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
	if err := <-served; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request was cut off, and Serve returned %v", err)
	}
}

func TestNewWantsItsParts(t *testing.T) {
	whole := Options{Engine: new(carrel.Engine), Store: stores.New(t), Authority: new(auth.Authority)}
	for name, without := range map[string]func(*Options){
		"nothing":   func(o *Options) { *o = Options{} },
		"engine":    func(o *Options) { o.Engine = nil },
		"store":     func(o *Options) { o.Store = nil },
		"authority": func(o *Options) { o.Authority = nil },
	} {
		o := whole
		without(&o)
		if _, err := New(&o); err == nil || !strings.Contains(err.Error(), "set Engine, Store and Authority") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// A credential that is used too often is refused for a moment, whichever surface it asks, and the
// metrics count that. Other credentials go on.
func TestBusyCredentialIsRefused(t *testing.T) {
	s := newStage(t)
	now := time.Now()
	o := s.service.opts
	o.Door, o.Now, o.Metrics = auth.DoorLimits{CredentialRate: 1}, func() time.Time { return now }, nil
	var err error
	if s.service, err = New(&o); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		path := [...]string{"/v1/sessions", PathMCP}[i%2]
		if code, out := s.ask("acme/web", "", http.MethodGet, path, nil); code == http.StatusTooManyRequests {
			t.Fatalf("request %d: %d %s", i+1, code, out)
		}
	}
	for _, path := range []string{"/v1/sessions", PathMCP} {
		code, out := s.ask("acme/web", "", http.MethodGet, path, nil)
		var p api.Problem
		if err := json.Unmarshal(out, &p); err != nil || code != http.StatusTooManyRequests || !strings.Contains(p.Hint, "server.limits."+auth.LimitCredentialRate) {
			t.Errorf("%s: %d %s, want 429 with the limit's name", path, code, out)
		}
	}
	code, out := s.ask("acme/app", "", http.MethodGet, "/metrics", nil)
	if want := `carrel_limited_total{limit="credential_rate"} 2`; code != http.StatusOK || !strings.Contains(string(out), want) {
		t.Errorf("the metrics do not have %s: %d %s", want, code, out)
	}
}

// The console has the limits of the service, counts with it, and ends with it.
func TestConsoleHasTheLimitsOfItsService(t *testing.T) {
	s := newStage(t)
	session := s.must("acme/web", http.MethodPost, "/v1/sessions", []byte(`{"messages":[{"role":"user","content":"Hello."}]}`))["session"]
	now := time.Now()
	o := s.service.opts
	o.Console, o.Door, o.Now, o.Metrics = true, auth.DoorLimits{CredentialRate: 1}, func() time.Time { return now }, nil
	var err error
	if s.service, err = New(&o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	see := func(path, cookie string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:7717/console/"+path, nil)
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		s.service.Handler().ServeHTTP(w, r)
		return w
	}
	cookie, _, _ := strings.Cut(see("sign-in?key="+s.credential("acme/web"), "").Header().Get("Set-Cookie"), ";")
	s.service.stop()
	if w := see(fmt.Sprintf("session/%s/live", session), cookie); w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "data: ") || ctx.Err() != nil {
		t.Errorf("the events of a session, when the service ends: %d %s, %v", w.Code, w.Body, ctx.Err())
	}
	for i := range 9 {
		want := http.StatusOK
		if i == 8 { // beside the sign-in and the events
			want = http.StatusTooManyRequests
		}
		if w := see("calls", cookie); w.Code != want {
			t.Errorf("request %d: %d, want %d", i+3, w.Code, want)
		}
	}
	all, _, _ := strings.Cut(see("sign-in?key="+s.credential("acme/*"), "").Header().Get("Set-Cookie"), ";")
	if w := see("calls", all); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "add ?scope= to the address") {
		t.Errorf("a page of a scope that the credential is not for: %d %s", w.Code, w.Body)
	}
	if w := see("calls?scope=acme/web", all); w.Code != http.StatusOK {
		t.Errorf("a page of a scope that the credential is for: %d %s", w.Code, w.Body)
	}
	code, out := s.ask("acme/app", "", http.MethodGet, "/metrics", nil)
	if want := `carrel_limited_total{limit="credential_rate"} 1`; code != http.StatusOK || !strings.Contains(string(out), want) {
		t.Errorf("the metrics do not have %s: %d %s", want, code, out)
	}
}
