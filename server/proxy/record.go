package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/transcript"
)

// A Recorder writes down calls. Its methods return when what they wrote is durable. It is
// safe for concurrent use.
type Recorder interface {
	// Begin writes down that a request is about to be sent, and returns the id of the
	// call.
	Begin(ctx context.Context, in *CallIntent) (call string, err error)
	// End writes down how a call ended.
	End(ctx context.Context, call string, out *CallOutcome) error
}

// A CallIntent is what is known of a call before it is sent. It holds no text.
type CallIntent struct {
	Session   transcript.SessionID // that the conversation was imported as, if it was
	Dialect   wire.Dialect
	Model     string
	Messages  int
	Bytes     int64         // of the body as it came; -1 if it is not known
	SentBytes int64         // of the body as it is sent
	Chain     digest.Digest // of all messages as they came
	Sent      digest.Digest // of all messages as they are sent
	Frame     digest.Digest
	Epoch     int
	Managed   bool   // something else is sent than came
	Reason    string // for that; or why the request could not be read
}

// A CallOutcome is how a call ended. It holds no text.
type CallOutcome struct {
	State  State
	Status int // of HTTP; 0 if no answer came
	Answer wire.Answer
	Bytes  int64 // of the answer, as they passed
}

// A State says how a call ended.
type State string

// The states.
const (
	Done   State = "done"   // the answer came, whole
	Failed State = "failed" // it was refused, cut, or never came
)

// The reasons for which a call was not recorded.
var (
	errSlow  = errors.New("it took too long")
	errStuck = errors.New("an earlier one still hangs")
)

// maxStuck is how many writes may hang at a time before no further one is tried.
const maxStuck = 64

// commit calls do, and returns when that does or when it takes longer than the bound. What
// hangs is left behind, and while it hangs nobody waits for another, unless calls have to
// be recorded.
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
	p.stuck.Add(1)
	go func() {
		if err := <-done; err != nil {
			p.log.Debug("a record that took too long failed", "reason", err)
		}
		cancel()
		p.stuck.Add(-1)
	}()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: more than %v", errSlow, p.opts.Wait)
	}
	return ctx.Err()
}

// begin writes down the intent of a call. It reports whether the call may go on.
func (c *call) begin(ctx context.Context) bool {
	p := c.proxy
	if p.opts.Recorder == nil {
		return true
	}
	in := c.intent
	err := p.commit(ctx, func(ctx context.Context) error {
		id, err := p.opts.Recorder.Begin(ctx, &in)
		if err == nil {
			c.recorded(id)
		}
		return err
	})
	if err == nil {
		return true
	}
	if ctx.Err() == nil { // the client is still there
		p.gap("intent", err)
	}
	return !p.opts.Required
}

// recorded keeps the id of the call. It may come too late to be of use.
func (c *call) recorded(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
}

// end writes down the outcome of a call, once. It reports whether the client may learn of
// it. It waits for that also if the client is gone.
func (c *call) end(ctx context.Context, out *CallOutcome) bool {
	p := c.proxy
	p.count(c, out)
	if p.opts.Recorder == nil {
		return true
	}
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id == "" { // its intent is a gap already, or not known yet
		return !p.opts.Required
	}
	err := p.commit(context.WithoutCancel(ctx), func(ctx context.Context) error { return p.opts.Recorder.End(ctx, id, out) })
	if err == nil {
		return true
	}
	p.gap("outcome", err)
	return !p.opts.Required
}

// gap counts and logs that a call could not be recorded.
func (p *Proxy) gap(what string, err error) {
	p.stats.gaps.Add(1)
	if p.gaps != nil {
		p.gaps.Add(1, what)
	}
	p.log.Warn("a call is not recorded", "what", what, "reason", err)
}

// DefaultWait is how long a call waits for its record.
const DefaultWait = 2 * time.Second
