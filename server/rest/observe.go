package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/telemetry"
)

// ServeHTTP answers, logs and counts a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(r.Header)
	rec := &recorder{ResponseWriter: w}
	h := w.Header()
	h.Set(api.HeaderRequest, c.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept, Authorization, "+api.HeaderScope)

	begin := s.opts.Now()
	defer func() { s.account(r, c, rec, s.opts.Now().Sub(begin)) }()
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	defer s.catch(c, func() {
		if rec.status == 0 {
			send(rec, r, s.bug(c))
		}
	})
	s.mux.ServeHTTP(rec, r)
}

// catch recovers from a panic: it logs the stack and calls the function then. Call it with defer.
func (s *server) catch(c *call, then func()) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // it is that very value
		panic(p)
	}
	// Other values of a panic may have content, so only their type is logged.
	cause := fmt.Sprintf("%T", p)
	if err, ok := p.(runtime.Error); ok {
		cause = err.Error()
	}
	s.opts.Logger.Error("panic", slog.String("operation", c.name), slog.String("request", c.id),
		slog.String("cause", cause), slog.String("stack", string(debug.Stack())))
	then()
}

// account logs and counts an answered request.
func (s *server) account(r *http.Request, c *call, rec *recorder, took time.Duration) {
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	s.metrics.requests.Add(1, c.name, strconv.Itoa(status/100)+"xx")
	s.metrics.seconds.Observe(took.Seconds(), c.name)
	s.opts.Logger.Info("request", slog.String("method", r.Method), slog.String("operation", c.name), slog.Int("status", status),
		slog.Duration("took", took), slog.Int64("bytes", rec.bytes), slog.String("request", c.id), slog.String("actor", string(c.actor())))
}

// A recorder remembers the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController find the writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts what is written.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// metrics are the metrics of a server. Their label values are names of operations and words of
// the engine, never content.
type metrics struct {
	requests  *telemetry.Counter
	seconds   *telemetry.Histogram
	decisions *telemetry.Counter
	gate      *telemetry.Counter
	tokens    *telemetry.Counter
	probes    *telemetry.Histogram
	invalid   *telemetry.Counter
	streams   *telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	r.Gauge("carrel_goroutines", "Goroutines of the process.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("carrel_heap_bytes", "Bytes of memory that are in use by objects.", func() float64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	})
	return &metrics{
		requests:  r.Counter("carrel_requests_total", "Requests, by operation and class of status.", "operation", "class"),
		seconds:   r.Histogram("carrel_request_seconds", "How long requests took.", []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 60}, "operation"),
		decisions: r.Counter("carrel_decisions_total", "Blocks by what a compression decided about them, and the rule.", "action", "rule"),
		gate:      r.Counter("carrel_gate_total", "Memories and contexts, by what the gate decided.", "outcome"),
		tokens:    r.Counter("carrel_tokens_total", "Tokens that came in, left windows and were handed out.", "kind"),
		probes:    r.Histogram("carrel_probe_ratio", "Share of probes that were answered.", []float64{.5, .7, .8, .9, .95, .99, 1}),
		invalid:   r.Counter("carrel_invalid_plan_total", "Results that a provider would refuse, and that were not written."),
		streams:   r.Counter("carrel_streams_total", "Streams of events that were opened."),
	}
}

// The names of span attributes: those of OpenTelemetry's conventions for generative AI, and
// Carrel's own.
const (
	attrOperation    = "gen_ai.operation.name"
	attrConversation = "gen_ai.conversation.id"
	attrStore        = "gen_ai.memory.store.id"
	attrRecord       = "gen_ai.memory.record.id"
	attrRecords      = "gen_ai.memory.record.count"
	attrEvaluation   = "gen_ai.evaluation.name"
	attrScore        = "gen_ai.evaluation.score.value"
	attrScoreLabel   = "gen_ai.evaluation.score.label"
	attrBudget       = "carrel.budget"
	attrTier         = "carrel.tier"
	attrTokens       = "carrel.tokens." // fixed, live, ...
	attrManifest     = "carrel.manifest.id"
	attrGate         = "carrel.gate.outcome"
	attrGateReason   = "carrel.gate.reason"
	attrRequest      = "carrel.request.id"
	attrProblem      = "error.type"

	eventEvaluation = "gen_ai.evaluation.result"
	tracerName      = "github.com/carrel-dev/carrel/server/rest"
)

// An observation is the metrics and the span of a job.
type observation struct {
	*metrics
	span trace.Span
}

// observe begins the span of a job. No attribute holds content.
func (s *server) observe(ctx context.Context, c *call, h http.Header) (context.Context, *observation) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
	ctx, span := s.opts.Tracer.Tracer(tracerName).Start(ctx, "carrel "+c.name, trace.WithAttributes(attribute.String(attrRequest, c.id)))
	return ctx, &observation{s.metrics, span}
}

// fail marks the span as failed, with the kind of the error.
func (o *observation) fail(err error) {
	kind := api.KindOf(err)
	o.span.SetStatus(codes.Error, kind.Title)
	o.span.SetAttributes(attribute.String(attrProblem, kind.Slug))
	if errors.Is(err, api.Invalid.Is) {
		o.invalid.Add(1)
	}
}

// set adds attributes to the span.
func (o *observation) set(attrs ...attribute.KeyValue) { o.span.SetAttributes(attrs...) }
