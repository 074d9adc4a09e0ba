package proxy

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/manifest"
)

// lastSent is what was sent for the last call of a conversation that was managed.
type lastSent struct {
	call  string        // its id
	chain digest.Digest // of the messages
}

// mostAlone is how many messages that were not sent before are told one by one.
const mostAlone = 32

// account makes the account of what is sent in place of a request.
func (c *call) account() {
	if c.proxy.opts.Recorder != nil && c.sent != nil && c.prepared != nil {
		c.sealed = accountOf(c.prepared.parts, c.sent, c.prepared.before)
	}
}

// accountOf returns the account of a body that is sent: what is around the messages; the
// messages that were sent before, which are not read again; and each further one. It is nil if
// parts of the body are not known.
func accountOf(parts []epoch.Part, body []byte, before lastSent) *api.CallAccount {
	n := len(parts)
	if n == 0 || parts[n-1].End > len(body) {
		return nil
	}
	a := &api.CallAccount{}
	at := 0
	put := func(s api.CallSegment, salt digest.Digest, end int) {
		if end <= at {
			return
		}
		if s.Bytes, s.Commit = end-at, s.Chain; s.Before == "" {
			s.Commit = manifest.CommitSegment(digest.Salt(salt), body[at:end])
		}
		a.Segments, at = append(a.Segments, s), end
	}
	put(api.CallSegment{Kind: manifest.KindFrame}, digest.Digest{}, parts[0].Start)
	for i := 0; i < n; {
		last, s := i, api.CallSegment{Kind: manifest.KindMessage}
		if i == 0 {
			last, s.Before = sentBefore(parts, before)
		}
		if s.Chain = parts[last].Chain; last == i && parts[i].Made && s.Before == "" {
			s.Kind = manifest.KindStub
		}
		var salt digest.Digest
		if i > 0 {
			salt = parts[i-1].Chain
		}
		end := parts[n-1].End
		if last+1 < n {
			end = parts[last+1].Start // with the comma
		}
		put(s, salt, end)
		i = last + 1
	}
	put(api.CallSegment{Kind: manifest.KindFrame}, digest.Digest{}, len(body))
	return a
}

// sentBefore returns up to which part all was sent by the call before, and its id. Without such
// a call it is those of the beginning that are too many to be told one by one.
func sentBefore(parts []epoch.Part, before lastSent) (last int, call string) {
	if before.call != "" {
		for i := range parts {
			if parts[i].Chain == before.chain {
				return i, before.call
			}
		}
	}
	return max(0, len(parts)-mostAlone), ""
}

// partsOf returns the messages of a body that was read.
func partsOf(q *wire.Request) (parts []epoch.Part) {
	if q.Doc.Kind(q.List) != rawjson.Array {
		return nil
	}
	for i := range q.Messages {
		span := q.Doc.Span(q.Messages[i].Node)
		parts = append(parts, epoch.Part{Start: span.Start, End: span.End, Chain: q.Messages[i].Chain})
	}
	return parts
}
