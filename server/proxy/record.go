package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// A Recorder records calls. Its methods return when the record is durable. It is safe for
// concurrent use. [carrel.Engine] is one.
type Recorder interface {
	Begin(ctx context.Context, scope governance.Scope, req *api.BeginRequest) (*api.BeginResult, error)
	End(ctx context.Context, scope governance.Scope, req *api.EndRequest) (*api.EndResult, error)
}

// The reasons why a call is not recorded, beside errors of the Recorder.
var (
	errSlow  = errors.New("the store took too long to record a call")
	errStuck = errors.New("the store has not yet finished an earlier record")
)

// maxStuck is the number of writes that have not returned in time from which on commit begins no other
// even with Options.Required, and fails at once.
const maxStuck = 64

// commit calls the function do in a goroutine, and waits for it until ctx ends, or for at most
// Options.Wait. If that is not enough, commit fails with the error of ctx or with errSlow, and the
// function goes on alone, with a context that has ended. While a function hangs that has taken
// longer than Options.Wait, commit fails with errStuck at once, so that calls do not wait. With
// Options.Required it still tries, as long as fewer than maxStuck hang.
func (p *Proxy) commit(ctx context.Context, do func(context.Context) error) error {
	if n := p.stuck.Load(); n >= maxStuck || n > 0 && !p.opts.Required {
		return errStuck
	}
	ctx, cancel := context.WithTimeout(ctx, p.opts.Wait)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case err := <-done:
		cancel()
		return err
	case <-ctx.Done():
	}
	slow := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if slow {
		p.stuck.Add(1)
	}
	go func() {
		defer cancel()
		p.outlive(ctx, done, slow)
	}()
	if slow {
		return fmt.Errorf("%w: more than %v", errSlow, p.opts.Wait)
	}
	return ctx.Err()
}

// outlive waits for the end of a function that goes on without its commit; ctx is that of the
// function. slow reports whether p.stuck counts the function already; otherwise p.stuck counts it
// from the deadline of ctx on.
func (p *Proxy) outlive(ctx context.Context, done <-chan error, slow bool) {
	var err error
	if !slow {
		until, _ := ctx.Deadline() // commit has set it
		limit, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
		defer cancel()
		select {
		case err = <-done:
		case <-limit.Done():
			p.stuck.Add(1)
			slow = true
		}
	}
	if slow {
		err = <-done
		p.stuck.Add(-1)
	}
	if err != nil {
		p.log.Debug("a record whose call did not wait for it failed", "reason", err)
	}
}

// begin records the intent of a call. It reports whether the call may be sent.
func (c *call) begin(ctx context.Context) bool {
	p := c.proxy
	if p.opts.Recorder == nil {
		return true
	}
	in := c.intent
	in.Gaps, in.Sealed = int(p.unreported.Swap(0)), c.sealed
	err := p.commit(ctx, func(ctx context.Context) error {
		begun, err := p.opts.Recorder.Begin(ctx, p.opts.Scope, &in)
		if err == nil {
			c.recorded(begun.Call)
		}
		return err
	})
	c.sealed = nil
	if err == nil {
		c.estimate = p.opts.Would.begin(c)
		return true
	}
	p.unreported.Add(int64(in.Gaps))
	if ctx.Err() == nil { // the client is still there
		p.gap("intent", err)
	}
	return !p.opts.Required
}

// recorded keeps the id of the call in the record. After a timeout it may come too late.
func (c *call) recorded(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
}

// An outcome is how a call ended.
type outcome struct {
	state  store.CallState
	status int // of HTTP; 0 if no answer came
	answer wire.Answer
	bytes  int64     // of the answer that came
	first  time.Time // when the first byte came
}

// request returns the request to record the outcome.
func (o *outcome) request(call string) *api.EndRequest {
	u := &o.answer.Usage
	return &api.EndRequest{Call: call, State: o.state, CallOutcome: api.CallOutcome{
		Status: o.status, Reply: word(o.answer.ID), Stop: word(o.answer.Stop), Error: word(o.answer.Error), Received: int(o.bytes), First: o.first,
		Usage: api.Usage{
			Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h,
			Output: u.Output, Reasoning: u.Reasoning,
		},
	}}
}

// word returns a name from a client or a provider, or "long" if it has more than 100 bytes.
func word(s string) string {
	const most = 100
	if len(s) > most {
		return "long"
	}
	return s
}

// end records the outcome of a call, also if the client is gone. It reports whether the client
// may get the end of the answer. Call it once.
func (c *call) end(ctx context.Context, out *outcome) bool {
	p := c.proxy
	p.count(c, out)
	if p.opts.Recorder == nil {
		return true
	}
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id == "" { // the intent is not recorded, or its record still hangs
		return !p.opts.Required
	}
	req := out.request(id)
	if c.estimate != nil {
		req.Would = p.opts.Would.end(c.estimate, &out.answer)
	}
	err := p.commit(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := p.opts.Recorder.End(ctx, p.opts.Scope, req)
		return err
	})
	if err == nil {
		return true
	}
	p.gap("outcome", err)
	return !p.opts.Required
}

// gap counts and logs that a call could not be recorded.
func (p *Proxy) gap(what string, err error) {
	p.stats.gaps.Add(1)
	p.unreported.Add(1)
	if p.gaps != nil {
		p.gaps.Add(1, what)
	}
	p.log.Warn("a call is not recorded", "what", what, "reason", err)
}

// DefaultWait is the default of [Options.Wait].
const DefaultWait = 2 * time.Second
