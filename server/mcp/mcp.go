// Package mcp lets an agent keep its own window in order: it is Carrel as a server
// of the Model Context Protocol, over standard input and output or over HTTP.
//
// There are eight tools, always the same and in the same order, because a list that
// changes would cost the agent its prompt cache: get_messages and discard_messages,
// status, compress, recall, search, assemble and pin. A server that is read-only has
// from the start only those that change nothing. Sessions, items and manifests are
// resources, too, and two prompts, compress and handoff, tell an agent how to tidy up
// and how to hand over.
//
// A tool translates and decides nothing: arguments into a request of the engine, the
// result into text that begins with ids, and into structured content with the same
// figures. What the engine refuses is a tool's error with the problem of package api
// and a hint what to do next, never an error of the protocol, so that the model sees
// it and can do better.
//
// Whose context a call is about is asked anew for each call, see [Access], and so is the
// session that the client is in, see [Own]: without it, a tool that takes a session must
// be told which, as acting on another session than the agent's own would do harm that
// nobody notices. Nothing is kept from one call to the next, and over HTTP there are no sessions of the protocol
// that one credential could open and another use.
//
// What is in the store was written by others. A tool hands it out as it is, and what
// it says is data, not an instruction to the reader: the instructions of the server
// say so to the model.
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

// An Access says for whom a call is: the engine that acts for them, the scope that
// it is about, and what they may do there. It is called for each call, with the
// context of the request.
type Access func(ctx context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error)

// An Own says in which session the client is that makes a call: the one that a tool is
// about if no other is named. It is asked anew for each call, as a client can change its
// session. Meta is what the client says of the call beside its arguments, or nil. It fails
// with [ErrUnbound] if the session cannot be known.
type Own func(ctx context.Context, meta map[string]any) (transcript.SessionID, error)

// ErrUnbound means that it cannot be known in which session a client is.
var ErrUnbound = fmt.Errorf("%w: it cannot be known which session is yours", carrel.ErrRequest)

// Options adjusts a [Server]. A nil *Options is one without any.
type Options struct {
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool

	// Own finds the session of a client. The default knows none.
	Own Own

	// Version is the program's, for the client to show.
	Version string

	// Logger receives a line for what went wrong inside, without content. The
	// default discards them.
	Logger *slog.Logger

	// Holds returns why the grant of whoever asks does not hold any more, or nil. It is
	// asked before a client is told how far a job is. The default is [auth.Recheck].
	Holds func(ctx context.Context) error

	// Turns bounds the large jobs of each actor, or is nil for no bound.
	Turns *auth.Turns

	// Now tells whether a grant has expired. The default is time.Now.
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

// New returns a server over what an access gives.
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

// ServeStdio answers what comes from in, a message a line, until it ends. Nothing
// but answers goes to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.sdk.Run(ctx, &lines{in: in, out: out})
}

// maxMessage is how many bytes a message may have.
const maxMessage = 4 << 20

// Handler returns the server for HTTP, which the caller mounts behind whatever puts
// into the context what its [Access] reads there. It keeps no sessions: each request
// stands for itself, with the grant that it came with. On a loopback address it
// answers only under a loopback name, and it answers no page of another origin.
func (s *Server) Handler() http.Handler {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	return http.NewCrossOriginProtection().Handler(handler)
}

// fixed is for how long a client may keep what never changes while it is connected.
const fixed = time.Hour

// cacheable says that nothing may be shared between clients, and how long they may
// keep it.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch req.(type) {
	case *sdk.ListToolsRequest, *sdk.ListPromptsRequest, *sdk.ListResourceTemplatesRequest, *sdk.DiscoverRequest:
		c.TTLMs = int(fixed.Milliseconds())
	}
}
