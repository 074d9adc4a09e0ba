package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
)

// Planning is a job of package windows that only a benchmark asks for.
func Planning(ctx context.Context, e *Engine, scope governance.Scope, req *CompressRequest) (func() (*pager.Plan, error), error) {
	return e.windows.Planner(ctx, scope, req)
}
