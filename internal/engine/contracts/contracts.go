// Package contracts extends and runs the contracts of sessions.
package contracts

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/transcript"
)

// Contracts has the operations on contracts.
type Contracts struct {
	*record.Recorder
}

// AmendContract adds statements to the contract of a session.
func (e *Contracts) AmendContract(ctx context.Context, scope governance.Scope, req *api.AmendContractRequest) (_ *api.AmendContractResult, err error) {
	defer base.During("contract", &err, "of session "+string(req.Session))

	r := *req
	if r.Payload != nil && !r.Init {
		return nil, fmt.Errorf("%w: a payload begins a contract: give Init, too", api.ErrRequest)
	}
	if r.Session == "" {
		if !r.Init {
			return nil, fmt.Errorf("%w: no session is named: give its id", api.ErrRequest)
		}
		if r.Session, err = e.newSessionID(); err != nil {
			return nil, err
		}
	}
	return base.Retry(ctx, func() (*api.AmendContractResult, error) { return e.Amend(ctx, scope, &r, nil, nil) })
}

// newSessionID returns an id for a session without a conversation.
func (e *Contracts) newSessionID() (transcript.SessionID, error) {
	var id [8]byte
	if _, err := io.ReadFull(e.Opts.Rand, id[:]); err != nil {
		return "", err
	}
	return transcript.SessionID("s-" + hex.EncodeToString(id[:])), nil
}

// CheckContract runs the contract of a session and reports the rules that fail.
func (e *Contracts) CheckContract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *contract.Report, err error) {
	id := req.Session
	defer base.During("check the contract", &err, "of session "+string(id))

	if _, err := e.Head(ctx, scope, id); err != nil {
		return nil, err
	}
	lines, err := e.Statements(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return contract.Run(slices.Values(lines), &contract.RunOptions{Today: e.Today()})
}

// Contract returns the contract of a session, one Liminate statement per line.
func (e *Contracts) Contract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.ContractResult, err error) {
	id := req.Session
	defer base.During("contract", &err, "of session "+string(id))

	if _, err := e.Head(ctx, scope, id); err != nil {
		return nil, err
	}
	lines, err := e.Statements(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return &api.ContractResult{Statements: lines}, nil
}
