package record

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A Settlement is the state of the window after an operation, for the contract.
type Settlement struct {
	Rows  []store.Block // rows after the operation
	Limit token.Count   // the most tokens of the window
	Undo  bool
	Kept  *hold.WindowSummary // summary in the window afterwards, or nil
}

// settle returns the statements that an operation adds to the contract. Among these are pins of the
// blocks under hard rules that were in the window. It fails if the operation takes a pinned block
// out of the window, or if a rule of the contract would fail afterwards.
func (e *Recorder) settle(ctx context.Context, scope governance.Scope, h *hold.Snapshot, c *store.Change, s *Settlement) ([]string, error) {
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	if err := a.CheckPinned(); err != nil {
		return nil, err
	}
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	state := a.State.Clone()
	var pins []string
	decisions := make([]contract.Move, 0, len(s.Rows))
	for i := range s.Rows {
		d := contract.Move{Block: hold.ContractID(s.Rows[i].ID), Bucket: hold.Bucket(s.Rows[i].State)}
		decisions = append(decisions, d)
		before, _ := state.Bucket(d.Block)
		if rules[i].Hard() && before != contract.Evicted && (!s.Undo || d.Bucket != contract.Evicted) {
			pins = append(pins, d.Block)
		}
	}
	for i := range h.Off {
		decisions = append(decisions, hold.LeftDecisions(state, h.Off[i].ID)...)
	}
	for _, p := range h.Earlier {
		for i := range p.Rows {
			decisions = append(decisions, hold.LeftDecisions(state, p.Rows[i].ID)...)
		}
	}
	var lines []string
	for _, write := range []func() ([]string, error){
		func() ([]string, error) { return state.Pin(pins) },
		func() ([]string, error) { return state.Pass(decisions, c.Entry.Time) },
		func() ([]string, error) { return state.Budget(c.Head.Window, s.Limit) },
		func() ([]string, error) { return state.Summarize(s.Kept.Covered()) },
	} {
		more, err := write()
		if err != nil {
			return nil, fmt.Errorf("%w: the contract does not allow it: %w", api.ErrPolicy, err)
		}
		lines = append(lines, more...)
	}
	_, err = a.Run(lines, e.Today())
	return lines, err
}
