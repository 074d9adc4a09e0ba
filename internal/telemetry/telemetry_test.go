package telemetry_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/carrel-dev/carrel/internal/telemetry"
)

func text(t *testing.T, r *telemetry.Registry) string {
	t.Helper()
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The text format: a head for each metric, samples in the order of their labels, buckets
// that add up.
func TestTextFormat(t *testing.T) {
	var r telemetry.Registry
	c := r.Counter("asked_total", "How often\nit was asked.", "what", "how")
	c.Add(2, "b", "loud")
	c.Add(1, "a", `"so" \ or`)
	c.Add(0.5, "b", "loud")
	c.Add(-1, "b", "loud") // a counter does not fall
	r.Counter("never_total", "What never happened.")
	h := r.Histogram("took_seconds", "How long it took.", []float64{1, 0.5}, "what")
	for _, v := range []float64{0.5, 0.6, 1, 7} {
		h.Observe(v, "a")
	}
	r.Gauge("level", "How high it is.", func() float64 { return -3 })
	want := `# HELP asked_total How often\nit was asked.
# TYPE asked_total counter
asked_total{what="a",how="\"so\" \\ or"} 1
asked_total{what="b",how="loud"} 2.5
# HELP level How high it is.
# TYPE level gauge
level -3
# HELP never_total What never happened.
# TYPE never_total counter
never_total 0
# HELP took_seconds How long it took.
# TYPE took_seconds histogram
took_seconds_bucket{what="a",le="0.5"} 1
took_seconds_bucket{what="a",le="1"} 3
took_seconds_bucket{what="a",le="+Inf"} 4
took_seconds_sum{what="a"} 9.1
took_seconds_count{what="a"} 4
`
	if diff := cmp.Diff(want, text(t, &r)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if r.Counter("asked_total", "") != c {
		t.Error("a name has two counters")
	}
}

// A metric with too many label values counts the rest together.
func TestLabelsAreBounded(t *testing.T) {
	var r telemetry.Registry
	c := r.Counter("n_total", "Things.", "name")
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := range 500 {
				c.Add(1, fmt.Sprint(part, " ", i))
			}
		})
	}
	wg.Wait()
	out := text(t, &r)
	if n := strings.Count(out, "n_total{"); n != 1001 || !strings.Contains(out, `n_total{name="other"} 1000`) {
		t.Errorf("%d series", n)
	}
}

// A collector takes requests.
type collector struct {
	status int
	mu     sync.Mutex
	bodies []string
	kinds  []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, string(body))
	c.kinds = append(c.kinds, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type"))
	w.WriteHeader(c.status)
	fmt.Fprint(w, "{}")
}

func TestSpansAreSent(t *testing.T) {
	c := &collector{status: http.StatusOK}
	srv := httptest.NewServer(c)
	defer srv.Close()
	metrics := new(telemetry.Registry)
	p, err := telemetry.NewTracerProvider(srv.URL, &telemetry.Options{Version: "1.2.3", Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 5)
	ctx, outer := p.Tracer("scope").Start(t.Context(), "outer", trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindServer))
	_, inner := p.Tracer("scope").Start(ctx, "inner", trace.WithTimestamp(at), trace.WithAttributes(
		attribute.Int("n", 7), attribute.String("s", "x"), attribute.Bool("b", true), attribute.Float64("f", 0.5), attribute.StringSlice("l", []string{"y"}),
	))
	inner.AddEvent("e", trace.WithTimestamp(at), trace.WithAttributes(attribute.String("k", "v")))
	inner.SetStatus(codes.Error, "refused")
	inner.End(trace.WithTimestamp(at.Add(1)))
	outer.SetStatus(codes.Ok, "")
	outer.End(trace.WithTimestamp(at.Add(2)))
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.bodies) != 1 || c.kinds[0] != "POST /v1/traces application/json" {
		t.Fatalf("requests: %q", c.kinds)
	}
	ids := strings.NewReplacer(
		outer.SpanContext().TraceID().String(), "T", outer.SpanContext().SpanID().String(), "O", inner.SpanContext().SpanID().String(), "I",
	)
	for _, want := range []string{
		`{"key":"service.name","value":{"stringValue":"carrel"}}`,
		`{"key":"service.version","value":{"stringValue":"1.2.3"}}`,
		`"scopeSpans":[{"scope":{"name":"scope"},"spans":[`,
		`{"traceId":"T","spanId":"I","parentSpanId":"O","name":"inner","kind":1,` +
			`"startTimeUnixNano":"1700000000000000005","endTimeUnixNano":"1700000000000000006","attributes":[` +
			`{"key":"n","value":{"intValue":"7"}},{"key":"s","value":{"stringValue":"x"}},{"key":"b","value":{"boolValue":true}},` +
			`{"key":"f","value":{"doubleValue":0.5}},{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"y"}]}}}],` +
			`"events":[{"timeUnixNano":"1700000000000000005","name":"e","attributes":[{"key":"k","value":{"stringValue":"v"}}]}],` +
			`"status":{"code":2,"message":"refused"}}`,
		`{"traceId":"T","spanId":"O","name":"outer","kind":2,"startTimeUnixNano":"1700000000000000005","endTimeUnixNano":"1700000000000000007","status":{"code":1}}`,
	} {
		if got := ids.Replace(c.bodies[0]); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if got := text(t, metrics); !strings.Contains(got, "carrel_spans_sent_total 2\n") || !strings.Contains(got, "carrel_spans_dropped_total 0\n") {
		t.Errorf("metrics:\n%s", got)
	}
}

// What a collector does not take is dropped and counted, and nobody fails for it.
func TestSpansAreDropped(t *testing.T) {
	srv := httptest.NewServer(&collector{status: http.StatusBadRequest})
	defer srv.Close()
	metrics := new(telemetry.Registry)
	p, err := telemetry.NewTracerProvider(srv.URL+"/v1/traces", &telemetry.Options{Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, s := p.Tracer("scope").Start(t.Context(), "lost")
		s.End()
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := text(t, metrics); !strings.Contains(got, "carrel_spans_dropped_total 3\n") {
		t.Errorf("metrics:\n%s", got)
	}
	alone, err := telemetry.NewTracerProvider(srv.URL, nil) // nobody counts
	if err != nil {
		t.Fatal(err)
	}
	_, s := alone.Tracer("scope").Start(t.Context(), "lost")
	if s.End(); alone.Shutdown(t.Context()) != nil {
		t.Error("a span that is lost is an error")
	}
	for _, url := range []string{"", "localhost:4318", "ftp://localhost", "http://u:" + "p@localhost"} {
		if _, err := telemetry.NewTracerProvider(url, nil); err == nil {
			t.Errorf("%q is taken for a URL", url)
		}
	}
}
