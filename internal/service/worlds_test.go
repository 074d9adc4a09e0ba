package service

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/mcp"
)

// A world is everything that is in one scope: text that no other has, and the names that
// the service has given to things there.
type world struct {
	scope  governance.Scope
	canary string
	names  []string
}

// populate fills a scope by every job that makes something, and returns the names of all
// that is there.
func populate(s *stage, scope governance.Scope) *world {
	w := &world{scope: scope, canary: "canary" + strings.NewReplacer("/", "").Replace(string(scope)) + "x7q"}
	ask := func(method, path string, body any) { w.collect(s.must(scope, method, path, body)) }
	var messages []any
	for i := range 14 {
		role := []string{"user", "assistant"}[i%2]
		messages = append(messages, map[string]any{"role": role, "content": fmt.Sprintf("%s line %d of %s.go says port %d", w.canary, i, w.canary, 8000+i)})
	}
	session := fmt.Sprintf("run-%x", scope)
	w.names = append(w.names, session)
	path := "/v1/sessions/" + session
	ask(http.MethodPost, path+"/messages", map[string]any{"messages": messages})
	ask(http.MethodPost, path+"/compress", map[string]any{"target": 150, "strategy": "window", "keep_last": 2})
	ask(http.MethodPost, "/v1/artifacts", map[string]any{"artifacts": []any{
		map[string]any{"class": "document", "title": w.canary + " handbook", "content": []byte(w.canary + " policy of the pump")},
		map[string]any{"class": "document", "title": "old", "content": []byte(w.canary + " older words")},
	}})
	ask(http.MethodPost, "/v1/stash", map[string]any{"content": []byte(strings.Repeat(w.canary+" output\n", 300))})
	ask(http.MethodPost, "/v1/assemble", map[string]any{"query": w.canary + " policy of the pump", "budget": 4000, "session": session})
	ask(http.MethodPost, "/v1/memories", map[string]any{"text": "remember that " + w.canary + " is at the pump"})
	ask(http.MethodPost, "/v1/contracts", map[string]any{"session": session, "decisions": []string{"use-" + w.canary}})
	for _, read := range []string{
		"/v1/sessions", path + "/messages", path + "/journal", path + "/contract", "/v1/artifacts", "/v1/manifests", "/v1/reviews", "/v1/log",
	} {
		ask(http.MethodGet, read, nil)
	}
	slices.Sort(w.names)
	w.names = slices.DeleteFunc(slices.Compact(w.names), func(n string) bool { return strings.Contains(n, w.canary) })
	return w // nobody who asks knows the canary, so that no answer says it back
}

// collect keeps every short text of a result that could name something.
func (w *world) collect(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.collect(v[k])
		}
	case []any:
		for _, e := range v {
			w.collect(e)
		}
	case string:
		if len(v) >= 8 && len(v) <= 80 && !strings.ContainsAny(v, " \n{") {
			w.names = append(w.names, v)
		}
	}
}

// shows reports whether an answer has text of the world in it, also one that is in
// base64.
func (w *world) shows(answer []byte) bool {
	if bytes.Contains(answer, []byte(w.canary)) {
		return true
	}
	for text := range bytes.SplitSeq(answer, []byte(`"`)) {
		if len(text) < 16 {
			continue
		}
		if plain, err := base64.StdEncoding.DecodeString(string(text)); err == nil && bytes.Contains(plain, []byte(w.canary)) {
			return true
		}
	}
	return false
}

// A route is an operation as the document of the interface describes it.
type route struct {
	method, path string
	query, body  map[string]property
}

type property struct {
	Type  any       `json:"type"`
	Items *property `json:"items"`
	Ref   string    `json:"$ref"`
}

// kind returns the type of a property, or that of its items for a list.
func (p *property) kind() (kind string, list bool) {
	word := fmt.Sprint(p.Type)
	if strings.Contains(word, "array") && p.Items != nil {
		kind, _ = p.Items.kind()
		return kind, true
	}
	for _, k := range [...]string{"string", "integer", "boolean"} {
		if strings.Contains(word, k) {
			return k, false
		}
	}
	return "", false
}

// routes returns the operations of the service, from its own description.
func routes(s *stage) []route {
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string   `json:"name"`
				In     string   `json:"in"`
				Schema property `json:"schema"`
			} `json:"parameters"`
			RequestBody *struct {
				Content map[string]struct {
					Schema struct {
						Ref        string              `json:"$ref"`
						Properties map[string]property `json:"properties"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]property `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	code, out := s.ask("a/x", "", http.MethodGet, "/v1/openapi.json", nil)
	if err := json.Unmarshal(out, &doc); code != http.StatusOK || err != nil {
		s.t.Fatalf("the description: %d %v", code, err)
	}
	var list []route
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if path == "/v1/events" {
			continue // it does not end; server/rest tests it
		}
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			o := doc.Paths[path][method]
			r := route{strings.ToUpper(method), path, map[string]property{}, map[string]property{}}
			for _, p := range o.Parameters {
				if p.In == "query" {
					r.query[p.Name] = p.Schema
				}
			}
			if o.RequestBody != nil {
				schema := o.RequestBody.Content["application/json"].Schema
				r.body = schema.Properties
				if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
					r.body = doc.Components.Schemas[name].Properties
				}
			}
			list = append(list, r)
		}
	}
	return list
}

// A prober asks about things of one world in another.
type prober struct {
	*rand.Rand
	own, other *world
}

// name returns a name, mostly of the other world.
func (p *prober) name() string {
	switch p.IntN(6) {
	case 0:
		return p.own.names[p.IntN(len(p.own.names))]
	case 1:
		n := p.other.names[p.IntN(len(p.other.names))]
		return n[:1+p.IntN(len(n))]
	case 2:
		return [...]string{"@last", "@prev", "-1", "*", "", "pump"}[p.IntN(6)]
	}
	return p.other.names[p.IntN(len(p.other.names))]
}

func (p *prober) value(t property) (any, bool) {
	kind, list := t.kind()
	var v any
	switch kind {
	case "string":
		v = p.name()
	case "integer":
		v = p.IntN(300)
	case "boolean":
		v = p.IntN(2) == 0
	default:
		return nil, false
	}
	if list {
		v = []any{v}
	}
	return v, true
}

// request fills in an operation.
func (p *prober) request(r *route) (path string, body any) {
	parts := strings.Split(r.path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = url.PathEscape(cmp.Or(p.name(), "x"))
		}
	}
	path = strings.Join(parts, "/")
	query := url.Values{}
	for _, k := range slices.Sorted(maps.Keys(r.query)) {
		if v, ok := p.value(r.query[k]); ok && p.IntN(3) > 0 {
			query.Set(k, fmt.Sprint(v))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if len(r.body) == 0 {
		return path, nil
	}
	fields := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(r.body)) {
		if v, ok := p.value(r.body[k]); ok && p.IntN(3) > 0 {
			fields[k] = v
		}
	}
	return path, fields
}

// call fills in a call of a tool, or asks for a resource.
func (p *prober) call() any {
	if p.IntN(5) == 0 {
		uri := "carrel://" + [...]string{"session", "item", "manifest"}[p.IntN(3)] + "/" + url.PathEscape(cmp.Or(p.name(), "x"))
		return map[string]any{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": map[string]any{"uri": uri}}
	}
	tools := mcp.Tools()
	arguments := map[string]any{}
	for _, k := range [...]string{"session", "id", "query"} {
		if p.IntN(2) == 0 {
			arguments[k] = p.name()
		}
	}
	if p.IntN(4) == 0 {
		arguments["short_ids"] = []any{p.name()}
	}
	return call(tools[p.IntN(len(tools))].Name, arguments)
}

// ofNoScope are the routes that show nothing of any scope.
var ofNoScope = []string{"/healthz", "/readyz", "/metrics", "/v1/openapi.json", "/v1/openapi.yaml", "/v1/whoami"}

// Two worlds on one service, with the same engine and the same memory: whatever somebody
// of one asks, over any route and any tool, by names of the other, in its own scope or in
// that of the other, no answer has anything of the other in it. CARREL_TEST_PROBES says
// how often is asked.
func TestWorldsDoNotMix(t *testing.T) {
	probes := 1500
	if n, err := strconv.Atoi(os.Getenv("CARREL_TEST_PROBES")); err == nil {
		probes = n
	}
	const perStage = 5000 // what is asked also writes
	random := rand.New(rand.NewPCG(7, 11))
	var codes map[int]int
	for done := 0; done < probes; {
		s := newStage(t)
		worlds := [2]*world{populate(s, "a/x"), populate(s, "b/y")}
		for _, w := range worlds {
			if !w.shows([]byte(`"` + base64.StdEncoding.EncodeToString([]byte("some "+w.canary)) + `"`)) {
				t.Fatal("the test does not see what is in base64")
			}
		}
		all := routes(s)
		codes = make(map[int]int)
		for range min(perStage, probes-done) {
			done++
			i := random.IntN(2)
			p := &prober{random, worlds[i], worlds[1-i]}
			about := [...]governance.Scope{"", p.own.scope, p.other.scope, "b", "a"}[random.IntN(5)]
			method, path, body := http.MethodPost, PathMCP, any(nil)
			if r := &all[random.IntN(len(all))]; random.IntN(8) > 0 {
				method = r.method
				path, body = p.request(r)
			} else {
				body = p.call()
			}
			code, out := s.ask(p.own.scope, about, method, path, body)
			codes[code]++
			if p.other.shows(out) {
				t.Fatalf("%s shows %s, about %q: %s %s %v: %d\n%s", p.own.scope, p.other.scope, about, method, path, body, code, out)
			}
			if about != "" && about != p.own.scope && code == http.StatusOK && path != PathMCP && !slices.Contains(ofNoScope, path) {
				t.Fatalf("%s asked about %s: %s %s: %d\n%s", p.own.scope, about, method, path, code, out)
			}
		}
	}
	if codes[http.StatusOK] == 0 || codes[http.StatusForbidden] == 0 || codes[http.StatusNotFound] == 0 {
		t.Errorf("the probes were not of all kinds: %v", codes)
	}
	t.Logf("%d probes, of the last stage %v", probes, codes)
}
