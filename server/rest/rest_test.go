package rest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/token"
)

// quarter counts a token for four bytes, rounded up.
type quarter struct{}

func (quarter) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarter) Encoding() string              { return "quarter" }

// now is when all of the tests take place.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A world is a server over a store in memory, with the grants of its tokens.
type world struct {
	t       testing.TB
	engine  *carrel.Engine
	grants  map[string]*governance.Grant
	logs    *lockedBuffer
	handler http.Handler
}

// newWorld returns a world in which the credential "whole" may do everything in the scope
// local.
func newWorld(t testing.TB, change func(*rest.Options)) *world {
	t.Helper()
	return newWorldOf(t, newEngine(t, &carrel.Options{Strategy: carrel.StrategyImportance, Counter: quarter{}}), change)
}

// newEngine returns an engine over an empty store.
func newEngine(t testing.TB, opts *carrel.Options) *carrel.Engine {
	t.Helper()
	if opts == nil {
		opts = new(carrel.Options)
	}
	if opts.Now == nil {
		opts.Now = func() time.Time { return now }
	}
	e, err := carrel.New(stores.New(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newWorldOf(t testing.TB, e *carrel.Engine, change func(*rest.Options)) *world {
	t.Helper()
	w := &world{t: t, engine: e, logs: new(lockedBuffer), grants: map[string]*governance.Grant{
		"whole": {ID: "t1", Actor: "ada", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions()},
	}}
	o := &rest.Options{
		Engine: w.admit, Version: "1.2.3", Now: func() time.Time { return now },
		Logger: slog.New(slog.NewJSONHandler(w.logs, nil)), Rand: new(numbers),
	}
	if change != nil {
		change(o)
	}
	w.handler = rest.New(o)
	return w
}

// numbers is a source of ids that count.
type numbers struct{ n atomic.Uint64 }

func (r *numbers) Read(b []byte) (int, error) {
	binary.BigEndian.PutUint64(b, r.n.Add(1))
	return len(b), nil
}

type credentialKey struct{}

func (w *world) admit(ctx context.Context) (*carrel.Engine, *governance.Grant, error) {
	name, _ := ctx.Value(credentialKey{}).(string)
	g := w.grants[name]
	if g == nil {
		return nil, nil, api.ErrUnauthenticated
	}
	return w.engine, g, nil
}

// do sends a request with a credential, which stands in place of what checks credentials.
func (w *world) do(r *http.Request) *httptest.ResponseRecorder {
	name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), credentialKey{}, name)))
	return rec
}

// ask sends a request with the credential "whole". Headers are names and values in turn.
func (w *world) ask(method, target string, body any, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.do(request(w.t, method, target, body, headers...))
}

func request(t testing.TB, method, target string, body any, headers ...string) *http.Request {
	t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r := httptest.NewRequest(method, target, in)
	r.Header.Set("Authorization", "Bearer whole")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// get returns the result of a request that must succeed.
func get[T any](t testing.TB, rec *httptest.ResponseRecorder) *T {
	t.Helper()
	if rec.Code != http.StatusOK {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	v := new(T)
	if err := json.Unmarshal(rec.Body.Bytes(), v); err != nil {
		t.Fatalf("%v in %s", err, rec.Body)
	}
	return v
}

// problem returns the problem of a request that must fail.
func problem(t testing.TB, rec *httptest.ResponseRecorder) *api.Problem {
	t.Helper()
	if kind := rec.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("status %d, type %q: %s", rec.Code, kind, rec.Body)
	}
	p := new(api.Problem)
	if err := json.Unmarshal(rec.Body.Bytes(), p); err != nil {
		t.Fatal(err)
	}
	if p.Status != rec.Code || p.Request == "" || p.Request != rec.Header().Get(api.HeaderRequest) {
		t.Errorf("problem %+v in a response of status %d and request %q", p, rec.Code, rec.Header().Get(api.HeaderRequest))
	}
	return p
}

// say makes messages for Append.
func say(texts ...string) []json.RawMessage {
	var list []json.RawMessage
	for i, text := range texts {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		m, err := json.Marshal(map[string]string{"role": role, "content": text})
		if err != nil {
			panic(err)
		}
		list = append(list, m)
	}
	return list
}

func TestSession(t *testing.T) {
	w := newWorld(t, nil)
	res := get[carrel.ImportResult](t, w.ask("POST", "/v1/sessions/build/messages", map[string]any{"messages": say("why does it fail?", "a test is red")}))
	if res.Session != "build" || res.Blocks != 2 || res.Added != 2 {
		t.Errorf("append: %+v", res)
	}
	// A conversation comes as it is, too, and leaves so.
	lines := `{"messages":[{"role":"user","content":"Is 1.0 < 2e0?"}]}` + "\n"
	bare := get[carrel.ImportResult](t, w.ask("POST", "/v1/sessions?name=m.json&dry_run=true", lines, "Content-Type", "application/jsonl"))
	if bare.Messages != 1 || bare.Bytes != len(lines) || bare.Op != "" {
		t.Errorf("import as it is: %+v", bare)
	}
	if rec := w.ask("POST", "/v1/sessions?data=x", lines, "Content-Type", "application/jsonl"); rec.Code != 400 {
		t.Errorf("the conversation twice: status %d: %s", rec.Code, rec.Body)
	}
	out := w.ask("GET", "/v1/sessions/build/export", nil, "Accept", "application/jsonl")
	if out.Code != 200 || out.Header().Get("Content-Type") != "application/jsonl" || !bytes.Contains(out.Body.Bytes(), []byte(`"role"`)) {
		t.Errorf("export as it is: status %d, %s: %.200s", out.Code, out.Header().Get("Content-Type"), out.Body)
	}
	page := get[api.List[carrel.SessionInfo]](t, w.ask("GET", "/v1/sessions", nil))
	if len(page.Items) != 1 || page.Items[0].Session != "build" || page.Next != "" {
		t.Errorf("sessions: %+v", page)
	}
	list := get[api.MessagesResult](t, w.ask("GET", "/v1/sessions/build/messages?limit=1", nil))
	if len(list.Messages) != 1 || list.Next == "" {
		t.Errorf("messages: %+v", list)
	}
	raw := w.ask("GET", "/v1/items/"+string(list.Messages[0].ID), nil, "Accept", "application/octet-stream")
	if got, want := raw.Body.String(), `{"content":"why does it fail?","role":"user"}`; raw.Code != http.StatusOK || got != want {
		t.Errorf("recall: status %d, got %s, want %s", raw.Code, got, want)
	}
	if p := problem(t, w.ask("GET", "/v1/sessions/other/context", nil)); p.Type != api.TypePrefix+"not-found" {
		t.Errorf("context of no session: %+v", p)
	}
}
