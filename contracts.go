package carrel

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A gateNote is what the gate said, for the contract.
type gateNote struct {
	id   string // of a context or a memory
	list contract.List
}

// amended is what the journal keeps of an addition to a contract. Its text is the
// contract's.
type amended struct {
	Statements int                  `json:"statements"`
	Init       bool                 `json:"init,omitempty"`
	Parent     transcript.SessionID `json:"parent,omitempty"`
	Close      bool                 `json:"close,omitempty"`
}

// AmendContract adds to the contract of a session. The contract is run as it is
// afterwards, and if it does not hold, nothing is added: with a decision that
// contradicts another, unless the request says what is to become of it, a rule
// that fails, a contract that is closed, the error is an [ErrPolicy].
func (e *Engine) AmendContract(ctx context.Context, scope governance.Scope, req *AmendContractRequest) (_ *AmendContractResult, err error) {
	defer during("contract of session "+string(req.Session), &err)

	r := *req
	if r.Session == "" {
		if !r.Init {
			return nil, fmt.Errorf("%w: no session is named", ErrRequest)
		}
		if r.Session, err = e.newSessionID(); err != nil {
			return nil, err
		}
	}
	var res *AmendContractResult
	err = retry(ctx, func() error {
		res, err = e.amend(ctx, scope, &r, nil, nil)
		return err
	})
	return res, err
}

// newSessionID returns an id for a session that has no conversation.
func (e *Engine) newSessionID() (transcript.SessionID, error) {
	var id [8]byte
	if _, err := io.ReadFull(e.opts.Rand, id[:]); err != nil {
		return "", err
	}
	return transcript.SessionID("s-" + hex.EncodeToString(id[:])), nil
}

// amend adds to a contract what a request has, and what an earlier session left, if
// there is one.
func (e *Engine) amend(ctx context.Context, scope governance.Scope, req *AmendContractRequest, gate *gateNote, legacy *contract.State) (*AmendContractResult, error) {
	h := &held{session: &transcript.Session{ID: req.Session}, head: &store.Head{ID: req.Session}, agreed: &agreement{state: new(contract.State)}}
	head, err := e.head(ctx, scope, req.Session)
	switch {
	case err == nil:
		h = &held{session: h.session, head: head}
	case !req.Init || !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	a, err := e.agreement(ctx, scope, h)
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
	report, err := a.with(added, e.today())
	if err != nil {
		return nil, err
	}
	res := &AmendContractResult{
		Session: req.Session, Added: added, Total: len(a.lines) + len(added), Closed: report.State.Closed(), Said: report.Shown,
	}
	if len(added) == 0 || req.DryRun {
		return res, nil
	}
	c, err := e.amendment(scope, h, req, added)
	if err != nil {
		return nil, err
	}
	if _, err := e.store.Apply(ctx, scope, req.Session, h.head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	return res, nil
}

// legacy returns the contract of a session to inherit from.
func (e *Engine) legacy(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*contract.State, error) {
	a, err := e.agreement(ctx, scope, &held{head: &store.Head{ID: id}})
	if err != nil {
		return nil, err
	}
	if len(a.lines) == 0 {
		return nil, fmt.Errorf("contract of session %s, to inherit from: %w", id, store.ErrNotFound)
	}
	return a.state, nil
}

// additions returns the statements that a request adds to an agreement.
func (e *Engine) additions(ctx context.Context, scope governance.Scope, a *agreement, req *AmendContractRequest, gate *gateNote, legacy *contract.State) ([]string, error) {
	state := a.state.Clone()
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
		write(state.Gate(gate.id, gate.list))
	}
	if len(req.Rules) > 0 {
		write(state.Guard()) // which declares what the rules hang on
	}
	if own := slices.Concat(req.Statements, ruleLines(req.Rules)); failed == nil && len(own) > 0 {
		lines = append(lines, own...)
		state, failed = contract.Replay(slices.Values(slices.Concat(a.lines, lines)))
	}
	if failed == nil && req.Close {
		write(state.Close())
	}
	return lines, contractErr(failed)
}

// ruleLines returns rules as handlers, which the language runs once everything
// before and behind them has been.
func ruleLines(rules []string) []string {
	var lines []string
	for _, rule := range rules {
		lines = append(lines, "when block-count is not below 0:", "  "+strings.TrimSpace(rule))
	}
	return lines
}

// contractErr returns an error of a contract as one of the engine.
func contractErr(err error) error {
	switch err := err.(type) { //nolint:errorlint // errors of the package are never wrapped
	case nil:
		return nil
	case *contract.TextError, *contract.IDError, *contract.PayloadError, *contract.SyntaxError:
		return fmt.Errorf("%w: %w", ErrRequest, err)
	default:
		return fmt.Errorf("%w: %w", ErrPolicy, err)
	}
}

// contractBlocks returns the ids by which a contract knows the blocks of a session
// that words name.
func (e *Engine) contractBlocks(ctx context.Context, scope governance.Scope, id transcript.SessionID, words []string) ([]string, error) {
	ids := make([]string, 0, len(words))
	for _, word := range words {
		ref, _, err := e.findBlock(ctx, scope, word)
		if err != nil {
			return nil, err
		}
		if ref.Session != id {
			return nil, fmt.Errorf("%w: block %s is one of session %s", ErrRequest, word, ref.Session)
		}
		ids = append(ids, contractID(ref.Block))
	}
	return ids, nil
}

// amendment returns the change that adds statements to a contract.
func (e *Engine) amendment(scope governance.Scope, h *held, req *AmendContractRequest, added []string) (*store.Change, error) {
	c := &store.Change{Head: *h.head, Statements: added}
	c.Head.Updated = e.now()
	if h.head.Revision == 0 {
		cell, err := e.cell(store.CellAbout, []byte("{}"))
		if err != nil {
			return nil, err
		}
		c.Cells = append(c.Cells, cell)
		c.Head.About, c.Head.Created = cell.ID, c.Head.Updated
	}
	var err error
	c.Entry, err = e.entry(scope, req.Session, h.head.Revision, "contract", amended{
		Statements: len(added), Init: req.Init, Parent: req.Parent, Close: req.Close,
	})
	return c, err
}

// CheckContract runs the contract of a session and reports what of it does not
// hold. A session without a contract has one that is empty and holds.
func (e *Engine) CheckContract(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *contract.Report, err error) {
	id := req.Session
	defer during("check the contract of session "+string(id), &err)

	if _, err := e.head(ctx, scope, id); err != nil {
		return nil, err
	}
	lines, err := e.statements(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return contract.Run(slices.Values(lines), &contract.RunOptions{Today: e.today()})
}
