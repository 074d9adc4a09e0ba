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

// A Lister lists recorded calls. If the [Recorder] is a Lister, the proxy finds out which
// conversation a client continues after a compaction. [carrel.Engine] is one.
type Lister interface {
	Calls(ctx context.Context, scope governance.Scope, req *api.CallsRequest) (*api.List[api.Call], error)
}

// Bounds of the search in the earlier calls of a client: their number, and their age.
const (
	rootCalls = 200
	rootSince = 30 * 24 * time.Hour
)

// root returns the name under which the conversation was stored before its compaction, for a
// request that begins with a summary. It returns "" if that is not certain. It asks the Recorder
// once for each thread, and again after an error; it remembers an uncertain answer, too.
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
		p.log.Warn("the calls before a compaction could not be read: the conversation is stored as a new one", "reason", err)
		return ""
	}
	name = strings.TrimPrefix(string(rootOf(calls.Items, req)), string(k.prefixes[req.Dialect]))
	k.mu.Lock()
	defer k.mu.Unlock()
	for other := range k.roots {
		if len(k.roots) < maxKnown {
			break
		}
		delete(k.roots, other)
	}
	k.roots[thread] = name
	return name
}

// rootOf returns the session that is continued by req, a request that begins with a summary.
// calls are the earlier calls of the client, the latest first.
//
// If an earlier call is of the same thread, the session is that of the call. Otherwise it is
// the session of the compaction, if no conversation had a call since that did not fail. A compaction whose
// one message quotes the whole history has no session; then it is that of the last call before
// the compaction. If none of these is certain, rootOf returns "".
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

// summaryDigest returns the digest of the summary with which req begins, as it stands in data, the
// stored form of req. It returns "" if req begins with no summary.
func summaryDigest(req *wire.Request, data []byte) string {
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
