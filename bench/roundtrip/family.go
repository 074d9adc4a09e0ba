package main

import (
	"context"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/limn"
	"github.com/carrel-dev/carrel/transcript"
)

// contract runs the contract that a pass wrote, once as a plain Liminate program and once by
// package contract. Then it runs the contract with one fault after the other, each of which
// must make it fail.
func (t *trial) contract(ctx context.Context, e *carrel.Engine, scope governance.Scope, id transcript.SessionID) error {
	lines, err := e.Contract(ctx, scope, &carrel.SessionRequest{Session: id})
	if err != nil || len(lines.Statements) == 0 {
		return err
	}
	t.contracts++
	m := limn.NewMachine(nil)
	for r := range m.Run(limn.Parse("", strings.Join(lines.Statements, "\n"), nil)) {
		if r.Status.Failed(true) || r.Status == limn.StatusAmber {
			t.fail("contract: %s: %s", r.Status, r.Message)
		}
	}
	report, err := contract.Run(slices.Values(lines.Statements), nil)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.fail("contract: %v", err)
		return nil
	}
	for name, more := range faults(report.State) {
		t.faults++
		report, err := contract.Run(slices.Values(slices.Concat(lines.Statements, more)), nil)
		if err == nil && report.Err() == nil {
			t.fail("a contract does not fail although %s", name)
		}
	}
	return nil
}

// faults returns the faults to bring into a contract: a map from the description of a fault to the
// statements that cause it.
func faults(s *contract.Contract) map[string][]string {
	all := make(map[string][]string)
	if pins := s.Texts(contract.PinnedBlocks); len(pins) > 0 {
		in, _ := s.Bucket(pins[0])
		all["a pinned block is evicted"] = []string{
			`remove "` + pins[0] + `" from ` + string(in), `add "` + pins[0] + `" to evicted-blocks`,
		}
	}
	if kept := s.Blocks(contract.Retained); len(kept) > 0 {
		all["a block is in two lists"] = []string{`add "` + kept[0] + `" to evicted-blocks`}
		all["a line was injected"] = []string{`add "block-x" to paged-blocks and remove "` + kept[0] + `" from retained-blocks`}
	}
	return all
}

// handoff makes a packet, converts it to both written forms and back, begins a session with it,
// and makes a packet of that session.
func (t *trial) handoff(ctx context.Context, e *carrel.Engine, scope governance.Scope, id transcript.SessionID) error {
	first, err := e.Handoff(ctx, scope, &carrel.HandoffRequest{Session: id})
	if err != nil {
		t.fail("handoff: %v", err)
		return nil
	}
	t.packets++
	data, err := first.Packet.JSON()
	if err != nil {
		return err
	}
	for form, text := range map[string][]byte{"JSON": data, "Markdown": []byte(first.Packet.Markdown())} {
		p, err := handoff.Parse(form, text)
		if err != nil || p.Markdown() != first.Packet.Markdown() {
			t.fail("a packet in %s is parsed as a different packet: %v", form, err)
		}
	}
	begun, err := e.Accept(ctx, scope, &carrel.AcceptRequest{Name: "packet", Data: data})
	if err != nil {
		t.fail("accept: %v", err)
		return nil
	}
	second, err := e.Handoff(ctx, scope, &carrel.HandoffRequest{Session: begun.Session})
	if err != nil {
		t.fail("hand off the session of the accepted packet: %v", err)
		return nil
	}
	if body(first.Packet) != body(second.Packet) {
		t.fail("a packet differs after it was accepted and handed on")
	}
	return nil
}

// body returns a packet without its header.
func body(p *handoff.Packet) string {
	_, text, _ := strings.Cut(p.Markdown(), "\n## ")
	return text
}
