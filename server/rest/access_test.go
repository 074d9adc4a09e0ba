package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
)

// open are the routes that answer without a credential.
var open = map[string]bool{"GET /healthz": true, "GET /readyz": true}

// A door is a route with the permissions that open it together. Without any, a credential
// of any kind does.
type door struct {
	method, path string
	needs        []governance.Permission
}

// anywhere reports whether a door opens to a credential for whatever scope.
func (d *door) anywhere() bool { return len(d.needs) == 0 || d.needs[0] == governance.Observe }

func doors() []door {
	list := []door{
		{"GET", "/v1/events", []governance.Permission{governance.Read}},
		{"GET", "/metrics", []governance.Permission{governance.Observe}},
		{"GET", "/v1/whoami", nil},
		{"GET", "/v1/openapi.json", nil},
		{"GET", "/v1/openapi.yaml", nil},
		{"GET", "/healthz", nil},
		{"GET", "/readyz", nil},
	}
	for _, op := range ops.Operations() {
		path := strings.NewReplacer("{", "", "}", "").Replace(api.Prefix + op.Path)
		list = append(list, door{op.Method, path, op.Needs()})
	}
	return list
}

// Every route of the document has a door here, so that none is left out below.
func TestDoorsAreAllThereAre(t *testing.T) {
	doc, _ := fetchDocument(t, newWorld(t, nil))
	known := make(map[string]bool)
	for _, d := range doors() {
		known[d.method+" "+d.path] = true
	}
	for path, item := range doc.Paths {
		for method := range item {
			if at := strings.ToUpper(method) + " " + strings.NewReplacer("{", "", "}", "").Replace(path); !known[at] {
				t.Errorf("%s has no door", at)
			}
		}
	}
}

// No route answers without the right grant: not without a credential, not with every other
// permission, not in another scope, not once the grant has expired.
func TestNoRouteWithoutItsPermission(t *testing.T) {
	w := newWorld(t, nil)
	for _, d := range doors() {
		name := d.method + " " + d.path
		w.grants["elsewhere"] = &governance.Grant{Actor: "eve", Scopes: []governance.ScopePattern{"acme/*"}, Permissions: governance.Permissions()}
		w.grants["late"] = &governance.Grant{
			Actor: "eve", Scopes: []governance.ScopePattern{"*"}, Permissions: governance.Permissions(), Expires: now,
		}
		want := map[string]int{"": http.StatusUnauthorized, "unknown": http.StatusUnauthorized, "late": http.StatusForbidden}
		if !d.anywhere() {
			want["elsewhere"] = http.StatusForbidden
		}
		for _, p := range d.needs {
			others := slices.DeleteFunc(governance.Permissions(), func(o governance.Permission) bool { return o == p })
			w.grants["without "+string(p)] = &governance.Grant{Actor: "eve", Scopes: []governance.ScopePattern{"local"}, Permissions: others}
			want["without "+string(p)] = http.StatusForbidden
		}
		if open[name] {
			continue
		}
		for credential, want := range want {
			// A body that nobody would take: who may not is told so before it is read.
			rec := w.ask(d.method, d.path, `{"never":"read"}`, "Authorization", "Bearer "+credential, api.HeaderScope, "local")
			p := problem(t, rec)
			if rec.Code != want {
				t.Errorf("%s with the credential %q: status %d, want %d", name, credential, rec.Code, want)
			}
			if rec.Code == http.StatusUnauthorized && rec.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s: it is not said how to authenticate", name)
			}
			if want == http.StatusForbidden && p.Type != api.TypePrefix+"denied" {
				t.Errorf("%s with the credential %q: %+v", name, credential, p)
			}
		}
	}
}

func TestOpenRoutes(t *testing.T) {
	w := newWorld(t, nil)
	for name := range open {
		method, path, _ := strings.Cut(name, " ")
		if rec := w.ask(method, path, nil, "Authorization", ""); rec.Code != http.StatusOK {
			t.Errorf("%s: status %d", name, rec.Code)
		}
	}
}

// A refusal is the same whether or not there is something to be seen.
func TestRefusalsTellNothing(t *testing.T) {
	w := newWorld(t, nil)
	get[carrel.ImportResult](t, w.ask("POST", "/v1/sessions/real/messages", map[string]any{"messages": say("hello")}))
	w.grants["eve"] = &governance.Grant{Actor: "eve", Scopes: []governance.ScopePattern{"acme"}, Permissions: governance.Permissions()}
	texts := make(map[string]bool)
	for _, session := range []string{"real", "none"} {
		p := problem(t, w.ask("GET", "/v1/sessions/"+session+"/context", nil, "Authorization", "Bearer eve", api.HeaderScope, "local"))
		texts[p.Title+p.Detail+p.Hint] = true
	}
	if len(texts) != 1 {
		t.Errorf("refusals differ: %v", texts)
	}
	if p := problem(t, w.ask("GET", "/v1/sessions/real/context", nil, "Authorization", "Bearer eve")); p.Type != api.TypePrefix+"not-found" {
		t.Errorf("in a scope of their own: %+v", p)
	}
}

func TestScopeOfARequest(t *testing.T) {
	w := newWorld(t, nil)
	scopes := func(patterns ...governance.ScopePattern) *governance.Grant {
		return &governance.Grant{Actor: "ada", Scopes: patterns, Permissions: governance.Permissions()}
	}
	w.grants["one"], w.grants["two"], w.grants["many"] = scopes("acme"), scopes("acme", "local"), scopes("acme/*")
	for _, tt := range []struct {
		credential, scope string
		want              int
	}{
		{"one", "", http.StatusOK},
		{"one", "acme", http.StatusOK},
		{"one", "local", http.StatusForbidden},
		{"two", "", http.StatusBadRequest},
		{"two", "local", http.StatusOK},
		{"many", "", http.StatusBadRequest},
		{"many", "acme/web", http.StatusOK},
		{"many", "acme", http.StatusForbidden},
		{"one", "a b", http.StatusBadRequest},
		{"one", "acme//web", http.StatusBadRequest},
		{"one", "acme/*", http.StatusBadRequest},
	} {
		r := request(t, "GET", "/v1/sessions", nil, "Authorization", "Bearer "+tt.credential)
		if tt.scope != "" {
			r.Header.Set(api.HeaderScope, tt.scope)
		}
		rec := w.do(r)
		if rec.Code != tt.want {
			t.Errorf("credential %s, scope %q: status %d, want %d", tt.credential, tt.scope, rec.Code, tt.want)
		}
		if rec.Code == http.StatusBadRequest {
			if p := problem(t, rec); p.Field != api.HeaderScope {
				t.Errorf("credential %s, scope %q: %+v", tt.credential, tt.scope, p)
			}
		}
	}
	r := request(t, "GET", "/v1/sessions", nil, "Authorization", "Bearer two")
	r.Header[api.HeaderScope] = []string{"acme", "local"}
	if rec := w.do(r); rec.Code != http.StatusBadRequest {
		t.Errorf("two scopes: status %d", rec.Code)
	}
}

// A field of a request that does more than its operation needs another permission.
func TestAlso(t *testing.T) {
	w := newWorld(t, nil)
	w.grants["writer"] = &governance.Grant{
		Actor: "agent", Scopes: []governance.ScopePattern{"local"}, Permissions: []governance.Permission{governance.Read, governance.Write},
	}
	w.grants["reader"] = &governance.Grant{Actor: "agent", Scopes: []governance.ScopePattern{"local"}, Permissions: []governance.Permission{governance.Read}}
	artifact := func(more map[string]any) map[string]any {
		a := map[string]any{"class": "document", "content": "aGVsbG8="}
		maps.Copy(a, more)
		return map[string]any{"artifacts": []any{a}}
	}
	for _, tt := range []struct {
		name, credential, method, path string
		body                           any
		want                           int
	}{
		{"a plain artifact", "writer", "POST", "/v1/artifacts", artifact(nil), http.StatusOK},
		{"a person's word", "writer", "POST", "/v1/artifacts", artifact(map[string]any{"class": "verified", "verified_by": "ada"}), http.StatusForbidden},
		{"a secret", "writer", "POST", "/v1/artifacts", artifact(map[string]any{"allow_secrets": true}), http.StatusForbidden},
		{"a secret in the stash", "writer", "POST", "/v1/stash", map[string]any{"content": "aGVsbG8=", "allow_secrets": true}, http.StatusForbidden},
		{"a fetch", "reader", "GET", "/v1/artifacts/x?refetch=true", nil, http.StatusForbidden},
		{"no fetch", "reader", "GET", "/v1/artifacts/x?refetch=false", nil, http.StatusNotFound},
	} {
		if rec := w.ask(tt.method, tt.path, tt.body, "Authorization", "Bearer "+tt.credential); rec.Code != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, rec.Code, tt.want, rec.Body)
		}
	}
}

// The verifier of an artifact and the author of a decision are the actor of the credential,
// whatever the request says.
func TestNobodySpeaksForAnother(t *testing.T) {
	w := newWorld(t, nil)
	page := get[api.List[carrel.Artifact]](t, w.ask("POST", "/v1/artifacts", map[string]any{"artifacts": []any{
		map[string]any{"class": "verified", "content": "aGVsbG8=", "verified_by": "grace"},
	}}))
	if got := page.Items[0].VerifiedBy; got != "ada" {
		t.Errorf("verified by %q", got)
	}
	held := get[carrel.CommitResult](t, w.ask("POST", "/v1/memories", map[string]any{"text": "the moon is far"}))
	if held.Artifact == nil {
		t.Fatalf("the gate held nothing: %+v", held)
	}
	a := get[carrel.Artifact](t, w.ask("POST", "/v1/reviews/"+string(held.Artifact.ID)+"/decision", map[string]any{"approve": true, "by": "grace"}))
	if a.VerifiedBy != "ada" {
		t.Errorf("approved by %q", a.VerifiedBy)
	}
}

// The author of a handoff is the actor of the credential, too.
func TestNobodyHandsOnForAnother(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("build the pump")})
	got := get[carrel.HandoffResult](t, w.ask("POST", "/v1/sessions/s/handoff", map[string]any{"by": "grace"}))
	if got.Packet.CreatedBy != "ada" {
		t.Errorf("handed on by %q", got.Packet.CreatedBy)
	}
}

func TestWhoami(t *testing.T) {
	w := newWorld(t, nil)
	w.grants["whole"].Expires = now.Add(time.Hour)
	rec := w.ask("GET", "/v1/whoami", nil)
	want := `{"actor":"ada","scopes":["local"],"permissions":["read","write","review","erase","observe"],` +
		`"expires":"2026-01-02T04:04:05Z","version":"1.2.3","policy":"` + w.engine.Policy() + `"}` + "\n"
	if got := rec.Body.String(); got != want {
		t.Errorf("got %swant %s", got, want)
	}
}
