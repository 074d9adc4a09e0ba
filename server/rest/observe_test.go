package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/server/rest"
)

// A line of the log says what was asked for and how it went, and nothing of what it was
// about.
func TestAccessLog(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("POST", "/v1/sessions/"+canary+"/messages", appended(canary), api.HeaderIdempotency, canary)
	w.ask("GET", "/v1/search?query="+canary, nil, "Cookie", canary)
	w.ask("GET", "/v1/"+canary, nil)
	w.ask("GET", "/v1/sessions", nil, "Authorization", "Bearer "+canary)
	if strings.Contains(w.logs.String(), canary) {
		t.Error("content, a query or a credential is in the log")
	}
	type line struct {
		Level, Msg, Method, Operation, Actor, Request string
		Status                                        int
		Took, Bytes                                   int64
	}
	var got []line
	for text := range strings.Lines(w.logs.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Bytes == 0 || len(l.Request) != 16 {
			t.Errorf("line %s", text)
		}
		l.Bytes, l.Request = 0, ""
		got = append(got, l)
	}
	want := []line{
		{Level: "INFO", Msg: "request", Method: "POST", Operation: "append", Actor: "ada", Status: 200},
		{Level: "INFO", Msg: "request", Method: "GET", Operation: "search", Actor: "ada", Status: 200},
		{Level: "INFO", Msg: "request", Method: "GET", Operation: "none", Status: 404},
		{Level: "INFO", Msg: "request", Method: "GET", Operation: "sessions", Status: 401},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestMetrics(t *testing.T) {
	at := now
	w := newWorld(t, func(o *rest.Options) {
		o.Now = func() time.Time { at = at.Add(10 * time.Millisecond); return at }
	})
	w.ask("POST", "/v1/sessions/s/messages", appended("hi"))
	w.ask("GET", "/v1/sessions/none/context", nil)
	w.ask("GET", "/v1/sessions/none/context", nil)
	w.ask("POST", "/v1/memories", map[string]any{"text": "the moon is far"})
	text := w.ask("GET", "/metrics", nil).Body.String()
	for _, want := range []string{
		`carrel_requests_total{operation="append",class="2xx"} 1`,
		`carrel_requests_total{operation="context",class="4xx"} 2`,
		`carrel_request_seconds_count{operation="context"} 2`,
		`carrel_gate_total{outcome="hold"} 1`,
		`carrel_invalid_plan_total 0`,
		`# TYPE carrel_request_seconds histogram`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics have no %s:\n%s", want, text)
		}
	}
}

// The tokens of a session count when they come in, and not again with each message behind them, nor
// in a dry run.
func TestTokensComeInOnce(t *testing.T) {
	w := newWorld(t, nil)
	var sum *carrel.ImportResult
	for i := range 3 {
		messages := map[string]any{"messages": say(fmt.Sprint("message ", i))}
		sum = get[carrel.ImportResult](t, w.ask("POST", "/v1/sessions/s/messages", messages))
		messages["dry_run"] = true
		w.ask("POST", "/v1/sessions/s/messages", messages)
	}
	want := fmt.Sprintf("carrel_tokens_total{kind=\"imported\"} %d\n", sum.Tokens)
	if text := w.ask("GET", "/metrics", nil).Body.String(); sum.Tokens == 0 || !strings.Contains(text, want) {
		t.Errorf("metrics have no %s:\n%s", want, text)
	}
}

func TestSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	s := newScenario(t, nil)
	s.handler = rest.New(&rest.Options{
		Engine: s.admit, Now: func() time.Time { return now }, Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
	})
	s.play()
	s.ask("GET", "/v1/search?query=pool", nil, "Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	byName := make(map[string]map[attribute.Key]string)
	for _, span := range spans.Ended() {
		attrs := make(map[attribute.Key]string)
		for _, a := range span.Attributes() {
			attrs[a.Key] = a.Value.String()
		}
		for _, e := range span.Events() {
			for _, a := range e.Attributes {
				attrs[attribute.Key(e.Name)+" "+a.Key] = a.Value.String()
			}
		}
		for key, value := range attrs {
			if strings.Contains(value, canary) {
				t.Errorf("%s: %s has content: %s", span.Name(), key, value)
			}
		}
		byName[span.Name()] = attrs
		if span.Name() == "carrel search" {
			attrs["parent"] = span.Parent().TraceID().String()
		}
	}
	for _, op := range ops.Operations() {
		if byName["carrel "+op.Name] == nil {
			t.Errorf("%s has no span", op.Name)
		}
	}
	for _, tt := range []struct {
		span string
		key  attribute.Key
		want string // or anything
	}{
		{"recall", "gen_ai.operation.name", "retrieval"},
		{"recall", "gen_ai.memory.record.id", ""},
		{"search", "gen_ai.operation.name", "search_memory"},
		{"search", "parent", "0123456789abcdef0123456789abcdef"},
		{"commit", "carrel.gate.outcome", "hold"},
		{"assemble", "carrel.budget", "5000"},
		{"assemble", "carrel.manifest.id", s.ids["manifest"]},
		{"run-probes", "gen_ai.evaluation.result gen_ai.evaluation.name", "probes"},
		{"get", "error.type", "gone"},
	} {
		if got, ok := byName["carrel "+tt.span][tt.key]; !ok || tt.want != "" && got != tt.want {
			t.Errorf("%s: %s is %q, want %q", tt.span, tt.key, got, tt.want)
		}
	}
}

func TestReadiness(t *testing.T) {
	var down error
	w := newWorld(t, func(o *rest.Options) { o.Ready = func(context.Context) error { return down } })
	if rec := w.ask("GET", "/readyz", nil); rec.Code != http.StatusOK {
		t.Errorf("status %d", rec.Code)
	}
	down = context.DeadlineExceeded
	if p := problem(t, w.ask("GET", "/readyz", nil)); p.Status != http.StatusServiceUnavailable {
		t.Errorf("%+v", p)
	}
}
