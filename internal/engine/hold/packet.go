package hold

import (
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// Packet returns the handoff packet with which a session began, and the index of the block behind
// it.
func (h *Snapshot) Packet() (*handoff.Packet, int) {
	for i := range h.Blocks {
		if h.Blocks[i].Kind != transcript.KindUser {
			continue
		}
		m := &h.Session.Messages[h.Blocks[i].Messages[0]]
		if p, err := handoff.Parse("", []byte(m.Text())); err == nil {
			return p, i + 1
		}
		break
	}
	return nil, 0
}

// FirstTaskRules returns the rules of the first n blocks for the extraction of facts. Only the
// block with the first task has a rule, so that its words do not count as a correction.
func (h *Snapshot) FirstTaskRules(n int) []pager.Rule {
	rules := make([]pager.Rule, n)
	for i := range n {
		if b := &h.Blocks[i]; b.Kind == transcript.KindUser && pager.Instructs(h.Session.Messages, b) {
			rules[i] = pager.RuleFirstTask
			break
		}
	}
	return rules
}

// FactsOf returns facts of the first n blocks of a session. Only facts count that first appear, or
// change, in a block whose index is equal to from or higher.
func (e *Desk) FactsOf(h *Snapshot, n, from int) []facts.Fact {
	return facts.Extract(h.Session.Messages, h.Blocks[:n], &facts.Options{
		Tools: e.Opts.Tools, Project: h.Session.Project, Correction: pager.Correction, First: from,
	})
}

// ToolNames returns the names of the tools that a block calls, in order.
func ToolNames(msgs []transcript.Message, b *transcript.Block) []string {
	var names []string
	for _, i := range b.Messages {
		for _, c := range msgs[i].Calls() {
			names = append(names, c.Name)
		}
	}
	return names
}
