package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/carrel-dev/carrel/internal/httpjson"
)

// Options adjusts the sending of spans. The zero value of every field is a sensible default.
type Options struct {
	// Version is the version of the program.
	Version string

	// Metrics counts the spans that were sent and those that could not be sent. By default they
	// are not counted.
	Metrics *Registry

	// Logger logs batches that could not be sent. The default discards the records.
	Logger *slog.Logger

	// Timeout is the limit for one batch. The default is 10 s.
	Timeout time.Duration
}

// NewTracerProvider returns a provider that sends spans in batches to the collector at url,
// such as "http://localhost:4318", by OTLP over HTTP as JSON. It drops and counts spans that
// cannot be sent; the traced code never waits. The caller shuts the provider down so that the
// last batch is sent.
func NewTracerProvider(url string, opts *Options) (*sdktrace.TracerProvider, error) {
	e, err := newExporter(url, opts)
	if err != nil {
		return nil, err
	}
	about := resource.NewSchemaless(attribute.String("service.name", "carrel"), attribute.String("service.version", e.opts.Version))
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(e, sdktrace.WithExportTimeout(e.opts.Timeout)), sdktrace.WithResource(about)), nil
}

// errExport is the error for every failed request to the collector, whatever the reason.
var errExport = errors.New("the collector of spans refused them or cannot be reached")

// An exporter sends spans.
type exporter struct {
	url     string
	opts    Options
	client  *httpjson.Client
	sent    *Counter
	dropped *Counter
}

func newExporter(url string, opts *Options) (*exporter, error) {
	base, err := httpjson.ParseBase(strings.TrimSuffix(url, "/traces"))
	if err != nil {
		return nil, fmt.Errorf("telemetry: URL of the collector: %w", err)
	}
	e := &exporter{url: base + "/traces"}
	if opts != nil {
		e.opts = *opts
	}
	httpjson.SetDefault(&e.opts.Timeout, 10*time.Second)
	if e.opts.Metrics == nil {
		e.opts.Metrics = new(Registry)
	}
	if e.opts.Logger == nil {
		e.opts.Logger = slog.New(slog.DiscardHandler)
	}
	e.sent = e.opts.Metrics.Counter("carrel_spans_sent_total", "Spans that the collector took.")
	e.dropped = e.opts.Metrics.Counter("carrel_spans_dropped_total", "Spans that could not be sent.")
	requests := httpjson.Options{Errors: httpjson.Errors{Unavailable: errExport, Refused: errExport, Reply: errExport}}
	if err := requests.Complete(e.opts.Timeout, e.opts.Timeout, 1<<16); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	e.client = httpjson.New(requests)
	return e, nil
}

// ExportSpans sends a batch. It never fails: it counts the spans that cannot be sent.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := json.Marshal(newBatch(spans))
	if err == nil {
		_, err = e.client.Post(ctx, e.url, body)
	}
	if err != nil {
		e.dropped.Add(float64(len(spans)))
		e.opts.Logger.Warn("spans were dropped", slog.Int("spans", len(spans)), slog.String("error", err.Error()))
		return nil
	}
	e.sent.Add(float64(len(spans)))
	return nil
}

// Shutdown does nothing, because an exporter keeps nothing.
func (e *exporter) Shutdown(context.Context) error { return nil }

// The following types are a request of OTLP as JSON. Ids are hexadecimal digits; 64-bit numbers
// are strings.

type batch struct {
	Resources []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource struct {
		Attributes []keyValue `json:"attributes"`
	} `json:"resource"`
	Scopes []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []span `json:"spans"`
}

type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []keyValue  `json:"attributes,omitempty"`
	Events     []spanEvent `json:"events,omitempty"`
	Status     spanStatus  `json:"status"`
}

type spanEvent struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []keyValue `json:"attributes,omitempty"`
}

type spanStatus struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type keyValue struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

// newBatch returns the request for spans of one provider.
func newBatch(spans []sdktrace.ReadOnlySpan) *batch {
	var r resourceSpans
	at := make(map[string]int)
	for i, s := range spans {
		if i == 0 {
			r.Resource.Attributes = keyValues(s.Resource().Attributes())
		}
		name := s.InstrumentationScope().Name
		place, ok := at[name]
		if !ok {
			place = len(r.Scopes)
			at[name] = place
			r.Scopes = append(r.Scopes, scopeSpans{})
			r.Scopes[place].Scope.Name = name
		}
		r.Scopes[place].Spans = append(r.Scopes[place].Spans, newSpan(s))
	}
	return &batch{[]resourceSpans{r}}
}

func newSpan(s sdktrace.ReadOnlySpan) span {
	out := span{
		Trace: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: nanoseconds(s.StartTime()), End: nanoseconds(s.EndTime()), Attributes: keyValues(s.Attributes()),
	}
	if s.Parent().IsValid() {
		out.Parent = s.Parent().SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, spanEvent{nanoseconds(e.Time), e.Name, keyValues(e.Attributes)})
	}
	switch s.Status().Code {
	case codes.Unset:
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status = spanStatus{2, s.Status().Description}
	}
	return out
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func keyValues(attrs []attribute.KeyValue) []keyValue {
	list := make([]keyValue, len(attrs))
	for i, a := range attrs {
		list[i] = keyValue{string(a.Key), value(a.Value)}
	}
	return list
}

// value returns the value of an attribute as OTLP encodes it in JSON. A type that Carrel does
// not use is encoded as a string.
func value(v attribute.Value) map[string]any {
	switch v.Type() { //nolint:exhaustive // the other types become text
	case attribute.BOOL:
		return map[string]any{"boolValue": v.AsBool()}
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		texts := v.AsStringSlice()
		list := make([]map[string]any, len(texts))
		for i, s := range texts {
			list[i] = map[string]any{"stringValue": s}
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return map[string]any{"stringValue": v.String()}
}
