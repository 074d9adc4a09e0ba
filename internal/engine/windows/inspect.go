package windows

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Messages returns the blocks of a session.
func (e *Windows) Messages(ctx context.Context, scope governance.Scope, req *api.MessagesRequest) (_ *api.MessagesResult, err error) {
	defer base.During("list messages", &err, "of session "+string(req.Session))

	head, err := e.Head(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	all, err := hold.View(&e.Views, scope, head, "messages", func() (hold.Viewed[*api.MessagesResult], error) { return e.messages(ctx, scope, req.Session) })
	if err != nil {
		return nil, err
	}
	res := new(*all)
	page, err := base.ListPage(&base.Listing[api.BlockInfo, int]{
		Name: "messages", Scope: scope, Of: req.Session,
		Fetch: func(limit int) ([]api.BlockInfo, error) { return first(all.Messages, limit), nil },
		Key:   place,
		From: func(at, limit int) ([]api.BlockInfo, error) {
			begin := sort.Search(len(all.Messages), func(i int) bool { return place(&all.Messages[i]) > at })
			return first(all.Messages[begin:], limit), nil
		},
	}, req.Cursor)
	if err != nil {
		return nil, err
	}
	res.Messages, res.Next = page.Items, page.Next
	for i := range res.Messages {
		res.Messages[i].Tools = slices.Clone(res.Messages[i].Tools)
	}
	return res, nil
}

// first returns a copy of the first blocks of a list, or of all if limit is 0.
func first(list []api.BlockInfo, limit int) []api.BlockInfo {
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return slices.Clone(list)
}

// blockBytes estimates the bytes that a [api.BlockInfo] takes beside its preview.
const blockBytes = 300

// messages returns all blocks of a session.
func (e *Windows) messages(ctx context.Context, scope governance.Scope, id transcript.SessionID) (all hold.Viewed[*api.MessagesResult], err error) {
	h, info, m, err := e.loadMeasured(ctx, scope, id)
	if err != nil {
		return all, err
	}
	figures, count := e.Opts.Trigger.Figures(e.Capacity(h.Session.Model)), info.Messages
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return all, err
	}
	// Who lists the blocks of a session is likely to ask what fills its window.
	parts, err := e.partsOf(ctx, scope, h, info, m, rules, 0)
	if err != nil {
		return all, err
	}
	hold.KeepView(&e.Views, scope, contextView(0), parts)
	info.Messages = 0 // Count has it: the key "messages" of the JSON is the list
	res := &api.MessagesResult{
		SessionInfo: info, Count: count, Total: h.Head.Window, Sent: token.Count(h.Session.Sent), Branches: h.Session.Branches,
		Floor: figures.Floor, Target: figures.Tidy, Figures: figures,
	}
	standings := e.standings(h, rules)
	for w, p := range h.Earlier {
		for i := range p.Rows {
			res.Messages = append(res.Messages, p.Info(w, i))
		}
	}
	res.Earlier = len(res.Messages)
	for i := range h.Rows {
		r, s := &h.Rows[i], &standings[i]
		b := api.BlockInfo{
			ID: r.ID, ShortID: r.ID.Short(), Turn: r.Turn, Kind: r.Kind, Tools: r.Tools, Rule: rules[i], State: r.State,
			Form: pager.Form(r.Form), Pinned: r.Pinned, Tokens: r.Tokens, Window: r.Window,
			Preview: hold.Preview(h.Session.Messages, &h.Blocks[i]),
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
	all = hold.Viewed[*api.MessagesResult]{Value: res, Head: h.Head}
	for i := range res.Messages {
		all.Bytes += blockBytes + len(res.Messages[i].Preview)
	}
	return all, nil
}

// place returns the position of a block in the session's order: blocks of earlier windows come
// first, and turns are counted within each window.
func place(b *api.BlockInfo) int {
	window := b.Earlier
	if window == 0 {
		window = math.MaxInt32
	}
	return window<<31 | b.Turn
}

// loadMeasured loads a session, its entry in lists, and the meter that counts its tokens.
func (e *Windows) loadMeasured(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*hold.Snapshot, api.SessionInfo, hold.Meter, error) {
	h, info, err := e.LoadInfo(ctx, scope, id)
	if err != nil {
		return nil, info, hold.Meter{}, err
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	return h, info, m, err
}

// reserve is how many tokens of a context window are kept free for the reply.
const reserve = 20_000

// Context returns what fills the window of a session.
func (e *Windows) Context(ctx context.Context, scope governance.Scope, req *api.ContextRequest) (_ *api.ContextResult, err error) {
	id := req.Session
	defer base.During("context", &err, "of session "+string(id))

	head, err := e.Head(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	kept, err := hold.View(&e.Views, scope, head, contextView(req.Window), func() (hold.Viewed[*api.ContextResult], error) { return e.parts(ctx, scope, req) })
	if err != nil {
		return nil, err
	}
	res := new(*kept)
	last, err := e.LastCall(ctx, scope, id)
	if last == nil {
		return res, err
	}
	res.Proxy = &api.ProxyState{
		Session: last.Session, At: last.Ended, Managed: last.Managed, Epoch: last.Epoch,
		Bytes: last.Bytes, SentBytes: last.SentBytes, Tokens: last.Usage.Prompt(),
	}
	res.Sent = cmp.Or(res.Proxy.Tokens, res.Sent)
	return res, nil
}

// contextView returns the kind under which the view cache has the result of [Windows.Context], for
// a context window of the given size.
func contextView(size token.Count) string { return fmt.Sprint("context ", size) }

// parts returns what fills the window of a session, without the last call.
func (e *Windows) parts(ctx context.Context, scope governance.Scope, req *api.ContextRequest) (made hold.Viewed[*api.ContextResult], err error) {
	h, info, m, err := e.loadMeasured(ctx, scope, req.Session)
	if err != nil {
		return made, err
	}
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return made, err
	}
	return e.partsOf(ctx, scope, h, info, m, rules, req.Window)
}

// partsOf returns what fills the window of a session that was loaded. It gets the rules of the
// blocks and the size of the context window. A size of 0 stands for that of the model.
func (e *Windows) partsOf(ctx context.Context, scope governance.Scope, h *hold.Snapshot, info api.SessionInfo, m hold.Meter, rules []pager.Rule, size token.Count) (made hold.Viewed[*api.ContextResult], err error) {
	capacity := cmp.Or(size, e.Capacity(h.Session.Model))
	res := &api.ContextResult{SessionInfo: info, Capacity: capacity, Used: h.Head.Window, Sent: token.Count(h.Session.Sent)}
	res.Reserved = min(reserve, capacity/10)
	res.Fixed.Tokens = m.Fixed(h.Session)
	if h.Summary != nil {
		res.Summary = api.ContextShare{Blocks: 1, Tokens: h.Summary.Tokens}
		for i := range h.Rows[:min(h.Summary.Covers, len(h.Rows))] {
			if state := h.Rows[i].State; state == store.StateCold || state == store.StatePurged {
				res.Summary.Stands += h.Rows[i].Tokens
			}
		}
	}
	for i := range h.Rows {
		share := shareOf(res, &h.Rows[i], rules[i])
		share.Blocks++
		share.Tokens += h.Rows[i].Window
		share.Stands += h.Rows[i].Tokens
	}
	for _, p := range h.Earlier {
		for i := range p.Rows {
			res.Earlier.Blocks++
			res.Earlier.Stands += p.Rows[i].Tokens
		}
	}
	res.Free = max(capacity-res.Used-res.Reserved, 0)
	res.Figures = e.Opts.Trigger.Figures(capacity)
	res.Effective = res.Figures.Effective
	res.Level = string(e.Opts.Trigger.Level(res.Used, res.Effective))
	for _, err := range e.Store.Entries(ctx, scope, h.Head.ID, 0) {
		if err != nil {
			return made, err
		}
		res.Ops++
	}
	return hold.Viewed[*api.ContextResult]{Value: res, Head: h.Head, Bytes: blockBytes}, nil
}

// shareOf returns the part of the window to which a block belongs.
func shareOf(r *api.ContextResult, b *store.Block, rule pager.Rule) *api.ContextShare {
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

// Stats estimates what the tasks of a session cost, from the conversation alone: each reply of
// the model is a call that read everything before it, as imported. Text that a provider caches
// counts like any other.
func (e *Windows) Stats(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.StatsResult, err error) {
	id := req.Session
	defer base.During("stats", &err, "of session "+string(id))

	h, info, m, err := e.loadMeasured(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	res := &api.StatsResult{SessionInfo: info, Tasks: []api.TaskStats{}}
	for _, p := range append(slices.Clip(h.Earlier), hold.EarlierWindow{Msgs: h.Session.Messages, Blocks: h.Blocks, Rows: h.Rows}) {
		addTasks(res, m, m.Fixed(h.Session), &p)
	}
	for i := range res.Tasks {
		t := &res.Tasks[i]
		t.Total = t.Read + t.Written
		res.Calls += t.Calls
		res.Total += t.Total
	}
	if n := len(res.Tasks); n > 0 {
		res.TokensPerTask = res.Total / token.Count(n)
	}
	rounds, err := e.rounds(ctx, scope, id)
	res.Rounds = len(rounds)
	return res, err
}

// addTasks adds the cost of the tasks of a window. The argument before is the number of tokens
// ahead of the first block of the window. Blocks ahead of its first task belong to the last task of
// the window before it.
func addTasks(res *api.StatsResult, m hold.Meter, before token.Count, p *hold.EarlierWindow) {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.Kind == transcript.KindUser && pager.Instructs(p.Msgs, b) {
			_, what := pager.Describe(p.Msgs, b)
			res.Tasks = append(res.Tasks, api.TaskStats{Task: len(res.Tasks) + 1, Block: b.ID, Preview: what})
		}
		if len(res.Tasks) > 0 {
			t := &res.Tasks[len(res.Tasks)-1]
			t.Turns++
			if b.Kind == transcript.KindAssistant || b.Kind == transcript.KindTool {
				t.Calls++
				t.Read += before
				t.Written += replies(m, p.Msgs, b)
			}
		}
		before += p.Rows[i].Tokens
	}
}

// replies returns the tokens of the assistant's messages in a block.
func replies(m hold.Meter, msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		if msgs[i].Role == transcript.RoleAssistant {
			n += m.Framing.Message + m.Parts(msgs[i].Parts)
		}
	}
	return n
}
