package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/rest"
)

func tagOf(body string) string { return strconv.Quote(digest.Of([]byte(body)).String()) }

func TestTags(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("hello", "hi")})
	first := w.ask("GET", "/v1/sessions/s/context", nil)
	tag := first.Header().Get("ETag")
	if tag != tagOf(first.Body.String()) {
		t.Fatalf("tag %s of %s", tag, first.Body)
	}
	for header, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, strings.Trim(tag, `"`): 200,
	} {
		rec := w.ask("GET", "/v1/sessions/s/context", nil, "If-None-Match", header)
		if rec.Code != want || (want == 304) != (rec.Body.Len() == 0) || rec.Header().Get("ETag") != tag {
			t.Errorf("%s: status %d, tag %s, %d bytes", header, rec.Code, rec.Header().Get("ETag"), rec.Body.Len())
		}
	}
	w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("more")})
	if rec := w.ask("GET", "/v1/sessions/s/context", nil, "If-None-Match", tag); rec.Code != 200 {
		t.Errorf("after a change: status %d", rec.Code)
	}
	if rec := w.ask("POST", "/v1/sessions/s/trigger", nil, "If-None-Match", "*"); rec.Code != 200 || rec.Header().Get("ETag") != tagOf(rec.Body.String()) {
		t.Errorf("POST: status %d", rec.Code)
	}
	if rec := w.ask("HEAD", "/v1/sessions/s/context", nil); rec.Code != 200 || rec.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: status %d, header %v", rec.Code, rec.Header())
	}
}

// Content is sent as JSON, or as it is to who wants that: whole, in part, or not again.
func TestContent(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("hello", "hi")})
	id := string(get[api.MessagesResult](t, w.ask("GET", "/v1/sessions/s/messages", nil)).Messages[0].ID)
	const text = `{"content":"hello","role":"user"}`
	for _, tt := range []struct {
		name, accept, kind, extra, value, body string
		status                                 int
	}{
		{name: "bytes", accept: "application/octet-stream", kind: "application/octet-stream", body: text, status: 200},
		{name: "text", accept: "text/plain", kind: "text/plain; charset=utf-8", body: text, status: 200},
		{name: "any text", accept: "text/*;q=0.5, application/json", kind: "text/plain; charset=utf-8", body: text, status: 200},
		{name: "JSON first", accept: "application/json, text/plain", kind: "application/json", status: 200},
		{name: "anything", accept: "*/*", kind: "application/json", status: 200},
		{name: "no word", kind: "application/json", status: 200},
		{name: "a range", accept: "application/octet-stream", kind: "application/octet-stream", extra: "Range", value: "bytes=2-8", body: "content", status: 206},
		{name: "a range beyond", accept: "application/octet-stream", kind: "text/plain; charset=utf-8", extra: "Range", value: "bytes=99-", body: "invalid range: failed to overlap\n", status: 416},
		{name: "what is known", accept: "application/octet-stream", extra: "If-None-Match", value: tagOf(text), status: 304},
	} {
		rec := w.ask("GET", "/v1/items/"+id, nil, "Accept", tt.accept, tt.extra, tt.value)
		if rec.Code != tt.status || rec.Header().Get("Content-Type") != tt.kind {
			t.Errorf("%s: status %d, type %q", tt.name, rec.Code, rec.Header().Get("Content-Type"))
		}
		if tt.kind == "application/json" {
			if res := get[carrel.RecallResult](t, rec); string(res.Data) != text {
				t.Errorf("%s: %s", tt.name, res.Data)
			}
		} else if got := rec.Body.String(); got != tt.body {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.body)
		}
		if tt.body == text && rec.Header().Get("ETag") != tagOf(text) {
			t.Errorf("%s: tag %s", tt.name, rec.Header().Get("ETag"))
		}
		if rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: a browser may guess what it is", tt.name)
		}
	}
	if rec := w.ask("GET", "/v1/items/none", nil, "Accept", "application/octet-stream"); problem(t, rec).Status != 404 {
		t.Errorf("nothing: status %d", rec.Code)
	}
}

// A request carries its id through, or gets one.
func TestRequestIDs(t *testing.T) {
	w := newWorld(t, nil)
	for given, kept := range map[string]bool{"abc-1.2_3": true, "": false, "a b": false, "a\nb": false, strings.Repeat("a", 65): false} {
		rec := w.ask("GET", "/v1/nothing", nil, api.HeaderRequest, given)
		if got := problem(t, rec).Request; (got == given) != kept || len(got) == 0 {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// Errors of the engine are problems with their figures.
func TestProblems(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("hello", "hi")})
	p := problem(t, w.ask("POST", "/v1/sessions/s/compress", map[string]any{"target": 1}))
	if p.Status != http.StatusUnprocessableEntity || p.Type != api.TypePrefix+"budget-floor" || p.Floor == nil || p.Floor.Budget != 1 {
		t.Errorf("%+v", p)
	}
	rec := w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say("more"), "at": 1})
	if p := problem(t, rec); p.Status != http.StatusConflict || rec.Header().Get("Retry-After") == "" {
		t.Errorf("a conflict: %+v", p)
	}
	for _, tt := range []struct {
		err    error
		engine *carrel.Engine
		grant  *governance.Grant
		want   int
		logged string
	}{
		{errors.New(canary + " is full"), nil, nil, 500, canary + " is full"},
		{nil, w.engine, nil, 401, ""},
		{nil, nil, w.grants["whole"], 401, ""},
	} {
		w := newWorld(t, func(o *rest.Options) {
			o.Engine = func(context.Context) (*carrel.Engine, *governance.Grant, error) { return tt.engine, tt.grant, tt.err }
		})
		for _, path := range []string{"/v1/sessions", "/metrics"} {
			p := problem(t, w.ask("GET", path, nil))
			if p.Status != tt.want || strings.Contains(p.Detail, canary) || tt.want == 500 && !strings.HasPrefix(p.Detail, "the cause is in the log") || !strings.Contains(w.logs.String(), tt.logged) {
				t.Errorf("%v, %v: %+v, log %s", tt.err, tt.grant, p, w.logs)
			}
		}
	}
	rec = w.ask("POST", "/v1/contracts", map[string]any{"session": "s", "statements": []string{"this is no statement " + canary}})
	if problem(t, rec); rec.Code >= 500 || strings.Contains(w.logs.String(), canary) {
		t.Errorf("a bad statement: status %d, %s", rec.Code, rec.Body)
	}
}
