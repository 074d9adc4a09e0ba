package carrel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// summarizes reports whether s makes a new summary.
func summarizes(s Strategy) bool {
	return s != StrategyWindow && s != StrategyImportance && s != StrategyPager && s != StrategyAccount
}

// covers reports whether s keeps lines, and not blocks.
func covers(s Strategy) bool { return s == StrategyImportance || s == StrategyAnchored }

// slides reports whether s keeps the newest blocks, and not the best.
func slides(s Strategy) bool { return !covers(s) && s != StrategyPager && s != StrategyAccount }

// sync fills in the things to do of a request as they are after a compression.
func syncTodos(r *CompressResult, req *CompressRequest, d *drafted) {
	if req.Todos == nil {
		return
	}
	r.TodoList = req.Todos
	if d != nil {
		r.TodoList = d.todos
	}
	before, _ := summary.ParseTodos(req.Todos) // was read before
	now, _ := summary.ParseTodos(r.TodoList)
	for i, t := range now.Todos {
		r.Todos = append(r.Todos, Todo{Content: t.Content, Status: t.Status, Completed: t.Status != before.Todos[i].Status})
	}
}

// summaryMove says in the journal how the summary in the window changed.
type summaryMove struct {
	From       store.CellID `json:"from,omitempty"`
	To         store.CellID `json:"to,omitempty"`
	FromTokens token.Count  `json:"from_tokens,omitempty"`
	ToTokens   token.Count  `json:"to_tokens,omitempty"`
}

// Compress cuts what is in the window of a session until it fits a budget. A
// window that fits is left alone, unless somebody asks for a larger budget than that
// of the last pass: then what passes took out comes back, as far as it fits. What was
// discarded, paged by hand or compacted by the agent's client, does not.
//
// # Strategies
//
// Anchored, hybrid, regenerative and opaque put a summary in place
// of older blocks, all but the last few. It is made from the blocks that are new
// since the last compression, by a program or, if the options have a generator, by
// a model, and merged with what there was; regenerative makes it from all.
// What is still too large then leaves by rule and score, along the sequence that
// package pager describes, or, in a sliding window, oldest first. Account, which is the
// default, importance, pager and window do only that, each in its way.
//
// Anchored writes an account, and of its summary the id by which all of it is recalled. If
// that does not answer the probes, it puts the summary itself into the window, and keeps
// lines beside it.
//
// Account has a model's text, too, if the options have a generator: where it passes the
// checks, it takes the place of the agent's sentences, and all else of the account stays. If
// it does not, the account is as without a model.
//
// # Probes
//
// A window with a new summary is accepted if it answers probes that were
// generated from the originals; see package probe. If it does not, a summary with
// more detail is tried, then one that covers fewer blocks, then a sliding window.
// If none of it is accepted, the error is an [ErrProbes]. An opaque summary is
// graded, too, but refused only where the request says how much it must answer.
//
// Besides its window, the new summary alone must be accepted by the judgement that
// [Judgement] describes, so that [Engine.CheckSummary] accepts what was accepted here.
//
// # Writing
//
// The result is checked by the rules of the session's provider before anything is
// written, and written whole: the new places of the blocks, their stubs, the
// summary, the journal and the contract. Every byte stays in the store.
//
// It fails with [ErrBudget] if what rules hold does not fit, and says how small the window
// can become, which a request for the smallest makes; with [ErrInvalid] if
// the provider would refuse the result, and with [ErrPolicy] if the strategy is
// opaque and the session is critical. Then nothing has changed.
func (e *Engine) Compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (_ *CompressResult, err error) {
	defer during("compress session "+string(req.Session), &err)

	r := *req
	r.Strategy = cmp.Or(r.Strategy, e.opts.Strategy)
	switch {
	case r.Target < 0 || r.Share < 0 || r.Window < 0:
		return nil, fmt.Errorf("%w: a target of %d tokens, a share of %v, a window of %d: none can be below 0", ErrRequest, r.Target, r.Share, r.Window)
	case !slices.Contains(Strategies(), r.Strategy):
		return nil, fmt.Errorf("%w: no strategy is called %q: there are %v", ErrRequest, r.Strategy, Strategies())
	case r.Smallest && (r.Target > 0 || r.Share > 0):
		return nil, fmt.Errorf("%w: the smallest window, and a target besides: give one of them", ErrRequest)
	case r.Smallest && summarizes(r.Strategy):
		return nil, fmt.Errorf("%w: the smallest window that %s makes: its summary can be of any size; name a strategy that makes none, such as %s", ErrRequest, r.Strategy, StrategyAccount)
	case r.ProbeMin != nil && (*r.ProbeMin < 0 || *r.ProbeMin > ratio.One):
		return nil, fmt.Errorf("%w: a share of %v of the probes: it is from 0 to 1", ErrRequest, *r.ProbeMin)
	}
	if r.Todos != nil {
		if _, err := summary.ParseTodos(r.Todos); err != nil {
			return nil, fmt.Errorf("%w: todos: %w", ErrRequest, err)
		}
	}
	var res *CompressResult
	err = retry(ctx, func() error {
		res, err = e.compress(ctx, scope, &r)
		return err
	})
	return res, err
}

func (e *Engine) compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (*CompressResult, error) {
	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.conversation(); err != nil {
		return nil, err
	}
	p, err := e.newPass(ctx, scope, h, req)
	if err != nil {
		return nil, err
	}
	if req.Smallest {
		if req, err = p.toSmallest(req); err != nil {
			return nil, err
		}
	}
	if h.head.Window <= p.budget(req) {
		o, err := e.grow(ctx, scope, p, req)
		if err != nil {
			return nil, err
		}
		if o != nil {
			a := Attempt{Strategy: o.strategy, KeepLast: e.keepLast(req.KeepLast), After: o.plan.After, Summary: o.kept.tokens(), Accepted: true}
			return e.finish(ctx, scope, p, req, o, []Attempt{a})
		}
		plan, err := pager.Make(p.request(req))
		if err != nil {
			return nil, err
		}
		res := p.result(req, &outcome{strategy: req.Strategy, plan: plan, rows: h.rows, kept: h.summary})
		syncTodos(res, req, nil)
		return res, nil
	}
	o, attempts, err := e.attempts(ctx, scope, p, req)
	if err != nil {
		return nil, err
	}
	return e.finish(ctx, scope, p, req, o, attempts)
}

// toSmallest returns a request for the smallest window with that as its target.
func (p *pass) toSmallest(req *CompressRequest) (*CompressRequest, error) {
	r := p.request(req)
	(&compression{engine: p.engine, pass: p}).keep(r, p.engine.keepLast(req.KeepLast))
	least, err := p.smallest(req.Strategy, r)
	if err != nil {
		return nil, err
	}
	to := *req
	to.Target = least
	return &to, nil
}

// finish checks and writes what a compression comes to.
func (e *Engine) finish(ctx context.Context, scope governance.Scope, p *pass, req *CompressRequest, o *outcome, attempts []Attempt) (*CompressResult, error) {
	h := p.held
	p.names, h.said = nil, nil // all stubs are made: what comes needs the room
	res := p.result(req, o)
	res.Attempts = attempts
	syncTodos(res, req, o.drafted)
	if err := p.check(o.rows, o.stubs, o.kept); err != nil {
		return nil, err
	}
	if req.DryRun {
		return res, nil
	}
	c, err := e.passChange(ctx, scope, p, o)
	if err != nil {
		return nil, err
	}
	if _, err := e.store.Apply(ctx, scope, req.Session, h.head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	e.opts.Logger.InfoContext(ctx, "compressed", "session", req.Session, "strategy", o.strategy, "before", o.plan.Before, "after", o.plan.After)
	return res, nil
}

// An outcome is what one attempt comes to.
type outcome struct {
	strategy Strategy
	plan     *pager.Plan
	rows     []store.Block
	stubs    map[transcript.BlockID]pager.Stub
	kept     *standIn // in the window, or nil
	drafted  *drafted // how kept was made, if it is new
	report   *probe.Report
	warnings []string
}
