package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/transcript"
)

// Summary does [carrel.Engine.Summary] on the server.
func (c *Client) Summary(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.SummaryResult, error) {
	return do(ctx, c, scope, &api.Summary, &api.SessionRequest{Session: id})
}

// CheckSummary does [carrel.Engine.CheckSummary] on the server.
func (c *Client) CheckSummary(ctx context.Context, scope governance.Scope, req *carrel.CheckSummaryRequest) (*carrel.CheckSummaryResult, error) {
	return do(ctx, c, scope, &api.CheckSummary, req)
}

// Probes does [carrel.Engine.Probes] on the server.
func (c *Client) Probes(ctx context.Context, scope governance.Scope, req *carrel.ProbesRequest) (*carrel.ProbesResult, error) {
	return do(ctx, c, scope, &api.Probes, req)
}

// RunProbes does [carrel.Engine.RunProbes] on the server.
func (c *Client) RunProbes(ctx context.Context, scope governance.Scope, req *carrel.RunProbesRequest) (*carrel.RunProbesResult, error) {
	return do(ctx, c, scope, &api.RunProbes, req)
}

// Brief does [carrel.Engine.Brief] on the server.
func (c *Client) Brief(ctx context.Context, scope governance.Scope, req *carrel.BriefRequest) (*carrel.BriefResult, error) {
	return do(ctx, c, scope, &api.Brief, req)
}

// ProbeReport does [carrel.Engine.ProbeReport] on the server.
func (c *Client) ProbeReport(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.ProbeReport, error) {
	return do(ctx, c, scope, &api.ProbeReport, &api.SessionRequest{Session: id})
}

// Contract does [carrel.Engine.Contract] on the server.
func (c *Client) Contract(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]string, error) {
	res, err := do(ctx, c, scope, &api.Contract, &api.SessionRequest{Session: id})
	if err != nil {
		return nil, err
	}
	return res.Statements, nil
}

// AmendContract does [carrel.Engine.AmendContract] on the server.
func (c *Client) AmendContract(ctx context.Context, scope governance.Scope, req *carrel.ContractRequest) (*carrel.ContractResult, error) {
	return do(ctx, c, scope, &api.AmendContract, req)
}

// CheckContract does [carrel.Engine.CheckContract] on the server. The state is read
// from the statements, which are asked for as well.
func (c *Client) CheckContract(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*contract.Report, error) {
	report, err := do(ctx, c, scope, &api.CheckContract, &api.SessionRequest{Session: id})
	if err != nil {
		return nil, err
	}
	lines, err := c.Contract(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if report.State, err = contract.Replay(slices.Values(lines)); err != nil {
		return nil, fmt.Errorf("check contract: %w: %w", ErrReply, err)
	}
	return report, nil
}

// Handoff does [carrel.Engine.Handoff] on the server.
func (c *Client) Handoff(ctx context.Context, scope governance.Scope, req *carrel.HandoffRequest) (*carrel.HandoffResult, error) {
	return do(ctx, c, scope, &api.Handoff, req)
}

// CheckHandoff does [carrel.Engine.CheckHandoff] on the server.
func (c *Client) CheckHandoff(ctx context.Context, scope governance.Scope, req *carrel.CheckHandoffRequest) (*carrel.HandoffResult, error) {
	return do(ctx, c, scope, &api.CheckHandoff, req)
}

// Accept does [carrel.Engine.Accept] on the server.
func (c *Client) Accept(ctx context.Context, scope governance.Scope, req *carrel.AcceptRequest) (*carrel.AcceptResult, error) {
	return do(ctx, c, scope, &api.Accept, req)
}
