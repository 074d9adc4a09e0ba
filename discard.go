package carrel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// discarded is what the journal keeps of a discard: the moves of the blocks
// that changed, as a pass does, and why each left.
type discarded struct {
	Auto     bool            `json:"auto,omitempty"`
	Before   token.Count     `json:"before"`
	After    token.Count     `json:"after"`
	Target   token.Count     `json:"target,omitempty"`
	Floor    token.Count     `json:"floor"`
	Moves    []move          `json:"moves"`
	Discards []pager.Discard `json:"discards"`
}

// Discard takes blocks out of the window of a session. They can be recalled and
// the discard undone. Blocks that are named go all or not at all: if a rule keeps
// one of them, if one is not in the window, or if the window would fall below its
// floor, the error is an [ErrPolicy] with a [*pager.DiscardError] that lists every
// block that is refused. An automatic discard takes blocks in the order of
// [pager.PlanDiscard] until the window is near its target.
//
// The result is checked by the rules of the session's provider, and is an
// [ErrInvalid] if they would refuse it. After an error nothing has changed.
func (e *Engine) Discard(ctx context.Context, scope governance.Scope, req *DiscardRequest) (_ *DiscardResult, err error) {
	r := *req
	where := "discard"
	if r.Session != "" {
		where = "discard from session " + string(r.Session)
	}
	defer during(where, &err)

	switch {
	case r.Auto && len(r.IDs) > 0:
		return nil, fmt.Errorf("%w: blocks are named, or chosen, not both", ErrRequest)
	case !r.Auto && len(r.IDs) == 0:
		return nil, fmt.Errorf("%w: no block is named", ErrRequest)
	case r.To < 0, r.To > 0 && !r.Auto:
		return nil, fmt.Errorf("%w: a target of %d tokens: only an automatic discard has one, above 0", ErrRequest, r.To)
	case r.Auto && r.Session == "":
		return nil, fmt.Errorf("%w: no session is named", ErrRequest)
	}
	if err := r.Trigger.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if r.Session == "" {
		if r.Session, err = e.sessionOfBlocks(ctx, scope, r.IDs); err != nil {
			return nil, err
		}
	}
	var res *DiscardResult
	err = retry(ctx, func() error {
		res, err = e.discard(ctx, scope, &r)
		return err
	})
	return res, err
}

// sessionOfBlocks returns the session of the first id that a block has. If none
// has, the error is that of the first.
func (e *Engine) sessionOfBlocks(ctx context.Context, scope governance.Scope, ids []string) (transcript.SessionID, error) {
	var first error
	for _, id := range ids {
		ref, _, err := e.findBlock(ctx, scope, id)
		switch {
		case err == nil:
			return ref.Session, nil
		case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, ErrAmbiguous):
			return "", err
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

func (e *Engine) discard(ctx context.Context, scope governance.Scope, req *DiscardRequest) (*DiscardResult, error) {
	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	p := &pass{engine: e, held: h}
	if p.meter, err = e.meterFor(h.session, h.head.Encoding); err != nil {
		return nil, err
	}
	if p.stubs, err = e.stubs(ctx, scope, h.rows); err != nil {
		return nil, err
	}
	window := e.capacity(h.session.Model)
	rules, err := e.rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	standings := e.standings(h, rules)
	for i := range standings {
		if s := &standings[i]; s.Form == pager.Whole && !s.Rule.Hard() {
			s.Thinking = p.meter.thinking(h.session.Messages, &h.blocks[i])
		}
	}
	request := &pager.DiscardRequest{
		Blocks: standings, Fixed: tokensBeside(h), Floor: e.trigger(req.Trigger).FloorOf(window), Auto: req.Auto,
	}
	target := cmp.Or(req.To, e.trigger(req.Trigger).TidyTo(window))
	if req.Auto {
		request.Target = target
	} else if request.IDs, err = blocksNamed(h, req.IDs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	plan, err := pager.PlanDiscard(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	res := newDiscardResult(h, plan, target)
	if len(plan.Discards) == 0 {
		sayDiscarded(res, req)
		return res, nil
	}
	rows, moves := p.leave(plan)
	if err := p.check(rows, p.stubs, h.summary); err != nil {
		return nil, err
	}
	if req.DryRun {
		sayDiscarded(res, req)
		return res, nil
	}
	c := &store.Change{Head: *h.head}
	c.Head.Window, c.Head.Updated = plan.After, e.now()
	data := discarded{req.Auto, plan.Before, plan.After, plan.Target, plan.Floor, moves, plan.Discards}
	for i := range rows {
		if rows[i].Form != h.rows[i].Form {
			c.Blocks = append(c.Blocks, rows[i])
		}
	}
	if err := e.record(ctx, scope, h, c, "discard", data, &settlement{rows: rows, limit: plan.Before, kept: h.summary}); err != nil {
		return nil, err
	}
	if _, err := e.store.Apply(ctx, scope, req.Session, h.head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	sayDiscarded(res, req)
	e.opts.Logger.InfoContext(ctx, "discarded", "session", req.Session, "before", plan.Before, "after", plan.After)
	return res, nil
}

// standings returns how each block of a session stands to a discard, given the
// rule that it is under.
func (e *Engine) standings(h *held, rules []pager.Rule) []pager.Standing {
	forms := make([]pager.Form, len(h.rows))
	for i := range h.rows {
		forms[i] = pager.Form(h.rows[i].Form)
	}
	all := pager.Standings(h.session.Messages, h.blocks, rules, forms, e.opts.Tools)
	for i := range all {
		all[i].Tokens = h.rows[i].Window
	}
	return all
}

// tokensBeside returns what is in the window besides blocks.
func tokensBeside(h *held) token.Count {
	n := h.head.Window
	for i := range h.rows {
		n -= h.rows[i].Window
	}
	return n
}

// blocksNamed returns the blocks of a session that words name. It fails with a
// [*pager.DiscardError] if there is none for one of them.
func blocksNamed(h *held, words []string) ([]transcript.BlockID, error) {
	e := &pager.DiscardError{Named: len(words)}
	ids := make([]transcript.BlockID, 0, len(words))
	for _, word := range words {
		prefix := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(word, "#"), "block-"))
		var found []transcript.BlockID
		for i := range h.rows {
			if prefix != "" && strings.HasPrefix(string(h.rows[i].ID), prefix) {
				found = append(found, h.rows[i].ID)
			}
		}
		switch len(found) {
		case 1:
			ids = append(ids, found[0])
		case 0:
			e.Refused = append(e.Refused, pager.Refusal{Block: word, Reason: "is no block of the conversation"})
		default:
			e.Refused = append(e.Refused, pager.Refusal{Block: word, Reason: fmt.Sprintf("is the beginning of %d ids", len(found))})
		}
	}
	if len(e.Refused) > 0 {
		return nil, e
	}
	return ids, nil
}

// leave returns the rows as they are after a discard, and what moves.
func (p *pass) leave(plan *pager.DiscardPlan) ([]store.Block, []move) {
	h := p.held
	steps := make(map[transcript.BlockID]pager.Stage)
	for _, d := range plan.Discards {
		steps[d.Block] = pager.DiscardStage(d.Class)
	}
	for _, id := range plan.Bare {
		steps[id] = pager.StageThinking
	}
	rows := slices.Clone(h.rows)
	var moves []move
	for i := range rows {
		step, moved := steps[rows[i].ID]
		if !moved {
			continue
		}
		row, was := &rows[i], &h.rows[i]
		to := pager.Gone
		if step == pager.StageThinking {
			to = pager.Bare
		}
		row.Form, row.State, row.Stub, row.Window = string(to), state(to), "", p.size(i, to)
		moves = append(moves, move{FromStub: was.Stub, Decision: pager.Decision{
			Block: row.ID, Turn: row.Turn, From: pager.Form(was.Form), To: to, Before: was.Window, After: row.Window, Step: step,
		}})
	}
	return rows, moves
}

func newDiscardResult(h *held, plan *pager.DiscardPlan, target token.Count) *DiscardResult {
	res := &DiscardResult{
		Session: h.head.ID, Discarded: []Discarded{}, Thinking: plan.Thinking, Before: plan.Before, After: plan.After,
		Sent: token.Count(h.session.Sent), Target: target, Floor: plan.Floor, Provider: h.head.Format, Continue: true,
	}
	places := h.places()
	for _, d := range plan.Discards {
		b := &h.blocks[places[d.Block]]
		res.Discarded = append(res.Discarded, Discarded{
			Discard: d, ShortID: d.Block.Short(), Kind: b.Kind, Preview: preview(h.session.Messages, b),
		})
	}
	return res
}

// say tells the agent what there is to do now.
func sayDiscarded(r *DiscardResult, req *DiscardRequest) {
	switch {
	case req.DryRun:
		r.Message = fmt.Sprintf("Nothing was changed. The window that Carrel holds would have %d tokens.", r.After)
	case len(r.Discarded) == 0 && r.After <= r.Target:
		r.Message = fmt.Sprintf("The window that Carrel holds has %d tokens, which is within the target: nothing had to go. Go on with your task.", r.After)
	case len(r.Discarded) == 0:
		r.Message = fmt.Sprintf("Nothing may go: rules and the floor hold all %d tokens. Go on with your task.", r.After)
	default:
		r.Message = fmt.Sprintf("The window that Carrel holds has %d tokens now. What left it can be recalled by its id. Go on with your task.", r.After)
	}
}

// Refused says why a discard was refused, if err is such an error.
func Refused(err error) (*pager.DiscardError, bool) { return api.RefusedOf(err) }
