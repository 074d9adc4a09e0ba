package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

// Options configures a proxy. The zero value of every field is a sensible default.
type Options struct {
	Upstreams Upstreams // the default of an empty URL is the provider's own

	// Listen and Hosts are the names by which clients may address the proxy in the header
	// Host; see [auth.DoorOptions].
	Listen string
	Hosts  []string

	// Recorder records calls. Without a Recorder calls are not recorded.
	Recorder Recorder
	// Required refuses calls that the Recorder cannot record. It needs a Recorder.
	Required bool
	// Wait is the longest time that a call waits for its record. The default is [DefaultWait].
	Wait time.Duration

	// Importer imports the conversations into Scope. Without an Importer they are not imported.
	// If the Manager is an [Epochs], it has to be the Importer too, with the same scope.
	Importer Importer
	Scope    governance.Scope

	// Manager decides which bodies are sent; with nil the clients' own are sent. Holdout is
	// the share of sessions that are not managed, for comparison. Prepare is the longest time
	// that the Manager may take for a call, which then passes as it came; the default is
	// [DefaultPrepare]. For an Epochs set it to [Epochs.Bound]: the default is too short.
	Manager Manager
	Holdout ratio.Ratio
	Prepare time.Duration

	// Would is an Estimator: it estimates, in the background, what managing would have sent for
	// calls that are not managed. An Estimator is for one Proxy. By default nothing is estimated.
	Would *Estimator

	// MaxBody is the largest body in bytes that is read, compressed and decompressed. A larger
	// body passes unread. The default is [DefaultMaxBody].
	MaxBody int64

	// Idle is the longest time without a byte from the provider, after which a request is
	// canceled. The default is [DefaultIdle].
	Idle time.Duration

	// Dial opens a connection to a provider. The default is the method of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Logger  *slog.Logger
	Metrics *telemetry.Registry // of an internal type: other modules leave it nil
	Now     func() time.Time    // the default is time.Now
}

// The defaults of MaxBody, Idle and Prepare in [Options].
const (
	DefaultMaxBody = 64 << 20
	DefaultIdle    = 15 * time.Minute
	DefaultPrepare = 2 * time.Second
)

// Bounds of the connections to providers and of the requests of clients.
const (
	dialTimeout      = 30 * time.Second
	keepAlive        = 30 * time.Second
	handshakeTimeout = 15 * time.Second
	idleConns        = 256 // to one host
	idleConnTimeout  = 90 * time.Second
	maxHeader        = 1 << 20 // bytes
	readBuffer       = 32 << 10
	writeBuffer      = 64 << 10
	readTimeout      = 5 * time.Minute
)

// A Proxy is an [http.Handler] that passes requests on to providers. It is safe for concurrent
// use. Call Close after the last request.
type Proxy struct {
	opts              Options
	anthropic, openai *url.URL
	transport         *http.Transport
	reverse           *httputil.ReverseProxy
	handler           http.Handler
	keeper            *keeper
	log               *slog.Logger
	metrics           *meter             // or nil
	gaps              *telemetry.Counter // or nil
	stats             stats
	stuck             atomic.Int64 // writes to the recorder that hang
	unreported        atomic.Int64 // gaps that no recorded intent reports yet
}

// New returns a proxy. It fails if an option is invalid.
func New(o *Options) (*Proxy, error) {
	p := &Proxy{}
	if o != nil {
		p.opts = *o
	}
	p.complete()
	if p.opts.Required && p.opts.Recorder == nil {
		return nil, errors.New("calls must be recorded, but there is no Recorder")
	}
	var err error
	if p.anthropic, err = parseBase("anthropic", p.opts.Upstreams.Anthropic); err != nil {
		return nil, err
	}
	if p.openai, err = parseBase("openai", p.opts.Upstreams.OpenAI); err != nil {
		return nil, err
	}
	if p.handler, err = auth.Local(p.opts.Listen, p.opts.Hosts, http.HandlerFunc(p.serve)); err != nil {
		return nil, err
	}
	if r := p.opts.Metrics; r != nil {
		p.metrics = newMeter(r)
		p.gaps = r.Counter("carrel_proxy_gaps_total", "Intents and outcomes of calls that were not recorded.", "what")
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	p.transport = &http.Transport{
		Proxy: nil, DialContext: p.opts.Dial, Protocols: protocols, DisableCompression: true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleConnTimeout, TLSHandshakeTimeout: handshakeTimeout,
		MaxResponseHeaderBytes: maxHeader, ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer,
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: p, FlushInterval: -1, BufferPool: buffers{}, ModifyResponse: p.answer,
		ErrorHandler: p.fail, ErrorLog: log.New(io.Discard, "", 0),
	}
	p.keeper, err = newKeeper(p)
	return p, err
}

// complete sets the defaults.
func (p *Proxy) complete() {
	o := &p.opts
	o.Upstreams.Anthropic = cmp.Or(o.Upstreams.Anthropic, DefaultAnthropic)
	o.Upstreams.OpenAI = cmp.Or(o.Upstreams.OpenAI, DefaultOpenAI)
	for d, otherwise := range map[*time.Duration]time.Duration{&o.Wait: DefaultWait, &o.Idle: DefaultIdle, &o.Prepare: DefaultPrepare} {
		if *d <= 0 {
			*d = otherwise
		}
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if p.log = o.Logger; p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	o.Scope = cmp.Or(o.Scope, governance.DefaultScope)
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Server returns a server for the proxy. Reading a request has a timeout; writing an answer has
// none.
func (p *Proxy) Server() *http.Server {
	s := auth.Server(p)
	s.ReadTimeout, s.WriteTimeout, s.MaxHeaderBytes = readTimeout, 0, maxHeader
	return s
}

// Serve answers the requests on listener l until ctx is done. Then it accepts no new ones, and
// lets running calls finish within grace. It closes the listener and the proxy. It returns nil if
// all calls have finished.
func (p *Proxy) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	srv := p.Server()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		p.Close(ctx)
		return err
	case <-ctx.Done():
	}
	until, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	err := srv.Shutdown(until)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	p.Close(until)
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// Close imports the waiting conversations, unless ctx ends before, stops the Estimator, and closes
// the idle connections to providers. Call it after the last request.
func (p *Proxy) Close(ctx context.Context) {
	p.keeper.close(ctx)
	p.opts.Would.close(ctx)
	p.transport.CloseIdleConnections()
}

// serve answers a request that [auth.Local] has admitted.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	to, ok := p.target(r)
	if !ok {
		refusedPath.write(w, "")
		return
	}
	dialect, kind := wire.RouteOf(r.Method, to.rest)
	switch strings.ToLower(r.Header.Get("Upgrade")) {
	case "":
	case "h2c":
		r.Header.Del("Upgrade") // an offer of HTTP/2, which a server may ignore (RFC 9110, 7.8)
	default:
		refusedUpgrade.write(w, dialect)
		return
	}
	// Without full duplex an HTTP/1 server reads the rest of the body when the answer begins,
	// although the proxy still sends the body on, and cuts the answer. HTTP/2 always is full
	// duplex.
	_ = http.NewResponseController(w).EnableFullDuplex()
	c := &call{proxy: p, target: to, ctx: r.Context(), dialect: dialect}
	c.intent.Dialect = string(dialect)
	r, cancel := c.bind(r)
	defer cancel(nil)
	switch kind {
	case wire.KindCall, wire.KindCompact:
		c.serve(&writer{ResponseWriter: w}, r, kind)
	case wire.KindCount:
		p.stats.passed.Add(1)
		c.count(&writer{ResponseWriter: w}, r)
	default:
		p.stats.passed.Add(1)
		p.reverse.ServeHTTP(&writer{ResponseWriter: w}, r)
	}
}

// A writer keeps the server from adding headers to an answer, and flushes the headers of an event
// stream before its first event.
type writer struct{ http.ResponseWriter }

// Unwrap is for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	for _, name := range [...]string{"Date", "Content-Type"} {
		if h := w.Header(); h[name] == nil {
			h[name] = nil // this keeps the server from adding it
		}
	}
	w.ResponseWriter.WriteHeader(status)
	if status >= http.StatusOK && strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // if it fails, the first event flushes
	}
}

// rewrite sets the URL and the headers of the request to the provider.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	c := callOf(r.In.Context())
	r.Out.URL = c.target.url(r.In.URL)
	r.Out.Host = ""
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = v // ReverseProxy has removed the client's
		}
	}
	r.Out.Header.Del("Expect") // the proxy has answered Expect: 100-continue itself
}

// buffers is the pool of buffers for copying answers.
type buffers struct{}

const bufferSize = 32 << 10

var bufferPool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// Get implements [httputil.BufferPool].
func (buffers) Get() []byte {
	b, _ := bufferPool.Get().(*[bufferSize]byte) // the pool has only such arrays
	return b[:]
}

// Put implements [httputil.BufferPool].
func (buffers) Put(b []byte) {
	if len(b) == bufferSize {
		bufferPool.Put((*[bufferSize]byte)(b))
	}
}

// fail answers a request with an error if the provider gave no answer.
func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	c := callOf(r.Context())
	out := &outcome{state: store.CallFailed}
	if c.rounds != nil {
		c.rounds.last(out)
	}
	c.finish(out)
	if c.ctx.Err() != nil { // the client is gone
		panic(http.ErrAbortHandler)
	}
	f := refusedDial
	switch {
	case errors.Is(err, errUnrecorded):
		f = refusedOutcome
	case errors.Is(context.Cause(r.Context()), errIdle):
		f = refusedIdle
	case c.rounds != nil && c.rounds.n > 0:
		f = roundRefusal(err)
	}
	p.log.Warn("a request got no answer from the provider", "reason", err)
	f.write(w, c.dialect)
}

// errIdle means that the provider sent no byte for Options.Idle.
var errIdle = errors.New("proxy: the provider sent nothing for too long")
