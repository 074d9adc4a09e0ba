package windows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// discarded is the data of a discard in the journal: the moves of the blocks that changed, and
// why each left.
type discarded struct {
	Auto     bool            `json:"auto,omitempty"`
	Before   token.Count     `json:"before"`
	After    token.Count     `json:"after"`
	Target   token.Count     `json:"target,omitempty"`
	Floor    token.Count     `json:"floor"`
	Moves    []hold.Move     `json:"moves"`
	Discards []pager.Discard `json:"discards"`
}

// Discard takes blocks out of the window of a session: the blocks that req names or, if req.Auto is
// set, blocks that Discard chooses. The store keeps them, so they can be recalled.
func (e *Windows) Discard(ctx context.Context, scope governance.Scope, req *api.DiscardRequest) (_ *api.DiscardResult, err error) {
	r := *req
	where := ""
	if r.Session != "" {
		where = "from session " + string(r.Session)
	}
	defer base.During("discard", &err, where)

	switch {
	case r.Auto && len(r.IDs) > 0:
		return nil, fmt.Errorf("%w: an automatic discard chooses the blocks: give ids, or auto, not both", api.ErrRequest)
	case !r.Auto && len(r.IDs) == 0:
		return nil, fmt.Errorf("%w: no block is named: give ids, or auto", api.ErrRequest)
	case r.To < 0, r.To > 0 && !r.Auto:
		return nil, fmt.Errorf("%w: a target of %d tokens: only an automatic discard takes a target, and it must be above 0", api.ErrRequest, r.To)
	case r.Auto && r.Session == "":
		return nil, fmt.Errorf("%w: no session is named: an automatic discard needs one", api.ErrRequest)
	}
	if err := r.Trigger.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrRequest, err)
	}
	if r.Session == "" {
		if r.Session, err = e.sessionOfBlocks(ctx, scope, r.IDs); err != nil {
			return nil, err
		}
	}
	return base.Retry(ctx, func() (*api.DiscardResult, error) { return e.discard(ctx, scope, &r) })
}

// sessionOfBlocks returns the session of the first id that names a block. If no id does, it
// returns the error for the first id.
func (e *Windows) sessionOfBlocks(ctx context.Context, scope governance.Scope, ids []string) (transcript.SessionID, error) {
	var first error
	for _, id := range ids {
		ref, _, err := e.FindBlock(ctx, scope, id)
		switch {
		case err == nil:
			return ref.Session, nil
		case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, api.ErrAmbiguous):
			return "", err
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

func (e *Windows) discard(ctx context.Context, scope governance.Scope, req *api.DiscardRequest) (*api.DiscardResult, error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.CheckPaged(); err != nil {
		return nil, err
	}
	p := &pass{engine: e, held: h}
	if p.meter, err = e.MeterFor(h.Session, h.Head.Encoding); err != nil {
		return nil, err
	}
	if p.stubs, err = e.Stubs(ctx, scope, h.Rows); err != nil {
		return nil, err
	}
	figures := e.trigger(req.Trigger).Figures(e.Capacity(h.Session.Model))
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	standings := e.standings(h, rules)
	for i := range standings {
		if s := &standings[i]; s.Form == pager.Whole && !s.Rule.Hard() {
			s.Thinking = p.meter.Thinking(h.Session.Messages, &h.Blocks[i])
		}
	}
	request := &pager.DiscardRequest{
		Blocks: standings, Fixed: tokensBeside(h), Floor: figures.Floor, Auto: req.Auto,
	}
	target := cmp.Or(req.To, figures.Tidy)
	if req.Auto {
		request.Target = target
	} else if request.IDs, err = blocksNamed(h, req.IDs); err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrPolicy, err)
	}
	plan, err := pager.PlanDiscard(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrPolicy, err)
	}
	res := newDiscardResult(h, plan, target)
	if len(plan.Discards) == 0 {
		setMessage(res, req)
		return res, nil
	}
	rows, moves := p.discardRows(plan)
	if err := p.check(rows, p.stubs, h.Summary); err != nil {
		return nil, err
	}
	if req.DryRun {
		setMessage(res, req)
		return res, nil
	}
	c := &store.Change{Head: *h.Head}
	c.Head.Window, c.Head.Updated = plan.After, e.Now()
	data := discarded{req.Auto, plan.Before, plan.After, plan.Target, plan.Floor, moves, plan.Discards}
	for i := range rows {
		if rows[i].Form != h.Rows[i].Form {
			c.Blocks = append(c.Blocks, rows[i])
		}
	}
	res.Op, err = e.Record(ctx, scope, h, c, hold.OpDiscard, data, &record.Settlement{Rows: rows, Limit: plan.Before, Kept: h.Summary})
	if err != nil {
		return nil, err
	}
	setMessage(res, req)
	e.Opts.Logger.InfoContext(ctx, "discarded", "session", req.Session, "before", plan.Before, "after", plan.After)
	return res, nil
}

// standings returns for each block whether it may be discarded, and why or why not. rules has the
// rule of each block.
func (e *Windows) standings(h *hold.Snapshot, rules []pager.Rule) []pager.Standing {
	forms := make([]pager.Form, len(h.Rows))
	for i := range h.Rows {
		forms[i] = pager.Form(h.Rows[i].Form)
	}
	all := pager.Standings(h.Session.Messages, h.Blocks, rules, forms, e.Opts.Tools)
	for i := range all {
		all[i].Tokens = h.Rows[i].Window
	}
	return all
}

// tokensBeside returns the tokens in the window that belong to no block, such as those of tools and
// of the summary.
func tokensBeside(h *hold.Snapshot) token.Count {
	n := h.Head.Window
	for i := range h.Rows {
		n -= h.Rows[i].Window
	}
	return n
}

// blocksNamed returns the ids of the blocks whose ids begin with one of the given words. It fails
// with a [*pager.DiscardError] if a word fits no block or several.
func blocksNamed(h *hold.Snapshot, words []string) ([]transcript.BlockID, error) {
	e := &pager.DiscardError{Named: len(words)}
	ids := make([]transcript.BlockID, 0, len(words))
	for _, word := range words {
		prefix := hold.BlockPrefix(word)
		var found []transcript.BlockID
		for i := range h.Rows {
			if prefix != "" && strings.HasPrefix(string(h.Rows[i].ID), prefix) {
				found = append(found, h.Rows[i].ID)
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

// discardRows returns the rows after a discard, and the moves of the blocks that changed.
func (p *pass) discardRows(plan *pager.DiscardPlan) ([]store.Block, []hold.Move) {
	h := p.held
	steps := make(map[transcript.BlockID]pager.Stage)
	for _, d := range plan.Discards {
		steps[d.Block] = discardStage(d.Class)
	}
	for _, id := range plan.Bare {
		steps[id] = pager.StageThinking
	}
	rows := slices.Clone(h.Rows)
	var moves []hold.Move
	for i := range rows {
		step, moved := steps[rows[i].ID]
		if !moved {
			continue
		}
		row, was := &rows[i], &h.Rows[i]
		to := pager.Gone
		if step == pager.StageThinking {
			to = pager.Bare
		}
		hold.SetForm(row, to, "", p.size(i, to))
		moves = append(moves, hold.Move{FromStub: was.Stub, BlockDecision: pager.BlockDecision{
			Block: row.ID, Turn: row.Turn, From: pager.Form(was.Form), To: to, Before: was.Window, After: row.Window, Step: step,
		}})
	}
	return rows, moves
}

func newDiscardResult(h *hold.Snapshot, plan *pager.DiscardPlan, target token.Count) *api.DiscardResult {
	res := &api.DiscardResult{
		Session: h.Head.ID, Discarded: []api.Discarded{}, Thinking: plan.Thinking, Before: plan.Before, After: plan.After,
		Sent: token.Count(h.Session.Sent), Target: target, Floor: plan.Floor, Provider: h.Head.Format, Continue: true,
	}
	places := h.IndexByID()
	for _, d := range plan.Discards {
		b := &h.Blocks[places[d.Block]]
		res.Discarded = append(res.Discarded, api.Discarded{
			Discard: d, ShortID: d.Block.Short(), Kind: b.Kind, Preview: hold.Preview(h.Session.Messages, b),
		})
	}
	return res
}

// setMessage sets the message that tells the agent the result and how to go on.
func setMessage(r *api.DiscardResult, req *api.DiscardRequest) {
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

// discardStage returns the step of a discard for the journal.
func discardStage(d pager.Disposal) pager.Stage { return "discard-" + pager.Stage(d) }
