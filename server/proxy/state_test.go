package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A puppet is an engine that says what a test wants.
type puppet struct {
	Engine

	stash  func(req *carrel.StashRequest) (*carrel.StashResult, error)
	brief  func() (*carrel.BriefResult, error)
	recall func(req *carrel.RecallRequest) (*carrel.RecallResult, error)
	calls  func() (*carrel.List[carrel.Call], error)
}

func (e *puppet) Stash(_ context.Context, _ governance.Scope, req *carrel.StashRequest) (*carrel.StashResult, error) {
	return e.stash(req)
}

func (e *puppet) Brief(context.Context, governance.Scope, *carrel.BriefRequest) (*carrel.BriefResult, error) {
	return e.brief()
}

func (e *puppet) Recall(_ context.Context, _ governance.Scope, req *carrel.RecallRequest) (*carrel.RecallResult, error) {
	return e.recall(req)
}

func (e *puppet) Calls(context.Context, governance.Scope, *carrel.CallsRequest) (*carrel.List[carrel.Call], error) {
	return e.calls()
}

func readRequest(t *testing.T, d wire.Dialect, body string) *wire.Request {
	t.Helper()
	doc, q := new(rawjson.Document), new(wire.Request)
	if err := errors.Join(doc.Read([]byte(body)), q.Read(d, wire.KindCall, nil, doc)); err != nil {
		t.Fatal(err)
	}
	return q
}

// An original comes in pieces that end between two characters, and an error says what to do.
func TestPiecesOfOriginals(t *testing.T) {
	e, log := &puppet{}, &strings.Builder{}
	m := NewEpochs(&EpochOptions{Engine: e, Logger: slog.New(slog.NewTextHandler(log, nil))})
	whole := strings.Repeat("x", maxRecalled)
	for _, tt := range []struct {
		input, data string
		err         error
		from        int
		want        string
	}{
		{`{"id":"a"}`, whole, nil, 0, whole},
		{`{"id":"a@0"}`, whole, nil, 0, whole},
		{`{"id":"a@100"}`, whole[1:] + "éy", nil, 100, whole[1:] + "\n[carrel: bytes 100 to 98403 of 99; for the next bytes use the id a@98403]"},
		{`{"id":"a"}`, "\xff", nil, 0, "[carrel: the original is not text"},
		{`{"id":"a"}`, "", store.ErrNotFound, 0, "[carrel: no original has that id"},
		{`{"id":"a"}`, "", errDisk, 0, "[carrel: the original could not be read now"},
		{`{"id":""}`, "", nil, -1, "[carrel: the input has no id"},
		{`{"id":"a"`, "", nil, -1, "[carrel: the input has no id"},
		{`{"id":"a@-1"}`, "", nil, -1, "[carrel: write an offset"},
		{`{"id":"a@x"}`, "", nil, -1, "[carrel: write an offset"},
	} {
		from := -1
		e.recall = func(req *carrel.RecallRequest) (*carrel.RecallResult, error) {
			from = req.From
			return &carrel.RecallResult{Data: []byte(tt.data), Size: 99}, tt.err
		}
		if got := m.Recall(t.Context(), tt.input); !strings.HasPrefix(got, tt.want) || tt.from == 100 && got != tt.want || from != tt.from {
			t.Errorf("%s: got %.99q, from %d; want %.99q from %d", tt.input, got, from, tt.want, tt.from)
		}
	}
	if n := strings.Count(log.String(), "a recall failed"); n != 1 {
		t.Errorf("%d failures are logged, want one:\n%s", n, log)
	}
}

// A pointer stands for exactly the text that was stashed, and is shorter.
func TestPointers(t *testing.T) {
	e := &puppet{}
	m := NewEpochs(&EpochOptions{Engine: e})
	q := readRequest(t, wire.Chat, `{"messages":[{"role":"user","content":"a"}]}`)
	for _, tt := range []struct {
		id, pointer string
		bytes       int64
		want        string
		fails       bool
	}{{"a", "ptr", 4, "ptr", false}, {"a", "ptrs", 4, "", false}, {"a", "ptr", 3, "", true}, {"", "ptr", 4, "", true}} {
		e.stash = func(*carrel.StashRequest) (*carrel.StashResult, error) {
			return &carrel.StashResult{Artifact: carrel.Artifact{ID: store.ArtifactID(tt.id), Bytes: tt.bytes}, Pointer: tt.pointer}, nil
		}
		if got, err := m.pointer(t.Context(), m.thread(q), q, &epoch.Output{Text: "text"}); got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%+v: got %q, %v", tt, got, err)
		}
	}
	for _, err := range []error{carrel.ErrBudget, carrel.ErrPolicy, carrel.ErrRequest, errDisk} {
		if got := isDecided(fmt.Errorf("no: %w", err)); got != (err != errDisk) { //nolint:errorlint // it is that very value
			t.Errorf("%v: decided %t", err, got)
		}
	}
}

// The provider's count is learned of the newest call whose messages the request begins with; another
// model begins anew.
func TestRelearn(t *testing.T) {
	q := readRequest(t, wire.Chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`)
	good := carrel.Call{}
	good.Model, good.Messages, good.Chain, good.Sent, good.Usage.Input = "m", 2, chainOf(q), chainOf(q), 1
	for what, spoil := range map[string]func(c *carrel.Call){
		"model": func(c *carrel.Call) { c.Model = "n" }, "count": func(c *carrel.Call) { c.Usage.Input = 0 }, "no message": func(c *carrel.Call) { c.Messages = 0 },
		"more messages": func(c *carrel.Call) { c.Messages = 3 }, "chain": func(c *carrel.Call) { c.Chain[0]++ }, "what was sent": func(c *carrel.Call) { c.Sent[0]++ },
	} {
		bad, th := good, &thread{book: epoch.NewBook(wire.Chat)}
		spoil(&bad)
		if th.relearn(q, []carrel.Call{bad}); th.gauge != (epoch.Gauge{}) {
			t.Errorf("another %s: it is learned", what)
		}
		if th.relearn(q, []carrel.Call{bad, good}); th.gauge == (epoch.Gauge{}) {
			t.Errorf("another %s: the call before is not learned", what)
		}
		sizes, other := th.sizesFor(q), *q
		if other.Model = "n"; th.sizesFor(q) != sizes || th.sizesFor(&other) == sizes || th.gauge != (epoch.Gauge{}) {
			t.Error("the sizes are not those of one model")
		}
	}
}

// The cache is warm while it lasts, for the time that the request asks for, and if nothing is known.
func TestWarmth(t *testing.T) {
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	m := NewEpochs(&EpochOptions{Budget: 100_000, Now: func() time.Time { return now }})
	for _, tt := range []struct {
		age  time.Duration
		long bool
		cold bool
	}{{0, false, false}, {time.Minute, false, false}, {30 * time.Minute, false, true}, {30 * time.Minute, true, false}, {2 * time.Hour, true, true}} {
		q, th := readRequest(t, wire.Anthropic, fmt.Sprintf(`{"model":%q,"x":{"ttl":"%s"},"messages":[]}`, bound, map[bool]string{true: "1h", false: "5m"}[tt.long])), &thread{}
		if tt.age > 0 {
			th.last = now.Add(-tt.age)
		}
		if _, why := m.decide(th, q, epoch.Size{All: 80_000}); (why == epoch.Cold) != tt.cold {
			t.Errorf("after %v, long %t: the epoch ends for %q", tt.age, tt.long, why)
		}
	}
}

// While a record hangs nothing waits for the next one; with Required it is tried, up to a bound.
func TestRecordsBesideHangingOnes(t *testing.T) {
	for _, tt := range []struct {
		stuck    int64
		required bool
		tried    bool
	}{{0, false, true}, {1, false, false}, {1, true, true}, {maxStuck - 1, true, true}, {maxStuck, true, false}, {maxStuck, false, false}} {
		p, tried := &Proxy{opts: Options{Required: tt.required, Wait: time.Minute}}, false
		p.stuck.Store(tt.stuck)
		err := p.commit(t.Context(), func(context.Context) error { tried = true; return nil })
		if tried != tt.tried || errors.Is(err, errStuck) == tt.tried {
			t.Errorf("%d hang, required %t: tried %t, %v", tt.stuck, tt.required, tried, err)
		}
	}
}

// waiting returns a call of a conversation that is to be kept.
func waiting(t *testing.T, p *Proxy, name string) *call {
	t.Helper()
	body := `{"model":"m","messages":[{"role":"user","content":"` + name + `"},{"role":"assistant","content":"x"}]}`
	b, err := readPayload(strings.NewReader(body), -1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	q := readRequest(t, wire.Chat, body)
	return &call{proxy: p, parts: &parts{doc: *q.Doc, req: *q}, body: b, plain: b.Bytes()}
}

// failing is an importer that fails for the first conversation.
type failing struct{ names []string }

func (f *failing) Import(_ context.Context, _ governance.Scope, in *api.ImportRequest) (*api.ImportResult, error) {
	if f.names = append(f.names, in.Name); len(f.names) == 1 {
		return nil, errDisk
	}
	return &api.ImportResult{Session: transcript.SessionID(in.Name)}, nil
}

// The conversations that wait take a bounded memory: the oldest is left out, and the newest never. One
// that cannot be imported does not hinder the others, and none is imported after the end.
func TestConversationsThatWait(t *testing.T) {
	shelf, log := &failing{}, &strings.Builder{}
	p, err := New(&Options{Importer: shelf, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	k, a := p.keeper, waiting(t, p, "a")
	k.working, k.bytes = true, maxWaiting-2*len(a.plain) // nobody works
	state := func(when string, wait int, unkept int64) {
		t.Helper()
		if len(k.order) != wait || len(k.waiting) != wait || p.stats.unkept.Load() != unkept {
			t.Errorf("%s %d conversations wait and %d are left out, want %d and %d", when, len(k.order), p.stats.unkept.Load(), wait, unkept)
		}
	}
	keep := func(c *call, want bool) {
		t.Helper()
		if got := k.keep(c); got != want {
			t.Errorf("kept %t, want %t", got, want)
		}
	}
	keep(a, true)
	keep(waiting(t, p, "b"), true)
	state("at the bound,", 2, 0)
	keep(waiting(t, p, "c"), true)
	state("above the bound,", 2, 1)
	if n := a.body.users.Load(); n != 1 {
		t.Errorf("the body that was left out has %d users, want the call alone", n)
	}
	k.bytes += maxWaiting
	keep(waiting(t, p, "d"), true)
	state("far above the bound,", 1, 3)
	k.bytes = 0
	keep(waiting(t, p, "e"), true)
	keep(waiting(t, p, "e"), true)
	keep(waiting(t, p, "f"), true)
	k.work()
	if state("in the end,", 0, 4); len(shelf.names) != 3 || p.stats.kept.Load() != 2 || len(k.known) != 2 || strings.Count(log.String(), "a conversation is not imported") != 1 {
		t.Errorf("imported %q, kept %d, known %v:\n%s", shelf.names, p.stats.kept.Load(), k.known, log)
	}
	k.working = true
	keep(waiting(t, p, "g"), true)
	k.stop()
	if k.work(); len(shelf.names) != 3 {
		t.Errorf("after the end %q is imported", shelf.names[3:])
	}
	keep(waiting(t, p, "h"), false)
	p.opts.Importer = nil
	keep(waiting(t, p, "h"), false)
}

// listing is a recorder that lists calls.
type listing struct {
	*book

	asked int
	err   error
}

func (l *listing) Calls(context.Context, governance.Scope, *api.CallsRequest) (*api.List[api.Call], error) {
	l.asked++
	c := api.Call{Session: "an-a", State: store.CallDone}
	c.Dialect, c.Compacts = "anthropic", true
	return &api.List[api.Call]{Items: []api.Call{c}}, l.err
}

// What is known of threads is bounded; the newest is known. A recorder is asked once for a thread.
func TestKnownThreads(t *testing.T) {
	log := &strings.Builder{}
	p, err := New(&Options{Recorder: &book{}, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	k, of := p.keeper, func(n int) digest.Digest { return digest.Of(fmt.Append(nil, n)) }
	for n := range maxKnown + 2 {
		if k.remember(of(n), "s"); len(k.known) != min(n+1, maxKnown) || k.known[of(n)] != "s" {
			t.Fatalf("after %d threads %d are known", n+1, len(k.known))
		}
	}
	q, l := readRequest(t, wire.Anthropic, `{"messages":[{"role":"user","content":"This session is being continued from a previous conversation"}]}`), &listing{book: &book{}}
	root := func(client, want string, asked int) {
		t.Helper()
		if got := p.root(t.Context(), q, client); got != want || l.asked != asked {
			t.Errorf("the root is %q after %d questions, want %q after %d", got, l.asked, want, asked)
		}
	}
	root("client", "", 0)
	p.opts.Recorder = l
	root("", "", 0)
	l.err = errDisk
	root("client", "", 1)
	for n := range maxKnown - 1 {
		k.roots[of(n)] = ""
	}
	l.err = nil
	root("client", "a", 2)
	if root("client", "a", 2); len(k.roots) != maxKnown || strings.Count(log.String(), "could not be read") != 1 {
		t.Errorf("%d threads are known, and it is logged:\n%s", len(k.roots), log)
	}
	delete(k.roots, q.Thread())
	k.roots[of(-1)] = ""
	if root("client", "a", 3); len(k.roots) != maxKnown {
		t.Errorf("%d threads are known, want %d", len(k.roots), maxKnown)
	}
}

// A call is estimated if it could be managed and is not, and if there is room for it.
func TestWhatIsEstimated(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(w *Estimator, c *call)
		want bool
	}{
		{"a call", func(*Estimator, *call) {}, true},
		{"a call that is held out", func(_ *Estimator, c *call) { c.proxy.opts.Manager, c.intent.Holdout = &script{}, true }, true},
		{"a managed call", func(_ *Estimator, c *call) { c.proxy.opts.Manager = &script{} }, false},
		{"a side call", func(_ *Estimator, c *call) { c.parts.req.Side = true }, false},
		{"no request", func(_ *Estimator, c *call) { c.parts = nil }, false},
		{"all the room", func(w *Estimator, c *call) { w.bytes = maxEstimateBytes - len(c.plain) }, true},
		{"too little room", func(w *Estimator, c *call) { w.bytes = maxEstimateBytes - len(c.plain) + 1 }, false},
		{"after the end", func(w *Estimator, _ *call) { w.closed = true }, false},
	} {
		w, c := NewEstimator(&EpochOptions{}), waiting(t, &Proxy{}, "a")
		w.working = true // nobody works
		if tt.set(w, c); (w.begin(c) != nil) != tt.want {
			t.Errorf("%s: estimated %t, want %t", tt.name, !tt.want, tt.want)
		}
	}
	w := NewEstimator(&EpochOptions{})
	w.closed = true
	for _, tt := range []struct{ counted, came, want token.Count }{{0, 10, 7}, {1, 10, 2}, {10, 0, 7}, {10, 1, 200}} {
		r := &estimate{image: &epoch.Image{Size: epoch.Size{All: 20}, Came: tt.came}, would: &api.UnmanagedEstimate{Tokens: 7}}
		answer := &wire.Answer{Used: true}
		answer.Usage.Input = tt.counted
		if got := w.end(r, answer); got == nil || got.Tokens != tt.want {
			t.Errorf("of %d tokens %d were counted: %+v, want %d", tt.came, tt.counted, got, tt.want)
		}
	}
}

// An estimate of a compaction has its reason unless the budget ends the epoch. The state of few
// conversations is kept; a conversation goes on with its newest head, with another model as well.
func TestStatesOfEstimates(t *testing.T) {
	would := func(n int) *api.UnmanagedEstimate {
		return &api.UnmanagedEstimate{Head: digest.Of(fmt.Append(nil, n)), Epoch: n, Made: 5}
	}
	e := &puppet{calls: func() (*carrel.List[carrel.Call], error) {
		list := make([]carrel.Call, 3)
		list[1].Would, list[2].Would = would(4), would(3)
		return &carrel.List[carrel.Call]{Items: list}, nil
	}}
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	w := NewEstimator(&EpochOptions{Engine: e, Threads: 2, Budget: 20_000, Now: func() time.Time { return now }})
	text := func(n int) string {
		return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":"x"},{"role":"user","content":"CRITICAL: Respond with TEXT ONLY"}]}`, bound, strings.Repeat("lamp ", n))
	}
	for n := range 3 {
		q := readRequest(t, wire.Anthropic, text(n))
		s := w.unmanagedThread(q, digest.Of(fmt.Append(nil, n)), "s")
		if len(w.threads) != min(n+1, 2) || s.simulation.Newest().Epoch != 4 {
			t.Errorf("%d conversations are known, the newest head is %+v", len(w.threads), s.simulation.Newest())
		}
		first := s.simulation
		q.Model = "claude-haiku-4-5"
		if again := w.unmanagedThread(q, digest.Of(fmt.Append(nil, n)), "s"); again != s || s.simulation == first || s.simulation.Newest().Epoch != 4 {
			t.Errorf("with another model the newest head is %+v", s.simulation.Newest())
		}
	}
	for _, tt := range []struct {
		words             int
		plain, compaction string
	}{{10, "nothing to change", api.ReasonCompacts}, {10_000, "new epoch: cold", api.ReasonCompacts}, {20_000, "new epoch: budget", "new epoch: budget"}} {
		for compacts, want := range map[bool]string{false: tt.plain, true: tt.compaction} {
			q := readRequest(t, wire.Anthropic, text(tt.words))
			s := w.unmanagedThread(q, digest.Of(fmt.Append(nil, tt.words, compacts)), "")
			s.last, q.Compacts = now.Add(-2*time.Hour), compacts // the cache is cold
			if _, reason := w.estimate(s, q); reason != want {
				t.Errorf("%d words, a compaction %t: %q, want %q", tt.words, compacts, reason, want)
			}
		}
	}
}
