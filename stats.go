package carrel

import (
	"context"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Stats estimates what the tasks of a session cost, from the conversation alone:
// each reply of the model is a call that read all that was said before, as it was
// imported, and what a provider caches is counted like the rest. A call before a
// compaction by the client read its own window.
func (e *Engine) Stats(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *StatsResult, err error) {
	id := req.Session
	defer during("stats of session "+string(id), &err)

	h, info, err := e.loadInfo(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	m, err := e.meterFor(h.session, h.head.Encoding)
	if err != nil {
		return nil, err
	}
	res := &StatsResult{SessionInfo: info, Tasks: []TaskStats{}}
	for _, p := range append(slices.Clip(h.earlier), past{h.session.Messages, h.blocks, h.rows}) {
		addTasks(res, m, m.fixed(h.session), &p)
	}
	for i := range res.Tasks {
		t := &res.Tasks[i]
		t.Total = t.Read + t.Written
		res.Calls += t.Calls
		res.Total += t.Total
	}
	if n := len(res.Tasks); n > 0 {
		res.TokensPerTask = res.Total / token.Count(n)
	}
	rounds, err := e.rounds(ctx, scope, id)
	res.Rounds = len(rounds)
	return res, err
}

// addTasks adds what the tasks of a window cost, in which something stood before its
// first block. What is not asked for in it belongs to the last task before.
func addTasks(res *StatsResult, m meter, before token.Count, p *past) {
	for i := range p.blocks {
		b := &p.blocks[i]
		if b.Kind == transcript.KindUser && pager.Instructs(p.msgs, b) {
			_, what := pager.Describe(p.msgs, b)
			res.Tasks = append(res.Tasks, TaskStats{Task: len(res.Tasks) + 1, Block: b.ID, Preview: what})
		}
		if len(res.Tasks) > 0 {
			t := &res.Tasks[len(res.Tasks)-1]
			t.Turns++
			if b.Kind == transcript.KindAssistant || b.Kind == transcript.KindTool {
				t.Calls++
				t.Read += before
				t.Written += replies(m, p.msgs, b)
			}
		}
		before += p.rows[i].Tokens
	}
}

// replies returns what the assistant's messages of a block cost.
func replies(m meter, msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		if msgs[i].Role == transcript.RoleAssistant {
			n += m.framing.Message + m.parts(msgs[i].Parts)
		}
	}
	return n
}
