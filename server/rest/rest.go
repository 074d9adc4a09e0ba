// Package rest is Carrel over HTTP: a route for each job of a [carrel.Engine] that the server
// offers, and the description of all routes as an OpenAPI document, /v1/openapi.json.
//
//	engine := func(ctx context.Context) (*carrel.Engine, *governance.Grant, error) {
//		g, ok := auth.GrantFrom(ctx)
//		if !ok {
//			return nil, nil, api.ErrUnauthenticated
//		}
//		return e.As(g.Actor, guard.New(s, g, nil)), g, nil // e is an engine over the store s
//	}
//	handler := door.Guard(rest.New(&rest.Options{Engine: engine})) // door is an auth.Door
//
// The package only translates. It decodes a request from the path, the query and the body; the
// engine does the job; the result is sent as JSON, with its digest as a strong ETag. Errors are
// problem documents of RFC 9457.
//
// # Permissions
//
// Options.Engine returns the engine and the grant of the caller. The scope is that of the header
// Carrel-Scope, or the only scope of the grant. The permissions are checked before the body is
// read, and a refusal says nothing about the content of the scope. Fields of a request that name
// the author of an action, such as a decision about a review, are set to the actor of the grant.
//
// # Requests
//
// Bodies are decoded strictly: a key must be spelled exactly, occur once and have a field,
// required fields must be present, and texts must be valid Unicode. The size and depth of a body
// and the load of the server are bounded, see Limits.
//
// # Writes
//
// A write that has begun is finished or fails, also if the client disconnects or the server
// shuts down. A write with an Idempotency-Key is made once. If the client sends the same request
// with the same key within 24 hours and still has the permission, it gets the answer to the first
// one; another request with the same key is refused with status 422. With Options.Requests this
// holds on all servers over the same store, and otherwise in this process, for the newest writes
// within Limits.Replays and Limits.ReplayBytes. The memory of a key has no content: only a digest
// of the request, and ids, names of kinds and figures of the result. The rest of the answer is read
// from the store again: purged content is gone, and the lists of a compression's decisions are left
// out. Failed writes and dry runs are not remembered.
//
// # Streams
//
// An operation that is not a GET streams its progress to a client that accepts
// text/event-stream: events named progress, then one event named result or problem.
// GET /v1/events streams the journal of a session, or all events of a scope: the data of an event
// is an [api.Event].
//
// # Logs and metrics
//
// Logs, metrics and spans have no content. Logs have no queries and no credentials. Metrics have
// names of operations, but no scopes and no sessions.
package rest

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

// Options configures the handler. All fields but Engine have a sensible default.
type Options struct {
	// Engine returns the engine that acts for the caller of a request, and the caller's grant.
	// The context is that of the request, with the grant that [auth.Door] has put into it; see
	// the example of the package. The default refuses all callers.
	Engine func(ctx context.Context) (*carrel.Engine, *governance.Grant, error)

	// Holds returns an error if the caller's grant is no longer valid. Streams call it before
	// each event. The default is [auth.Recheck].
	Holds func(ctx context.Context) error

	// Requests has the writes of all servers over the same store, by idempotency key. By
	// default only the writes of this process are known.
	Requests store.Requests

	// Ready returns an error if the store does not answer, or [ErrEnding]. GET /readyz then has
	// status 503. The default returns nil.
	Ready func(ctx context.Context) error

	// Stopping is closed when the server begins to shut down, so that streams end. By
	// default they end with their clients.
	Stopping <-chan struct{}

	Version string // of the program
	Limits  Limits

	// Turns bounds the large jobs of each actor. Give all surfaces of a server the same: the
	// default is a new one.
	Turns *auth.Turns

	// Logger receives a line for each request. The default discards them.
	Logger *slog.Logger

	// Metrics counts requests; GET /metrics returns it. Its type is internal: other modules
	// leave it nil, for a new registry.
	Metrics *telemetry.Registry

	// Tracer makes the spans. The default makes none.
	Tracer trace.TracerProvider

	// Now returns the time, for the expiry of grants and for durations. The default is
	// time.Now.
	Now func() time.Time

	// Rand is the source of request ids. It must be safe for concurrent use. The default is
	// crypto/rand.
	Rand io.Reader

	// Ticker returns a channel that ticks for streams, and a function that stops it. The
	// default uses time.NewTicker.
	Ticker func(time.Duration) (<-chan time.Time, func())
}

func (o *Options) complete() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Limits.complete()
	if c.Turns == nil {
		c.Turns = &auth.Turns{Wait: c.Limits.Queue}
	}
	if c.Engine == nil {
		c.Engine = func(context.Context) (*carrel.Engine, *governance.Grant, error) {
			return nil, nil, api.ErrUnauthenticated
		}
	}
	if c.Holds == nil {
		c.Holds = auth.Recheck
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = new(telemetry.Registry)
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Ticker == nil {
		c.Ticker = func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d)
			return t.C, t.Stop
		}
	}
	return c
}

// A server has the state that all routes share.
type server struct {
	opts     Options
	mux      *http.ServeMux
	api      huma.API
	schemas  *registry
	decoders decoders // used only while routes are registered
	jobs     *queue
	bodies   *queue
	replays  *replays
	ledger   *ledger
	streams  *tally
	metrics  *metrics
}

// New returns the handler of all routes. Mount it at the root of a host, behind an [auth.Door],
// which checks credentials. List /healthz and /readyz in [auth.DoorOptions.Open] so that they need
// none. GET /metrics needs the permission [governance.Observe].
func New(opts *Options) http.Handler { return newServer(opts) }

func newServer(opts *Options) *server {
	o := opts.complete()
	s := &server{
		opts: o, mux: http.NewServeMux(), schemas: newRegistry(), decoders: make(decoders),
		jobs:    newQueue(int64(o.Limits.Jobs), o.Limits.Queue, "jobs"),
		bodies:  newQueue(o.Limits.Bodies, o.Limits.Queue, "bodies"),
		replays: newReplays(o.Limits.Replays, o.Limits.ReplayBytes),
		ledger:  &ledger{o.Requests, o.Now, o.Rand, o.Logger, o.Limits.ReplayBytes / 16},
		streams: &tally{most: o.Limits.Streams, count: make(map[string]int)},
		metrics: newMetrics(o.Metrics),
	}
	s.api = humago.New(s.mux, s.config())
	s.register()
	s.mux.HandleFunc("/", s.notFound)
	return s
}
