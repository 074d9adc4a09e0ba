package proxy

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// An Engine is the part of a [carrel.Engine] that [Epochs] uses.
type Engine interface {
	Import(ctx context.Context, scope governance.Scope, req *carrel.ImportRequest) (*carrel.ImportResult, error)
	Stash(ctx context.Context, scope governance.Scope, req *carrel.StashRequest) (*carrel.StashResult, error)
	Brief(ctx context.Context, scope governance.Scope, req *carrel.BriefRequest) (*carrel.BriefResult, error)
	Recall(ctx context.Context, scope governance.Scope, req *carrel.RecallRequest) (*carrel.RecallResult, error)
	Rewriter
}

// A Rewriter stores the bytes that were sent in place of a client's, and lists calls.
type Rewriter interface {
	Calls(ctx context.Context, scope governance.Scope, req *carrel.CallsRequest) (*carrel.List[carrel.Call], error)
	Rewrites(ctx context.Context, scope governance.Scope, req *carrel.SessionRequest) (*carrel.RewritesResult, error)
	KeepRewrite(ctx context.Context, scope governance.Scope, req *carrel.KeepRewriteRequest) (*carrel.KeepRewriteResult, error)
	NewEpoch(ctx context.Context, scope governance.Scope, req *carrel.NewEpochRequest) (*carrel.NewEpochResult, error)
}

// EpochOptions adjusts [Epochs]. The zero value of every field but Engine is a sensible
// default.
type EpochOptions struct {
	Engine Engine
	Scope  governance.Scope // the default is [governance.DefaultScope]

	Window token.Count    // of the model; the default is that of the model's name
	Budget token.Count    // size of a request above which an epoch ends; the default is 90 % of the window
	Prices *economy.Table // prices and rules of caches; the default is economy.Published()

	Large   int         // size in bytes above which a new result is replaced by a pointer; the default is DefaultLarge
	Pointer token.Count // size of a pointer; the default is [carrel.StashTokens]
	Secrets bool        // stash also results that look as if they contain a credential
	Brief   token.Count // size of the text added to a compaction; the default is [carrel.BriefTokens]
	Answer  bool        // answer a compaction without the provider
	Recall  bool        // add the tool ToolRecall to new conversations

	Limit     time.Duration // for each step of Prepare except a head; the default is 2 s
	HeadLimit time.Duration // for making a head; the default is DefaultHead
	Threads   int           // how many conversations are kept in memory; the default is DefaultThreads

	Now    func() time.Time // the default is time.Now
	Logger *slog.Logger     // the default discards all records
}

// The defaults of Large, HeadLimit and Threads in [EpochOptions].
const (
	DefaultLarge   = 25_000 // about 8,000 tokens
	DefaultHead    = 20 * time.Second
	DefaultThreads = 1_000
)

// Epochs is the [Manager] that sends the same bytes for the messages of a conversation in each
// call, until an epoch ends: then it replaces the beginning of the conversation by a smaller
// head. An epoch ends when a request is over the budget; when the provider's cache is cold and a
// head is smaller; or when a head saves more than it costs within a tenth of the expected calls.
type Epochs struct {
	o EpochOptions

	mu      sync.Mutex
	threads map[digest.Digest]*thread
	status  EpochStatus
}

// EpochStatus has counts of what [Epochs] did since its start. Changed also counts requests to
// count tokens, bodies that came too late to be sent, and bodies after a refusal; Shrunk also counts results whose pointer
// could not be stored, so that they went as they came.
type EpochStatus struct {
	Threads  int `json:"threads"`  // conversations in memory
	Calls    int `json:"calls"`    // calls of Prepare
	Changed  int `json:"changed"`  // of these, calls with a body other than the client's
	Shrunk   int `json:"shrunk"`   // results that were replaced by pointers
	Epochs   int `json:"epochs"`   // heads that were made
	Failed   int `json:"failed"`   // steps that failed and were left out
	Stopped  int `json:"stopped"`  // conversations that are no longer managed, after a refusal
	Answered int `json:"answered"` // compactions that Carrel answered
}

// NewEpochs returns a manager.
func NewEpochs(o *EpochOptions) *Epochs {
	m := &Epochs{o: *o, threads: make(map[digest.Digest]*thread)}
	c := &m.o
	c.Scope = cmp.Or(c.Scope, governance.DefaultScope)
	c.Large = cmp.Or(c.Large, DefaultLarge)
	c.Limit = cmp.Or(c.Limit, 2*time.Second)
	c.HeadLimit = cmp.Or(c.HeadLimit, DefaultHead)
	c.Threads = cmp.Or(c.Threads, DefaultThreads)
	if c.Prices == nil {
		c.Prices = economy.Published()
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return m
}

// Bound returns the longest time that Prepare takes; [Options.Prepare] must not be less. It is
// twice the time of one call, because a call may wait for another call of the same conversation
// that makes a head.
func (m *Epochs) Bound() time.Duration { return 2*(m.o.Limit+m.o.HeadLimit) + time.Second }

// Status returns the counts.
func (m *Epochs) Status() EpochStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	s.Threads = len(m.threads)
	return s
}

func (m *Epochs) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}

// Prepare implements [Manager].
func (m *Epochs) Prepare(ctx context.Context, q *wire.Request) (*Prepared, error) {
	m.count(&m.status.Calls)
	if why := unmanagedReason(q); why != "" {
		return &Prepared{Reason: why, Sent: chainOf(q)}, nil
	}
	t := m.thread(q)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := m.load(ctx, t, q); err != nil {
		return nil, err
	}
	p := &Prepared{State: t, Recall: m.offers(t, q), before: t.before}
	if err := m.settle(ctx, t); err != nil {
		m.failed(ctx, t, "keep what was sent", err)
	}
	plan := t.book.Plan(q)
	switch {
	case len(t.owed) > 0:
		p.Reason = "store behind"
	case plan.Ended || t.stopped:
		p.Reason, p.Recall = "stopped", false
	case q.Kind == wire.KindCall:
		m.manage(ctx, t, q, p)
	}
	if p.Reply != nil {
		return p, nil
	}
	if err := m.settle(ctx, t); err != nil { // the next call tries again
		m.failed(ctx, t, "keep what is sent", err)
	}
	plan = t.book.Plan(q)
	p.size = t.sizesFor(q).Of(q, plan).All
	m.send(q, p, plan)
	return p, nil
}

// unmanagedReason returns why a request passes without being managed, or "" if it is managed.
func unmanagedReason(q *wire.Request) string {
	switch {
	case q.Kind == wire.KindCompact:
		return "provider compacts"
	case q.Remote:
		return "history at provider"
	case len(q.Messages) == 0:
		return "no messages"
	case q.Side:
		return "side call"
	}
	return ""
}

// send puts the plan's body and epoch into p, and a reason if p has none.
func (m *Epochs) send(q *wire.Request, p *Prepared, plan *epoch.Plan) {
	p.Epoch, p.Sent = plan.Epoch, plan.Sent
	if plan.Untouched() && !p.Recall {
		p.Reason = cmp.Or(p.Reason, "nothing to change")
		return
	}
	plan.Edit(q)
	if p.Recall {
		q.Doc.Append(q.Tools, recallTools[q.Dialect])
		if plan.Untouched() {
			p.Reason = cmp.Or(p.Reason, "recall offered")
		}
	}
	p.Body, p.parts = bytes.Join(q.Doc.Segments(), nil), plan.Parts(q)
	if added := len(recallTools[q.Dialect]) + len(","); p.Recall && q.Doc.Span(q.Tools).Start < q.Doc.Span(q.List).Start {
		for i := range p.parts {
			p.parts[i].Start += added
			p.parts[i].End += added
		}
	}
	p.Reason = cmp.Or(p.Reason, "same epoch")
	m.count(&m.status.Changed)
}

// manage makes the rewrites that a call needs. It leaves out a step that fails: then earlier
// messages go as in the calls before, and new messages as they came.
func (m *Epochs) manage(ctx context.Context, t *thread, q *wire.Request, p *Prepared) {
	short, cancel := context.WithTimeout(ctx, m.o.Limit)
	defer cancel()
	n, err := m.shrink(short, t, q)
	m.failed(ctx, t, "shorten results", err)
	if n > 0 {
		p.Reason = "results shortened"
	}
	if q.Compacts {
		p.Reason = api.ReasonCompacts
		m.failed(ctx, t, "brief a compaction", m.compaction(short, t, q, p))
	}
	sizes := t.sizesFor(q)
	z := sizes.Of(q, t.book.Plan(q))
	limits, reason := m.decide(t, q, z)
	if reason == "" || p.Reply != nil || q.Compacts && reason != epoch.Budget {
		return
	}
	began := m.o.Now()
	if err := m.newEpoch(ctx, t, q, z, limits); err != nil {
		t.failed = z.All
		p.Reason = "no new epoch: " + string(reason)
		m.failed(ctx, t, "begin an epoch", err)
		return
	}
	t.failed = 0
	plan := t.book.Plan(q)
	p.Reason = api.ReasonEpoch + string(reason)
	m.count(&m.status.Epochs)
	m.o.Logger.InfoContext(ctx, "an epoch began", "session", t.session, "epoch", plan.Epoch, "reason", reason,
		"before", z.All, "after", sizes.Of(q, plan).All, "took", m.o.Now().Sub(began))
}

// failed counts and logs that a step was left out, unless err is nil.
func (m *Epochs) failed(ctx context.Context, t *thread, step string, err error) {
	if err != nil {
		m.count(&m.status.Failed)
		m.o.Logger.WarnContext(ctx, "a step of managing failed and was left out: the messages are sent as in the call before", "session", t.session, "step", step, "reason", err)
	}
}

// decide returns the limits for a request, and the reason why the epoch ends before the
// request. If the reason is empty, the epoch goes on.
func (m *Epochs) decide(t *thread, q *wire.Request, z epoch.Size) (*epoch.Limits, epoch.Reason) {
	budget := cmp.Or(m.o.Budget, cmp.Or(m.o.Window, token.ContextWindow(q.Model))*90/100)
	limits := &epoch.Limits{Budget: budget, Target: budget / 2, Least: budget / 10}
	rules := m.rules(q.Model)
	now := m.o.Now()
	state := &epoch.State{
		Tokens: t.gauge.Read(z.All), Frame: t.gauge.Read(z.Frame), Made: t.gauge.Read(max(z.Made, t.failed)),
		Warm:  t.last.IsZero() || rules.Warm(t.last, now, false) || rules.Warm(t.last, now, true) && isLong(q), // also if the last call is unknown
		Calls: economy.Remaining(t.calls, nil),
		Payback: func(removed, behind token.Count) int {
			return rules.Payback(economy.Edit{Removed: removed, Behind: behind, Warm: true, Long: isLong(q)})
		},
	}
	return limits, epoch.Decide(state, limits)
}

// rules returns the rules of the cache of a model. For an unknown model, the cache lasts 5
// minutes or an hour, and a head never pays while the cache is warm.
func (m *Epochs) rules(model string) *economy.Rules {
	if tariff, known := m.o.Prices.Find(model); known {
		return &tariff.Rules
	}
	return &economy.Rules{Write5m: ratio.One, Short: 5 * time.Minute, Long: time.Hour}
}

// isLong reports whether a request asks for a cache lifetime of an hour. A text that quotes the
// setting is no match, because its quotation marks are escaped; the input of a call or the schema
// of a tool that has the same member is one.
func isLong(q *wire.Request) bool {
	body := q.Doc.Raw(rawjson.Root)
	return bytes.Contains(body, []byte(`"ttl":"1h"`)) || bytes.Contains(body, []byte(`"ttl": "1h"`))
}

// Done implements [Manager].
func (m *Epochs) Done(q *wire.Request, p *Prepared, answer *wire.Answer) {
	t, ok := p.State.(*thread)
	if !ok || q.Kind != wire.KindCall {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if answer != nil && answer.Used {
		t.gauge.Learn(p.size, answer.Usage.Prompt())
	}
	t.calls++
	if p.last.call != "" && p.Body != nil {
		t.before = p.last
	}
	t.last = m.o.Now()
	if t.recall == unknown {
		t.recall = offerOf(p.Recall)
	}
	if len(t.sent) == mostSent {
		t.sent = slices.Delete(t.sent, 0, 1)
	}
	t.sent = append(t.sent, chainOf(q))
}

// chainOf returns the digest over all messages of a request, which is the last message's Chain, or the
// zero digest if there is none.
func chainOf(q *wire.Request) (chain digest.Digest) {
	if n := len(q.Messages); n > 0 {
		chain = q.Messages[n-1].Chain
	}
	return chain
}
