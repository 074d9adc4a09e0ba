package hold

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// An Agreement is the contract of a session: its statements, and the state after running them.
type Agreement struct {
	Lines []string
	State *contract.Contract
}

// Agreement returns the contract of a session. It reads the contract once for each snapshot.
func (e *Desk) Agreement(ctx context.Context, scope governance.Scope, h *Snapshot) (*Agreement, error) {
	if h.Contract != nil {
		return h.Contract, nil
	}
	lines, err := e.Statements(ctx, scope, h.Head.ID)
	if err != nil {
		return nil, err
	}
	state, err := contract.Replay(slices.Values(lines))
	if err != nil {
		return nil, fmt.Errorf("%w: run the stored contract: %w", store.ErrCorrupt, err)
	}
	h.Contract = &Agreement{lines, state}
	return h.Contract, nil
}

// Statements returns the statements of the contract of a session, in order.
func (e *Desk) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]string, error) {
	var lines []string
	for line, err := range e.Store.Statements(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Today returns the present date, which a contract reads by the name "today".
func (e *Desk) Today() string { return e.Now().Format(time.DateOnly) }

// Run runs the agreement followed by more statements. It fails with [api.ErrPolicy] if a rule
// fails.
func (a *Agreement) Run(lines []string, today string) (*contract.Report, error) {
	r, err := contract.Run(slices.Values(slices.Concat(a.Lines, lines)), &contract.RunOptions{Today: today})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrPolicy, err)
	}
	return r, nil
}

// CheckPinned returns an error if a block that must stay in the window is out of it. No operation
// of the engine causes that, so another program has written to the store. The error keeps the next
// operation from hiding it.
func (a *Agreement) CheckPinned() error {
	for _, l := range [...]contract.List{contract.PinnedBlocks, contract.CorrectionBlocks} {
		for _, id := range a.State.Texts(l) {
			if b, _ := a.State.Bucket(id); b == contract.Evicted {
				return fmt.Errorf("%w: the contract does not hold: %w", api.ErrPolicy, &contract.PinError{Block: id, Evicted: true})
			}
		}
	}
	return nil
}

// LeftDecisions returns the moves that the contract must record because a block has left the
// conversation. It returns none if the contract does not list the block, or lists it for a
// correction, which still applies.
func LeftDecisions(state *contract.Contract, id transcript.BlockID) []contract.Move {
	block := ContractID(id)
	if !known(state, block) || slices.Contains(state.Texts(contract.CorrectionBlocks), block) {
		return nil
	}
	return []contract.Move{{Block: block, Bucket: contract.Evicted}}
}

// ContractID returns the id under which a contract lists a block: "block-" and its id.
func ContractID(id transcript.BlockID) string { return "block-" + string(id) }

// blockID returns the block that a contract lists under an id.
func blockID(id string) transcript.BlockID {
	return transcript.BlockID(strings.TrimPrefix(id, "block-"))
}

// known reports whether a contract lists a block.
func known(s *contract.Contract, id string) bool {
	_, ok := s.Bucket(id)
	return ok
}

// Bucket returns the name of the list in which a contract keeps the ids of the blocks in state s.
func Bucket(s store.State) contract.Bucket {
	switch s {
	case store.StateLive:
		return contract.Retained
	case store.StateStub:
		return contract.Paged
	case store.StateCold, store.StatePurged:
	}
	return contract.Evicted
}

// Rules returns for each block the rule that keeps it in the window, or "" if it has none. keepLast
// is how many of the newest blocks have a rule; 0 means as many as the options say. A block with a
// correction that the contract lists has a rule, too.
func (e *Desk) Rules(ctx context.Context, scope governance.Scope, h *Snapshot, keepLast int) ([]pager.Rule, error) {
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	o := &pager.RuleOptions{
		Last: keepLast, Pinned: make(map[transcript.BlockID]bool), Corrections: make(map[transcript.BlockID]bool), Tools: e.Opts.Tools,
	}
	for i := range h.Rows {
		if h.Rows[i].Pinned {
			o.Pinned[h.Rows[i].ID] = true
		}
	}
	for _, id := range a.State.Effects().AlwaysRetain {
		o.Corrections[blockID(id)] = true
	}
	if keepLast == 0 {
		o.Last = e.Opts.KeepLast
	}
	return pager.Rules(h.Session.Messages, h.Blocks, o), nil
}
