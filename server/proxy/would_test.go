package proxy

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

// rest waits until no estimate is pending.
func (w *Estimator) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.working {
		w.idle.Wait()
	}
}

// The estimates recorded with calls equal what managing does with the same conversation: for the
// same reasons, in as many epochs, with prompts of about the same size.
func TestWouldIsWhatManagingDoes(t *testing.T) {
	o := EpochOptions{Window: 32_000, Large: 6_000, Pointer: 400}
	w := newWorld(t, o)
	w.counted = 50
	would := NewEstimator(&w.manager.o)
	w.says("Make all parts.")
	same, epochs := 0, 0
	var tokens, sent token.Count
	for n := range 60 {
		w.size = 60 + 200*(n%5/4)
		if n == 30 {
			w.now = w.now.Add(2 * time.Hour)
		}
		w.now = w.now.Add(20 * time.Second)
		q := w.read(w.request())
		r := &estimate{keptRequest: keptRequest{parts: (&parts{doc: *q.Doc, req: *q}).hold(), body: new(payload)}, key: q.Thread()}
		would.do(&task{estimate: r})
		would.do(&task{estimate: r, ended: true, counted: r.image.Came * token.Count(w.counted) / 100})
		w.hears(w.call())
		last := w.last()
		if last.reason == r.would.Reason {
			same++
		}
		if strings.HasPrefix(r.would.Reason, "new epoch") {
			epochs++
		}
		tokens += r.image.All
		sent += would.manager.sizeOf(w.read(last.body))
	}
	if made := w.manager.Status().Epochs; made < 3 || epochs < made-1 || epochs > made+1 {
		t.Errorf("%d epochs were estimated, and %d were made", epochs, made)
	}
	if same < 50 {
		t.Errorf("of 60 calls %d were managed for the estimated reason", same)
	}
	if tokens < sent*85/100 || tokens > sent*115/100 {
		t.Errorf("%d tokens were estimated, and %d sent", tokens, sent)
	}
}

// sizeOf returns a bound of a request as it is.
func (m *Epochs) sizeOf(q *wire.Request) token.Count {
	t := &thread{}
	return t.sizesFor(q).Of(q, m.thread(q).book.Plan(q)).All
}

// A proxy that observes records with each outcome what managing would have done, and goes on
// with that after a restart. What it sends is what came.
func TestWouldIsRecorded(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 400_000, Large: 6_000, Pointer: 400})
	law := w.manager.o
	law.Window, law.Budget = 32_000, 8_000
	w.says("Make all parts.")
	var before []api.Call // last begun first
	for range 2 {
		would := NewEstimator(&law)
		s := newStage(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			would.rest() // a model takes longer
			w.provider.ServeHTTP(out, r)
		}), func(o *Options) { o.Would, o.Importer, o.Recorder, o.Wait = would, w.engine, w.engine, time.Minute })
		for n := range 20 {
			w.size = 30 + 200*(n%4/3)
			body := w.request()
			w.through(s)
			if requests := w.provider.Requests(); string(requests[len(requests)-1].Body) != body {
				t.Fatalf("call %d was changed", n)
			}
		}
		s.close()
		if got := s.proxy.Traffic(); got.Unguessed != 0 {
			t.Errorf("%d calls were not estimated", got.Unguessed)
		}
		calls, err := w.engine.Calls(t.Context(), governance.DefaultScope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 100}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls.Items {
			if c := &calls.Items[i]; c.Would == nil || c.Managed {
				t.Fatalf("of call %d it is not recorded what managing would have done: %+v", i, c)
			}
		}
		newest, oldest := calls.Items[0].Would, calls.Items[len(calls.Items)-1-len(before)].Would
		if newest.Epoch == 0 || newest.Tokens >= calls.Items[0].Usage.Prompt() || newest.Made == 0 {
			t.Errorf("the last call would have been %+v", newest)
		}
		if len(before) > 0 && oldest.Epoch < before[0].Would.Epoch {
			t.Errorf("after a restart the epoch is %d, and was %d", oldest.Epoch, before[0].Would.Epoch)
		}
		before = calls.Items
	}
}

// Nothing waits for an estimate: calls whose answer is there before end without it, and
// what would wait beyond a bound is left out. Both are counted.
func TestNobodyWaitsForWould(t *testing.T) {
	would := NewEstimator(&EpochOptions{})
	would.working = true // nobody works
	s := newStage(t, streams(claudeReply+claudeStop), func(o *Options) { o.Would = would })
	n := maxEstimates + 10
	for range n {
		if _, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || text != claudeReply+claudeStop {
			t.Fatalf("got %q, %v", text, err)
		}
	}
	_, ended := s.recorder.calls()
	for id, out := range ended {
		if out.Would != nil {
			t.Errorf("%s has %+v", id, out.Would)
		}
	}
	if got := s.proxy.Traffic(); len(ended) != n || got.Unguessed != int64(n) {
		t.Errorf("%d outcomes, %d without an estimate, of %d calls", len(ended), got.Unguessed, n)
	}
	would.mu.Lock()
	would.working = false
	would.mu.Unlock()
	s.close()
	if len(would.queue) != 0 || would.bytes != 0 {
		t.Errorf("%d tasks and %d bytes still wait", len(would.queue), would.bytes)
	}
}

// A lateContext ends as soon as somebody has looked whether it has ended.
type lateContext struct {
	context.Context

	end context.CancelFunc
}

// Err implements [context.Context].
func (c *lateContext) Err() error {
	err := c.Context.Err()
	c.end()
	for range 10_000 {
		runtime.Gosched() // to whatever its end wakes
	}
	return err
}

// Close returns when its context ends, also if that is just before it begins to wait.
func TestCloseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func() context.Context {
			ctx, end := context.WithCancel(t.Context())
			return &lateContext{ctx, end}
		}
		w := NewEstimator(&EpochOptions{})
		w.working = true
		w.close(late())
		p, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		p.keeper.working = true
		p.keeper.close(late())
		if p.keeper.ctx.Err() == nil {
			t.Error("the imports go on")
		}
	})
}
