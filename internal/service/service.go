// Package service combines all surfaces of a server over one store, behind one [auth.Door].
//
// It is the only place where surfaces meet. The door checks the credential of a request and puts
// its grant into the context. The engine of the request acts as the actor of the grant, over the
// store behind store/guard:
//
//	/healthz /readyz /metrics /v1/…   server/rest
//	/mcp                              server/mcp
//	/console/…                        server/console, behind a door of its own
//
// A [Service] ends by finishing what it has begun: see [Service.Serve].
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/server/rest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/transcript"
)

// PathMCP is the path of the Model Context Protocol.
const PathMCP = "/mcp"

// DefaultGrace is the default of [Options.Grace].
const DefaultGrace = 20 * time.Second

// Options configures a service. Engine, Store and Authority are required.
type Options struct {
	Engine    *carrel.Engine // over Store
	Store     store.Store
	Authority *auth.Authority

	// MCP also serves agents at [PathMCP].
	MCP bool

	// Console also serves the pages at [console.Root], where people sign in with a credential.
	Console bool

	AllowWrite bool // the console may change things
	Secure     bool // the server speaks TLS

	// Listen, Hosts and Origins are those of [auth.DoorOptions].
	Listen         string
	Hosts, Origins []string

	// Limits are the limits of server/rest.
	Limits rest.Limits

	// Door are the limits by credential and address.
	Door auth.DoorLimits

	// LargeJobs is the number of large jobs that one actor may run at once. The default is that
	// of [auth.Turns].
	LargeJobs int

	// Grace is the time that running requests have to finish when the service ends. The
	// default is [DefaultGrace].
	Grace time.Duration

	Version string // of the program
	Logger  *slog.Logger
	Metrics *telemetry.Registry
	Tracer  trace.TracerProvider
	Now     func() time.Time // the default is time.Now
}

// A Service answers requests. It is safe for concurrent use.
type Service struct {
	opts     Options
	store    store.Store // a resting store
	handler  http.Handler
	stopping chan struct{}
	stop     func()
	ending   atomic.Bool
}

// New returns a service.
func New(o *Options) (*Service, error) {
	if o.Engine == nil || o.Store == nil || o.Authority == nil {
		return nil, errors.New("service: set Engine, Store and Authority in the options")
	}
	s := &Service{opts: *o, store: resting{o.Store}, stopping: make(chan struct{})}
	if s.opts.Now == nil {
		s.opts.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if s.opts.Grace == 0 {
		s.opts.Grace = DefaultGrace
	}
	s.stop = sync.OnceFunc(func() { close(s.stopping) })
	if s.opts.Metrics == nil {
		s.opts.Metrics = new(telemetry.Registry)
	}
	limited := s.opts.Metrics.Counter("carrel_limited_total", "Requests that were refused because of a limit by credential or address.", "limit")
	door, err := auth.NewDoor(o.Authority, &auth.DoorOptions{
		Listen: o.Listen, Hosts: o.Hosts, Origins: o.Origins, Open: []string{"/healthz", "/readyz"}, Now: s.opts.Now,
		Limits: o.Door, Limited: func(limit string) { limited.Add(1, limit) },
	})
	if err != nil {
		return nil, err
	}
	mux, turns := http.NewServeMux(), &auth.Turns{Most: o.LargeJobs, Wait: o.Limits.Queue}
	requests, _ := o.Store.(store.Requests) // nil if no other process can have the store open
	mux.Handle("/", rest.New(&rest.Options{
		Requests: requests,
		Engine:   s.engine, Ready: s.ready, Stopping: s.stopping, Version: o.Version, Limits: o.Limits, Turns: turns,
		Logger: o.Logger, Metrics: s.opts.Metrics, Tracer: o.Tracer, Now: s.opts.Now,
	}))
	if o.MCP {
		tools := mcp.New(s.access, &mcp.Options{Own: s.own, Version: o.Version, Logger: o.Logger, Now: s.opts.Now, Turns: turns})
		mux.Handle(PathMCP, s.scoped(tools.Handler()))
	}
	s.handler = door.Guard(mux)
	if o.Console {
		pages, err := console.New(&console.Options{
			Verifier: o.Authority, Engine: s.engine, Store: o.Store.Info, Listen: o.Listen, Hosts: o.Hosts, Origins: o.Origins,
			AllowWrite: o.AllowWrite, Secure: o.Secure, Version: o.Version, Logger: o.Logger, Now: s.opts.Now, Stopping: s.stopping,
			Limits: o.Door, Limited: func(limit string) { limited.Add(1, limit) }, Turns: turns,
			Node: func(ctx context.Context) *console.ServerState { return s.node(ctx, turns) },
		})
		if err != nil {
			return nil, err
		}
		all := http.NewServeMux()
		all.Handle("/", s.handler)
		all.Handle(console.Root, pages)
		s.handler = all
	}
	return s, nil
}

// Handler returns the handler of the service, including the door.
func (s *Service) Handler() http.Handler { return s.handler }

// engine returns the engine that acts for the caller, and the caller's grant.
func (s *Service) engine(ctx context.Context) (*carrel.Engine, *governance.Grant, error) {
	g, ok := auth.GrantFrom(ctx)
	if !ok {
		return nil, nil, api.ErrUnauthenticated
	}
	return s.opts.Engine.As(g.Actor, guard.New(s.store, g, s.opts.Now)), g, nil
}

type (
	scopeKey   struct{}
	sessionKey struct{}
)

// scoped puts into the context the scope of a request, and the session that its header names.
func (s *Service) scoped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if g, ok := auth.GrantFrom(ctx); ok {
			if scope, err := ops.ScopeOf(r.Header, g); err == nil {
				ctx = context.WithValue(ctx, scopeKey{}, scope)
			}
			ctx = context.WithValue(ctx, sessionKey{}, transcript.SessionID(r.Header.Get(api.HeaderSession)))
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// access returns the engine, the scope and the grant for a call of a tool.
func (s *Service) access(ctx context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
	e, g, err := s.engine(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	scope, ok := ctx.Value(scopeKey{}).(governance.Scope)
	if !ok {
		return nil, "", nil, &api.FieldError{Field: api.HeaderScope, Text: "is missing or not a scope: name one, as the credential is for more than one scope"}
	}
	return e, scope, g, nil
}

// own returns the session that the header of a request names, or ErrUnbound.
func (s *Service) own(ctx context.Context, _ map[string]any) (transcript.SessionID, error) {
	if id, _ := ctx.Value(sessionKey{}).(transcript.SessionID); id != "" {
		return id, nil
	}
	return "", mcp.ErrUnbound
}

// Drain makes /readyz fail from now on, so that a load balancer sends requests to other servers.
// Other requests are still answered.
func (s *Service) Drain() { s.ending.Store(true) }

// ready returns an error if the service is about to end, or if the store does not answer or
// reports that it cannot be written.
func (s *Service) ready(ctx context.Context) error {
	if s.ending.Load() {
		return rest.ErrEnding
	}
	if _, err := s.opts.Store.Version(ctx, governance.DefaultScope); err != nil {
		return err
	}
	if r, ok := s.opts.Store.(interface {
		Ready(ctx context.Context) error
	}); ok {
		return r.Ready(ctx)
	}
	return nil
}

// node returns the state of the service for the console.
func (s *Service) node(ctx context.Context, turns *auth.Turns) *console.ServerState {
	n := &console.ServerState{Surfaces: []string{"http", "console"}}
	if s.opts.MCP {
		n.Surfaces = append(n.Surfaces, "mcp")
	}
	if err := s.ready(ctx); err != nil {
		n.Problem = api.NewProblem(err).Detail
	}
	n.Running, n.Waiting = turns.Load()
	l := s.opts.Limits.WithDefaults()
	n.Limits = []console.Limit{
		{Name: "body of a request", Value: fmt.Sprintf("%d MiB", l.Body>>20)},
		{Name: "bodies in memory at once", Value: fmt.Sprintf("%d MiB", l.Bodies>>20)},
		{Name: "jobs at once", Value: strconv.Itoa(l.Jobs)},
		{Name: "wait of a request for its turn", Value: l.Queue.String()},
		{Name: "time of a job", Value: l.Job.String()},
		{Name: "event streams of a credential", Value: strconv.Itoa(l.Streams)},
	}
	return n
}

// Serve answers the requests on listener l until ctx is done. Then it accepts no new ones, ends
// streams, and lets running requests finish within Options.Grace. After that it cuts off the others
// and cancels their jobs, except jobs that write: these go on until the process ends or the store
// is closed. Each write of a job is made whole or not at all. Serve closes the listener, and
// returns nil if all requests have finished.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	srv := auth.Server(s.handler)
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	defer s.finishing(ctx)()
	select {
	case err := <-served:
		s.stop()
		return err
	case <-ctx.Done():
	}
	s.stop()
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Grace)
	defer done()
	err := srv.Shutdown(grace)
	if err != nil {
		cancel()
		err = errors.Join(err, srv.Close())
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// ServeConsole serves only a console on listener l until ctx is done; then it returns nil. It
// cuts running requests and closes the listener.
func ServeConsole(ctx context.Context, l net.Listener, o *console.Options) error {
	o.Listen = l.Addr().String()
	pages, err := console.New(o)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(console.Root, pages)
	mux.Handle("/{$}", http.RedirectHandler(console.Root, http.StatusSeeOther))
	srv := auth.Server(mux)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	err = srv.Close()
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
