package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
)

// AmendContract adds to the contract of a session and runs it. If the
// contract then fails, nothing is added and the error is an [ErrPolicy]: a
// decision contradicts another and the request has no Resolution, a rule
// fails, or the contract is closed.
func (e *Engine) AmendContract(ctx context.Context, scope governance.Scope, req *AmendContractRequest) (*AmendContractResult, error) {
	return e.contracts.AmendContract(ctx, scope, req)
}

// CheckContract runs the contract of a session and reports the statements
// that fail. A session without a contract has an empty one, which holds.
func (e *Engine) CheckContract(ctx context.Context, scope governance.Scope, req *SessionRequest) (*contract.Report, error) {
	return e.contracts.CheckContract(ctx, scope, req)
}

// Contract returns the contract of a session, one statement a line, in the
// language of package limn.
func (e *Engine) Contract(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ContractResult, error) {
	return e.contracts.Contract(ctx, scope, req)
}

// Handoff makes a packet that carries a session to another agent, from its
// conversation, contract and journal. The packet separates tool results from
// statements, and the user's decisions from the agent's actions; unknown
// facts are called unknown. A session that began with a packet passes that
// packet's entries on.
//
// The packet is checked against the rules of honesty, see package handoff, and the record of the
// session. If a check fails, the error is an [ErrPolicy].
func (e *Engine) Handoff(ctx context.Context, scope governance.Scope, req *HandoffRequest) (*HandoffResult, error) {
	return e.handoffs.Handoff(ctx, scope, req)
}

// CheckHandoff checks a packet against the rules of honesty, see package handoff, and, if the
// request names a session, against the record of that session.
func (e *Engine) CheckHandoff(ctx context.Context, scope governance.Scope, req *CheckHandoffRequest) (*HandoffResult, error) {
	return e.handoffs.CheckHandoff(ctx, scope, req)
}

// Accept begins a session with a packet. Its conversation is one user message, the packet, which a
// pass cuts only if the budget is too small for it; its contract inherits the packet's decisions,
// corrections, questions and verified claims. The result lists violations of the rules of honesty,
// see package handoff; they are no error.
func (e *Engine) Accept(ctx context.Context, scope governance.Scope, req *AcceptRequest) (*AcceptResult, error) {
	return e.handoffs.Accept(ctx, scope, req)
}
