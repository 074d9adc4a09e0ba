package carrel

import (
	"context"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionInfo is what is known of a session without reading it.
type SessionInfo struct {
	Session  transcript.SessionID `json:"session"`
	Status   store.Status         `json:"status,omitempty"` // if it was removed or purged
	Title    string               `json:"title,omitempty"`
	Critical bool                 `json:"critical,omitempty"` // see [Engine.Mark]
	Project  string               `json:"project,omitempty"`
	File     string               `json:"file,omitempty"` // that it was imported from
	Format   string               `json:"format"`
	Model    string               `json:"model,omitempty"`
	Encoding string               `json:"encoding"`
	Messages int                  `json:"messages"`
	Blocks   int                  `json:"blocks"`
	Tokens   token.Count          `json:"tokens"` // as imported
	Window   token.Count          `json:"window"` // in the window now
	Bytes    int64                `json:"bytes"`
	Revision store.Revision       `json:"revision"`
	Created  time.Time            `json:"created"`
	Updated  time.Time            `json:"updated"`
}

// Sessions returns the sessions of a scope, last updated first, limit at most;
// 0 means all. Those that were removed or purged are not among them: see
// [Engine.RemovedSessions].
func (e *Engine) Sessions(ctx context.Context, scope governance.Scope, limit int) (_ []SessionInfo, err error) {
	defer during("list sessions", &err)

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
func (e *Engine) Session(ctx context.Context, scope governance.Scope, id transcript.SessionID) (_ *SessionInfo, err error) {
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

// A BlockInfo is one block of a session in a list.
type BlockInfo struct {
	ID      transcript.BlockID `json:"id"`
	ShortID string             `json:"short_id"`
	Earlier int                `json:"earlier,omitempty"` // number of the earlier window that it is of, from 1; 0: of the present one
	Turn    int                `json:"turn"`              // in its window
	Kind    transcript.Kind    `json:"kind"`
	Tools   []string           `json:"tools,omitempty"`
	Rule    pager.Rule         `json:"rule,omitempty"`
	State   store.State        `json:"state"`
	Form    pager.Form         `json:"form"`
	Pinned  bool               `json:"pinned,omitempty"`
	Tokens  token.Count        `json:"est_tokens"` // as imported
	Window  token.Count        `json:"window"`     // in the window now
	Preview string             `json:"preview"`

	// Whether and how it may be discarded, see [Engine.Discard].
	Discardable bool           `json:"discardable"`
	Class       pager.Disposal `json:"class,omitempty"`
	Priority    int            `json:"priority,omitempty"` // 1 goes first
	Kept        string         `json:"kept,omitempty"`     // why it may not
}

// A MessagesResult lists the blocks of a session, in order, with what an agent
// needs to tidy its window. Blocks of earlier windows, which the client compacted, come
// first; they are cold, and in no figure of the session.
type MessagesResult struct {
	SessionInfo
	Floor    token.Count         `json:"floor_tokens"`
	Target   token.Count         `json:"target_tokens"` // of a discard: 50 000 or half of the context window, at least the floor
	Total    token.Count         `json:"total_est_tokens"`
	Earlier  int                 `json:"earlier,omitempty"` // of Blocks, how many are of earlier windows
	Sent     token.Count         `json:"sent,omitempty"`    // see [ContextResult]
	Figures  pager.Figures       `json:"figures"`
	Blocks   []BlockInfo         `json:"messages"`
	Branches []transcript.Branch `json:"branches,omitempty"`
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
func (e *Engine) Messages(ctx context.Context, scope governance.Scope, id transcript.SessionID) (_ *MessagesResult, err error) {
	defer during("list messages of session "+string(id), &err)

	h, info, err := e.loadInfo(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	window := e.capacity(h.session.Model)
	res := &MessagesResult{
		SessionInfo: info, Total: h.head.Window, Sent: token.Count(h.session.Sent), Branches: h.session.Branches,
		Floor: e.opts.Trigger.FloorOf(window), Target: e.opts.Trigger.TidyTo(window), Figures: e.opts.Trigger.Figures(window),
	}
	rules, err := e.rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	standings := e.standings(h, rules)
	for w, p := range h.earlier {
		for i := range p.rows {
			res.Blocks = append(res.Blocks, p.info(w, i))
		}
	}
	res.Earlier = len(res.Blocks)
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
		res.Blocks = append(res.Blocks, b)
	}
	return res, nil
}

func (e *Engine) info(ctx context.Context, scope governance.Scope, head *store.Head) (SessionInfo, error) {
	bodies, err := e.bodies(ctx, scope, []store.CellID{head.About})
	if err != nil {
		return SessionInfo{}, err
	}
	return describeHead(head, bodies[0])
}

// A ContextResult says what fills the window of a session. The figures are in
// tokens and sum to Used.
type ContextResult struct {
	SessionInfo
	Capacity  token.Count   `json:"capacity"` // of the model's context window
	Used      token.Count   `json:"used"`
	Sent      token.Count   `json:"sent,omitempty"` // in the agent's newest request, as its provider counted them; 0 if that is unknown
	Effective token.Count   `json:"effective"`      // of the capacity; Level is of this
	Fixed     ContextShare  `json:"fixed"`          // framing and tool definitions
	System    ContextShare  `json:"system"`         // system text
	Pinned    ContextShare  `json:"pinned"`         // other blocks under hard rules
	Summary   ContextShare  `json:"summary"`        // what stands for blocks that it covers and that left
	Live      ContextShare  `json:"live"`           // other blocks as they came in
	Stubs     ContextShare  `json:"stubs"`          // what stands for others
	Cold      ContextShare  `json:"cold"`           // out of the window; Tokens is 0
	Earlier   ContextShare  `json:"earlier"`        // of windows before a compaction by the client; Tokens is 0
	Free      token.Count   `json:"free"`           // capacity less used and reserve, at least 0
	Reserved  token.Count   `json:"reserved"`       // for the reply
	Level     string        `json:"level"`          // "ok", "warn", "compress" or "critical"; see Figures
	Figures   pager.Figures `json:"figures"`
	Ops       int           `json:"ops"` // entries in the journal
}

// A ContextShare is what one kind of content takes.
type ContextShare struct {
	Blocks int         `json:"blocks"`
	Tokens token.Count `json:"tokens"`    // in the window
	Stands token.Count `json:"stand_for"` // as they were imported
}

// reserve is held back of a context window for the reply.
const reserve = 20_000

// Context says what fills the window of a session. A capacity of 0 is that of
// the engine's options.
func (e *Engine) Context(ctx context.Context, scope governance.Scope, id transcript.SessionID, capacity token.Count) (_ *ContextResult, err error) {
	defer during("context of session "+string(id), &err)

	h, info, err := e.loadInfo(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	m, err := e.meterFor(h.session, h.head.Encoding)
	if err != nil {
		return nil, err
	}
	if capacity == 0 {
		capacity = e.capacity(h.session.Model)
	}
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
		share := res.share(&h.rows[i], rules[i])
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
func (r *ContextResult) share(b *store.Block, rule pager.Rule) *ContextShare {
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
func (e *Engine) Contract(ctx context.Context, scope governance.Scope, id transcript.SessionID) (_ []string, err error) {
	defer during("contract of session "+string(id), &err)

	if _, err := e.head(ctx, scope, id); err != nil {
		return nil, err
	}
	return e.statements(ctx, scope, id)
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
func (e *Engine) Journal(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) (_ []store.Entry, err error) {
	defer during("journal of session "+string(id), &err)

	list := []store.Entry{}
	for entry, err := range e.store.Entries(ctx, scope, id, after) {
		if err != nil {
			return nil, err
		}
		list = append(list, *entry)
	}
	return list, nil
}
