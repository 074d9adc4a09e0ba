package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
)

// A feed is resumed at a version and a time, and neither is below 0.
func TestFeedsAreResumed(t *testing.T) {
	for since, ok := range map[string]bool{
		"0-0": true, "3-1000": true, "": false, "3": false, "-1-5": false, "x-5": false, "5-x": false, "3--1": false, "3-": false, "-": false,
	} {
		f := &scopeFeed{}
		err := f.resume(since, 400*time.Millisecond)
		if (err == nil) != ok || err != nil && !errors.Is(err, carrel.ErrRequest) && api.KindOf(err) != api.Request {
			t.Errorf("%q: %v, want that it is one: %v", since, err, ok)
		}
		if since == "3-1000" && (f.version != 3 || f.last.UnixMilli() != 1000 || f.from.UnixMilli() != 600) {
			t.Errorf("%q: %+v", since, f)
		}
	}
}

// The key of a write is 1 to 255 visible characters, and given once.
func TestKeysOfWrites(t *testing.T) {
	for _, tt := range []struct {
		op   *ops.Operation
		keys []string
		want string
		ok   bool
	}{
		{&ops.Undo.Operation, nil, "", true},
		{&ops.Undo.Operation, []string{"!~"}, "!~", true},
		{&ops.Undo.Operation, []string{strings.Repeat("k", 255)}, strings.Repeat("k", 255), true},
		{&ops.Undo.Operation, []string{strings.Repeat("k", 256)}, "", false},
		{&ops.Undo.Operation, []string{""}, "", false},
		{&ops.Undo.Operation, []string{"a", "a"}, "", false},
		{&ops.Undo.Operation, []string{"a b"}, "", false},
		{&ops.Undo.Operation, []string{"a\x7f"}, "", false},
		{&ops.Undo.Operation, []string{"é"}, "", false},
		{&ops.Stats.Operation, []string{"a b"}, "", true},
	} {
		got, err := idempotencyKey(tt.op, http.Header{api.HeaderIdempotency: tt.keys})
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s %q: %q, %v, want %q", tt.op.Name, tt.keys, got, err, tt.want)
		}
	}
}

// Requests that differ in a part have fingerprints that differ, however the parts meet.
func TestFingerprintsTellRequestsApart(t *testing.T) {
	seen := make(map[string]string)
	for _, tt := range [][3]string{
		{"POST", "/a", ""}, {"PUT", "/a", ""}, {"POST", "/a?b", ""}, {"POST", "/ab", ""}, {"POST", "/a", "b"}, {"POST", "/a%2Fb", ""}, {"POST", "/a/b", ""},
	} {
		d := fingerprint(httptest.NewRequest(tt[0], tt[1], http.NoBody), []byte(tt[2])).String()
		if other, twice := seen[d]; twice {
			t.Errorf("%q and %s are the same", tt, other)
		}
		seen[d] = fmt.Sprintf("%q", tt)
	}
}

// What is known of a document is told by its tag, of which there may be several.
func TestTagsMatch(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  bool
	}{
		{nil, false}, {[]string{`"a"`}, true}, {[]string{`W/"a"`}, true}, {[]string{"*"}, true}, {[]string{`"b", "a"`}, true}, {[]string{`"b"`, `"a"`}, true}, {[]string{`"b","c"`}, false}, {[]string{"a"}, false},
	} {
		if got := matches(http.Header{"If-None-Match": tt.lines}, `"a"`); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.lines, got, tt.want)
		}
	}
}

// textual and marshaled write their JSON themselves.
type (
	textual   string
	marshaled struct{}
	request   struct{ A int }
)

func (textual) MarshalText() ([]byte, error)   { return nil, nil }
func (marshaled) MarshalJSON() ([]byte, error) { return nil, nil }

// What cannot be served or described is a mistake of the table, and is found at the start.
func TestTheTableIsChecked(t *testing.T) {
	type taken struct{ Data chan int }
	describe := func(list ...reflect.Type) {
		r := newRegistry()
		for _, typ := range list {
			r.Schema(typ, true, "")
		}
	}
	get := &ops.Operation{Name: "x", Method: http.MethodGet, Path: "/x"}
	for name, mistake := range map[string]func(){
		"a request with a channel": func() { make(decoders).of(reflect.TypeFor[chan int]()) },
		"a request with an array":  func() { make(decoders).of(reflect.TypeFor[[4]byte]()) },
		"a result with a channel":  func() { describe(reflect.TypeFor[chan int]()) },
		"JSON of its own":          func() { describe(reflect.TypeFor[marshaled]()) },
		"text of its own":          func() { describe(reflect.TypeFor[textual]()) },
		"no name":                  func() { describe(reflect.TypeFor[struct{ A int }]()) },
		"one name for two": func() {
			type outer = request
			type request struct{ B int }
			describe(reflect.TypeFor[outer](), reflect.TypeFor[request]())
		},
		"an alias":                       func() { newRegistry().RegisterTypeAlias(reflect.TypeFor[int](), reflect.TypeFor[int64]()) },
		"a path without its field":       func() { newPlan(&ops.Operation{Path: "/x/{id}"}, reflect.TypeFor[request](), make(decoders)) },
		"a query with a list of structs": func() { newPlan(get, reflect.TypeFor[taken](), make(decoders)) },
		"a write without an outcome":     func() { handle[carrel.UndoRequest, carrel.UndoResult](new(server), &ops.Undo, nil) },
	} {
		func() {
			defer func() {
				if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "rest: ") {
					t.Errorf("%s: %v", name, p)
				}
			}()
			mistake()
		}()
	}
	raw := &ops.Operation{Method: http.MethodPost, Path: "/x", Raw: "data"}
	p := newPlan(raw, reflect.TypeFor[struct {
		Data []byte `json:"data"`
		Name string `json:"name"`
	}](), make(decoders))
	if p.raw == nil || p.raw.name != "data" || len(p.query) != 1 || p.query[0].name != "name" || p.body != nil {
		t.Errorf("the body as it is: %+v", p)
	}
	ds := make(decoders)
	if ds.of(reflect.TypeFor[int]()); len(ds) != 1 {
		t.Errorf("%d types are known, want the one", len(ds))
	}
}

// dropping is a connection whose client is gone after some writes.
type dropping struct {
	http.ResponseWriter
	left   int
	writes int
}

func (d *dropping) Flush() {}

func (d *dropping) Write(b []byte) (int, error) {
	if d.writes++; d.writes > d.left {
		return 0, errors.New("gone")
	}
	return len(b), nil
}

// Nothing more is written to a client that is gone, or to one that a stream cannot reach.
func TestStreamsOfClientsThatAreGone(t *testing.T) {
	w := &dropping{ResponseWriter: httptest.NewRecorder(), left: 1}
	st := open(w)
	for range 4 {
		st.beat()
	}
	if w.writes != 2 || !st.gone {
		t.Errorf("%d writes, the last two after an error; gone: %v", w.writes, st.gone)
	}
	if st := open(struct{ http.ResponseWriter }{httptest.NewRecorder()}); !st.gone {
		t.Error("a connection that cannot be flushed has a stream")
	}
}

// All of the progress is sent that came before the result.
func TestProgressBeforeTheResult(t *testing.T) {
	over := make(chan struct{})
	s := &server{metrics: newMetrics(new(telemetry.Registry)), opts: Options{
		Holds: func(context.Context) error { <-over; return nil }, Ticker: func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} },
	}}
	rec := httptest.NewRecorder()
	s.stream(rec, httptest.NewRequest(http.MethodPost, "/", http.NoBody), &call{}, nil, func(ctx context.Context) *response {
		defer close(over)
		for i := range 12 {
			api.ProgressFrom(ctx)("count", i, 12)
		}
		return &response{body: []byte("{}")}
	})
	if text := rec.Body.String(); strings.Count(text, "event: progress") != 12 || !strings.HasSuffix(text, "event: result\ndata: {}\n\n") {
		t.Errorf("sent: %s", text)
	}
}

// A response without a header has the status 200.
func TestRecorder(t *testing.T) {
	rec := &recorder{ResponseWriter: httptest.NewRecorder()}
	n, err := rec.Write([]byte("abc"))
	if rec.WriteHeader(http.StatusNotFound); n != 3 || err != nil || rec.status != 200 || rec.bytes != 3 {
		t.Errorf("%d, %v: %+v", n, err, rec)
	}
}

// Scores of probes are observed, and in the span of a job that asks them, if any probe was asked.
func TestScoresAreObserved(t *testing.T) {
	tally := func(n int) *probe.Report { return &probe.Report{Tally: probe.Tally{Total: n}, Score: ratio.One} }
	for i, tt := range []struct {
		note     func(*observation)
		observed bool
		label    string
	}{
		{func(o *observation) { noteProbes(o, &carrel.RunProbesResult{}) }, false, ""},
		{func(o *observation) { noteProbes(o, &carrel.RunProbesResult{Report: tally(0)}) }, false, ""},
		{func(o *observation) { noteProbes(o, &carrel.RunProbesResult{Report: tally(1)}) }, true, "refused"},
		{func(o *observation) {
			noteProbes(o, &carrel.RunProbesResult{Report: tally(1), Verdict: new(probe.Acceptance)})
		}, true, "refused"},
		{func(o *observation) {
			noteProbes(o, &carrel.RunProbesResult{Report: tally(1), Verdict: &probe.Acceptance{Accepted: true}})
		}, true, "accepted"},
		{func(o *observation) { noteCompress(o, &carrel.CompressResult{}) }, false, ""},
		{func(o *observation) { noteCompress(o, &carrel.CompressResult{Probes: tally(0)}) }, false, ""},
		{func(o *observation) { noteCompress(o, &carrel.CompressResult{Probes: tally(1)}) }, true, ""},
	} {
		metrics, spans := new(telemetry.Registry), tracetest.NewSpanRecorder()
		_, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("").Start(t.Context(), "x")
		tt.note(&observation{newMetrics(metrics), span})
		span.End()
		var text strings.Builder
		label := ""
		for _, e := range spans.Ended()[0].Events() {
			label += e.Attributes[2].Value.AsString()
		}
		if _, err := metrics.WriteTo(&text); err != nil || strings.Contains(text.String(), "carrel_probe_ratio_count 1\n") != tt.observed || label != tt.label {
			t.Errorf("row %d: %v, label %q, want %q: %s", i, err, label, tt.label, &text)
		}
	}
}
