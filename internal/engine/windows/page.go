package windows

import (
	"context"
	"fmt"
	"math"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Page puts stubs of one line in place of blocks, whatever their scores: of all that req names, or
// of none. A block that is a stub already stays as it is. The operation can be undone.
func (e *Windows) Page(ctx context.Context, scope governance.Scope, req *api.PageRequest) (_ *api.PageResult, err error) {
	defer base.During("page", &err)

	r := *req
	if len(r.Blocks) == 0 {
		return nil, fmt.Errorf("%w: no block is named: give one or more ids", api.ErrRequest)
	}
	if r.Session == "" {
		if r.Session, err = e.sessionOfBlocks(ctx, scope, r.Blocks); err != nil {
			return nil, err
		}
	}
	return base.Retry(ctx, func() (*api.PageResult, error) { return e.pageBlocks(ctx, scope, &r) })
}

func (e *Windows) pageBlocks(ctx context.Context, scope governance.Scope, req *api.PageRequest) (*api.PageResult, error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.CheckPaged(); err != nil {
		return nil, err
	}
	ids, err := blocksNamed(h, req.Blocks)
	if err != nil {
		return nil, notPaged(err)
	}
	p, err := e.newPass(ctx, scope, h, &api.CompressRequest{Session: req.Session})
	if err != nil {
		return nil, err
	}
	plan, err := pager.Make(p.request(&api.CompressRequest{Target: api.Target{Tokens: math.MaxInt}})) // every block stays: the plan only lists them
	if err != nil {
		return nil, err
	}
	res := &api.PageResult{Session: req.Session, Blocks: []api.PagedBlock{}, Before: h.Head.Window, After: h.Head.Window, Provider: h.Head.Format}
	refused := &pager.DiscardError{Named: len(req.Blocks)}
	places, seen := h.IndexByID(), make(map[transcript.BlockID]bool)
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		i := places[id]
		d := &plan.Decisions[i]
		if h.Rows[i].State == store.StateLive {
			d.To, d.After, d.Step = pager.Line, p.size(i, pager.Line), pager.StageByHand
		}
		refuse := func(reason string) {
			refused.Refused = append(refused.Refused, pager.Refusal{Block: string(id), Rule: d.Rule, Reason: reason})
		}
		switch {
		case d.Rule.Hard():
			refuse(d.Rule.Keeps())
		case d.To == pager.Gone:
			refuse("is not in the window")
		case d.Changed() && d.After >= d.Before:
			refuse(fmt.Sprintf("has %d tokens, and a stub of it would have %d", d.Before, d.After))
		}
		res.After += d.After - d.Before
		res.Blocks = append(res.Blocks, api.PagedBlock{
			Block: id, ShortID: id.Short(), Turn: d.Turn, Kind: h.Blocks[i].Kind,
			Changed: d.Changed(), Before: d.Before, After: d.After,
		})
	}
	if len(refused.Refused) > 0 {
		return nil, notPaged(refused)
	}
	if plan.Changes() == 0 {
		return res, nil
	}
	plan.After = res.After
	o := &outcome{plan: plan, kept: h.Summary}
	o.rows, o.stubs = p.apply(plan)
	if err := p.check(o.rows, o.stubs, o.kept); err != nil {
		return nil, err
	}
	if req.DryRun {
		return res, nil
	}
	if res.Op, err = e.storeByHand(ctx, scope, p, o); err != nil {
		return nil, err
	}
	e.Opts.Logger.InfoContext(ctx, "paged by hand", "session", req.Session, "before", res.Before, "after", res.After)
	return res, nil
}

// notPaged marks a refusal as one of paging, not of discarding.
func notPaged(err error) error {
	if e, ok := api.RefusedOf(err); ok {
		e.Paging = true
	}
	return fmt.Errorf("%w: %w", api.ErrPolicy, err)
}
