package proxy

import (
	"context"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A Lister lists calls. A [Recorder] that is one tells which conversation a client goes on
// with after it has compacted it. [carrel.Engine] is one.
type Lister interface {
	Calls(ctx context.Context, scope governance.Scope, req *api.CallsRequest) (*api.List[api.Call], error)
}

// Bounds of the look at what a client did before.
const (
	rootCalls = 200
	rootSince = 30 * 24 * time.Hour
)

// root returns the name of the thread that a conversation began as which begins with a
// summary, or nothing if that is not sure. It asks once for each thread.
func (p *Proxy) root(ctx context.Context, req *wire.Request, client string) string {
	k, thread := p.keeper, req.Thread()
	k.mu.Lock()
	name, known := k.roots[thread]
	k.mu.Unlock()
	if known {
		return name
	}
	lister, ok := p.opts.Recorder.(Lister)
	if !ok || client == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, p.opts.Wait)
	defer cancel()
	calls, err := lister.Calls(ctx, p.opts.Scope, &api.CallsRequest{Client: client, Since: p.opts.Now().Add(-rootSince), Cursor: api.Cursor{Limit: rootCalls}})
	if err != nil {
		p.log.Warn("nobody knows which conversation a client goes on with", "reason", err)
		return ""
	}
	name = strings.TrimPrefix(string(rootOf(calls.Items, req)), string(k.prefixes[req.Dialect]))
	k.mu.Lock()
	defer k.mu.Unlock()
	for other := range k.roots {
		if len(k.roots) < maxKnown {
			break
		}
		delete(k.roots, other) // whichever
	}
	k.roots[thread] = name
	return name
}

// rootOf returns the session that a conversation which begins with a summary goes on with,
// given the calls of its client, the latest first. It is the session of an earlier call of the
// same thread; or that of the compaction, if no other conversation went on since. Where the
// compaction is told the history in one message, and so is of no session, it is the one that
// went on before.
func rootOf(calls []api.Call, req *wire.Request) (found transcript.SessionID) {
	thread := req.Thread()
	compacted, sure := false, true
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Dialect != string(req.Dialect):
		case c.Thread == thread && c.Session != "":
			return c.Session
		case found != "" || !sure:
		case c.Compacts && c.State == store.CallDone && !compacted:
			compacted, found = true, c.Session
		case c.Session != "" && !c.Compacts && c.State != store.CallFailed:
			if sure = compacted; sure {
				found = c.Session
			}
		}
	}
	return found
}

// left returns the digest of the message that a compaction left in a conversation, as it stands
// in the data that is stored, or nothing.
func left(req *wire.Request, data []byte) string {
	if req.Summary() < 0 {
		return ""
	}
	var doc rawjson.Document
	var stored wire.Request
	if doc.Read(data) != nil || stored.Read(req.Dialect, req.Kind, nil, &doc) != nil {
		return ""
	}
	i := stored.Summary()
	if i < 0 {
		return ""
	}
	return digest.Of(doc.Raw(stored.Messages[i].Node)).String()
}
