package carrel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An agreement is the contract of a session: its statements, and what they lead
// to.
type agreement struct {
	lines []string
	state *contract.State
}

// agreement returns the contract of a session, which is read once.
func (e *Engine) agreement(ctx context.Context, scope governance.Scope, h *held) (*agreement, error) {
	if h.agreed != nil {
		return h.agreed, nil
	}
	lines, err := e.statements(ctx, scope, h.head.ID)
	if err != nil {
		return nil, err
	}
	state, err := contract.Replay(slices.Values(lines))
	if err != nil {
		return nil, fmt.Errorf("%w: contract: %w", store.ErrCorrupt, err)
	}
	h.agreed = &agreement{lines, state}
	return h.agreed, nil
}

func (e *Engine) statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]string, error) {
	var lines []string
	for line, err := range e.store.Statements(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// today returns the date that contracts know by that name.
func (e *Engine) today() string { return e.now().Format(time.DateOnly) }

// with runs the agreement as it is after further statements. If a rule of it
// fails, it is refused.
func (a *agreement) with(lines []string, today string) (*contract.Report, error) {
	r, err := contract.Run(slices.Values(slices.Concat(a.lines, lines)), &contract.RunOptions{Today: today})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return r, nil
}

// sound returns an error if a block that must stay in the window is out of it. No
// operation leaves that behind, so somebody else wrote it, and what an operation
// writes must not cover it up.
func (a *agreement) sound() error {
	for _, l := range [...]contract.List{contract.PinnedBlocks, contract.CorrectionBlocks} {
		for _, id := range a.state.Texts(l) {
			if b, _ := a.state.Bucket(id); b == contract.Evicted {
				return fmt.Errorf("%w: contract: %w", ErrPolicy, &contract.PinError{Block: id, Evicted: true})
			}
		}
	}
	return nil
}

// A settlement is what an operation on the window leaves behind, for the contract.
type settlement struct {
	rows  []store.Block // as they are afterwards
	limit token.Count   // how large the window may be
	undo  bool
	kept  *standIn // the summary that is then in the window, or nil
}

// settle returns the statements of an operation. The blocks under hard rules that
// were not out of the window before are pinned; an operation that takes one of
// them out is refused, and so is one after which the contract does not hold.
func (e *Engine) settle(ctx context.Context, scope governance.Scope, h *held, c *store.Change, s *settlement) ([]string, error) {
	a, err := e.agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	if err := a.sound(); err != nil {
		return nil, err
	}
	rules, err := e.rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	state := a.state.Clone()
	var pins []string
	decisions := make([]contract.Decision, 0, len(s.rows))
	for i := range s.rows {
		d := contract.Decision{Block: contractID(s.rows[i].ID), Bucket: bucket(s.rows[i].State)}
		decisions = append(decisions, d)
		before, _ := state.Bucket(d.Block)
		if rules[i].Hard() && before != contract.Evicted && (!s.undo || d.Bucket != contract.Evicted) {
			pins = append(pins, d.Block)
		}
	}
	for i := range h.off {
		decisions = append(decisions, gone(state, h.off[i].ID)...)
	}
	for _, p := range h.earlier {
		for i := range p.rows {
			decisions = append(decisions, gone(state, p.rows[i].ID)...)
		}
	}
	var lines []string
	for _, write := range []func() ([]string, error){
		func() ([]string, error) { return state.Pin(pins) },
		func() ([]string, error) { return state.Pass(decisions, c.Entry.Time) },
		func() ([]string, error) { return state.Budget(c.Head.Window, s.limit) },
		func() ([]string, error) { return state.Summarize(s.kept.covered()) },
	} {
		more, err := write()
		if err != nil {
			return nil, fmt.Errorf("%w: contract: %w", ErrPolicy, err)
		}
		lines = append(lines, more...)
	}
	_, err = a.with(lines, e.today())
	return lines, err
}

// gone returns what a contract says of a block that left the conversation since the
// last pass. One that records a correction is not said to be evicted: what it records
// still holds.
func gone(state *contract.State, id transcript.BlockID) []contract.Decision {
	block := contractID(id)
	if !known(state, block) || slices.Contains(state.Texts(contract.CorrectionBlocks), block) {
		return nil
	}
	return []contract.Decision{{Block: block, Bucket: contract.Evicted}}
}

// contractID returns the id by which a contract knows a block.
func contractID(id transcript.BlockID) string { return "block-" + string(id) }

// blockID returns the block that a contract knows by an id.
func blockID(id string) transcript.BlockID {
	return transcript.BlockID(strings.TrimPrefix(id, "block-"))
}

// known reports whether a contract has a block.
func known(s *contract.State, id string) bool {
	_, ok := s.Bucket(id)
	return ok
}

// bucket returns the list of the contract for a state.
func bucket(s store.State) contract.Bucket {
	switch s {
	case store.StateLive:
		return contract.Retained
	case store.StateStub:
		return contract.Paged
	case store.StateCold, store.StatePurged:
	}
	return contract.Evicted
}

// rules returns the rule of each block. Blocks that the contract says record a
// correction are under that rule, too.
func (e *Engine) rules(ctx context.Context, scope governance.Scope, h *held, keepLast int) ([]pager.Rule, error) {
	a, err := e.agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	o := &pager.RuleOptions{
		Last: keepLast, Pinned: make(map[transcript.BlockID]bool), Corrections: make(map[transcript.BlockID]bool), Tools: e.opts.Tools,
	}
	for i := range h.rows {
		if h.rows[i].Pinned {
			o.Pinned[h.rows[i].ID] = true
		}
	}
	for _, id := range a.state.Effects().AlwaysRetain {
		o.Corrections[blockID(id)] = true
	}
	if keepLast == 0 {
		o.Last = e.opts.KeepLast
	}
	return pager.Rules(h.session.Messages, h.blocks, o), nil
}
