package rest_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
)

// requests is what a node sees of the requests of all, unless it is not to.
type requests struct {
	store.Requests

	blind bool // finds nothing once, as if it had asked before the others made their write
	dead  bool // ends before it says what came of a write
}

func (r *requests) Request(ctx context.Context, scope governance.Scope, actor governance.Actor, key string) (*store.Request, error) {
	if r.blind {
		r.blind = false
		return nil, store.ErrNotFound
	}
	return r.Requests.Request(ctx, scope, actor, key)
}

func (r *requests) SettleRequest(ctx context.Context, of *store.Request) error {
	if r.dead {
		return nil
	}
	return r.Requests.SettleRequest(ctx, of)
}

// A node is a server that shares its store with another.
type node struct {
	*world

	requests requests
	now      time.Time
}

// newNodes returns two servers over one store.
func newNodes(t *testing.T) (one, two *node) {
	t.Helper()
	s := memory.New()
	shared, ok := s.(store.Requests)
	if !ok {
		t.Fatal("the store knows no requests")
	}
	nodes := make([]*node, 2)
	for i := range nodes {
		e, err := carrel.New(s, &carrel.Options{Counter: quarter{}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		n := &node{requests: requests{Requests: shared}, now: now}
		n.world = newWorldOf(t, e, func(o *rest.Options) {
			o.Requests, o.Now = &n.requests, func() time.Time { return n.now }
			o.Rand = nil // two servers give no id twice
		})
		nodes[i] = n
	}
	return nodes[0], nodes[1]
}

// put writes an artifact under a key.
func (n *node) put(key, content string) *httptest.ResponseRecorder {
	n.t.Helper()
	return n.keyed(key, "POST", "/v1/artifacts", map[string]any{"artifacts": []any{map[string]any{"class": "document", "content": []byte(content)}}})
}

// checkOnce checks that an answer is to the only write that was made.
func checkOnce(t *testing.T, n *node, first, again *httptest.ResponseRecorder) {
	t.Helper()
	if first.Code != 200 || again.Code != 200 || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("status %d, then %d with headers %v: %s", first.Code, again.Code, again.Header(), again.Body)
	}
	one, two := get[api.List[carrel.Artifact]](t, first), get[api.List[carrel.Artifact]](t, again)
	if len(one.Items) != 1 || len(two.Items) != 1 || one.Items[0].ID != two.Items[0].ID {
		t.Errorf("artifacts %v, then %v", one.Items, two.Items)
	}
	if got := n.writes(); got != 1 {
		t.Errorf("%d writes were made, want 1", got)
	}
}

// A write is made once for a key, whichever server is asked again.
func TestWritesAreMadeOnceByAllServers(t *testing.T) {
	one, two := newNodes(t)
	first := one.put("k", "a text")
	checkOnce(t, two, first, two.put("k", "a text"))
	checkOnce(t, two, first, one.put("k", "a text"))
	if p := problem(t, two.put("k", "another text")); p.Status != 422 {
		t.Errorf("another request under the key: %+v", p)
	}
	if rec := two.put("l", "a text"); rec.Code != 200 || two.writes() != 2 {
		t.Errorf("another key: status %d, %d writes", rec.Code, two.writes())
	}
	two.now = two.now.Add(store.RequestTime)
	if rec := two.put("k", "a third text"); rec.Code != 200 || two.writes() != 3 {
		t.Errorf("the key a day later: status %d, %d writes: %s", rec.Code, two.writes(), rec.Body)
	}
}

// Of two servers that begin with the same write at once, one makes it.
func TestServersRaceForAWrite(t *testing.T) {
	one, two := newNodes(t)
	first := one.put("k", "a text")
	two.requests.blind = true
	checkOnce(t, two, first, two.put("k", "a text"))
	if text := two.logs.String(); strings.Contains(text, "unexpected") {
		t.Errorf("the log has: %s", text)
	}
}

// If a server ends when it has made a write, before it says what came of it, no other makes it
// again: who asks is told that it was made, or is being made, as no server can tell these apart.
func TestAServerEndsBehindAWrite(t *testing.T) {
	one, two := newNodes(t)
	one.requests.dead = true
	if rec := one.put("k", "a text"); rec.Code != 200 {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	if p := problem(t, two.put("k", "a text")); p.Status != 503 {
		t.Errorf("asked again at once: %+v, want status 503", p)
	}
	two.now = two.now.Add(time.Minute)
	if p := problem(t, two.put("k", "a text")); p.Status != 410 || !strings.Contains(p.Detail, "was made, at least in part") || !strings.Contains(p.Detail, "or still works") {
		t.Errorf("asked again a minute later: %+v, want status 410", p)
	}
	if got := two.writes(); got != 1 {
		t.Errorf("%d writes were made, want 1", got)
	}
}

// After a failed write, its key can be used for another attempt, at any server.
func TestARefusedWriteIsNone(t *testing.T) {
	one, two := newNodes(t)
	at := map[string]any{"messages": []any{map[string]string{"role": "user", "content": "hello"}}, "at": 1}
	if p := problem(t, one.keyed("k", "POST", "/v1/sessions/s/messages", at)); p.Status != 409 {
		t.Fatalf("an append behind the end: %+v", p)
	}
	if rec := two.ask("POST", "/v1/sessions/s/messages", appended("first")); rec.Code != 200 {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	if rec := two.keyed("k", "POST", "/v1/sessions/s/messages", at); rec.Code != 200 || rec.Header().Get("Idempotent-Replayed") != "" {
		t.Errorf("the same where it fits: status %d: %s", rec.Code, rec.Body)
	}
}
