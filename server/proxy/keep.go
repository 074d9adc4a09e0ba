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

// An Importer takes conversations in. [carrel.Engine] is one.
type Importer interface {
	Import(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error)
}

// The formats of conversations, by dialect.
var formats = map[wire.Dialect]string{wire.Anthropic: "anthropic", wire.Chat: "openai", wire.Responses: "responses"}

// A keeper imports conversations in the background, one at a time: of each thread the
// newest body that there is, whatever came in between.
type keeper struct {
	proxy *Proxy
	ctx   context.Context // of the imports
	stop  context.CancelFunc

	prefixes map[wire.Dialect]transcript.SessionID // of the ids of sessions

	mu      sync.Mutex
	waiting map[digest.Digest]*said
	order   []digest.Digest                        // of those that wait
	bytes   int                                    // of those that wait
	known   map[digest.Digest]transcript.SessionID // as which threads were imported
	roots   map[digest.Digest]string               // of threads that began with a summary
	working bool
	idle    *sync.Cond
}

// Bounds of what waits to be imported, and of what is remembered.
const (
	maxWaiting = 256 << 20 // bytes
	maxKnown   = 4096      // threads
)

func newKeeper(p *Proxy) (*keeper, error) {
	k := &keeper{
		proxy: p, waiting: make(map[digest.Digest]*said), known: make(map[digest.Digest]transcript.SessionID), roots: make(map[digest.Digest]string),
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

// session returns the id of the session that the conversation of a request is stored as,
// whether or not it is yet.
func (k *keeper) session(req *wire.Request) transcript.SessionID {
	return k.prefixes[req.Dialect] + transcript.SessionID(strings.TrimPrefix(threadName(req), transcript.ThreadName("")))
}

func (k *keeper) sessions() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.known)
}

// wholeOf returns a request as a conversation to be stored. What the client asks for to compact
// it is no part of it.
func wholeOf(b *epoch.Book, req *wire.Request) ([]byte, error) {
	if req.Compacts {
		return b.WholeUnasked(req)
	}
	return b.Whole(req, len(req.Messages))
}

// worth reports whether a request is a conversation that goes on: a single message is a
// question beside one.
func worth(req *wire.Request) bool {
	if req.Side || req.Remote || req.Kind != wire.KindCall {
		return false
	}
	said := 0
	for i := range req.Messages {
		if req.Messages[i].Role != wire.RoleSystem {
			said++
		}
	}
	return said > 1 && (!req.Compacts || said > 2)
}

// said is what a call said, with the memory that it is in.
type said struct {
	parts *parts
	body  *payload
	plain []byte

	managed bool
}

func (s *said) release() {
	s.parts.release()
	s.body.release()
}

// keep imports later what a call said. It reports whether it will: then the request is
// the keeper's.
func (k *keeper) keep(c *call) bool {
	req := &c.parts.req
	if k.proxy.opts.Importer == nil || !worth(req) {
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
	k.waiting[thread] = &said{c.parts, c.body.hold(), c.plain, c.prepared != nil}
	k.bytes += len(c.plain)
	for k.bytes > maxWaiting && len(k.order) > 1 { // the next call of that thread brings it again
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

// request returns the import of what was said: the conversation without what differs
// between calls and is no part of it. A manager that tells the conversation tells it here,
// too, so that it is the same however it comes in.
func (s *said) request(m Manager) (*api.ImportRequest, error) {
	req := &s.parts.req
	in := &api.ImportRequest{Name: threadName(req), Format: formats[req.Dialect], Rewind: true}
	var err error
	if teller, ok := m.(Teller); ok && s.managed {
		in.Data, err = teller.Whole(req)
	} else {
		in.Data, err = wholeOf(epoch.NewBook(req.Dialect), req)
	}
	in.Compaction = left(req, in.Data)
	return in, err
}

// take takes the thread that waits longest.
func (k *keeper) take() (digest.Digest, *said) {
	thread := k.order[0]
	s := k.waiting[thread]
	k.order = k.order[1:]
	delete(k.waiting, thread)
	k.bytes -= len(s.plain)
	return thread, s
}

// work imports what waits, and ends when nothing does.
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

// remember keeps the session of a thread.
func (k *keeper) remember(thread digest.Digest, id transcript.SessionID) {
	for other := range k.known {
		if len(k.known) < maxKnown {
			break
		}
		delete(k.known, other) // whichever
	}
	k.known[thread] = id
}

// close imports what waits, unless ctx ends before.
func (k *keeper) close(ctx context.Context) {
	defer k.stop()
	defer context.AfterFunc(ctx, func() {
		k.stop()
		k.idle.Broadcast()
	})()
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.working && ctx.Err() == nil {
		k.idle.Wait()
	}
}
