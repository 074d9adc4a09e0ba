package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
)

// AmendContract adds to the contract of a session. The contract is run as it is
// afterwards, and if it does not hold, nothing is added: with a decision that
// contradicts another, unless the request says what is to become of it, a rule
// that fails, a contract that is closed, the error is an [ErrPolicy].
func (e *Engine) AmendContract(ctx context.Context, scope governance.Scope, req *AmendContractRequest) (*AmendContractResult, error) {
	return e.contracts.AmendContract(ctx, scope, req)
}

// CheckContract runs the contract of a session and reports what of it does not
// hold. A session without a contract has one that is empty and holds.
func (e *Engine) CheckContract(ctx context.Context, scope governance.Scope, req *SessionRequest) (*contract.Report, error) {
	return e.contracts.CheckContract(ctx, scope, req)
}

// Contract returns the contract of a session: one Liminate statement a line.
func (e *Engine) Contract(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ContractResult, error) {
	return e.contracts.Contract(ctx, scope, req)
}

// Handoff makes a packet that carries a session to another agent, from its
// conversation, its contract and its journal. What was read or run stands apart
// from what somebody said, what the user decided from what the agent did, and
// what is not known is called unknown. A session that began with a packet hands on
// what that had.
//
// The packet is held against the rules of honesty and what is on record; if it goes
// against one, there is no packet and the error is an [ErrPolicy].
func (e *Engine) Handoff(ctx context.Context, scope governance.Scope, req *HandoffRequest) (*HandoffResult, error) {
	return e.handoffs.Handoff(ctx, scope, req)
}

// CheckHandoff holds a packet against the rules of honesty, and, if a session is
// named, against what is on record of it.
func (e *Engine) CheckHandoff(ctx context.Context, scope governance.Scope, req *CheckHandoffRequest) (*HandoffResult, error) {
	return e.handoffs.CheckHandoff(ctx, scope, req)
}

// Accept begins a session with a packet: its conversation is one message of the
// user's, the packet as it is, which no pass takes out of the window, and its
// contract inherits the packet's decisions, corrections, questions and what was
// verified. What the rules of honesty have against the packet is in the result;
// it is for the reader to judge.
func (e *Engine) Accept(ctx context.Context, scope governance.Scope, req *AcceptRequest) (*AcceptResult, error) {
	return e.handoffs.Accept(ctx, scope, req)
}
