package windows

import (
	"context"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Stats estimates what the tasks of a session cost, from the conversation alone: each reply
// of the model is a call that read all that was said before, as it was imported, and what a
// provider caches is counted like the rest.
func (e *Windows) Stats(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.StatsResult, err error) {
	id := req.Session
	defer base.During("stats of session "+string(id), &err)

	h, info, err := e.LoadInfo(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	if err != nil {
		return nil, err
	}
	res := &api.StatsResult{SessionInfo: info, Tasks: []api.TaskStats{}}
	for _, p := range append(slices.Clip(h.Earlier), hold.Past{Msgs: h.Session.Messages, Blocks: h.Blocks, Rows: h.Rows}) {
		addTasks(res, m, m.Fixed(h.Session), &p)
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
func addTasks(res *api.StatsResult, m hold.Meter, before token.Count, p *hold.Past) {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.Kind == transcript.KindUser && pager.Instructs(p.Msgs, b) {
			_, what := pager.Describe(p.Msgs, b)
			res.Tasks = append(res.Tasks, api.TaskStats{Task: len(res.Tasks) + 1, Block: b.ID, Preview: what})
		}
		if len(res.Tasks) > 0 {
			t := &res.Tasks[len(res.Tasks)-1]
			t.Turns++
			if b.Kind == transcript.KindAssistant || b.Kind == transcript.KindTool {
				t.Calls++
				t.Read += before
				t.Written += replies(m, p.Msgs, b)
			}
		}
		before += p.Rows[i].Tokens
	}
}

// replies returns what the assistant's messages of a block cost.
func replies(m hold.Meter, msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		if msgs[i].Role == transcript.RoleAssistant {
			n += m.Framing.Message + m.Parts(msgs[i].Parts)
		}
	}
	return n
}
