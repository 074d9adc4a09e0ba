package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// mostSent is the number of last calls of a thread whose chains are remembered.
const mostSent = 16

// A thread is the state of one conversation in memory. The store has its rewrites, too; the rest
// may be forgotten.
type thread struct {
	name, format string
	used         int // value of status.Calls at the last use; guarded by Epochs.mu

	storing *sync.Mutex // held while the conversation is imported, or a head is made of it

	mu      sync.Mutex
	session transcript.SessionID // empty until load has read the rewrites from the store
	book    *epoch.Book
	model   string
	sizes   *epoch.Sizes
	gauge   epoch.Gauge // of the same model
	calls   int
	last    time.Time        // of the last answer
	sent    []digest.Digest  // chains of the last calls
	before  lastSent         // the last call that was managed
	owed    []carrel.Rewrite // to be stored before the next rewrite, as the store may have a different one
	recall  offer            // whether ToolRecall is among the tools
	failed  token.Count      // size of the request when making a head failed, or 0
	stopped bool             // no longer managed, after a refusal
}

// threadName returns the name under which the conversation of a request is stored: the name of
// its first thread, if it continues one after a compaction, or its own.
func threadName(q *wire.Request) string {
	return transcript.ThreadName(cmp.Or(q.Root, q.Thread().String()[:16]))
}

// storingMutex returns the storing mutex for a conversation name: all threads of the name share it.
func (m *Epochs) storingMutex(name string) *sync.Mutex {
	for _, t := range m.threads {
		if t.name == name {
			return t.storing
		}
	}
	return new(sync.Mutex)
}

// thread returns the thread of a request.
func (m *Epochs) thread(q *wire.Request) *thread {
	key := q.Thread()
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[key]
	if t == nil {
		t = &thread{name: threadName(q), format: formats[q.Dialect], book: epoch.NewBook(q.Dialect)}
		t.storing = m.storingMutex(t.name)
		m.threads[key] = t
	}
	t.used = m.status.Calls
	if len(m.threads) > m.o.Threads {
		m.forget()
	}
	return t
}

// forget removes about a quarter of the threads, the least recently used ones.
func (m *Epochs) forget() {
	var used []int
	for _, t := range m.threads {
		used = append(used, t.used)
	}
	slices.Sort(used)
	for key, t := range m.threads {
		if t.used < used[len(used)/4] || len(m.threads) > m.o.Threads && t.used == used[0] {
			delete(m.threads, key)
		}
	}
}

// load reads the rewrites and the last calls of the thread of a request from the store, unless it
// has done so.
func (m *Epochs) load(ctx context.Context, t *thread, q *wire.Request) error {
	if t.session != "" {
		return nil
	}
	id, err := sessionOf(t.name, t.format)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.Limit)
	defer cancel()
	res, err := m.o.Engine.Rewrites(ctx, m.o.Scope, &carrel.SessionRequest{Session: id})
	if errors.Is(err, store.ErrNotFound) {
		res, err = &carrel.RewritesResult{}, nil
	}
	if err != nil {
		return fmt.Errorf("read the rewrites of the conversation: %w", err)
	}
	for i := range res.Rewrites {
		if err := t.add(&res.Rewrites[i]); err != nil {
			return fmt.Errorf("read the rewrites of the conversation: %w", err)
		}
	}
	calls, err := m.o.Engine.Calls(ctx, m.o.Scope, &carrel.CallsRequest{Session: id, Cursor: carrel.Cursor{Limit: mostSent}})
	if err != nil {
		return fmt.Errorf("read the last calls of the conversation: %w", err)
	}
	for i := range calls.Items {
		c := &calls.Items[i]
		if i == 0 {
			t.last = c.Ended
		}
		if t.recall == unknown && (c.Recall || c.Managed) {
			t.recall = offerOf(c.Recall)
		}
	}
	t.relearn(q, calls.Items)
	t.session = id
	return nil
}

// relearn sets the gauge by the last call whose prompt the provider counted, and whose messages are
// the first ones of the request and would be sent now as they were. It counts the bound of that
// prompt again, because the bound is not recorded. The calls are ordered from the last to the first.
func (t *thread) relearn(q *wire.Request, calls []carrel.Call) {
	for i := range calls {
		c := &calls[i]
		n, counted := c.Messages, c.Usage.Prompt()
		if c.Model != word(q.Model) || counted == 0 || n < 1 || n > len(q.Messages) || q.Messages[n-1].Chain != c.Chain {
			continue
		}
		first := *q
		first.Messages = q.Messages[:n]
		if plan := t.book.Plan(&first); plan.Sent == c.Sent {
			bound := t.sizesFor(q).Of(&first, plan).All
			t.gauge.Learn(bound, counted)
			return
		}
	}
}

// add adds a rewrite to the book of a thread.
func (t *thread) add(r *carrel.Rewrite) error {
	return t.book.Add(&epoch.Rewrite{Chain: r.Chain, Kind: epoch.Kind(r.Kind), Epoch: r.Epoch, Messages: r.Messages, Data: r.Data})
}

// sessionOf returns the id of the session under which a conversation with this name and format
// is stored.
func sessionOf(name, format string) (transcript.SessionID, error) {
	f, err := carrel.FormatNamed(format)
	if err != nil {
		return "", err
	}
	key := "messages"
	if format == formats[wire.Responses] {
		key = "input"
	}
	s, err := f.Decode(name, fmt.Appendf(nil, `{%q:[{"role":"user","content":"x"}]}`, key))
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

// keep stores a rewrite and then adds it to the thread. Call it before the rewrite is sent.
func (m *Epochs) keep(ctx context.Context, t *thread, r carrel.Rewrite) error {
	if _, err := m.o.Engine.KeepRewrite(ctx, m.o.Scope, &carrel.KeepRewriteRequest{Session: t.session, Rewrite: r}); err != nil {
		return err
	}
	return t.add(&r)
}

// Whole implements [ConversationSource].
func (m *Epochs) Whole(q *wire.Request) ([]byte, error) {
	t := m.thread(q)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := m.load(context.Background(), t, q); err != nil { // the thread may have been forgotten since its call
		return nil, err
	}
	return wholeOf(t.book, q)
}

// Import implements [Importer]. It waits while a head of the conversation is made: that head
// would lack the newest messages.
func (m *Epochs) Import(ctx context.Context, scope governance.Scope, req *carrel.ImportRequest) (*carrel.ImportResult, error) {
	if t := m.named(req.Name); t != nil {
		t.storing.Lock()
		defer t.storing.Unlock()
	}
	return m.o.Engine.Import(ctx, scope, req)
}

// named returns the thread in memory with the name, or nil.
func (m *Epochs) named(name string) *thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.threads {
		if t.name == name {
			return t
		}
	}
	return nil
}

// settle stores the owed rewrites of a thread, in order. A call that begins while some are owed
// makes no new rewrites; the call that came to owe them may still make others.
func (m *Epochs) settle(ctx context.Context, t *thread) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.o.Limit)
	defer cancel()
	for len(t.owed) > 0 {
		if err := m.keep(ctx, t, t.owed[0]); err != nil {
			return err
		}
		t.owed = t.owed[1:]
	}
	return nil
}

// sizesFor returns the sizes for the model of a request. Another model resets the sizes and the
// gauge.
func (t *thread) sizesFor(q *wire.Request) *epoch.Sizes {
	if t.sizes == nil || t.model != q.Model {
		t.model, t.sizes, t.gauge = q.Model, epoch.NewSizes(q.Dialect, q.Model), epoch.Gauge{}
	}
	return t.sizes
}
