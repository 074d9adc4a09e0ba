package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/server/auth"
)

// A route is an operation of the table in internal/ops with the engine's method that does it.
type route[Req, Res any] struct {
	s    *server
	op   *ops.Op[Req, Res]
	plan *plan
	do   method[Req, Res]

	bytes func(*Res) []byte              // returns the raw content of a result, or nil
	bind  func(*Req, *governance.Grant)  // sets the caller as the author in a request, or nil
	note  func(*observation, *Res)       // counts and traces a result, or nil
	bare  func(*Res)                     // removes content from the result of a write; nil if it has none
	again func(*again, *Req, *Res) error // restores the content from the store, or nil
}

// A method is a method of the engine that does a job.
type method[Req, Res any] = func(*carrel.Engine, context.Context, governance.Scope, *Req) (*Res, error)

// handle makes the route of an operation that only reads. It panics if the operation writes.
func handle[Req, Res any](s *server, op *ops.Op[Req, Res], do method[Req, Res]) *route[Req, Res] {
	if op.Writes() {
		panic(fmt.Sprintf("rest: %s: it writes, and nobody says what is kept of its result", op.Name))
	}
	return newRoute(s, op, do)
}

// newRoute makes the route of an operation, and adds it to the document.
func newRoute[Req, Res any](s *server, op *ops.Op[Req, Res], do method[Req, Res]) *route[Req, Res] {
	rt := &route[Req, Res]{s: s, op: op, do: do, plan: newPlan(&op.Operation, reflect.TypeFor[Req](), s.decoders)}
	described := s.describe(&op.Operation, rt.plan, reflect.TypeFor[Req](), reflect.TypeFor[Res]())
	s.api.OpenAPI().AddOperation(described)
	s.api.Adapter().Handle(described, func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		rt.serve(w, r)
	})
	return rt
}

// handleWrite makes the route of the operation op, which writes. When a request with an idempotency
// key has written, the route keeps its result; before that, it calls bare to remove the content
// from the result. When another request has the same key, the route calls again to restore the
// content from the store. If results have no content, only ids, names and numbers, bare is nil. If
// there is nothing to restore, again is nil.
func handleWrite[Req, Res any](s *server, op *ops.Op[Req, Res], do method[Req, Res], bare func(*Res), again func(*again, *Req, *Res) error) *route[Req, Res] {
	rt := newRoute(s, op, do)
	rt.bare, rt.again = bare, again
	return rt
}

// content makes a route send the raw content of a result, without JSON, to a client whose header
// Accept asks for that.
func (rt *route[Req, Res]) content(bytes func(*Res) []byte) *route[Req, Res] {
	rt.bytes = bytes
	rt.s.describeContent(&rt.op.Operation)
	return rt
}

// binds makes a route call the function bind, which sets the caller as the author in a request.
func (rt *route[Req, Res]) binds(bind func(*Req, *governance.Grant)) *route[Req, Res] {
	rt.bind = bind
	return rt
}

// notes makes a route call the function note, which counts and traces its results.
func (rt *route[Req, Res]) notes(note func(*observation, *Res)) *route[Req, Res] {
	rt.note = note
	return rt
}

// serve answers a request, in one piece or as a stream of events.
func (rt *route[Req, Res]) serve(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	c.name = rt.op.Name
	run, release, err := rt.prepare(w, r, c)
	if err != nil {
		send(w, r, rt.s.refuse(c, err))
		return
	}
	defer release()
	if !reads(r) && wantsEvents(r.Header) {
		rt.s.stream(w, r, c, rt.op.Needs(), run)
		return
	}
	res := run(r.Context())
	if err := auth.Lost(r.Context()); err != nil {
		res = rt.s.refuse(c, err)
	}
	send(w, r, res)
}

// prepare admits a request and reads it. It returns a function that does the job, and one that
// releases the body's memory.
func (rt *route[Req, Res]) prepare(w http.ResponseWriter, r *http.Request, c *call) (run func(context.Context) *response, release func(), err error) {
	if err := rt.s.admit(r, c, &rt.op.Operation); err != nil {
		return nil, nil, err
	}
	key, err := idempotencyKey(&rt.op.Operation, r.Header)
	if err != nil {
		return nil, nil, err
	}
	body, release, err := rt.s.receive(w, r)
	if err != nil {
		return nil, nil, err
	}
	req := new(Req)
	writes, err := rt.fill(r, c, body, req)
	if err != nil {
		release()
		return nil, nil, err
	}
	if key == "" || isDry(req) {
		return func(ctx context.Context) *response {
			res, _ := rt.job(ctx, c, r.Header, req, writes)
			return res
		}, release, nil
	}
	writeKey := writeKey{key: key, actor: c.actor(), scope: c.scope}
	asking := fingerprint(r, body)
	return func(ctx context.Context) *response {
		return rt.s.replays.once(ctx, writeKey, asking, rt.s.opts.Now, rt.s.ledger.over(writeKey, asking, rt.deed(ctx, c, r.Header, req, writes)))
	}, release, nil
}

// isDry reports whether a request is for a dry run, which writes nothing.
func isDry(req any) bool {
	f := reflect.ValueOf(req).Elem().FieldByName("DryRun")
	return f.IsValid() && f.Bool()
}

// deed returns the write that a request asks for, in a form that can be made once for its
// idempotency key.
func (rt *route[Req, Res]) deed(ctx context.Context, c *call, header http.Header, req *Req, writes bool) *deed {
	return &deed{
		do: func(ctx context.Context) (*response, []byte, bool) {
			res, result := rt.job(ctx, c, header, req, writes)
			if result == nil {
				return res, nil, false
			}
			if rt.bare != nil {
				rt.bare(result)
			}
			outcome, _ := json.Marshal(result) // without an outcome the next request with the key gets an error about that
			return res, outcome, true
		},
		again: func(outcome []byte) *response {
			res, _ := rt.run(ctx, c, header, func(ctx context.Context) (*Res, error) {
				result := new(Res)
				if err := json.Unmarshal(outcome, result); err != nil {
					return nil, err
				}
				if rt.again == nil {
					return result, nil
				}
				return result, rt.again(&again{c.engine, ctx, c.scope}, req, result)
			})
			return res
		},
		refuse: func(err error) *response { return rt.s.refuse(c, err) },
	}
}

// fill reads a request, and checks permissions that depend on its fields. It reports whether the
// request may write.
func (rt *route[Req, Res]) fill(r *http.Request, c *call, body []byte, req *Req) (writes bool, err error) {
	if err := rt.plan.fill(r, body, reflect.ValueOf(req).Elem()); err != nil {
		return false, err
	}
	writes = rt.op.Writes()
	if rt.op.Also != nil {
		for _, p := range rt.op.Also(req) {
			if err := c.grant.Check(c.scope, p, rt.s.opts.Now()); err != nil {
				return false, err
			}
			writes = true
		}
	}
	if rt.bind != nil {
		rt.bind(req, c.grant)
	}
	return writes, nil
}

// job waits for its turn and does the job. If the client disconnects during the wait, the job is
// not done. A job that may write and has begun is not canceled by that, so that a client that asks
// again finds it done or refused. The result is nil if the job failed.
func (rt *route[Req, Res]) job(ctx context.Context, c *call, header http.Header, req *Req, writes bool) (*response, *Res) {
	if err := bound(req); err != nil {
		return rt.s.refuse(c, err), nil
	}
	if rt.op.Large() {
		turn, done, err := rt.s.opts.Turns.Take(ctx, c.actor())
		if err != nil {
			return rt.s.refuse(c, err), nil
		}
		defer done()
		ctx = turn
	}
	return rt.run(ctx, c, header, func(ctx context.Context) (*Res, error) {
		if writes {
			ctx = context.WithoutCancel(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, rt.s.opts.Limits.Job)
		defer cancel()
		ctx, o := rt.s.observe(ctx, c, header)
		defer o.span.End()
		result, err := rt.do(c.engine, ctx, c.scope, req)
		switch {
		case err != nil:
			o.fail(err)
			return nil, err
		case rt.note != nil:
			rt.note(o, result)
		}
		return result, nil
	})
}

// bound checks the page size of a list request, and sets the default.
func bound(req any) error {
	paged, ok := req.(interface{ Paging() *api.Cursor })
	if !ok {
		return nil
	}
	at := paged.Paging()
	if at.Limit < 0 || at.Limit > api.MaxLimit {
		return bad("limit", "must be from 1 to %d", api.MaxLimit)
	}
	if at.Limit == 0 {
		at.Limit = api.DefaultLimit
	}
	return nil
}

// run waits for a place among the running jobs, calls do, and returns the response and the
// result. After a panic, the response is the problem that reports a bug of the server.
func (rt *route[Req, Res]) run(ctx context.Context, c *call, header http.Header, do func(context.Context) (*Res, error)) (res *response, result *Res) {
	defer rt.s.catch(c, func() { res = rt.s.bug(c) })
	release, err := rt.s.jobs.take(ctx, 1)
	if err != nil {
		return rt.s.refuse(c, err), nil
	}
	defer release()
	if result, err = do(ctx); err != nil {
		return rt.s.refuse(c, err), nil
	}
	return rt.encode(c, header, result), result
}

func (rt *route[Req, Res]) encode(c *call, header http.Header, result *Res) *response {
	if rt.bytes != nil {
		data := rt.bytes(result)
		if kind := rawType(header, data); kind != "" {
			return &response{status: http.StatusOK, kind: kind, body: data, raw: true}
		}
	}
	res, err := encode(result)
	if err != nil {
		return rt.s.refuse(c, err)
	}
	return res
}
