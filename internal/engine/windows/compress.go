package windows

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Compress shrinks the window of a session until it fits a budget. It returns an error that wraps
// [api.ErrBudget] if no plan fits.
func (e *Windows) Compress(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (_ *api.CompressResult, err error) {
	defer base.During("compress", &err, "session "+string(req.Session))

	r := *req
	r.Strategy = cmp.Or(r.Strategy, e.Opts.Strategy)
	switch {
	case r.Target.Tokens < 0 || r.Target.Share < 0 || r.Window < 0:
		return nil, fmt.Errorf("%w: a target of %v, a window of %d tokens: neither can be below 0", api.ErrRequest, r.Target, r.Window)
	case !slices.Contains(api.Strategies(), r.Strategy):
		return nil, fmt.Errorf("%w: no strategy is called %q: there are %v", api.ErrRequest, r.Strategy, api.Strategies())
	case r.Smallest && r.Target != (api.Target{}):
		return nil, fmt.Errorf("%w: both the smallest window and a target are asked for: give only one", api.ErrRequest)
	case r.Smallest && summarizes(r.Strategy):
		return nil, fmt.Errorf("%w: the strategy %s has no smallest window: use a strategy without a summary, such as %s", api.ErrRequest, r.Strategy, api.StrategyAccount)
	case r.ProbeMin != nil && (*r.ProbeMin < 0 || *r.ProbeMin > ratio.One):
		return nil, fmt.Errorf("%w: the least share of answered probes is %v: want 0 to 1", api.ErrRequest, *r.ProbeMin)
	}
	if r.Todos != nil {
		if _, err := summary.ParseTodos(r.Todos); err != nil {
			return nil, fmt.Errorf("%w: read the to-do list: %w", api.ErrRequest, err)
		}
	}
	return base.Retry(ctx, func() (*api.CompressResult, error) { return e.compress(ctx, scope, &r) })
}

func (e *Windows) compress(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (*api.CompressResult, error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.CheckPaged(); err != nil {
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
	if h.Head.Window <= p.budget(req) {
		o, err := e.grow(ctx, scope, p, req)
		if err != nil {
			return nil, err
		}
		if o != nil {
			a := api.Attempt{Strategy: o.strategy, KeepLast: e.keepLast(req.KeepLast), After: o.plan.After, Summary: o.kept.Size(), Accepted: true}
			return e.finish(ctx, scope, p, req, o, []api.Attempt{a})
		}
		plan, err := pager.Make(p.request(req))
		if err != nil {
			return nil, err
		}
		res := p.result(req, &outcome{strategy: req.Strategy, plan: plan, rows: h.Rows, kept: h.Summary})
		reportTodos(res, req, nil)
		return res, nil
	}
	o, attempts, err := e.attempts(ctx, scope, p, req)
	if err != nil {
		return nil, err
	}
	return e.finish(ctx, scope, p, req, o, attempts)
}

// toSmallest returns a copy of req whose target is the smallest window that the strategy can
// make.
func (p *pass) toSmallest(req *api.CompressRequest) (*api.CompressRequest, error) {
	r := p.request(req)
	(&compression{engine: p.engine, pass: p}).keepNewest(r, p.engine.keepLast(req.KeepLast))
	least, err := p.smallest(req.Strategy, r)
	if err != nil {
		return nil, err
	}
	to := *req
	to.Target = api.Target{Tokens: least}
	return &to, nil
}

// An outcome is the result of one attempt at a compression.
type outcome struct {
	strategy api.Strategy
	plan     *pager.Plan
	rows     []store.Block
	stubs    map[transcript.BlockID]pager.Stub
	kept     *hold.WindowSummary // in the window, or nil
	drafted  *drafted            // how kept was made, if it is new
	report   *probe.Report
	warnings []string
}

// finish checks an outcome and, unless it is a dry run, stores it.
func (e *Windows) finish(ctx context.Context, scope governance.Scope, p *pass, req *api.CompressRequest, o *outcome, attempts []api.Attempt) (*api.CompressResult, error) {
	p.release()
	res := p.result(req, o)
	res.Attempts = attempts
	reportTodos(res, req, o.drafted)
	if err := p.check(o.rows, o.stubs, o.kept); err != nil {
		return nil, err
	}
	if req.DryRun {
		return res, nil
	}
	var err error
	if res.Op, err = e.storePass(ctx, scope, p, o); err != nil {
		return nil, err
	}
	e.Opts.Logger.InfoContext(ctx, "compressed", "session", req.Session, "strategy", o.strategy, "before", o.plan.Before, "after", o.plan.After)
	return res, nil
}

func (p *pass) result(req *api.CompressRequest, o *outcome) *api.CompressResult {
	h, plan := p.held, o.plan
	window := cmp.Or(p.capacity, p.engine.Capacity(h.Session.Model))
	res := &api.CompressResult{
		Session: h.Head.ID, Strategy: o.strategy, Budget: plan.Budget, Imported: h.Head.Tokens, Before: h.Head.Window, After: plan.After,
		Intent: p.intent, Changed: plan.Changes(), Provider: h.Head.Format, Decisions: plan.Decisions,
		Probes: o.report, Warnings: o.warnings, Figures: p.engine.Opts.Trigger.Figures(window), Sent: token.Count(h.Session.Sent),
	}
	if req.Target.Tokens == 0 && req.Target.Share > 0 {
		res.Share = req.Target.Share
		res.Leaves, res.Stays = p.shares()
	}
	if res.Before > 0 {
		res.Ratio = ratio.One - ratio.Of(res.After, res.Before)
	}
	for i := range o.rows {
		tally(&res.Blocks, o.rows[i].State, 1)
		tally(&res.Tokens, o.rows[i].State, int64(o.rows[i].Tokens))
	}
	if o.kept != nil {
		res.Summary = summaryInfo(o.kept, o.drafted)
	}
	return res
}

func tally(t *api.Tally, s store.State, n int64) {
	switch s {
	case store.StateLive:
		t.Live += n
	case store.StateStub:
		t.Stub += n
	case store.StateCold, store.StatePurged:
		t.Cold += n
	}
}

// reportTodos sets the to-do list of the result: that of the request, with the changes by the
// compression.
func reportTodos(r *api.CompressResult, req *api.CompressRequest, d *drafted) {
	if req.Todos == nil {
		return
	}
	r.TodoList = req.Todos
	if d != nil {
		r.TodoList = d.todos
	}
	before, _ := summary.ParseTodos(req.Todos) // cannot fail: parsed when the request came
	now, _ := summary.ParseTodos(r.TodoList)
	for i, t := range now.Todos {
		r.Todos = append(r.Todos, api.Todo{Content: t.Content, Status: t.Status, Completed: t.Status != before.Todos[i].Status})
	}
}
