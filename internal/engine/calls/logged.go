package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Logged calls are not recorded: each time, they are read from the log in the stored session file.
// So they are as the file is, and they are gone when its text is.

// A loggedCall is a call from the log of a client.
type loggedCall struct {
	api.Call

	place   place
	request *transcript.Request
	before  string // id of the logged call before it, or empty
}

// loggedID returns the id of the call at a place, from 1, of the log of a session.
func loggedID(session transcript.SessionID, place int) string {
	return string(session) + ":" + strconv.Itoa(place)
}

// loggedCalls returns the calls in the log of a session, oldest first.
func (e *Calls) loggedCalls(ctx context.Context, scope governance.Scope, head *store.Head) ([]loggedCall, error) {
	metered := hold.MeteredBy(head)
	if _, ok := metered.(transcript.Logged); !ok {
		return nil, nil
	}
	r, err := e.Receipts(ctx, scope, head, metered)
	if err != nil {
		return nil, err
	}
	usage := make(map[string]*transcript.Receipt)
	for i := range r.List {
		usage[r.List[i].ID] = &r.List[i]
	}
	all := make([]loggedCall, len(r.Log))
	for i := range r.Log {
		q := &r.Log[i]
		c := &all[i]
		c.request, c.place = q, place{q.Begun, head.ID, int64(i + 1)}
		if q.Begun.IsZero() || q.Begun.After(head.Updated) {
			c.place.At = head.Updated
		}
		c.Call = api.Call{
			ID: loggedID(head.ID, i+1), Seq: int64(i + 1), Session: head.ID, State: store.CallUnknown, Begun: q.Begun, Ended: q.Replied, Logged: true, Missing: q.Missing,
			CallIntent: api.CallIntent{
				Dialect: "anthropic", Client: q.Client, Model: q.Model, Messages: q.Messages, Bytes: q.FrameBytes + q.Bytes, SentBytes: q.FrameBytes + q.Bytes,
				Chain: digest.Digest(q.Chain), Sent: digest.Digest(q.Chain), Frame: digest.Digest(q.Frame), Reason: api.ReasonLogged,
			},
			CallOutcome: api.CallOutcome{Reply: q.Reply, Stop: q.Stop},
		}
		if i > 0 {
			c.before = all[i-1].ID
		}
		if q.Reply != "" {
			c.State = store.CallDone
		}
		if u := usage[q.Reply]; u != nil {
			c.Usage = usageOf(u)
			delete(usage, q.Reply) // a request that resumed the reply has no usage of its own
		}
	}
	return all, nil
}

func usageOf(r *transcript.Receipt) api.Usage {
	return api.Usage{
		Input: token.Count(r.Uncached), CacheRead: token.Count(r.Read), CacheWrite5m: token.Count(r.Write5m),
		CacheWrite1h: token.Count(r.Write1h), Output: token.Count(r.Output),
	}
}

// A place is the position of a logged call among those of a scope. Later calls come first.
type place struct {
	At      time.Time            `json:"at,omitzero"` // when the call began, but not after its session was written
	Session transcript.SessionID `json:"session,omitempty"`
	Number  int64                `json:"number,omitempty"` // in the log, from 1
}

// compare returns a number below 0 if p comes before q.
func (p *place) compare(q *place) int {
	return cmp.Or(q.At.Compare(p.At), cmp.Compare(q.Session, p.Session), cmp.Compare(q.Number, p.Number))
}

// A mark is a position in the list of stored and logged calls.
type mark struct {
	Seq  int64 `json:"seq,omitempty"` // stored calls with a lower Seq follow; all if it is 0
	Last place `json:"last,omitzero"` // logged calls behind this place follow; all if it is zero
}

// listWithLogs returns the stored and the logged calls that match a request, last begun first. A call that
// is in a log and came through the proxy, too, is listed once, as the proxy saw it.
func (e *Calls) listWithLogs(ctx context.Context, scope governance.Scope, req *api.CallsRequest, stored func(seq int64, limit int) ([]api.Call, error)) (*api.List[api.Call], error) {
	marks := make(map[string]mark)
	from := func(m mark, limit int) ([]api.Call, error) {
		first, err := stored(m.Seq, limit)
		if err != nil {
			return nil, err
		}
		second, err := e.loggedBehind(ctx, scope, req, &m, limit)
		if err != nil {
			return nil, err
		}
		var list []api.Call
		for (limit <= 0 || len(list) < limit) && len(first)+len(second) > 0 {
			if len(second) == 0 || len(first) > 0 && !first[0].Begun.Before(second[0].place.At) {
				m.Seq = first[0].Seq
				list, first = append(list, first[0]), first[1:]
			} else {
				m.Last = second[0].place
				list, second = append(list, second[0].Call), second[1:]
			}
			marks[list[len(list)-1].ID] = m
		}
		return list, nil
	}
	return base.ListPage(&base.Listing[api.Call, mark]{
		Name: "calls", Scope: scope, Of: []any{req.Session, req.Client, req.Since, req.Logged},
		Fetch: func(limit int) ([]api.Call, error) { return from(mark{}, limit) },
		Key:   func(c *api.Call) mark { return marks[c.ID] },
		From:  from,
	}, req.Cursor)
}

// loggedBehind returns the logged calls behind a mark, last begun first: at least limit of them if
// there are as many, or all if limit is 0. It reads the newest sessions first, and only as many as
// it needs.
func (e *Calls) loggedBehind(ctx context.Context, scope governance.Scope, req *api.CallsRequest, m *mark, limit int) ([]loggedCall, error) {
	heads, err := e.loggingSessions(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	var list []loggedCall
	seen := &proxied{replies: make(map[string]bool)}
	for _, h := range heads {
		if limit > 0 && len(list) >= limit && !list[limit-1].place.At.Before(h.Updated) {
			break // no call of this session is later than those found
		}
		all, err := e.loggedCalls(ctx, scope, h)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(c loggedCall) bool {
			return c.Begun.Before(req.Since) || req.Client != "" && c.Client != req.Client || m.Last != (place{}) && m.Last.compare(&c.place) >= 0
		})
		if all, err = e.withoutProxied(ctx, scope, all, seen); err != nil {
			return nil, err
		}
		list = append(list, all...)
		slices.SortFunc(list, func(a, b loggedCall) int { return a.place.compare(&b.place) })
	}
	return list, nil
}

// loggingSessions returns the sessions that may have a log, last updated first.
func (e *Calls) loggingSessions(ctx context.Context, scope governance.Scope, req *api.CallsRequest) ([]*store.Head, error) {
	if req.Session != "" {
		h, err := e.Store.Head(ctx, scope, req.Session)
		switch {
		case api.KindOf(err).Exit == api.ExitNotFound, err == nil && h.Status != "":
			return nil, nil // a session without text has no log
		case err != nil:
			return nil, err
		}
		return []*store.Head{h}, nil
	}
	var heads []*store.Head
	for h, err := range e.Store.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		if h.Status != "" || h.About == "" || h.Updated.Before(req.Since) {
			continue
		}
		if _, ok := hold.MeteredBy(h).(transcript.Logged); !ok {
			continue
		}
		about, err := e.About(ctx, scope, h)
		if errors.Is(err, store.ErrGone) { // a purge is not yet at its end
			continue
		}
		if err != nil {
			return nil, err
		}
		if about.Logged {
			heads = append(heads, h)
		}
	}
	slices.SortFunc(heads, func(a, b *store.Head) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return heads, nil
}

// proxied has the replies to the calls that came through the proxy, the newest first.
type proxied struct {
	replies map[string]bool
	seq     int64 // number of the oldest call that was read, or 0
}

// withoutProxied removes the logged calls that came through the proxy.
func (e *Calls) withoutProxied(ctx context.Context, scope governance.Scope, list []loggedCall, seen *proxied) ([]loggedCall, error) {
	if len(list) == 0 {
		return nil, nil
	}
	since := slices.MinFunc(list, func(a, b loggedCall) int { return a.place.At.Compare(b.place.At) }).place.At
	err := e.EachCall(ctx, scope, store.CallFilter{Before: seen.seq, Since: since.Add(-time.Minute)}, func(c *api.Call) bool {
		seen.replies[c.Reply], seen.seq = true, c.Seq
		return true
	})
	return slices.DeleteFunc(list, func(c loggedCall) bool { return c.Reply != "" && seen.replies[c.Reply] }), err
}

// loggedCall describes the logged call with an id. It fails with [store.ErrNotFound] if there is
// none.
func (e *Calls) loggedCall(ctx context.Context, scope governance.Scope, id string) (*api.CallResult, error) {
	at := max(strings.LastIndexByte(id, ':'), 0)
	session := transcript.SessionID(id[:at])
	place, err := strconv.Atoi(strings.TrimPrefix(id[at:], ":"))
	if session == "" || err != nil {
		return nil, store.ErrNotFound
	}
	head, err := e.Head(ctx, scope, session)
	if err != nil {
		return nil, err
	}
	all, err := e.loggedCalls(ctx, scope, head)
	if err != nil {
		return nil, err
	}
	if place < 1 || place > len(all) {
		return nil, fmt.Errorf("%w: the log of session %s has %d calls", store.ErrNotFound, session, len(all))
	}
	c := &all[place-1]
	res := &api.CallResult{Call: c.Call, Segments: c.segments(all[:place-1])}
	var calls []api.Call
	for i := max(0, place-1-callsBefore); i < place; i++ {
		calls = append(calls, all[i].Call)
	}
	e.compare(res, calls)
	return res, nil
}

// segments returns the parts of a logged request, given the calls before it: system text with
// tools, the messages that the request before has, too, and its new messages.
func (c *loggedCall) segments(before []loggedCall) []api.CallPart {
	parts := []api.CallPart{}
	at := 0
	add := func(p api.CallPart) {
		if p.Start = at; p.Bytes > 0 {
			parts = append(parts, p)
		}
		at += p.Bytes
	}
	q := c.request
	frame := api.CallPart{Kind: manifest.KindFrame, Bytes: q.FrameBytes, Origin: api.OriginClient}
	old := api.CallPart{Kind: manifest.KindMessage, Bytes: q.KeptBytes, Origin: api.OriginBefore, Before: c.before}
	if n := len(before); n > 0 && before[n-1].Frame.Equal(c.Frame) {
		frame.Origin, frame.Before = api.OriginBefore, c.before
	}
	fresh := api.CallPart{Kind: manifest.KindMessage, Bytes: q.Bytes - q.KeptBytes, Origin: api.OriginClient}
	if q.Chain != (digest.Digest{}) {
		fresh.Chain = c.Chain.String()
	}
	add(frame)
	add(old)
	add(fresh)
	return parts
}
