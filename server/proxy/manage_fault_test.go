package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

var errDisk = errors.New("the disk is full")

// A faulty engine fails where it is told to, before or after it has done what it was asked.
type faulty struct {
	*carrel.Engine

	rewrites, keep, epoch func() error // before
	after                 func() error // keep or epoch was done
	head                  func([]byte) []byte
}

func (f *faulty) Rewrites(ctx context.Context, scope governance.Scope, req *carrel.SessionRequest) (*carrel.RewritesResult, error) {
	if f.rewrites != nil {
		if err := f.rewrites(); err != nil {
			return nil, err
		}
	}
	return f.Engine.Rewrites(ctx, scope, req)
}

func (f *faulty) KeepRewrite(ctx context.Context, scope governance.Scope, req *carrel.KeepRewriteRequest) (*carrel.KeepRewriteResult, error) {
	if f.keep != nil {
		if err := f.keep(); err != nil {
			return nil, err
		}
	}
	res, err := f.Engine.KeepRewrite(ctx, scope, req)
	if err == nil && f.after != nil {
		err = f.after()
	}
	return res, err
}

func (f *faulty) NewEpoch(ctx context.Context, scope governance.Scope, req *carrel.NewEpochRequest) (*carrel.NewEpochResult, error) {
	if f.epoch != nil {
		if err := f.epoch(); err != nil {
			return nil, err
		}
	}
	res, err := f.Engine.NewEpoch(ctx, scope, req)
	if err == nil && f.after != nil {
		err = f.after()
	}
	if err == nil && f.head != nil {
		res.Head = f.head(res.Head)
	}
	return res, err
}

func (w *world) fails() *faulty {
	f := &faulty{Engine: w.engine}
	w.manager.o.Engine = f
	return f
}

func TestWithoutTheStoreNothingIsManaged(t *testing.T) {
	w := newWorld(t, EpochOptions{})
	w.fails().rewrites = func() error { return errDisk }
	w.says("Make all parts.")
	if p, err := w.manager.Prepare(t.Context(), w.read(w.request())); !errors.Is(err, errDisk) {
		t.Errorf("got %+v, %v", p, err)
	}
}

// A rewrite that cannot be stored is not sent, and after a restart the sent rewrites are known.
func TestWhatCannotBeKeptIsNotSent(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(f *faulty, err func() error)
	}{
		{"kept not", func(f *faulty, err func() error) { f.keep, f.epoch = err, err }},
		{"kept, but nobody knows", func(f *faulty, err func() error) { f.after = err }},
		{"a head that the provider refuses", func(f *faulty, err func() error) {
			f.head = func(head []byte) []byte {
				if err() == nil {
					return head
				}
				return []byte(`[{"role":"assistant","content":"first"}]`)
			}
		}},
		{"a head without what was said last", func(f *faulty, err func() error) {
			f.head = func(head []byte) []byte {
				if err() == nil {
					return head
				}
				return []byte(`[{"role":"user","content":"first"}]`)
			}
		}},
		{"a head that is no list", func(f *faulty, err func() error) {
			f.head = func(head []byte) []byte {
				if err() == nil {
					return head
				}
				return []byte(`{}`)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := EpochOptions{Window: 32_000, Large: 6_000, Pointer: 400}
			w := newWorld(t, o)
			broken := false
			f := w.fails()
			tt.set(f, func() error {
				if broken {
					return errDisk
				}
				return nil
			})
			o.Engine = f
			w.says("Make all parts.")
			for n := range 40 {
				broken = n%10 >= 5
				w.size = 40 + 80*(n%3/2)
				w.turn()
				if n%10 == 8 {
					w.turn()
				}
				if n%10 == 9 { // killed, and started again with a disk that works
					broken = false
					w.turn()
					w.restart(o)
				}
			}
			w.notRefused()
			w.stays()
			if w.last().epoch == 0 {
				t.Error("no epoch began")
			}
		})
	}
}

// A head that takes too long is not waited for.
func TestASlowHeadIsNotWaitedFor(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 32_000, HeadLimit: time.Millisecond})
	f := w.fails()
	f.epoch = func() error { return context.DeadlineExceeded }
	w.says("Make all parts.")
	for range 12 {
		w.turn()
	}
	w.notRefused()
	w.stays()
	if s := w.manager.Status(); s.Epochs > 0 || s.Failed == 0 || !strings.HasPrefix(w.last().reason, "no new epoch") {
		t.Errorf("got %+v, %s", s, w.last().reason)
	}
}

// A cold cache ends an epoch that has something to gain.
func TestAColdCacheEndsAnEpoch(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 48_000})
	w.says("Make all parts.")
	for range 11 {
		w.turn()
	}
	if w.last().epoch != 0 {
		t.Fatalf("an epoch began at once: %s", w.last().reason)
	}
	w.now = w.now.Add(time.Hour)
	w.turn()
	if w.last().epoch != 1 || w.last().reason != "new epoch: cold" {
		t.Errorf("got epoch %d, %s", w.last().epoch, w.last().reason)
	}
	w.turn()
	w.notRefused()
	w.stays()
}

// A head that saves what it costs within the calls that are expected is made while the cache
// is warm.
func TestAHeadThatPays(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 48_000})
	cheap, err := economy.Published().With(economy.Tariff{Name: bound, Rules: economy.Rules{
		Read: ratio.Of(1, 2), Write5m: ratio.One, Short: 5 * time.Minute,
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.manager.o.Prices = cheap
	w.says("Make all parts.")
	for range 30 {
		w.turn()
		if w.last().epoch > 0 {
			break
		}
	}
	if w.last().reason != "new epoch: payback" {
		t.Errorf("got %s", w.last().reason)
	}
	w.turn()
	w.notRefused()
	w.stays()
}

// Where tools and the newest result leave little of the target, a head still has room for
// what persons said.
func TestLargeToolsLeaveRoomForPersons(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 48_000})
	w.tools = strings.Repeat("does this and that with the files of a project; ", 700)
	w.says("CANARY: make all parts, and never touch vendor/.")
	for n := range 24 {
		w.size = 100
		w.turn()
		if !strings.Contains(w.last().body, "CANARY: make all parts, and never touch vendor/.") {
			t.Fatalf("call %d, epoch %d, does not have what the user said", n, w.last().epoch)
		}
	}
	w.notRefused()
	w.stays()
	if w.manager.Status().Epochs < 3 {
		t.Errorf("got %+v", w.manager.Status())
	}
}

// A pinned block stands in every window.
func TestPinsStay(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 32_000})
	w.says("Make all parts.")
	for range 3 {
		w.turn()
	}
	q := w.read(w.request())
	whole, err := epoch.NewBook(wire.Anthropic).Whole(q, len(q.Messages))
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: threadName(q), Format: "anthropic", Data: whole})
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.engine.Messages(t.Context(), governance.DefaultScope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	block := all.Messages[2].ID
	pinned, err := w.engine.Recall(t.Context(), governance.DefaultScope, &carrel.RecallRequest{Block: string(block)})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Split(string(pinned.Data), `\n`)[30]
	if _, err := w.engine.Pin(t.Context(), governance.DefaultScope, &carrel.PinRequest{Blocks: []string{string(block)}}); err != nil {
		t.Fatal(err)
	}
	epochs := w.manager.Status().Epochs
	for range 12 {
		w.turn()
		if !strings.Contains(w.last().body, line) {
			t.Fatalf("the pinned line %q is not in epoch %d", line, w.last().epoch)
		}
	}
	if w.manager.Status().Epochs <= epochs {
		t.Fatal("no epoch began")
	}
	w.notRefused()
}

// However a client goes on, goes back, forks, waits and compacts, and whenever the manager is
// killed or the store fails: the provider refuses nothing, and what was sent stays within an epoch.
func TestNothingIsRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := EpochOptions{
			Window: 16_000, Pointer: 400,
			Large: rapid.SampledFrom([]int{1_500, 25_000}).Draw(rt, "large"),
		}
		w := newWorld(t, o)
		w.manager.o.Logger = slog.New(slog.DiscardHandler)
		f := w.fails()
		o.Engine = f
		broken := 0
		fail := func() error {
			if broken > 0 && rapid.Bool().Draw(rt, "fails") {
				broken--
				return errDisk
			}
			return nil
		}
		f.keep, f.epoch, f.after = fail, fail, fail
		w.says("Make all parts.")
		for range rapid.IntRange(5, 24).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				if n := len(w.history); n > 3 {
					w.history = w.history[:1+2*rapid.IntRange(1, n/2).Draw(rt, "back")]
					w.says("Otherwise.")
				}
			case 1:
				if broken == 0 && !w.owes() { // to fail and be killed at once is more than is promised
					w.restart(o)
				}
			case 2:
				w.now = w.now.Add(time.Hour)
			case 3:
				broken = rapid.IntRange(1, 3).Draw(rt, "faults")
			case 4:
				w.says("And mind the tests.")
			default:
				w.size = rapid.SampledFrom([]int{1, 15, 40, 60}).Draw(rt, "lines")
				w.turn()
			}
		}
		w.turn()
		if refused := w.provider.Refused(); len(refused) > 0 {
			rt.Fatalf("%d calls were refused: %+v", len(refused), refused[0].Refusal)
		}
	})
}

// owes reports whether the store lacks a rewrite that was sent.
func (w *world) owes() bool {
	for _, t := range w.manager.threads {
		if len(t.owed) > 0 {
			return true
		}
	}
	return false
}

// Many conversations at once do not mix.
func TestThreadsDoNotMeet(t *testing.T) {
	w := newWorld(t, EpochOptions{Threads: 8, Large: 500, Pointer: 400})
	var group sync.WaitGroup
	for n := range 32 {
		group.Go(func() {
			doc, q := new(rawjson.Document), new(wire.Request)
			for turn := range 5 {
				body := fmt.Sprintf(`{"model":%q,"tools":[{"name":"a"}],"messages":[{"role":"user","content":"session %d"}`, bound, n)
				for i := range turn {
					body += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`,
						i, i, strings.Repeat(fmt.Sprintf("line %d of session %d\n", i, n), 300))
				}
				if err := doc.Read([]byte(body + "]}")); err != nil {
					t.Error(err)
					return
				}
				if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
					t.Error(err)
					return
				}
				p, err := w.manager.Prepare(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				w.manager.Done(q, p, nil)
				for other := range 32 {
					if other != n && strings.Contains(string(p.Body), fmt.Sprintf("of session %d\\n", other)) {
						t.Errorf("session %d was sent something of session %d", n, other)
					}
				}
			}
		})
	}
	group.Wait()
	if s := w.manager.Status(); s.Threads > 8 || s.Shrunk < 32*4 || s.Failed > 0 {
		t.Errorf("got %+v", s)
	}
}

// Between epochs a call of some 200,000 tokens is prepared, as it is with each call.
func BenchmarkPrepare(b *testing.B) {
	for _, epochs := range []bool{false, true} {
		b.Run(fmt.Sprintf("head=%t", epochs), func(b *testing.B) {
			e, err := carrel.New(stores.New(b), nil)
			if err != nil {
				b.Fatal(err)
			}
			m := NewEpochs(&EpochOptions{Engine: e, Window: 1_000_000})
			var body strings.Builder
			fmt.Fprintf(&body, `{"model":%q,"tools":[{"name":"a"}],"messages":[{"role":"user","content":"begin"}`, bound)
			for i := range 250 {
				fmt.Fprintf(&body, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`,
					i, i, strings.Repeat(fmt.Sprintf("line %d of a result\n", i), 160))
			}
			body.WriteString(`]}`)
			data := []byte(body.String())
			doc, q := new(rawjson.Document), new(wire.Request)
			read := func() {
				if err := doc.Read(data); err != nil {
					b.Fatal(err)
				}
				if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
					b.Fatal(err)
				}
			}
			read()
			if epochs {
				m.thread(q)
				if err := m.keep(b.Context(), loaded(b, m, q), carrel.Rewrite{
					Chain: q.Messages[20].Chain, Kind: "head", Epoch: 1, Messages: 21, Data: []byte(`[{"role":"user","content":"head"}]`),
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				read()
				p, err := m.Prepare(b.Context(), q)
				if err != nil || (p.Body != nil) != epochs {
					b.Fatalf("%+v, %v", p, err)
				}
				m.Done(q, p, nil)
			}
		})
	}
}

func loaded(b *testing.B, m *Epochs, q *wire.Request) *thread {
	t := m.thread(q)
	if err := m.load(b.Context(), t, q); err != nil {
		b.Fatal(err)
	}
	return t
}

// through makes a call through a proxy, and answers the model's tool call with a result.
func (w *world) through(s *stage) {
	w.t.Helper()
	answer, text, err := s.ask("POST", "/v1/messages", w.request(), "X-Api-Key", "dummy", "Anthropic-Version", "2023-06-01")
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%+v, %v: %s", answer, err, text)
	}
	w.hears(text)
}

// A session goes through the proxy itself, which records its calls and stores its
// conversation in the background, with the same engine.
func TestAManagedSessionThroughTheProxy(t *testing.T) {
	const window = 32_000
	w := newWorld(t, EpochOptions{Window: window, Large: 6_000, Pointer: 400})
	s := newStage(t, w.provider, func(o *Options) {
		o.Manager, o.Prepare, o.Importer, o.Recorder, o.Wait = w.manager, w.manager.Bound(), w.manager, w.engine, time.Minute
	})
	w.says("CANARY: make all parts.")
	for n := range 40 {
		w.size = 60 + 200*(n%4/3)
		w.through(s)
	}
	if got := w.manager.Status(); got.Epochs < 3 || got.Failed > 0 || got.Stopped > 0 || got.Shrunk == 0 {
		t.Errorf("got %+v", got)
	}
	for _, r := range w.provider.Requests() {
		if !r.Contains("CANARY: make all parts.") {
			t.Error("a call does not have what the user said")
		}
	}
	w.notRefused()
	requests := w.provider.Requests()
	sent := requests[len(requests)-1].Body
	w.history = w.history[:len(w.history)-2]
	counted := w.request()
	if answer, text, err := s.ask("POST", "/v1/messages/count_tokens", counted, "X-Api-Key", "dummy", "Anthropic-Version", "2023-06-01"); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v: %s", answer, err, text)
	}
	requests = w.provider.Requests()
	if got := requests[len(requests)-1]; got.Kind != upstream.KindCount || string(got.Body) != string(sent) {
		t.Errorf("what is counted is not what was sent: %d bytes, not %d", len(got.Body), len(sent))
	}
	calls, err := w.engine.Calls(t.Context(), governance.DefaultScope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 100}})
	if err != nil || len(calls.Items) != 40 {
		t.Fatalf("%d calls are recorded: %v", len(calls.Items), err)
	}
	newest := calls.Items[0]
	if !newest.Managed || newest.Epoch < 3 || newest.Session == "" || newest.SentBytes >= newest.Bytes || newest.Sent == newest.Chain {
		t.Errorf("got %+v", newest)
	}
}

// A new process knows how the provider counted the last prompt of a conversation, whether that
// was managed or not: no epoch ends because Carrel's own counts are larger.
func TestTheProvidersCountsOutliveAProcess(t *testing.T) {
	o := EpochOptions{Window: 400_000, Budget: 24_000, Large: 6_000, Pointer: 400}
	w := newWorld(t, o)
	w.says("Make all parts.")
	for _, managed := range []bool{false, true, true} {
		s := newStage(t, w.provider, func(p *Options) {
			p.Importer, p.Recorder, p.Wait = w.engine, w.engine, time.Minute
			if managed {
				p.Manager, p.Prepare, p.Importer = w.manager, w.manager.Bound(), w.manager
			}
		})
		bound := token.Count(0)
		for bound <= o.Budget*5/4 || managed && w.manager.Status().Epochs == 0 {
			w.size = 30 + 200*(len(w.history)/2%4/3)
			q := w.read(w.request())
			w.through(s)
			bound = w.manager.sizeOf(q)
		}
		s.close()
		requests, want := w.provider.Requests(), epoch.Gauge{}
		want.Learn(bound, token.Count(requests[len(requests)-1].Usage.Total()))
		w.restart(o)
		q := w.read(w.request())
		if _, err := w.manager.Prepare(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if n, got := w.manager.Status().Epochs, w.manager.thread(q).gauge; n > 0 || got != want {
			t.Errorf("managed %t: the next process begins %d epochs, and knows %+v, want %+v", managed, n, got, want)
		}
	}
}
