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

// An Estimator reckons what managing would have sent for calls that go as they came, by the same
// law, see [Epochs] and package epoch. It works beside the calls, in their order, and keeps
// sizes and digests. No call waits for it: one whose answer ends before it was reckoned, and
// one for which there is no room in the queue, has no estimate.
type Estimator struct {
	law *Epochs // for its options and its decisions; it keeps no threads

	threads map[digest.Digest]*shadowed // of the goroutine that works
	missed  atomic.Int64

	mu      sync.Mutex
	queue   []task
	bytes   int // of the bodies that wait
	working bool
	closed  bool
	idle    *sync.Cond
}

// Bounds of what waits to be reckoned.
const (
	maxReckonings     = 256
	maxReckoningBytes = 64 << 20
)

// A shadowed is what is known of a conversation that is not managed.
type shadowed struct {
	thread

	shadow *epoch.Shadow
}

// A reckoning is about one call.
type reckoning struct {
	said

	key     digest.Digest // of its thread
	session transcript.SessionID

	mu    sync.Mutex
	image *epoch.Image           // when it is done
	would *api.UnmanagedEstimate // as far as it is known without the answer
}

// A task is a step of a reckoning: of a call that begins, or of its end.
type task struct {
	*reckoning

	ended   bool
	counted token.Count // what the provider says that the prompt took; 0 if it does not say
}

// NewEstimator returns what reckons by the law that [NewEpochs] would manage by with the same
// options. The engine is asked for calls alone.
func NewEstimator(o *EpochOptions) *Estimator {
	w := &Estimator{law: NewEpochs(o), threads: make(map[digest.Digest]*shadowed)}
	w.idle = sync.NewCond(&w.mu)
	return w
}

// begin takes a call whose request is read and whose intent is recorded. It returns nil if
// there is nothing to reckon or no room.
func (w *Estimator) begin(c *call) *reckoning {
	if w == nil || c.parts == nil || c.proxy.opts.Manager != nil && !c.intent.Holdout || passes(&c.parts.req) != "" {
		return nil
	}
	r := &reckoning{said: said{parts: c.parts.hold(), body: c.body.hold(), plain: c.plain}, key: c.parts.req.Thread(), session: c.intent.Session}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.queue) >= maxReckonings || w.bytes+len(c.plain) > maxReckoningBytes {
		w.missed.Add(1)
		r.release()
		return nil
	}
	w.bytes += len(c.plain)
	w.push(task{reckoning: r})
	return r
}

// push adds a task. The lock is held.
func (w *Estimator) push(t task) {
	w.queue = append(w.queue, t)
	if !w.working {
		w.working = true
		go w.work()
	}
}

// end returns what was reckoned for a call, and nil if nothing was yet.
func (w *Estimator) end(r *reckoning, answer *wire.Answer) *api.UnmanagedEstimate {
	t := task{reckoning: r, ended: true}
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
	if m := r.image; t.counted > 0 && m.Came > 0 { // in the proportion in which it counted what came
		r.would.Tokens, r.would.Frame = t.counted*m.All/m.Came, t.counted*m.Frame/m.Came
	}
	return r.would
}

// work does what waits, and ends when nothing does.
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
	s := w.shadowed(q, t.key, t.session)
	image, reason := w.reckon(s, q)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.image = &image
	t.would = &api.UnmanagedEstimate{
		Tokens: s.gauge.Read(image.All), Frame: s.gauge.Read(image.Frame), Epoch: image.Head.Epoch, Reason: reason, Results: image.Results,
		Head: image.Head.Chain, Made: image.Head.Tokens,
	}
}

// reckon says what would be sent for a request, and why.
func (w *Estimator) reckon(s *shadowed, q *wire.Request) (image epoch.Image, reason string) {
	image = s.shadow.Of(q)
	if image.Head.Epoch > 0 || image.All < image.Came {
		reason = "same epoch"
	}
	if image.Results > 0 {
		reason = "results shortened"
	}
	if q.Compacts {
		reason = api.ReasonCompacts
	}
	limits, why := w.law.decide(&s.thread, q, image.Size)
	if why != "" && (!q.Compacts || why == epoch.Budget) {
		s.shadow.Cut(q, &image, s.room(limits, image.Size))
		results := image.Results
		image = s.shadow.Of(q)
		image.Results, reason = results, "new epoch: "+string(why)
	}
	return image, cmp.Or(reason, "nothing to change")
}

// learn takes what came of a call.
func (s *shadowed) learn(t *task, w *Estimator) {
	if t.image != nil {
		s.gauge.Learn(t.image.Came, t.counted)
	}
	s.calls++
	s.last = w.law.o.Now()
}

// shadowed returns what is known of the conversation of a request.
func (w *Estimator) shadowed(q *wire.Request, key digest.Digest, session transcript.SessionID) *shadowed {
	s := w.threads[key]
	if s == nil {
		for other := range w.threads {
			if len(w.threads) < w.law.o.Threads {
				break
			}
			delete(w.threads, other) // whichever; the record of its last call says the most of it
		}
		s = &shadowed{}
		w.threads[key] = s
	}
	if s.shadow == nil || s.model != q.Model {
		o, newest := &w.law.o, epoch.Imagined{}
		if s.shadow != nil {
			newest = s.shadow.Newest()
		} else {
			newest = w.recall(s, session)
		}
		s.shadow = epoch.NewShadow(s.sizesFor(q), o.Large, cmp.Or(o.Pointer, carrel.StashTokens))
		if newest.Epoch > 0 {
			s.shadow.Add(newest)
		}
	}
	return s
}

// recall reads from the record of the last call what was reckoned for it, and when it was.
func (w *Estimator) recall(s *shadowed, session transcript.SessionID) (head epoch.Imagined) {
	o := &w.law.o
	if o.Engine == nil || session == "" {
		return head
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Limit)
	defer cancel()
	calls, err := o.Engine.Calls(ctx, o.Scope, &carrel.CallsRequest{Session: session, Cursor: carrel.Cursor{Limit: 2}}) // this one and the one before
	if err != nil {
		o.Logger.DebugContext(ctx, "what managing would have done begins anew", "session", session, "reason", err)
		return head
	}
	for i := range calls.Items {
		c := &calls.Items[i]
		if s.last.IsZero() {
			s.last = c.Ended
		}
		if c.Would != nil && head.Epoch == 0 {
			head = epoch.Imagined{Chain: c.Would.Head, Epoch: c.Would.Epoch, Tokens: c.Would.Made}
		}
	}
	return head
}

// missing returns for how many calls nothing was reckoned in time.
func (w *Estimator) missing() int64 {
	if w == nil {
		return 0
	}
	return w.missed.Load()
}

// close drops what waits, and waits for what is under way, unless ctx ends before.
func (w *Estimator) close(ctx context.Context) {
	if w == nil {
		return
	}
	defer context.AfterFunc(ctx, w.idle.Broadcast)()
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
