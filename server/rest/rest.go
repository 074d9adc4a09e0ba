// Package rest is Carrel over HTTP: a route for every operation of the table in
// internal/ops, and its description as an OpenAPI document.
//
// It translates and decides nothing. A request is put together from the path, the
// query and the body; the engine does the job; the result is sent as JSON, with its
// digest as a strong ETag. Errors are problem documents of RFC 9457.
//
// # Who may
//
// Options.Engine says on whose behalf a request is made. The scope is in the header
// Carrel-Scope, or it is the only one that the grant names. What the grant must
// allow is checked before the body is read, and a refusal says nothing of what is
// in the scope. Where a request says who somebody is, such as who decides a review,
// that is the actor of the grant, whatever the request says.
//
// # What is read
//
// Bodies are read by a strict reader into structs: no key twice, none that only
// differs in its capitals, no unknown key, nothing missing, no text that is not
// valid Unicode. Sizes, depths, and how much is done at once are bounded, see
// Limits.
//
// # Writes
//
// A write that has begun is finished or refused, whether or not the client still
// waits; so is one at the time of a shutdown. It is done once for an
// Idempotency-Key: who asks again with the same key and may still do it gets an answer
// to the write that was made, for 24 hours: as long as the process lives and within
// the bounds of Limits, behind which the oldest are forgotten; and from any server over the
// same store, if the store knows requests (Options.Requests). What is kept for a key
// has no content: a digest of the request, and of the result ids, names of kinds and
// figures. The rest of the answer is what the store has now: what was purged since is
// gone, lists of a compression's decisions are left out. What was refused, and what a
// dry run found, is not kept.
//
// # Streams
//
// Any operation but those by GET streams its progress to a client that accepts
// text/event-stream: events of the name progress, then one result or one problem.
// GET /v1/events streams the journal. See stream.go and events.go for their forms.
//
// # What is told
//
// Logs, metrics and spans hold no content, and logs no query and no credential. Metrics
// name operations, and no scope and no session.
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

// Options adjusts the handler. All but Engine have a sensible default.
type Options struct {
	// Engine returns the engine that acts for whoever made a request, and what they
	// may do. The context is that of the request, in which whoever checked the credential
	// has put who it is for. By default nobody may do anything.
	Engine func(ctx context.Context) (*carrel.Engine, *governance.Grant, error)

	// Holds returns why the grant of whoever made a request does not hold any more, or
	// nil. Streams ask before each event. The default is [auth.Recheck].
	Holds func(ctx context.Context) error

	// Requests knows which writes other servers over the same store have made for which
	// keys. By default there are no others.
	Requests store.Requests

	// Ready fails if the store does not answer. By default it does.
	Ready func(ctx context.Context) error

	// Stopping is closed when the server begins to shut down, so that streams end. By
	// default they end with their clients.
	Stopping <-chan struct{}

	Version string // of the program
	Limits  Limits

	// Turns bounds the large jobs of each actor. The default is one of its own.
	Turns *auth.Turns

	// Logger receives a line for each request. The default discards them.
	Logger *slog.Logger

	// Metrics is where requests are counted; GET /metrics writes it. The default is
	// one of its own.
	Metrics *telemetry.Registry

	// Tracer makes the spans. The default makes none.
	Tracer trace.TracerProvider

	// Now tells the time, by which grants expire and durations are measured. The
	// default is time.Now.
	Now func() time.Time

	// Rand is where ids of requests come from. It must be safe for concurrent use. The
	// default is crypto/rand.
	Rand io.Reader

	// Ticker ticks for streams, and is stopped by the function it returns. The default
	// is time.NewTicker.
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

// A server is what the routes have in common.
type server struct {
	opts     Options
	mux      *http.ServeMux
	api      huma.API
	schemas  *registry
	decoders decoders // while routes are registered
	jobs     *queue
	bodies   *queue
	replays  *replays
	ledger   *ledger
	streams  *tally
	metrics  *metrics
}

// New returns the handler of the whole interface. Mount it at the root of a host,
// behind what checks tokens; /healthz and /readyz need none.
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
	s.mux.HandleFunc("/", s.nowhere)
	return s
}
