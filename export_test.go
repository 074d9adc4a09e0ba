package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
)

// Planning returns a function that plans what a request asks for, without reading and
// decoding the session again. Nothing is remembered from one plan to the next but
// scans and counts.
func Planning(ctx context.Context, e *Engine, scope governance.Scope, req *CompressRequest) (func() (*pager.Plan, error), error) {
	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	h.texts()
	first, err := e.newPass(ctx, scope, h, req)
	if err != nil {
		return nil, err
	}
	return func() (*pager.Plan, error) {
		p := *first
		p.made, p.covering, p.heads, p.needs, p.account = make(map[pageKey]pager.Stub), nil, nil, nil, nil
		if req.Strategy == StrategyAccount {
			return p.planAccount(p.request(req))
		}
		return p.planCover(p.request(req))
	}, nil
}
