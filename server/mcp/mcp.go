// Package mcp serves Carrel over the Model Context Protocol, on standard input and output or
// over HTTP, so that an agent can manage its own window. For a single user:
//
//	access := func(context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
//		return e, governance.DefaultScope, governance.Whole(governance.ActorUser), nil
//	}
//	err := mcp.New(access, nil).ServeStdio(ctx, os.Stdin, os.Stdout)
//
// There are eight tools, always the same and in the same order, because a list that
// changes would cost the agent its prompt cache: get_messages and discard_messages,
// status, compress, recall, search, assemble and pin. A read-only server has only the tools
// that change nothing. Sessions, originals of blocks and artifacts, explanations of blocks and
// manifests are resources, too. Two prompts, compress
// and handoff, tell an agent how to compress its window and how to hand a session over.
//
// A tool only translates: arguments into a request of the engine, and the result into text that
// begins with ids, and into structured content with the same figures. An error of the engine
// becomes an error result of the tool, with the problem of package api and a hint what to do
// next. It never becomes an error of the protocol, which the model would not see.
//
// The scope and the grant are found anew for each call, see [Access], and so is the session of
// the client, see [Own]. If the client's session is unknown, a tool needs the session as an
// argument: a change of another session than the agent's own would do harm unnoticed. The server
// keeps nothing from one call to the next. Over HTTP it has no protocol sessions, so that no
// credential can use a session that another has opened.
//
// Content of the store was written by others. A tool returns it unchanged. It is data, not an
// instruction to the reader; the instructions of the server say so to the model.
package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/transcript"
)

// An Access returns the engine that acts for the caller, the scope of the call, and the caller's
// grant. The server calls it for each call, with the context of the request. For callers of several
// kinds, the engine is made as in the example of package rest.
type Access func(ctx context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error)

// An Own returns the session that the calling client is in, which a tool uses if no other is
// named. The server calls it for each call, because a client can change its session. The
// parameter meta is the metadata of the call (_meta), or nil. Own fails with [ErrUnbound] if the
// session is unknown. To use the header [api.HeaderSession], put it into the context in a handler
// before [Server.Handler], which does not read it.
type Own func(ctx context.Context, meta map[string]any) (transcript.SessionID, error)

// ErrUnbound means that the session of the client is unknown.
var ErrUnbound = fmt.Errorf("%w: it cannot be known which session is yours", carrel.ErrRequest)

// Options configures a [Server]. A nil *Options means the defaults.
type Options struct {
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool

	// Own finds the session of a client. The default fails with ErrUnbound.
	Own Own

	// Version is the program's, for the client to show.
	Version string

	// Logger receives a line for each internal error, without content. The default
	// discards them.
	Logger *slog.Logger

	// Holds returns an error if the caller's grant is no longer valid. The server calls it
	// before it sends progress. The default is [auth.Recheck].
	Holds func(ctx context.Context) error

	// Turns bounds the large jobs of each actor. Give all surfaces of a server the same. Nil
	// means no bound.
	Turns *auth.Turns

	// Now returns the time, for the expiry of grants. The default is time.Now.
	Now func() time.Time
}

// A Server answers calls of the Model Context Protocol. It is safe for concurrent
// use.
type Server struct {
	sdk   *sdk.Server
	of    Access
	own   Own
	log   *slog.Logger
	holds func(context.Context) error
	now   func() time.Time
	turns *auth.Turns    // or nil
	order map[string]int // of the tools, by name
}

// New returns a server for the engines that an Access returns.
func New(of Access, opts *Options) *Server {
	var o Options
	if opts != nil {
		o = *opts
	}
	s := &Server{of: of, own: o.Own, log: o.Logger, holds: o.Holds, now: o.Now, turns: o.Turns, order: make(map[string]int)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.holds == nil {
		s.holds = auth.Recheck
	}
	if s.own == nil {
		s.own = func(context.Context, map[string]any) (transcript.SessionID, error) { return "", ErrUnbound }
	}
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // this is where the clock comes in
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "carrel", Title: "Carrel", Version: cmp.Or(o.Version, "devel")}, &sdk.ServerOptions{
		Instructions: Instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
		},
		CompletionHandler: s.complete,
		SetCacheable:      cacheable,
	})
	for _, t := range tools() {
		if d := t.describe(); !o.ReadOnly || d.ReadOnly() {
			s.order[d.Name] = len(s.order)
			t.register(s)
		}
	}
	s.addResources()
	s.addPrompts()
	s.sdk.AddReceivingMiddleware(s.guard)
	return s
}

// ServeStdio answers the messages of in, one per line, until in ends and all calls are answered. It
// writes only messages to out. When ctx is done, it returns the error of ctx; a read of in may go
// on.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.sdk.Run(ctx, &lines{in: in, out: out})
}

// maxMessage is the largest message in bytes.
const maxMessage = 4 << 20

// Handler returns the server for HTTP. Mount it behind [auth.Door.Guard], and behind a handler that
// puts into the context of a request whatever else the [Access] and [Own] read there. It has no
// protocol sessions: each request has its own grant. On a loopback address it accepts only loopback
// names in the header Host, and it refuses pages of other origins.
func (s *Server) Handler() http.Handler {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	return http.NewCrossOriginProtection().Handler(handler)
}

// fixed is how long a client may cache lists that never change while it is connected.
const fixed = time.Hour

// cacheable sets how long a client may cache an answer, and that clients may not share it.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch req.(type) {
	case *sdk.ListToolsRequest, *sdk.ListPromptsRequest, *sdk.ListResourceTemplatesRequest, *sdk.DiscoverRequest:
		c.TTLMs = int(fixed.Milliseconds())
	}
}
