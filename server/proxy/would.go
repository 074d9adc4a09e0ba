package proxy

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An Estimator estimates what [Epochs] would have sent for calls that are not managed, by the
// same decisions. It works in the background, in the order of the calls, and keeps only sizes
// and digests. No call waits for it: a call has no estimate if its answer ends first, or if the
// queue is full.
type Estimator struct {
	manager *Epochs // used for its options and decisions only

	threads map[digest.Digest]*unmanagedThread // only for the goroutine of work
	missed  atomic.Int64

	mu      sync.Mutex
	queue   []task
	bytes   int // of the waiting bodies
	working bool
	closed  bool
	idle    *sync.Cond
}

// Bounds of the queue: tasks, and bytes of their bodies.
const (
	maxEstimates     = 256
	maxEstimateBytes = 64 << 20
)

// An unmanagedThread is the state of a conversation that is not managed.
type unmanagedThread struct {
	thread

	simulation *epoch.Simulation
}

// An estimate describes how large the request of one call would have been if the call were
// managed.
type estimate struct {
	keptRequest

	key     digest.Digest // of the call's thread
	session transcript.SessionID

	mu    sync.Mutex
	image *epoch.Image           // nil until the estimate is made
	would *api.UnmanagedEstimate // nil until the estimate is made; it does not use the answer's token counts
}

// A task is a step of an estimate: at the beginning or at the end of the call.
type task struct {
	*estimate

	ended   bool
	counted token.Count // size of the prompt that the provider reported, or 0
}

// NewEstimator returns an Estimator for a manager with these options. Of the engine it uses only
// Calls, to continue after a restart.
func NewEstimator(o *EpochOptions) *Estimator {
	w := &Estimator{manager: NewEpochs(o), threads: make(map[digest.Digest]*unmanagedThread)}
	w.idle = sync.NewCond(&w.mu)
	return w
}

// begin queues a call whose intent is recorded. It returns nil if the call could not be parsed, is
// managed, would not be managed anyway, or if the queue is full or closed.
func (w *Estimator) begin(c *call) *estimate {
	if w == nil || c.parts == nil || c.proxy.opts.Manager != nil && !c.intent.Holdout || unmanagedReason(&c.parts.req) != "" {
		return nil
	}
	r := &estimate{keptRequest: keptRequest{parts: c.parts.hold(), body: c.body.hold(), plain: c.plain}, key: c.parts.req.Thread(), session: c.intent.Session}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.queue) >= maxEstimates || w.bytes+len(c.plain) > maxEstimateBytes {
		w.missed.Add(1)
		r.release()
		return nil
	}
	w.bytes += len(c.plain)
	w.push(task{estimate: r})
	return r
}

// push adds a task to the queue, and starts the goroutine if none runs. The caller holds w.mu.
func (w *Estimator) push(t task) {
	w.queue = append(w.queue, t)
	if !w.working {
		w.working = true
		go w.work()
	}
}

// end queues the usage of the answer for later estimates. It returns the estimate for the call,
// or nil if it is not made yet.
func (w *Estimator) end(r *estimate, answer *wire.Answer) *api.UnmanagedEstimate {
	t := task{estimate: r, ended: true}
	if answer.Used {
		t.counted = answer.Usage.Prompt()
	}
	w.mu.Lock()
	if !w.closed {
		w.push(t)
	}
	w.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.would == nil {
		w.missed.Add(1)
		return nil
	}
	if m := r.image; t.counted > 0 && m.Came > 0 { // scale by the provider's count of the client's request
		r.would.Tokens, r.would.Frame = t.counted*m.All/m.Came, t.counted*m.Frame/m.Came
	}
	return r.would
}

// work does the queued tasks, and ends when the queue is empty.
func (w *Estimator) work() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 {
		t := w.queue[0]
		w.queue = w.queue[1:]
		if !t.ended {
			w.bytes -= len(t.plain)
		}
		w.mu.Unlock()
		w.do(&t)
		w.mu.Lock()
	}
	w.working = false
	w.idle.Broadcast()
}

func (w *Estimator) do(t *task) {
	if t.ended {
		if s := w.threads[t.key]; s != nil {
			s.learn(t, w)
		}
		return
	}
	defer t.release()
	q := &t.parts.req
	s := w.unmanagedThread(q, t.key, t.session)
	image, reason := w.estimate(s, q)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.image = &image
	t.would = &api.UnmanagedEstimate{
		Tokens: s.gauge.Read(image.All), Frame: s.gauge.Read(image.Frame), Epoch: image.Head.Epoch, Reason: reason, Results: image.Results,
		Head: image.Head.Chain, Made: image.Head.Tokens,
	}
}

// estimate returns the size of what managing would have sent for a request, and the reason.
func (w *Estimator) estimate(s *unmanagedThread, q *wire.Request) (image epoch.Image, reason string) {
	image = s.simulation.Of(q)
	if image.Head.Epoch > 0 || image.All < image.Came {
		reason = "same epoch"
	}
	if image.Results > 0 {
		reason = "results shortened"
	}
	if q.Compacts {
		reason = api.ReasonCompacts
	}
	limits, why := w.manager.decide(&s.thread, q, image.Size)
	if why != "" && (!q.Compacts || why == epoch.Budget) {
		s.simulation.Cut(q, &image, s.room(limits, image.Size))
		results := image.Results
		image = s.simulation.Of(q)
		image.Results, reason = results, "new epoch: "+string(why)
	}
	return image, cmp.Or(reason, "nothing to change")
}

// learn takes the usage of a call that has ended.
func (s *unmanagedThread) learn(t *task, w *Estimator) {
	if t.image != nil {
		s.gauge.Learn(t.image.Came, t.counted)
	}
	s.calls++
	s.last = w.manager.o.Now()
}

// unmanagedThread returns the state of the conversation of a request.
func (w *Estimator) unmanagedThread(q *wire.Request, key digest.Digest, session transcript.SessionID) *unmanagedThread {
	s := w.threads[key]
	if s == nil {
		for other := range w.threads {
			if len(w.threads) < w.manager.o.Threads {
				break
			}
			delete(w.threads, other) // any; recall restores most of it from the record of its last call
		}
		s = &unmanagedThread{}
		w.threads[key] = s
	}
	if s.simulation == nil || s.model != q.Model {
		o, newest := &w.manager.o, epoch.EstimatedHead{}
		if s.simulation != nil {
			newest = s.simulation.Newest()
		} else {
			newest = w.recall(s, session)
		}
		s.simulation = epoch.NewSimulation(s.sizesFor(q), o.Large, cmp.Or(o.Pointer, carrel.StashTokens))
		if newest.Epoch > 0 {
			s.simulation.Add(newest)
		}
	}
	return s
}

// recall reads, from the records of calls, the estimate for the session's last call and the
// time of that call.
func (w *Estimator) recall(s *unmanagedThread, session transcript.SessionID) (head epoch.EstimatedHead) {
	o := &w.manager.o
	if o.Engine == nil || session == "" {
		return head
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Limit)
	defer cancel()
	calls, err := o.Engine.Calls(ctx, o.Scope, &carrel.CallsRequest{Session: session, Cursor: carrel.Cursor{Limit: 2}}) // this one and the one before
	if err != nil {
		o.Logger.DebugContext(ctx, "the last estimate for a session could not be read: the estimates begin anew", "session", session, "reason", err)
		return head
	}
	for i := range calls.Items {
		c := &calls.Items[i]
		if s.last.IsZero() {
			s.last = c.Ended
		}
		if c.Would != nil && head.Epoch == 0 {
			head = epoch.EstimatedHead{Chain: c.Would.Head, Epoch: c.Would.Epoch, Tokens: c.Would.Made}
		}
	}
	return head
}

// missing returns the number of calls without an estimate.
func (w *Estimator) missing() int64 {
	if w == nil {
		return 0
	}
	return w.missed.Load()
}

// close drops the queue and waits for the running task, unless ctx ends before.
func (w *Estimator) close(ctx context.Context) {
	if w == nil {
		return
	}
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock() // so that close has looked at ctx after its end, or already waits
		defer w.mu.Unlock()
		w.idle.Broadcast()
	})()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, t := range w.queue {
		if !t.ended {
			t.release()
		}
	}
	w.queue, w.bytes = nil, 0
	for w.working && ctx.Err() == nil {
		w.idle.Wait()
	}
}
