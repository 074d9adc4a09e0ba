package handoffs

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/summary/extractive"
	"github.com/carrel-dev/carrel/transcript"
)

// history reads the records of a session, including the windows that its client compacted, and
// its about cell.
func (e *Handoffs) history(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*handoff.History, *hold.About, error) {
	h, err := e.Load(ctx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	about, err := e.About(ctx, scope, h.Head)
	if err != nil {
		return nil, nil, err
	}
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, nil, err
	}
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return nil, nil, err
	}
	all, earlier := h.WithEarlier(), h.Behind()
	rules = append(all.FirstTaskRules(earlier), rules...)
	p := &handoff.History{
		Session: string(id), Title: about.Title, Messages: all.Session.Messages, Blocks: all.Blocks, Texts: all.Texts(), Contract: a.State,
		Preview: func(i int) string { return hold.Preview(all.Session.Messages, &all.Blocks[i]) }, OneOff: pager.OneOff,
	}
	for i := range all.Blocks {
		r, asks := &all.Rows[i], all.Blocks[i].Kind == transcript.KindUser && pager.Instructs(all.Session.Messages, &all.Blocks[i])
		p.Known = append(p.Known, handoff.Known{
			Asks: asks, Corrects: rules[i] == pager.RuleCorrection || asks && rules[i] != pager.RuleFirstTask && pager.Correction(p.Texts[i]),
			Earlier: i < earlier, Pinned: r.Pinned, Live: r.State == store.StateLive, Stub: r.State == store.StateStub,
		})
	}
	p.Base, p.First = all.Packet()
	for _, f := range e.FactsOf(all, len(all.Blocks), 0) {
		if f.Block >= p.First {
			p.Facts = append(p.Facts, f)
		}
	}
	draft(p)
	return p, about, nil
}

// draft drafts the goal, state and other sections of a packet from the facts of a session.
func draft(p *handoff.History) {
	s := extractive.Draft(p.Facts, &extractive.Options{Ref: func(i int) string { return p.Blocks[i].ID.Short() }})
	p.Goal, p.State = s.Intent, s.State
	for _, step := range s.Next {
		if step.Text != summary.None {
			p.Next = step.Text
			break
		}
	}
}
