package rest_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/server/rest"
)

// deep nests lists.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestHostileBodies(t *testing.T) {
	w := newWorld(t, func(o *rest.Options) { o.Limits.Body = 1 << 20 })
	const appends, puts = "/v1/sessions/s/messages", "/v1/artifacts"
	many := `{"ids":[` + strings.Repeat(`"",`, 200_000) + `""]}`
	for _, tt := range []struct {
		name, path, body string
		status           int
		field            string
		line             int
		detail           string // part of it
	}{
		{"nothing", appends, ``, 400, "", 1, "ends"},
		{"no object", appends, `[]`, 400, "", 1, "is not an object"},
		{"two values", appends, `{"messages":[]} {}`, 400, "", 1, "more text"},
		{"cut off", appends, `{"messages":[`, 400, "messages.0", 1, "ends"},
		{"an unknown key", appends, "{\n\"messages\":[],\n\"mesages\":[]}", 400, "mesages", 3, "is not a field"},
		{"a key in other capitals", appends, `{"Messages":[]}`, 400, "Messages", 1, "is not a field"},
		{"a key twice", appends, `{"messages":[],"messages":[]}`, 400, "", 1, "twice"},
		{"a key twice by an escape", appends, `{"messages":[],"\u006dessages":[]}`, 400, "", 1, "twice"},
		{"a path field in the body", appends, `{"session":"other","messages":[]}`, 400, "session", 1, "is not a field"},
		{"a missing key", appends, `{}`, 400, "", 1, `lacks "messages"`},
		{"a missing key further in", puts, `{"artifacts":[{"class":"document"}]}`, 400, "artifacts.0", 1, `lacks "content"`},
		{"a number for a list", appends, `{"messages":3}`, 400, "messages", 1, "is not a list"},
		{"a text for a number", appends, `{"messages":[],"at":"3"}`, 400, "at", 1, "is not a number"},
		{"a fraction", appends, `{"messages":[],"at":1.5}`, 400, "at", 1, "is not a whole number"},
		{"a number too large", appends, `{"messages":[],"at":99999999999999999999}`, 400, "at", 1, "too large"},
		{"null for a truth", appends, `{"messages":[],"dry_run":null}`, 400, "dry_run", 1, "is not true or false"},
		{"null for an element", puts, `{"artifacts":[null]}`, 400, "artifacts", 0, "is null"},
		{"no base64", puts, `{"artifacts":[{"class":"document","content":"a*b"}]}`, 400, "artifacts.0.content", 1, "is not base64"},
		{"no time", puts, `{"artifacts":[{"class":"document","content":"","created":"now"}]}`, 400, "artifacts.0.created", 1, "is no time"},
		{"no ratio", "/v1/sessions/s/compress", `{"target":"much"}`, 400, "target", 1, "is no target"},
		{"bad UTF-8 in a text", appends, "{\"messages\":[],\n\"model\":\"a\xffb\"}", 400, "model", 2, "offset 26: model: is not valid Unicode"},
		{"bad UTF-8 in what is passed on", appends, "{\"messages\":[{\"role\":\"\xc0\xaf\"}]}", 400, "messages.0", 1, "offset 22: messages.0: is not valid Unicode"},
		{"bad UTF-8 behind U+FFFD", appends, "{\"messages\":[{\"role\":\"\ufffd\xff\"}]}", 400, "messages.0", 1, "offset 25: messages.0: is not valid Unicode"},
		{"a lone surrogate", appends, `{"messages":[],"model":"\ud800"}`, 400, "model", 1, "is not valid Unicode"},
		{"a control character", appends, "{\"messages\":[],\"model\":\"a\x00b\"}", 400, "model", 1, "control character"},
		{"a depth bomb", appends, `{"messages":` + deep(100_000) + `}`, 400, "", 1, "levels deep"},
		{"a depth bomb in an unknown key", appends, `{"x":` + deep(100_000) + `}`, 400, "x", 1, "is not a field"},
		{"too many elements", "/v1/artifacts/remove", many, 400, "ids.200000", 1, "one element too many"},
		{"too large", appends, `{"messages":["` + strings.Repeat("a", 1<<20) + `"]}`, 413, "body", 0, "1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := w.ask("POST", tt.path, tt.body)
			p := problem(t, rec)
			if rec.Code != tt.status || tt.field != "" && p.Field != tt.field || p.Line != tt.line || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("status %d, field %q, line %d, %s", rec.Code, p.Field, p.Line, p.Detail)
			}
		})
	}
	if sessions := w.ask("GET", "/v1/sessions", nil).Body.String(); !strings.Contains(sessions, `"items":[]`) {
		t.Errorf("something was written: %s", sessions)
	}
}

// The length of a body need not be said beforehand, and may be wrong.
func TestBodiesOfUnknownLength(t *testing.T) {
	const small = `{"messages":[{"role":"user","content":"hi"}]}`
	w := newWorld(t, func(o *rest.Options) { o.Limits.Body = 100 })
	for _, tt := range []struct {
		name string
		body io.Reader
		want int
	}{
		{"short", strings.NewReader(small), 200},
		{"as long as may be", strings.NewReader(small + strings.Repeat(" ", 100-len(small))), 200},
		{"long", strings.NewReader(strings.Repeat(" ", 101)), 413},
		{"broken", io.MultiReader(strings.NewReader(`{"mess`), brokenReader{}), 400},
	} {
		r := request(t, "POST", "/v1/sessions/s/messages", "")
		r.Body, r.ContentLength = io.NopCloser(tt.body), -1
		if rec := w.do(r); rec.Code != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, rec.Code, tt.want, rec.Body)
		}
	}
	for n, want := range map[int]int{100: 200, 101: 413} {
		if rec := w.ask("POST", "/v1/sessions/s/messages", small+strings.Repeat(" ", n-len(small))); rec.Code != want {
			t.Errorf("a body of %d bytes: status %d, want %d: %s", n, rec.Code, want, rec.Body)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestMediaTypes(t *testing.T) {
	w := newWorld(t, nil)
	for kind, want := range map[string]int{
		"application/json":                    200,
		"application/json; charset=utf-8":     200,
		"Application/JSON; charset=\"UTF-8\"": 200,
		"application/json; charset=latin1":    415,
		"text/plain":                          415,
		"application/x-www-form-urlencoded":   415,
		"":                                    415,
		"application/json;;":                  415,
	} {
		rec := w.ask("POST", "/v1/sessions/s/messages", `{"messages":[{"role":"user","content":"hi"}],"dry_run":true}`, "Content-Type", kind)
		if rec.Code != want {
			t.Errorf("%q: status %d, want %d: %s", kind, rec.Code, want, rec.Body)
		}
	}
	if rec := w.ask("POST", "/v1/stash/collect", "", "Content-Type", ""); rec.Code != 200 {
		t.Errorf("no body where none is needed: status %d", rec.Code)
	}
	for _, body := range []string{`{}`, " "} {
		if p := problem(t, w.ask("GET", "/v1/sessions", body)); p.Status != 400 || p.Field != "body" {
			t.Errorf("a body of GET: %+v", p)
		}
	}
}

func TestQueriesAndPaths(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		target string
		want   int
		field  string
	}{
		{"/v1/sessions?limit=3", 200, ""},
		{"/v1/sessions?limit=three", 400, "limit"},
		{"/v1/sessions?limit=-1", 400, "limit"},
		{"/v1/sessions?limit=1001", 400, "limit"},
		{"/v1/sessions?limit=1&limit=2", 400, "limit"},
		{"/v1/sessions?Limit=1", 400, "Limit"},
		{"/v1/sessions?x=1", 400, "x"},
		{"/v1/sessions?a;b", 400, ""},
		{"/v1/sessions?limit=%zz", 400, ""},
		{"/v1/sessions?after=%ff", 400, "after"},
		{"/v1/search", 400, "query"},
		{"/v1/search?query=a%00b", 400, "query"},
		{"/v1/artifacts?all=yes", 400, "all"},
		{"/v1/artifacts?all=true", 200, ""},
		{"/v1/sessions/a%00b/context", 400, "session"},
		{"/v1/sessions/a%0Ab/context", 400, "session"},
		{"/v1/sessions/a%C2%85b/context", 400, "session"},
		{"/v1/sessions/%ff/context", 400, "session"},
		{"/v1/sessions/a%252Fb/context", 404, ""}, // decoded once: a%2Fb
		{"/v1/sessions/a%2Fb/context", 404, ""},
		{"/v1/nothing", 404, ""},
		{"/", 404, ""},
	} {
		rec := w.ask("GET", tt.target, nil)
		if rec.Code != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.target, rec.Code, tt.want, rec.Body)
		} else if rec.Code != 200 {
			if p := problem(t, rec); p.Field != tt.field {
				t.Errorf("%s: %+v", tt.target, p)
			}
		}
	}
	if detail := problem(t, w.ask("GET", "/v1/sessions/a%252Fb/context", nil)).Detail; !strings.Contains(detail, "a%2Fb") {
		t.Errorf("a path is not decoded once: %s", detail)
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/sessions", "GET, HEAD, POST"},
		{"PATCH", "/v1/sessions/s/mark", "PUT"},
		{"POST", "/healthz", "GET, HEAD"},
		{"OPTIONS", "/v1/discard", "POST"},
	} {
		rec := w.ask(tt.method, tt.path, nil)
		if problem(t, rec); rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: status %d, allow %q", tt.method, tt.path, rec.Code, rec.Header().Get("Allow"))
		}
	}
}

// Whatever is sent, the answer is a result or a problem that names no bug.
func FuzzBody(f *testing.F) {
	paths := []string{
		"/v1/sessions", "/v1/sessions/s/messages", "/v1/sessions/s/compress", "/v1/probes/run", "/v1/contracts", "/v1/artifacts",
		"/v1/memories", "/v1/handoffs/accept", "/v1/discard", "/v1/sessions/s/summary/check",
	}
	for i, body := range []string{
		`{"name":"x","data":"e30="}`, `{"messages":[{"role":"user","content":"a"}]}`, `{"target":"50%","probe_min":null,"todos":[{"a":1}]}`,
		`{"probes":[{"id":"1","type":"x","question":"q","expected_keywords":[],"need":0,"critical":true}]}`,
		`{"session":"s","init":true,"statements":["remember x"],"payload":{"sources":[{"name":"a","text":"b"}]}}`,
		`{"artifacts":[{"class":"document","content":"","created":"2026-01-02T03:04:05Z","ttl":1,"from":["a"]}]}`,
		`{"text":"a","verdict":{"evaluator":"e","confidence":1e400,"content":"00","scope":"","policy":"","expires":""}}`,
	} {
		f.Add(i, []byte(body))
	}
	w := newWorld(f, nil)
	f.Fuzz(func(t *testing.T, at int, body []byte) {
		path := paths[(at%len(paths)+len(paths))%len(paths)]
		w.engine = newEngine(t, nil) // with nothing in it, so that no input depends on others
		r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer whole")
		if rec := w.do(r); rec.Code >= 500 {
			t.Fatalf("%s: status %d: %s\n%s", path, rec.Code, rec.Body, w.logs)
		}
	})
}
