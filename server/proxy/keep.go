package proxy

import (
	"context"
	"strings"
	"sync"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/transcript"
)

// An Importer stores conversations as sessions. [carrel.Engine] is one.
type Importer interface {
	Import(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error)
}

// The formats of conversations, by dialect.
var formats = map[wire.Dialect]string{wire.Anthropic: "anthropic", wire.Chat: "openai", wire.Responses: "responses"}

// A keeper imports conversations in the background, one at a time. Of each thread it imports
// the newest body and skips those that came while the thread waited.
type keeper struct {
	proxy *Proxy
	ctx   context.Context // of the imports
	stop  context.CancelFunc

	prefixes map[wire.Dialect]transcript.SessionID // with which the ids of sessions begin

	mu      sync.Mutex
	waiting map[digest.Digest]*keptRequest         // requests to import, by thread
	order   []digest.Digest                        // the waiting threads, the oldest first
	bytes   int                                    // size of the waiting bodies
	known   map[digest.Digest]transcript.SessionID // the sessions of imported threads
	roots   map[digest.Digest]string               // by thread: see Proxy.root
	working bool
	idle    *sync.Cond
}

// Bounds of the keeper's memory.
const (
	maxWaiting = 256 << 20 // bytes of waiting bodies
	maxKnown   = 4096      // threads in known and in roots
)

func newKeeper(p *Proxy) (*keeper, error) {
	k := &keeper{
		proxy: p, waiting: make(map[digest.Digest]*keptRequest), known: make(map[digest.Digest]transcript.SessionID), roots: make(map[digest.Digest]string),
		prefixes: make(map[wire.Dialect]transcript.SessionID),
	}
	for d, format := range formats {
		id, err := sessionOf(transcript.ThreadName(""), format)
		if err != nil {
			return nil, err
		}
		k.prefixes[d] = id
	}
	k.idle = sync.NewCond(&k.mu)
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k, nil
}

// session returns the id of the session under which the conversation of a request is or will be
// stored.
func (k *keeper) session(req *wire.Request) transcript.SessionID {
	return k.prefixes[req.Dialect] + transcript.SessionID(strings.TrimPrefix(threadName(req), transcript.ThreadName("")))
}

// sessions returns the number of sessions in k.known. After a compaction several threads have one.
func (k *keeper) sessions() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	ids := make(map[transcript.SessionID]bool)
	for _, id := range k.known {
		ids[id] = true
	}
	return len(ids)
}

// wholeOf returns the body to store for a request: the client's, but with the pointers that the book b
// sent in place of results. Messages that were not sent at all are as the client wrote them. It leaves
// out the client's prompt that asks for a compaction.
func wholeOf(b *epoch.Book, req *wire.Request) ([]byte, error) {
	if req.Compacts {
		return b.WholeUnasked(req)
	}
	return b.Whole(req, len(req.Messages))
}

// importable reports whether a request is to be imported: it is a call that continues a
// conversation, with its whole history, and has more than one message that is not a system message,
// without the client's prompt for a summary. A single message is a side question.
func importable(req *wire.Request) bool {
	if req.Side || req.Remote || req.Kind != wire.KindCall {
		return false
	}
	n := 0
	for i := range req.Messages {
		if req.Messages[i].Role != wire.RoleSystem {
			n++
		}
	}
	return n > 1 && (!req.Compacts || n > 2)
}

// keptRequest is the request of a finished call, with the pooled memory it is in.
type keptRequest struct {
	parts *parts
	body  *payload
	plain []byte

	managed bool
}

func (s *keptRequest) release() {
	s.parts.release()
	s.body.release()
}

// keep queues the request of a call for import. If it returns true, the keeper owns c.parts and
// releases it.
func (k *keeper) keep(c *call) bool {
	req := &c.parts.req
	if k.proxy.opts.Importer == nil || !importable(req) {
		return false
	}
	thread := req.Thread()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ctx.Err() != nil {
		return false
	}
	if old := k.waiting[thread]; old != nil {
		k.bytes -= len(old.plain)
		old.release()
	} else {
		k.order = append(k.order, thread)
	}
	k.waiting[thread] = &keptRequest{c.parts, c.body.hold(), c.plain, c.prepared != nil}
	k.bytes += len(c.plain)
	for k.bytes > maxWaiting && len(k.order) > 1 { // the next call of the dropped thread has its messages again
		_, old := k.take()
		old.release()
		k.proxy.stats.unkept.Add(1)
	}
	if !k.working {
		k.working = true
		go k.work()
	}
	return true
}

// request returns the request to import the conversation. If the manager is a [ConversationSource] and
// managed the call, the body is the one that the manager stores.
func (s *keptRequest) request(m Manager) (*api.ImportRequest, error) {
	req := &s.parts.req
	in := &api.ImportRequest{Name: threadName(req), Format: formats[req.Dialect], Rewind: true}
	var err error
	if source, ok := m.(ConversationSource); ok && s.managed {
		in.Data, err = source.Whole(req)
	} else {
		in.Data, err = wholeOf(epoch.NewBook(req.Dialect), req)
	}
	in.Compaction = summaryDigest(req, in.Data)
	return in, err
}

// take removes and returns the thread that waits longest.
func (k *keeper) take() (digest.Digest, *keptRequest) {
	thread := k.order[0]
	s := k.waiting[thread]
	k.order = k.order[1:]
	delete(k.waiting, thread)
	k.bytes -= len(s.plain)
	return thread, s
}

// work imports the waiting threads, and ends when none is left.
func (k *keeper) work() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.order) > 0 && k.ctx.Err() == nil {
		thread, s := k.take()
		k.mu.Unlock()
		in, err := s.request(k.proxy.opts.Manager)
		s.release()
		var res *api.ImportResult
		if err == nil {
			res, err = k.proxy.opts.Importer.Import(k.ctx, k.proxy.opts.Scope, in)
		}
		k.mu.Lock()
		if err != nil {
			k.proxy.stats.unkept.Add(1)
			k.proxy.log.Warn("a conversation is not imported", "format", in.Format, "reason", err)
			continue
		}
		k.proxy.stats.kept.Add(1)
		k.remember(thread, res.Session)
	}
	k.working = false
	k.idle.Broadcast()
}

// remember stores the session of a thread. If there are maxKnown threads already, it first
// forgets arbitrary ones.
func (k *keeper) remember(thread digest.Digest, id transcript.SessionID) {
	for other := range k.known {
		if len(k.known) < maxKnown {
			break
		}
		delete(k.known, other)
	}
	k.known[thread] = id
}

// close waits until the waiting threads are imported or ctx ends, then stops the imports.
func (k *keeper) close(ctx context.Context) {
	defer k.stop()
	defer context.AfterFunc(ctx, func() {
		k.stop()
		k.mu.Lock() // so that close has looked at ctx after its end, or already waits
		defer k.mu.Unlock()
		k.idle.Broadcast()
	})()
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.working && ctx.Err() == nil {
		k.idle.Wait()
	}
}
