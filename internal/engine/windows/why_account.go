package windows

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// whyAccount explains the account's choice of units of block i. It returns nil if the last pass
// made no account.
func (e *Windows) whyAccount(ctx context.Context, scope governance.Scope, p *pass, i int) (*api.WhyAccount, error) {
	h := p.held
	before, err := e.passes(ctx, scope, h.Head.ID)
	if err != nil || !before.account {
		return nil, err
	}
	req := p.request(&api.CompressRequest{Target: api.Target{Tokens: before.budget}})
	before.reopen(h, req)
	plan := pager.NewPlan(req)
	r, end := p.accountRequest(req, plan)
	beside := req.Fixed + end
	last := r.Budget
	r.Budget = math.MaxInt
	made, err := account.Make(r)
	if err != nil {
		return nil, err
	}
	a := p.accountInput()
	mean := a.worth.Mean(a.units)
	w := &api.WhyAccount{Floor: relativeTo(floorOf(made, last), mean), Units: []api.WhyUnit{}}
	prior := cmp.Or(e.Opts.Prior, account.DefaultPrior())
	kept := p.keptUnits(i)
	for k := a.of[i][0]; k < a.of[i][1]; k++ {
		unit := &a.units[k]
		if unit.Kind == account.Sign {
			continue // a heading above other units, which says nothing alone
		}
		u := api.WhyUnit{
			Text: unit.Text, Kind: unit.Kind.String(), Tokens: r.Count(k), Worth: relativeTo(made.Rate[k], mean),
			Kept: kept[k-a.of[i][0]], Because: prior.Explain(&a.worth.Sights[k]),
		}
		if u.Kept {
			w.Kept++
		} else {
			if by := made.In(r, k); by >= 0 {
				u.In = h.Blocks[a.units[by].Block].ID
			}
			if from := made.From[k]; from > 0 {
				u.Target = max(from+beside, h.Head.Window, before.budget+1)
			}
		}
		w.Units = append(w.Units, u)
	}
	w.Total = len(w.Units)
	slices.SortStableFunc(w.Units, func(a, b api.WhyUnit) int {
		switch {
		case a.Kept && !b.Kept:
			return -1
		case b.Kept && !a.Kept:
			return 1
		}
		return cmp.Compare(b.Worth, a.Worth)
	})
	w.Units = slices.Concat(w.Units[:min(w.Kept, mostExplained)], w.Units[w.Kept:min(w.Total, w.Kept+mostExplained)])
	return w, nil
}

// relativeTo returns rate, the worth of a unit per byte, as a multiple of mean, the mean of all
// units.
func relativeTo(rate, mean int64) ratio.Ratio { return ratio.Of(rate, mean) }

// floorOf returns the worth per byte of the unit that would come first into the account if the
// budget were larger, or 0 if there is none.
func floorOf(made *account.Plan, budget token.Count) int64 {
	first := -1
	for k, from := range made.From {
		if from > budget && (first < 0 || from < made.From[first]) {
			first = k
		}
	}
	if first < 0 {
		return 0
	}
	return made.Rate[first]
}

// keptUnits reports of each unit of block i whether it is in the window.
func (p *pass) keptUnits(i int) []bool {
	units := p.account.units[p.account.of[i][0]:p.account.of[i][1]]
	kept := make([]bool, len(units))
	mark := func(from int, units []account.Unit, text string, whole bool) {
		for k := range units {
			kept[from+k] = whole || strings.Contains(text, transcript.Quote(units[k].Text))
		}
	}
	stub := p.stubs[p.held.Rows[i].ID]
	switch pager.Form(p.held.Rows[i].Form) {
	case pager.Whole, pager.Bare:
		mark(0, units, "", true)
	case pager.Calls:
		mark(0, units, "", true) // what stands before the first call
		results := p.resultsOf(i)
		for k, part := range p.account.callParts(i, len(results)) {
			text, cut := stub.Results[results[k].CallID]
			mark(part[0]-p.account.of[i][0], withoutCommand(p.account.units[part[0]:part[1]]), text, !cut)
		}
	case pager.Lines, pager.Line:
		mark(0, units, stub.Text, false)
	case pager.Gone:
	}
	return kept
}
