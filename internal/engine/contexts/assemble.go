package contexts

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/tier"
)

// Assemble makes a context for a query within a budget. It consists of a system text, pinned
// artifacts, the window of a session, the artifacts that triage selects, and the query. Parts
// that stay the same from call to call come first, so that a provider can cache them.
func (e *Contexts) Assemble(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (_ *api.AssembleResult, err error) {
	defer base.During("assemble", &err)

	if err := checkAssemble(req); err != nil {
		return nil, err
	}
	return base.Retry(ctx, func() (*api.AssembleResult, error) { return e.assemble(ctx, scope, req) })
}

// checkAssemble returns an error if a request is invalid.
func checkAssemble(req *api.AssembleRequest) error {
	switch {
	case req.Budget <= 0:
		return fmt.Errorf("%w: the budget is %d tokens, and must be above 0", api.ErrRequest, req.Budget)
	case req.Reserve < 0:
		return fmt.Errorf("%w: the reserve is %d tokens, and cannot be below 0", api.ErrRequest, req.Reserve)
	case req.Reserve >= req.Budget:
		return fmt.Errorf("%w: a reserve of %d tokens leaves nothing of the budget of %d: raise the budget or lower the reserve", api.ErrRequest, req.Reserve, req.Budget)
	case req.Tier != "" && !slices.Contains(tier.Tiers(), req.Tier):
		return fmt.Errorf("%w: tier %q: want one of %v", api.ErrRequest, req.Tier, tier.Tiers())
	case req.Tiers != "" && req.Tiers != api.TiersArticle && req.Tiers != api.TiersSoft:
		return fmt.Errorf("%w: tiers %q: want %s or %s", api.ErrRequest, req.Tiers, api.TiersArticle, api.TiersSoft)
	case req.Tiers == api.TiersSoft && req.Tier != "":
		return fmt.Errorf("%w: tier %q cannot be forced with the soft ladder: leave out the tier, or use another ladder", api.ErrRequest, req.Tier)
	}
	return nil
}

// assemble makes one attempt at a context. Each step takes values of former steps and changes
// none of them.
func (e *Contexts) assemble(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (*api.AssembleResult, error) {
	src, err := e.prepare(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	chosen, err := e.selectArtifacts(ctx, scope, src.query)
	if err != nil {
		return nil, err
	}
	fit, err := e.fit(ctx, src, chosen)
	if err != nil {
		return nil, err
	}
	if len(fit.parts) == 0 && len(fit.window.Entries) == 0 {
		return nil, fmt.Errorf("%w: the context would be empty: give a query, a session or a system text", api.ErrRequest)
	}
	out, err := encode(src, fit)
	if err != nil {
		return nil, err
	}
	tiles, err := tile(src, fit, out)
	if err != nil {
		return nil, err
	}
	res := e.report(src, chosen, fit, out)
	if req.DryRun {
		return res, nil
	}
	res.Data = out.data
	res.Manifest, res.Seal, err = e.seal(ctx, src, chosen, fit, out.data, tiles)
	if err != nil {
		return nil, err
	}
	e.Opts.Logger.InfoContext(ctx, "assembled", "manifest", res.Manifest, "tokens", res.TokenCount, "tier", res.Tier)
	return res, nil
}
