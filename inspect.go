package carrel

import (
	"cmp"
	"context"
	"math"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Sessions returns the sessions of a scope, last updated first, limit at most;
// 0 means all. Those that were removed or purged are not among them: see
// [Engine.RemovedSessions].
func (e *Engine) Sessions(ctx context.Context, scope governance.Scope, req *SessionsRequest) (_ *List[SessionInfo], err error) {
	defer during("list sessions", &err)
	return pageOfList(&listing[SessionInfo, sessionKey]{
		name: "sessions", scope: scope,
		fetch: func(limit int) ([]SessionInfo, error) { return e.sessions(ctx, scope, limit) },
		key:   func(s *SessionInfo) sessionKey { return sessionKey{s.Updated.UnixMilli(), s.Session} },
		behind: func(k sessionKey) (func(*SessionInfo) bool, error) {
			return func(s *SessionInfo) bool {
				updated := s.Updated.UnixMilli()
				return updated < k.Updated || updated == k.Updated && s.Session > k.Session
			}, nil
		},
	}, req.Cursor)
}

// A sessionKey is where a session stands in the list: last updated first, then by id.
type sessionKey struct {
	Updated int64 // milliseconds
	Session transcript.SessionID
}

// sessions returns the sessions that were updated last, limit at most; 0 means all.
func (e *Engine) sessions(ctx context.Context, scope governance.Scope, limit int) ([]SessionInfo, error) {
	var heads []*store.Head
	for h, err := range e.store.Heads(ctx, scope) {
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
	ids := make([]store.CellID, len(heads))
	for i, h := range heads {
		ids[i] = h.About
	}
	bodies, err := e.bodies(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	infos := make([]SessionInfo, len(heads))
	for i, h := range heads {
		if infos[i], err = describeHead(h, bodies[i]); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// Session returns what is known of one session, also if it was removed. One that was
// purged is [ErrGone].
func (e *Engine) Session(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *SessionInfo, err error) {
	id := req.Session
	defer during("session "+string(id), &err)

	head, err := e.store.Head(ctx, scope, id)
	if err == nil && head.Status == store.StatusPurged {
		err = inUse(head)
	}
	if err != nil {
		return nil, err
	}
	info, err := e.info(ctx, scope, head)
	return &info, err
}

func describeHead(h *store.Head, body []byte) (SessionInfo, error) {
	a, err := readAbout(h, body)
	if err != nil {
		return SessionInfo{}, err
	}
	return sessionInfo(h, a), nil
}

func sessionInfo(h *store.Head, a *about) SessionInfo {
	return SessionInfo{
		Session: h.ID, Status: h.Status, Title: a.Title, Critical: a.Critical, Project: a.Project, File: a.Name, Format: h.Format, Model: h.Model,
		Encoding: h.Encoding, Messages: h.Messages, Blocks: h.Blocks, Tokens: h.Tokens, Window: h.Window,
		Bytes: h.Bytes, Revision: h.Revision, Created: h.Created, Updated: h.Updated,
	}
}

// loadInfo loads a session, with what lists say of it.
func (e *Engine) loadInfo(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*held, SessionInfo, error) {
	h, err := e.load(ctx, scope, id)
	if err != nil {
		return nil, SessionInfo{}, err
	}
	info, err := e.info(ctx, scope, h.head)
	return h, info, err
}

// Messages returns the blocks of a session.
func (e *Engine) Messages(ctx context.Context, scope governance.Scope, req *MessagesRequest) (_ *MessagesResult, err error) {
	defer during("list messages of session "+string(req.Session), &err)

	h, info, err := e.loadInfo(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	window, count := e.capacity(h.session.Model), info.Messages
	info.Messages = 0 // the list has its name
	res := &MessagesResult{
		SessionInfo: info, Count: count, Total: h.head.Window, Sent: token.Count(h.session.Sent), Branches: h.session.Branches,
		Floor: e.opts.Trigger.FloorOf(window), Target: e.opts.Trigger.TidyTo(window), Figures: e.opts.Trigger.Figures(window),
	}
	rules, err := e.rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	standings := e.standings(h, rules)
	for w, p := range h.earlier {
		for i := range p.rows {
			res.Messages = append(res.Messages, p.info(w, i))
		}
	}
	res.Earlier = len(res.Messages)
	for i := range h.rows {
		r, s := &h.rows[i], &standings[i]
		b := BlockInfo{
			ID: r.ID, ShortID: r.ID.Short(), Turn: r.Turn, Kind: r.Kind, Tools: r.Tools, Rule: rules[i], State: r.State,
			Form: pager.Form(r.Form), Pinned: r.Pinned, Tokens: r.Tokens, Window: r.Window,
			Preview: preview(h.session.Messages, &h.blocks[i]),
		}
		switch {
		case s.Form == pager.Gone:
			b.Kept = "is not in the window"
		case s.Rule != "":
			b.Kept = s.Rule.Keeps()
		default:
			b.Discardable, b.Class, b.Priority = true, s.Disposal, s.Disposal.Priority()
		}
		res.Messages = append(res.Messages, b)
	}
	page, err := pageOfList(&listing[BlockInfo, int]{
		name: "messages", scope: scope, of: req.Session,
		fetch: func(int) ([]BlockInfo, error) { return res.Messages, nil },
		key:   place,
		behind: func(at int) (func(*BlockInfo) bool, error) {
			return func(b *BlockInfo) bool { return place(b) > at }, nil
		},
	}, req.Cursor)
	if err != nil {
		return nil, err
	}
	res.Messages, res.Next = page.Items, page.Next
	return res, nil
}

// place orders the blocks of a session: those of earlier windows come first, and turns
// are counted in each window.
func place(b *BlockInfo) int {
	window := b.Earlier
	if window == 0 {
		window = math.MaxInt32
	}
	return window<<31 | b.Turn
}

func (e *Engine) info(ctx context.Context, scope governance.Scope, head *store.Head) (SessionInfo, error) {
	bodies, err := e.bodies(ctx, scope, []store.CellID{head.About})
	if err != nil {
		return SessionInfo{}, err
	}
	return describeHead(head, bodies[0])
}

// reserve is held back of a context window for the reply.
const reserve = 20_000

// Context says what fills the window of a session. A capacity of 0 is that of
// the engine's options.
func (e *Engine) Context(ctx context.Context, scope governance.Scope, req *ContextRequest) (_ *ContextResult, err error) {
	id := req.Session
	defer during("context of session "+string(id), &err)

	h, info, err := e.loadInfo(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	m, err := e.meterFor(h.session, h.head.Encoding)
	if err != nil {
		return nil, err
	}
	capacity := cmp.Or(req.Window, e.capacity(h.session.Model))
	res := &ContextResult{SessionInfo: info, Capacity: capacity, Used: h.head.Window, Sent: token.Count(h.session.Sent)}
	res.Reserved = min(reserve, capacity/10)
	res.Fixed.Tokens = m.fixed(h.session)
	if h.summary != nil {
		res.Summary = ContextShare{Blocks: 1, Tokens: h.summary.Tokens}
		for i := range h.rows[:min(h.summary.Covers, len(h.rows))] {
			if state := h.rows[i].State; state == store.StateCold || state == store.StatePurged {
				res.Summary.Stands += h.rows[i].Tokens
			}
		}
	}
	rules, err := e.rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	for i := range h.rows {
		share := shareOf(res, &h.rows[i], rules[i])
		share.Blocks++
		share.Tokens += h.rows[i].Window
		share.Stands += h.rows[i].Tokens
	}
	for _, p := range h.earlier {
		for i := range p.rows {
			res.Earlier.Blocks++
			res.Earlier.Stands += p.rows[i].Tokens
		}
	}
	res.Free = max(capacity-res.Used-res.Reserved, 0)
	res.Effective = e.opts.Trigger.EffectiveOf(capacity)
	res.Figures = e.opts.Trigger.Figures(capacity)
	res.Level = string(e.opts.Trigger.Level(res.Used, res.Effective))
	for _, err := range e.store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		res.Ops++
	}
	return res, nil
}

// share returns the part of the window that a block belongs to.
func shareOf(r *ContextResult, b *store.Block, rule pager.Rule) *ContextShare {
	switch {
	case b.State == store.StateCold || b.State == store.StatePurged:
		return &r.Cold
	case b.State == store.StateStub:
		return &r.Stubs
	case rule == pager.RuleSystem:
		return &r.System
	case rule.Hard():
		return &r.Pinned
	}
	return &r.Live
}

// Contract returns the contract of a session: one Liminate statement a line.
func (e *Engine) Contract(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *ContractResult, err error) {
	id := req.Session
	defer during("contract of session "+string(id), &err)

	if _, err := e.head(ctx, scope, id); err != nil {
		return nil, err
	}
	lines, err := e.statements(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return &ContractResult{Statements: lines}, nil
}

// preview says what a block is and how it begins, in one line.
func preview(msgs []transcript.Message, b *transcript.Block) string {
	what, excerpt := pager.Describe(msgs, b)
	if b.Kind != transcript.KindTool {
		return excerpt
	}
	return what + ": " + excerpt
}

// Journal returns what happened to a session after a revision, in order. What the
// entries hold, [Engine.Why] says of one block; none holds text of the
// conversation.
func (e *Engine) Journal(ctx context.Context, scope governance.Scope, req *JournalRequest) (_ *List[store.Entry], err error) {
	defer during("journal of session "+string(req.Session), &err)
	return pageOfList(entries("journal", scope, []any{req.Session, req.Since}, func() ([]store.Entry, error) { return e.journal(ctx, scope, req.Session, req.Since) }), req.Cursor)
}

// journal returns the entries of a session after a revision.
func (e *Engine) journal(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) ([]store.Entry, error) {
	list := []store.Entry{}
	for entry, err := range e.store.Entries(ctx, scope, id, after) {
		if err != nil {
			return nil, err
		}
		list = append(list, *entry)
	}
	return list, nil
}
