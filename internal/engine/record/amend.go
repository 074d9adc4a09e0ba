package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A GateNote records a decision of the gate in the contract.
type GateNote struct {
	ID   string // id of a context or a memory
	List contract.List
}

// AmendEntry is the journal data of an addition to a contract. The text of the addition is in the
// contract.
type AmendEntry struct {
	Statements int                  `json:"statements"`
	Init       bool                 `json:"init,omitempty"`
	Parent     transcript.SessionID `json:"parent,omitempty"`
	Close      bool                 `json:"close,omitempty"`
}

// Amend adds to a contract the statements of a request, unless the request is a dry run. If legacy
// is not nil, it is the contract of an earlier session, from which Amend adds what the contract
// inherits; a parent named in the request takes its place. Amend begins a session if the store has
// none and the request has Init.
func (e *Recorder) Amend(ctx context.Context, scope governance.Scope, req *api.AmendContractRequest, gate *GateNote, legacy *contract.Contract) (*api.AmendContractResult, error) {
	h := &hold.Snapshot{Session: &transcript.Session{ID: req.Session}, Head: &store.Head{ID: req.Session}, Contract: &hold.Agreement{State: new(contract.Contract)}}
	head, err := e.Head(ctx, scope, req.Session)
	switch {
	case err == nil:
		h = &hold.Snapshot{Session: h.Session, Head: head}
	case !req.Init || !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	if req.Parent != "" {
		if legacy, err = e.legacy(ctx, scope, req.Parent); err != nil {
			return nil, err
		}
	}
	added, err := e.additions(ctx, scope, a, req, gate, legacy)
	if err != nil {
		return nil, err
	}
	report, err := a.Run(added, e.Today())
	if err != nil {
		return nil, err
	}
	res := &api.AmendContractResult{
		Session: req.Session, Added: added, Total: len(a.Lines) + len(added), Closed: report.State.Closed(), Said: report.Shown,
	}
	if len(added) == 0 || req.DryRun {
		return res, nil
	}
	c, err := e.amendment(h, added)
	if err != nil {
		return nil, err
	}
	res.Op, err = e.Apply(ctx, scope, h.Head, c, hold.OpContract, AmendEntry{
		Statements: len(added), Init: req.Init, Parent: req.Parent, Close: req.Close,
	})
	return res, err
}

// legacy returns the contract of the session to inherit from.
func (e *Recorder) legacy(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*contract.Contract, error) {
	a, err := e.Agreement(ctx, scope, &hold.Snapshot{Head: &store.Head{ID: id}})
	if err != nil {
		return nil, err
	}
	if len(a.Lines) == 0 {
		return nil, base.Statef(store.ErrNotFound, "session %s has no contract to inherit", id)
	}
	return a.State, nil
}

// additions returns the statements that a request adds to an agreement.
func (e *Recorder) additions(ctx context.Context, scope governance.Scope, a *hold.Agreement, req *api.AmendContractRequest, gate *GateNote, legacy *contract.Contract) ([]string, error) {
	state := a.State.Clone()
	var lines []string
	var failed error
	write := func(more []string, err error) {
		if failed == nil {
			failed = err
		}
		lines = append(lines, more...)
	}
	if req.Init {
		write(state.Init(string(req.Session), req.Payload))
		write(state.Guard())
	}
	if legacy != nil {
		write(state.Inherit(legacy))
	}
	for _, s := range req.Sources {
		write(state.AddSource(s.Name, contract.Clean(s.Text)))
	}
	for _, s := range req.Claims {
		write(state.AddClaim(s.Name, contract.Clean(s.Text)))
	}
	for _, d := range req.Decisions {
		write(state.AddDecision(contract.Clean(d), req.Resolution))
	}
	for _, q := range req.Questions {
		write(state.AddQuestion(contract.Clean(q)))
	}
	for _, q := range req.Answered {
		write(state.ResolveQuestion(contract.Clean(q)))
	}
	for _, c := range req.Corrections {
		blocks, err := e.contractBlocks(ctx, scope, req.Session, c.Blocks)
		if err != nil {
			return nil, err
		}
		write(state.AddCorrection(c.Text, blocks...))
	}
	for _, v := range req.Verified {
		write(state.Verify(contract.Clean(v.Text), v.Source))
	}
	for _, what := range req.Checked {
		write(state.VerifyCommit(contract.Clean(what)))
	}
	if req.SourceState != "" {
		write(state.SetSourceState(req.SourceState))
	}
	if req.ClaimBasis != "" {
		write(state.SetClaimBasis(req.ClaimBasis))
	}
	if req.ResumeState != "" {
		write(state.SetResumeState(contract.Clean(req.ResumeState)))
	}
	if gate != nil {
		write(state.Gate(gate.ID, gate.List))
	}
	if len(req.Rules) > 0 {
		write(state.Guard()) // declares the lists that the rules use
	}
	if own := slices.Concat(req.Statements, ruleLines(req.Rules)); failed == nil && len(own) > 0 {
		lines = append(lines, own...)
		state, failed = contract.Replay(slices.Values(slices.Concat(a.Lines, lines)))
	}
	if failed == nil && req.Close {
		write(state.Close())
	}
	return lines, contractErr(failed)
}

// ruleLines returns rules as handlers, which the contract language runs after all other
// statements.
func ruleLines(rules []string) []string {
	var lines []string
	for _, rule := range rules {
		lines = append(lines, "when block-count is not below 0:", "  "+strings.TrimSpace(rule))
	}
	return lines
}

// contractErr wraps an error of package contract in an error of the api.
func contractErr(err error) error {
	switch err := err.(type) { //nolint:errorlint // errors of the package are never wrapped
	case nil:
		return nil
	case *contract.TextError, *contract.IDError, *contract.PayloadError, *contract.SyntaxError:
		return fmt.Errorf("%w: %w", api.ErrRequest, err)
	default:
		return fmt.Errorf("%w: %w", api.ErrPolicy, err)
	}
}

// contractBlocks returns the ids under which a contract lists the blocks whose ids, or prefixes of
// ids, are in words. It fails if one of them belongs to another session.
func (e *Recorder) contractBlocks(ctx context.Context, scope governance.Scope, id transcript.SessionID, words []string) ([]string, error) {
	ids := make([]string, 0, len(words))
	for _, word := range words {
		ref, _, err := e.FindBlock(ctx, scope, word)
		if err != nil {
			return nil, err
		}
		if ref.Session != id {
			return nil, fmt.Errorf("%w: block %s belongs to another session, %s", api.ErrRequest, word, ref.Session)
		}
		ids = append(ids, hold.ContractID(ref.Block))
	}
	return ids, nil
}

// amendment returns the change that adds statements to a contract.
func (e *Recorder) amendment(h *hold.Snapshot, added []string) (*store.Change, error) {
	c := &store.Change{Head: *h.Head, Statements: added}
	c.Head.Updated = e.Now()
	if h.Head.Revision == 0 {
		if err := e.BeginSession(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}
