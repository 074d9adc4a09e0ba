// Package handoffs makes packets that hand a session to another agent, and starts sessions from
// packets.
package handoffs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Handoffs has the operations on packets.
type Handoffs struct {
	*record.Recorder

	// Import imports a conversation under a title. Package sessions implements it.
	Import func(ctx context.Context, scope governance.Scope, req *api.ImportRequest, title string) (*api.ImportResult, error)
}

// Handoff makes a packet that hands a session to another agent, from its conversation, contract
// and journal.
func (e *Handoffs) Handoff(ctx context.Context, scope governance.Scope, req *api.HandoffRequest) (_ *api.HandoffResult, err error) {
	defer base.During("hand over", &err, "session "+string(req.Session))

	known, about, err := e.history(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	in := known.Input()
	in.For, in.By, in.Date = req.For, cmp.Or(req.By, string(e.Opts.Actor)), e.Today()
	in.Next, in.Notes = cmp.Or(req.Next, in.Next), cmp.Or(req.Notes, in.Notes)
	res := &api.HandoffResult{Session: req.Session, Packet: handoff.Build(in)}
	res.File = handoff.Filename(res.Packet, req.Domain, cmp.Or(req.Title, strings.TrimPrefix(about.Title, hold.HandoffTitle)))
	res.Packet.Filename = res.File
	res.Findings = handoff.Check(res.Packet, known.Evidence(in))
	for _, f := range res.Findings {
		if f.Error {
			return nil, fmt.Errorf("%w: %v", api.ErrPolicy, f)
		}
	}
	if req.Strict {
		res.Packet, res.LeftOut = res.Packet.Published()
	}
	return res, nil
}

// CheckHandoff checks a packet against the honesty rules and, if the request names a session,
// against the records of the session.
func (e *Handoffs) CheckHandoff(ctx context.Context, scope governance.Scope, req *api.CheckHandoffRequest) (_ *api.HandoffResult, err error) {
	defer base.During("check a packet", &err)

	packet, err := handoff.Parse(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	var known *handoff.Evidence
	if req.Session != "" {
		h, _, err := e.history(ctx, scope, req.Session)
		if err != nil {
			return nil, err
		}
		known = h.Evidence(h.Input())
	}
	return &api.HandoffResult{Session: req.Session, Packet: packet, Findings: handoff.Check(packet, known)}, nil
}

// Accept starts a session from a packet. The conversation is one user message with the packet; no
// compression removes this message from the window. The contract inherits the packet's decisions,
// corrections, questions and verified claims.
func (e *Handoffs) Accept(ctx context.Context, scope governance.Scope, req *api.AcceptRequest) (_ *api.AcceptResult, err error) {
	defer base.During("accept "+req.Name, &err)

	packet, err := handoff.Parse(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	format := cmp.Or(req.Format, "openai")
	message, err := hold.Opening(format, packet.Markdown())
	if err != nil {
		return nil, err
	}
	res := &api.AcceptResult{Packet: packet, Findings: handoff.Check(packet, nil)}
	res.File = strings.TrimSuffix(handoff.Filename(packet, "", ""), ".md") + ".json"
	in, err := e.Import(ctx, scope, &api.ImportRequest{
		Name: res.File, Data: message, Format: format, DryRun: req.DryRun,
	}, hold.HandoffTitle+contract.Clean(origin(packet.Session)))
	if err != nil {
		return nil, err
	}
	res.Session, res.Op = in.Session, in.Op
	begun, err := e.inheritPacket(ctx, scope, in.Session, packet, req.DryRun)
	if err != nil {
		return nil, err
	}
	res.Contract, res.Op = begun.Total, cmp.Or(begun.Op, res.Op)
	return res, nil
}

// origin returns the session in which a chain of handoffs began, given the session of the last
// packet.
func origin(session string) string {
	if _, first, ok := strings.Cut(session, "("+hold.HandoffTitle); ok {
		return strings.TrimSuffix(first, ")")
	}
	return session
}

// inheritPacket starts the contract of a session with the contents of a packet, unless the
// session has a contract.
func (e *Handoffs) inheritPacket(ctx context.Context, scope governance.Scope, id transcript.SessionID, p *handoff.Packet, dryRun bool) (*api.AmendContractResult, error) {
	lines, err := e.Statements(ctx, scope, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if state, err := contract.Replay(slices.Values(lines)); err != nil || state.Initialized() {
		return &api.AmendContractResult{Session: id, Total: len(lines)}, err
	}
	r := &api.AmendContractRequest{Session: id, Init: true, DryRun: dryRun}
	return base.Retry(ctx, func() (*api.AmendContractResult, error) { return e.Amend(ctx, scope, r, nil, p.Contract()) })
}
