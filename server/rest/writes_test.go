package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/token"
)

// A trap counts tokens, but waits at the word wait until gate is closed. Its clock breaks
// once it is armed.
type trap struct {
	quarter
	gate  chan struct{}
	hits  *atomic.Int32
	armed *atomic.Bool
}

func newTrap() trap {
	return trap{gate: make(chan struct{}), hits: new(atomic.Int32), armed: new(atomic.Bool)}
}

func (c trap) Count(text string) token.Count {
	if strings.Contains(text, "wait") {
		c.hits.Add(1)
		<-c.gate
	}
	return c.quarter.Count(text)
}

func (c trap) now() time.Time {
	if c.armed.Load() {
		panic("the clock shows " + canary)
	}
	return now
}

func (c trap) world(t *testing.T, change func(*rest.Options)) *world {
	t.Helper()
	return newWorldOf(t, newEngine(t, &carrel.Options{Counter: c, Now: c.now}), change)
}

func appended(text string) map[string]any { return map[string]any{"messages": say(text)} }

func TestIdempotency(t *testing.T) {
	w := newWorld(t, nil)
	w.grants["whole"].Scopes = append(w.grants["whole"].Scopes, "other")
	w.grants["bob"] = &governance.Grant{Actor: "bob", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions()}
	write := func(key, session, text string, headers ...string) *httptest.ResponseRecorder {
		return w.ask("POST", "/v1/sessions/"+session+"/messages", appended(text), append([]string{api.HeaderScope, "local", api.HeaderIdempotency, key}, headers...)...)
	}
	blocks := func(session string) int {
		return get[carrel.ContextResult](t, w.ask("GET", "/v1/sessions/"+session+"/context", nil, api.HeaderScope, "local")).Blocks
	}
	first := write("k1", "s", "hello")
	again := write("k1", "s", "hello")
	if again.Code != 200 || again.Body.String() != first.Body.String() || again.Header().Get("ETag") != first.Header().Get("ETag") {
		t.Errorf("again: status %d: %s", again.Code, again.Body)
	}
	if first.Header().Get("Idempotent-Replayed") != "" || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("replayed: first %q, again %q", first.Header().Get("Idempotent-Replayed"), again.Header().Get("Idempotent-Replayed"))
	}
	if n := blocks("s"); n != 1 {
		t.Errorf("%d blocks", n)
	}
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"another body": write("k1", "s", "other"),
		"another path": write("k1", "s2", "hello"),
		"another route": w.ask("POST", "/v1/pin", map[string]any{"blocks": []string{"x"}},
			api.HeaderScope, "local", api.HeaderIdempotency, "k1"),
	} {
		if p := problem(t, rec); p.Status != http.StatusUnprocessableEntity || p.Type != api.TypePrefix+"idempotency" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"another key":   write("k2", "s", "hello"),
		"another actor": write("k1", "s", "hello", "Authorization", "Bearer bob"),
		"another scope": write("k1", "s", "hello", api.HeaderScope, "other"),
	} {
		if rec.Code != 200 || rec.Header().Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: status %d, %s", name, rec.Code, rec.Body)
		}
	}
	if n := blocks("s"); n != 3 {
		t.Errorf("%d blocks, want 3", n)
	}
	for _, key := range []string{"a b", strings.Repeat("k", 256), "k\u00e9"} {
		if p := problem(t, write(key, "s", "hello")); p.Status != 400 || p.Field != api.HeaderIdempotency {
			t.Errorf("key %q: %+v", key, p)
		}
	}
	if rec := w.ask("POST", "/v1/sessions/s/trigger", nil, api.HeaderScope, "local", api.HeaderIdempotency, "k1"); rec.Code != 200 {
		t.Errorf("the key of what is no write: status %d", rec.Code)
	}
}

// What was refused has written nothing, and is tried again: only what was made is kept.
func TestWhatIsKeptForAKey(t *testing.T) {
	c := newTrap()
	w := c.world(t, nil)
	keyed := func(path string, body any) *httptest.ResponseRecorder {
		return w.ask("POST", path, body, api.HeaderIdempotency, "k"+path)
	}
	for _, tt := range []struct {
		path string
		body any
		want int
		kept bool
	}{
		{"/v1/sessions/none/compress", map[string]any{}, 404, false},
		{"/v1/sessions/s/messages", map[string]any{"messages": say("hi"), "at": 7}, 409, false},
		{"/v1/sessions/t/messages", appended("hi"), 500, false},
		{"/v1/sessions/u/messages", appended("hi"), 200, true},
		{"/v1/undo", map[string]any{"session": "u", "dry_run": true}, 404, false},
	} {
		c.armed.Store(tt.want == 500)
		for i := range 2 {
			rec := keyed(tt.path, tt.body)
			if replayed := rec.Header().Get("Idempotent-Replayed") != ""; rec.Code != tt.want || replayed != (tt.kept && i == 1) {
				t.Errorf("%s: status %d, replayed %v", tt.path, rec.Code, replayed)
			}
		}
	}
}

// Two requests with one key at once are one write: the second waits for the first.
func TestIdempotencyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, nil)
		const n = 5
		var wg sync.WaitGroup
		bodies, replayed := make([]string, n), make([]bool, n)
		for i := range n {
			wg.Go(func() {
				rec := w.ask("POST", "/v1/sessions/s/messages", appended("wait"), api.HeaderIdempotency, "k")
				bodies[i], replayed[i] = rec.Body.String(), rec.Header().Get("Idempotent-Replayed") != ""
			})
		}
		synctest.Wait()
		if got := c.hits.Load(); got != 1 {
			t.Errorf("%d jobs began", got)
		}
		close(c.gate)
		wg.Wait()
		first := 0
		for i := range n {
			if bodies[i] != bodies[0] || bodies[i] == "" {
				t.Errorf("response %d is %q", i, bodies[i])
			}
			if !replayed[i] {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d responses are no replays", first)
		}
	})
}

// Keys are forgotten after a day, and the oldest when there are too many.
func TestKeysAreForgotten(t *testing.T) {
	at := now
	w := newWorld(t, func(o *rest.Options) {
		o.Now = func() time.Time { return at }
		o.Limits.Replays = 2
	})
	replayed := func(key string) bool {
		return w.ask("POST", "/v1/sessions/"+key+"/messages", appended("hi"), api.HeaderIdempotency, key).Header().Get("Idempotent-Replayed") != ""
	}
	for _, tt := range []struct {
		key  string
		wait time.Duration
		want bool
	}{
		{"a", 0, false}, {"a", 0, true}, {"b", 0, false}, {"a", 0, true}, {"c", 0, false}, // a is the oldest
		{"b", 0, true}, {"a", 0, false}, {"c", 24*time.Hour - 1, true}, {"c", 1, false},
	} {
		at = at.Add(tt.wait)
		if got := replayed(tt.key); got != tt.want {
			t.Errorf("key %s at %v: replayed %v", tt.key, at, got)
		}
	}
}

// A write that has begun is made, whether or not somebody still waits for it.
func TestWritesAreNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, nil)
		r := request(t, "POST", "/v1/sessions/s/messages", appended("wait"))
		ctx, cancel := context.WithCancel(r.Context())
		done := make(chan int)
		go func() { done <- w.do(r.WithContext(ctx)).Code }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(c.gate)
		if status := <-done; status != 200 {
			t.Errorf("status %d", status)
		}
		if rec := w.ask("GET", "/v1/sessions/s/context", nil); rec.Code != 200 {
			t.Errorf("the write is not there: status %d", rec.Code)
		}
	})
}

// Who waits too long for a turn is told to come again, and health is told meanwhile.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, func(o *rest.Options) { o.Limits.Jobs = 1 })
		done := make(chan int)
		go func() { done <- w.ask("POST", "/v1/sessions/s/messages", appended("wait")).Code }()
		synctest.Wait()
		begin := time.Now()
		rec := w.ask("GET", "/v1/sessions", nil)
		if p := problem(t, rec); p.Status != 503 || p.Type != api.TypePrefix+"overloaded" || rec.Header().Get("Retry-After") != "1" {
			t.Errorf("%+v", p)
		}
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("waited %v", waited)
		}
		begin = time.Now()
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			if rec := w.ask("GET", path, nil); rec.Code != 200 {
				t.Errorf("%s: status %d", path, rec.Code)
			}
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("health waited %v", waited)
		}
		close(c.gate)
		if status := <-done; status != 200 {
			t.Errorf("the first: status %d", status)
		}
		if rec := w.ask("GET", "/v1/sessions", nil); rec.Code != 200 {
			t.Errorf("afterwards: status %d", rec.Code)
		}
	})
}

// One actor has no more large jobs done at once than there may be. Others go on, and so
// do small jobs of the same actor.
func TestLargeJobsOfOneActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, func(o *rest.Options) { o.Turns = &auth.Turns{Most: 1, Wait: time.Second} })
		w.grants["bob"] = &governance.Grant{Actor: "bob", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions()}
		done := make(chan int)
		go func() { done <- w.ask("POST", "/v1/sessions/s/messages", appended("wait")).Code }()
		synctest.Wait()
		rec := w.ask("POST", "/v1/sessions/t/messages", appended("hello"))
		if p := problem(t, rec); p.Status != 429 || p.Type != api.TypePrefix+"too-many" || rec.Header().Get("Retry-After") != "1" {
			t.Errorf("a second: %+v", p)
		}
		if rec := w.ask("GET", "/v1/sessions", nil); rec.Code != 200 {
			t.Errorf("a small one: status %d", rec.Code)
		}
		if rec := w.ask("POST", "/v1/sessions/t/messages", appended("hello"), "Authorization", "Bearer bob"); rec.Code != 200 {
			t.Errorf("another actor: status %d: %s", rec.Code, rec.Body)
		}
		close(c.gate)
		if status := <-done; status != 200 {
			t.Errorf("the first: status %d", status)
		}
		if rec := w.ask("POST", "/v1/sessions/t/messages", appended("hello")); rec.Code != 200 {
			t.Errorf("afterwards: status %d", rec.Code)
		}
	})
}

// The bodies of all requests together have a limit, too.
func TestBodiesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, func(o *rest.Options) { o.Limits.Body, o.Limits.Bodies = 100, 150 })
		done := make(chan int)
		go func() {
			done <- w.ask("POST", "/v1/sessions/s/messages", appended("wait"+strings.Repeat("!", 40))).Code
		}()
		synctest.Wait()
		if p := problem(t, w.ask("POST", "/v1/sessions/t/messages", appended(strings.Repeat("!", 40)))); p.Status != 503 {
			t.Errorf("%+v", p)
		}
		if rec := w.ask("POST", "/v1/discard", "{}"); rec.Code == 503 {
			t.Errorf("a small body: status %d", rec.Code)
		}
		close(c.gate)
		<-done
	})
}

// A request without a body does not wait behind one whose body waits for room.
func TestNoBodyDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrap()
		w := c.world(t, func(o *rest.Options) { o.Limits.Body, o.Limits.Bodies = 100, 150 })
		done := make(chan int, 2)
		for _, text := range []string{"wait", "hold"} {
			go func() {
				done <- w.ask("POST", "/v1/sessions/s/messages", appended(text+strings.Repeat("!", 40))).Code
			}()
			synctest.Wait()
		}
		begin := time.Now()
		if rec := w.ask("GET", "/v1/sessions", nil); rec.Code != 200 || time.Since(begin) != 0 {
			t.Errorf("status %d after %v: %s", rec.Code, time.Since(begin), rec.Body)
		}
		close(c.gate)
		<-done
		<-done
	})
}

// A bug is not told, and what was thrown is not logged: it may have content.
func TestBugs(t *testing.T) {
	c := newTrap()
	bug := func() { panic(canary) }
	w := c.world(t, func(o *rest.Options) { o.Ready = func(context.Context) error { bug(); return nil } })
	c.armed.Store(true)
	for _, rec := range []*httptest.ResponseRecorder{
		w.ask("POST", "/v1/sessions/s/messages", appended("hello")),
		w.ask("GET", "/readyz", nil),
	} {
		p := problem(t, rec)
		if p.Status != 500 || p.Type != api.TypePrefix+"unexpected" || strings.Contains(fmt.Sprint(p), canary) {
			t.Errorf("%+v", p)
		}
		if !strings.Contains(w.logs.String(), p.Request) {
			t.Errorf("the log has no request %s", p.Request)
		}
	}
	if logs := w.logs.String(); strings.Contains(logs, canary) || strings.Count(logs, `"msg":"panic"`) != 2 || !strings.Contains(logs, "writes_test.go") {
		t.Errorf("log: %s", logs)
	}
	bug = func() { _ = []int{}[len(canary)] }
	if rec := w.ask("GET", "/readyz", nil); rec.Code != 500 || !strings.Contains(w.logs.String(), "index out of range") {
		t.Errorf("a fault at run time: status %d, log %s", rec.Code, w.logs)
	}
	c.armed.Store(false)
	if rec := w.ask("POST", "/v1/sessions/s/messages", appended("fine")); rec.Code != 200 {
		t.Errorf("afterwards: status %d", rec.Code)
	}
}
