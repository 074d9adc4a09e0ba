package mcp

import (
	"context"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/server/auth"
)

// A Tool is a tool and the jobs of the engine that it uses. A call needs the permissions of these
// jobs. The type of Operations is internal.
type Tool struct {
	Name       string
	Operations []*ops.Operation
}

// ReadOnly reports whether a tool changes nothing.
func (t Tool) ReadOnly() bool {
	for _, o := range t.Operations {
		if o.Writes() {
			return false
		}
	}
	return true
}

// Tools returns all tools, in their order.
func Tools() []Tool {
	var list []Tool
	for _, t := range tools() {
		list = append(list, t.describe())
	}
	return list
}

// tools returns the table of tools. It is a function, so that only programs that make a server pay
// for it.
func tools() []registrar {
	return []registrar{getMessages(), discardMessages(), status(), compress(), recall(), search(), assemble(), pin()}
}

type registrar interface {
	describe() Tool
	register(s *Server)
}

// A toolOf is a tool with the types of its arguments and its result.
type toolOf[In, Out any] struct {
	Tool

	title, about            string
	destructive, idempotent bool

	// bound adds bounds to the schema of the arguments.
	bound func(properties map[string]*jsonschema.Schema)
	run   func(ctx context.Context, c *call, in *In) (*reply[Out], error)
}

// A reply is the result of a tool: texts for people and models, and the same as structured content
// for programs. Or it is a question to the person.
type reply[Out any] struct {
	text []string
	out  *Out
	ask  *question
}

func (t *toolOf[In, Out]) describe() Tool { return t.Tool }

func (t *toolOf[In, Out]) register(s *Server) {
	closed := false
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: t.Name, Title: t.title, Description: t.about,
		InputSchema: inputSchema[In](t.bound), OutputSchema: outputSchema[Out](),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly(), DestructiveHint: &t.destructive, IdempotentHint: t.idempotent || t.ReadOnly(),
			OpenWorldHint: &closed,
		},
	}, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		c, err := s.begin(ctx, t.Operations...)
		if err != nil {
			return s.failed(ctx, t.Name, err), nil, nil
		}
		c.req = req
		job, release, err := s.turn(ctx, c, t.Operations)
		if err != nil {
			return s.failed(ctx, t.Name, err), nil, nil
		}
		defer release()
		ctx, stop := s.progress(job, c)
		defer stop(nil)
		r, err := t.run(ctx, c, &in)
		if lost := auth.Lost(ctx); lost != nil {
			err = lost
		}
		if err != nil {
			return s.failed(ctx, t.Name, err), nil, nil
		}
		return r.result(), nil, nil
	})
}

func (r *reply[Out]) result() *sdk.CallToolResult {
	if r.ask != nil {
		return r.ask.result()
	}
	res := &sdk.CallToolResult{StructuredContent: r.out}
	for _, text := range r.text {
		res.Content = append(res.Content, &sdk.TextContent{Text: text})
	}
	return res
}

// A call is a request with the caller's engine, grant and scope.
type call struct {
	*carrel.Engine

	scope governance.Scope
	own   Own
	actor governance.Actor
	req   *sdk.CallToolRequest // nil if the request is not a tool call
}

// begin returns the call of a request. It fails if the caller lacks the permissions of the
// operations.
func (s *Server) begin(ctx context.Context, operations ...*ops.Operation) (*call, error) {
	engine, scope, grant, err := s.of(ctx)
	if err != nil {
		return nil, err
	}
	if grant == nil {
		grant = &governance.Grant{}
	}
	for _, o := range operations {
		for _, p := range o.Needs() {
			if err := grant.Check(scope, p, s.now()); err != nil {
				return nil, err
			}
		}
	}
	return &call{Engine: engine, scope: scope, own: s.own, actor: grant.Actor}, nil
}

// turn waits, if one of the operations is large, until the actor may begin another large job. It
// returns a context for the job.
func (s *Server) turn(ctx context.Context, c *call, operations []*ops.Operation) (job context.Context, release func(), err error) {
	if s.turns == nil || !slices.ContainsFunc(operations, (*ops.Operation).Large) {
		return ctx, func() {}, nil
	}
	return s.turns.Take(ctx, c.actor)
}

// progress returns a context in which jobs send their progress to the client, if it has asked for
// that. The context is canceled if the caller has lost the grant when progress is to be sent.
func (s *Server) progress(ctx context.Context, c *call) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return carrel.WithProgress(ctx, func(string, int, int) {}), stop
	}
	p := &steps{}
	return carrel.WithProgress(ctx, func(job string, done, total int) {
		at, ok := p.step(job, done, total)
		if !ok {
			return
		}
		if err := s.holds(ctx); err != nil {
			stop(err)
			return
		}
		// An error is ignored: only the context stops the job, not a lost client.
		_ = c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: job, Progress: at})
	}), stop
}

// steps converts the progress of several jobs, one after the other, to one growing number, as the
// protocol demands. Its unit is a hundredth of a job.
type steps struct {
	mu    sync.Mutex
	job   string
	begun int // jobs
	last  float64
}

// step returns the progress of all jobs, and whether it is more than the last returned one.
func (p *steps) step(job string, done, total int) (float64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if job != p.job || p.begun == 0 {
		p.job = job
		p.begun++
	}
	at := float64(100 * (p.begun - 1))
	if total > 0 {
		at += float64(int64(min(max(done, 0), total)) * 100 / int64(total))
	}
	if at <= p.last {
		return 0, false
	}
	p.last = at
	return at, true
}
