package sessions

import (
	"context"
	"errors"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Sessions returns a page of the sessions of a scope, last updated first.
func (e *Sessions) Sessions(ctx context.Context, scope governance.Scope, req *api.SessionsRequest) (_ *api.List[api.SessionInfo], err error) {
	defer base.During("list sessions", &err)
	return base.ListPage(&base.Listing[api.SessionInfo, sessionKey]{
		Name: "sessions", Scope: scope,
		Fetch: func(limit int) ([]api.SessionInfo, error) { return e.sessions(ctx, scope, limit) },
		Key:   func(s *api.SessionInfo) sessionKey { return sessionKey{s.Updated.UnixMilli(), s.Session} },
		Behind: func(k sessionKey) (func(*api.SessionInfo) bool, error) {
			return func(s *api.SessionInfo) bool {
				updated := s.Updated.UnixMilli()
				return updated < k.Updated || updated == k.Updated && s.Session > k.Session
			}, nil
		},
	}, req.Cursor)
}

// A sessionKey is the position of a session in the list: last updated first, then by id.
type sessionKey struct {
	Updated int64 // milliseconds
	Session transcript.SessionID
}

// sessions returns at most limit sessions, last updated first; 0 means all.
func (e *Sessions) sessions(ctx context.Context, scope governance.Scope, limit int) ([]api.SessionInfo, error) {
	var heads []*store.Head
	for h, err := range e.Store.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		if h.Status != "" {
			continue
		}
		heads = append(heads, h)
		if len(heads) == limit {
			break
		}
	}
	list, err := e.describe(ctx, scope, heads)
	if err == nil && limit > 0 && len(list) < len(heads) {
		list, err = e.sessions(ctx, scope, 0) // others take the places of those whose description is erased
		list = list[:min(limit, len(list))]
	}
	return list, err
}

// describe returns descriptions of the sessions with the given heads, without those whose
// description is erased.
func (e *Sessions) describe(ctx context.Context, scope governance.Scope, heads []*store.Head) ([]api.SessionInfo, error) {
	ids := make([]store.CellID, len(heads))
	for i, h := range heads {
		ids[i] = h.About
	}
	bodies, err := e.Bodies(ctx, scope, ids)
	if errors.Is(err, store.ErrGone) {
		heads, bodies, err = e.described(ctx, scope, heads)
	}
	if err != nil {
		return nil, err
	}
	infos := make([]api.SessionInfo, len(heads))
	for i, h := range heads {
		if infos[i], err = hold.DescribeHead(h, bodies[i]); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// described returns the heads of the sessions whose description is not erased, and the bodies of
// the descriptions. A purge that has only erased texts so far has left the heads of its sessions.
func (e *Sessions) described(ctx context.Context, scope governance.Scope, heads []*store.Head) (kept []*store.Head, bodies [][]byte, err error) {
	for _, h := range heads {
		body, err := e.Bodies(ctx, scope, []store.CellID{h.About})
		switch {
		case errors.Is(err, store.ErrGone):
			continue
		case err != nil:
			return nil, nil, err
		}
		kept, bodies = append(kept, h), append(bodies, body[0])
	}
	return kept, bodies, nil
}

// Session describes one session, even if it was removed.
func (e *Sessions) Session(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SessionInfo, err error) {
	id := req.Session
	defer base.During("session "+string(id), &err)

	head, err := e.AnyHead(ctx, scope, id)
	if err == nil && head.Status == store.StatusPurged {
		err = hold.CheckInUse(head)
	}
	if err != nil {
		return nil, err
	}
	info, err := e.Info(ctx, scope, head)
	return &info, err
}

// Journal returns the journal of a session after a revision, in order.
func (e *Sessions) Journal(ctx context.Context, scope governance.Scope, req *api.JournalRequest) (_ *api.List[store.Entry], err error) {
	defer base.During("journal of session "+string(req.Session), &err)
	return base.ListPage(base.Entries("journal", scope, []any{req.Session, req.Since}, e.Store.Entries(ctx, scope, req.Session, req.Since)), req.Cursor)
}
