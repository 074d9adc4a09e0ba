package windows

import (
	"context"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
)

// Planner returns a function that plans what a request asks for, without reading and
// decoding the session again. Nothing is remembered from one plan to the next but
// scans and counts, so that benchmarks can tell what a plan takes.
func (e *Windows) Planner(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (func() (*pager.Plan, error), error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	h.Texts()
	first, err := e.newPass(ctx, scope, h, req)
	if err != nil {
		return nil, err
	}
	return func() (*pager.Plan, error) {
		p := *first
		p.made, p.covering, p.heads, p.needs, p.account = make(map[pageKey]pager.Stub), nil, nil, nil, nil
		if req.Strategy == api.StrategyAccount {
			return p.planAccount(p.request(req))
		}
		return p.planCover(p.request(req))
	}, nil
}
