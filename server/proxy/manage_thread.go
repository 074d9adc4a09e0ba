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

// mostSent is how many calls of a thread are remembered as sent.
const mostSent = 16

// A thread is what is known of one conversation. What it is that was sent is in the store,
// too; the rest may be forgotten.
type thread struct {
	name, format string
	used         int // how many calls there had been when it was used last; of Epochs.mu

	storing *sync.Mutex // while the conversation is stored, or a head is made of it

	mu      sync.Mutex
	session transcript.SessionID // empty until it was read from the store
	book    *epoch.Book
	model   string
	sizes   *epoch.Sizes
	gauge   epoch.Gauge // of the same model
	calls   int
	last    time.Time        // of the last answer
	sent    []digest.Digest  // chains of the last calls
	before  lastSent         // the last call that was managed
	owed    []carrel.Rewrite // what the store has to learn before the next call, as it may have something else
	recall  offer            // whether ToolRecall is among the tools
	failed  token.Count      // how large what is sent was when no head could be made
	stopped bool
}

// threadName returns the name under which the conversation of a request is stored: that of
// the thread that it began as.
func threadName(q *wire.Request) string {
	return transcript.ThreadName(cmp.Or(q.Root, q.Thread().String()[:16]))
}

// sharing returns what orders the storing of a conversation: the same for all its threads.
func (m *Epochs) sharing(name string) *sync.Mutex {
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
		t.storing = m.sharing(t.name)
		m.threads[key] = t
	}
	t.used = m.status.Calls
	if len(m.threads) > m.o.Threads {
		m.forget()
	}
	return t
}

// forget forgets a quarter of the threads, those that were used least lately.
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

// load reads what was sent in a thread from the store, once.
func (m *Epochs) load(ctx context.Context, t *thread) error {
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
		return fmt.Errorf("read what was sent: %w", err)
	}
	for i := range res.Rewrites {
		if err := t.add(&res.Rewrites[i]); err != nil {
			return fmt.Errorf("read what was sent: %w", err)
		}
	}
	calls, err := m.o.Engine.Calls(ctx, m.o.Scope, &carrel.CallsRequest{Session: id, Cursor: carrel.Cursor{Limit: mostSent}})
	if err != nil {
		return fmt.Errorf("read when the last call was: %w", err)
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
	t.session = id
	return nil
}

// add adds a rewrite to the book of a thread.
func (t *thread) add(r *carrel.Rewrite) error {
	return t.book.Add(&epoch.Rewrite{Chain: r.Chain, Kind: epoch.Kind(r.Kind), Epoch: r.Epoch, Messages: r.Messages, Data: r.Data})
}

// sessionOf returns the id of the session that a conversation of a name and a format is
// stored as.
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

// keep keeps a rewrite, in the store and then in memory, before anything of it is sent.
func (m *Epochs) keep(ctx context.Context, t *thread, r carrel.Rewrite) error {
	if _, err := m.o.Engine.KeepRewrite(ctx, m.o.Scope, &carrel.KeepRewriteRequest{Session: t.session, Rewrite: r}); err != nil {
		return err
	}
	return t.add(&r)
}

// Whole implements [Teller].
func (m *Epochs) Whole(q *wire.Request) ([]byte, error) {
	t := m.thread(q)
	t.mu.Lock()
	defer t.mu.Unlock()
	return wholeOf(t.book, q)
}

// Import implements [Importer]: it stores a conversation, and not while a head is made of it,
// which would lack what the newest call said.
func (m *Epochs) Import(ctx context.Context, scope governance.Scope, req *carrel.ImportRequest) (*carrel.ImportResult, error) {
	if t := m.named(req.Name); t != nil {
		t.storing.Lock()
		defer t.storing.Unlock()
	}
	return m.o.Engine.Import(ctx, scope, req)
}

// named returns the thread in memory that has a name, or nil.
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

// settle keeps what is owed to the store. What was sent is known here; until it is known
// there, too, nothing that is new is kept.
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

// sizesFor returns the counts for the model of a request.
func (t *thread) sizesFor(q *wire.Request) *epoch.Sizes {
	if t.sizes == nil || t.model != q.Model {
		t.model, t.sizes, t.gauge = q.Model, epoch.NewSizes(q.Dialect, q.Model), epoch.Gauge{}
	}
	return t.sizes
}
