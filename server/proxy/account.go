package proxy

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/manifest"
)

// lastSent identifies the messages sent in the last managed call of a conversation.
type lastSent struct {
	call  string        // the id of the call
	chain digest.Digest // of the messages
}

// maxSingleSegments is the largest number of messages that get a segment each if no earlier call is
// known. Of more messages, the last maxSingleSegments-1 do, and all others share one.
const maxSingleSegments = 32

// account sets c.sealed to the account of the body that is sent in place of the request.
func (c *call) account() {
	if c.proxy.opts.Recorder != nil && c.sent != nil {
		c.sealed = accountOf(c.prepared.parts, c.sent, c.prepared.before)
	}
}

// accountOf returns the account of a sent body. Its segments are the bytes before the messages,
// one segment for all messages that were sent in the earlier call before, one segment for each
// later message, and the bytes behind the messages. It returns nil if parts is empty or does
// not fit the body.
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

// sentBefore returns the index of the last part that was sent in an earlier call, and the id
// of that call. If no part was sent, it returns no id, and an index such that the parts up to
// it share a segment and at most maxSingleSegments parts get a segment each.
func sentBefore(parts []epoch.Part, before lastSent) (last int, call string) {
	if before.call != "" {
		for i := range parts {
			if parts[i].Chain == before.chain {
				return i, before.call
			}
		}
	}
	return max(0, len(parts)-maxSingleSegments), ""
}

// partsOf returns the spans and chains of the messages of a request.
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
