package windows

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Why tells of every decision about a block, with the rule or the inputs of the score, and
// what rule and score it has now; and of its names and lines how likely the agent needs
// them again, by what, and whether they are in the window.
func (e *Windows) Why(ctx context.Context, scope governance.Scope, req *api.BlockRequest) (_ *api.WhyResult, err error) {
	block := req.Block
	defer base.During("why "+block, &err)

	ref, row, err := e.FindBlock(ctx, scope, block)
	if err != nil {
		return nil, err
	}
	h, err := e.Load(ctx, scope, ref.Session)
	if err != nil {
		return nil, err
	}
	res := &api.WhyResult{
		Session: ref.Session, Block: row.ID, Kind: row.Kind, Tools: row.Tools, Turn: row.Turn, State: row.State,
		Form: pager.Form(row.Form), Off: row.Off, Tokens: row.Tokens, Window: row.Window,
		Weights: e.Opts.Weights, Cuts: e.Opts.Cuts,
	}
	if i := h.Index(row.ID); i >= 0 {
		p, err := e.newPass(ctx, scope, h, &api.CompressRequest{Session: ref.Session})
		if err != nil {
			return nil, err
		}
		plan, err := pager.Make(p.request(&api.CompressRequest{Target: math.MaxInt}))
		if err != nil {
			return nil, err
		}
		res.Now, res.Intent = &plan.Decisions[i], p.intent
		res.Preview, res.Need = hold.Preview(h.Session.Messages, &h.Blocks[i]), p.need(i)
		if res.Account, err = e.whyAccount(ctx, scope, p, i); err != nil {
			return nil, err
		}
		if s, ok := p.stubs[row.ID]; ok {
			res.Stub = &s
		}
	}
	if all := h.Entire(); res.Off {
		if i := all.Index(row.ID); i >= 0 {
			res.Off, res.Earlier, res.Preview = false, h.WindowOf(i), hold.Preview(all.Session.Messages, &all.Blocks[i])
		}
	}
	res.History, err = e.history(ctx, scope, ref)
	return res, err
}

// imports returns what an import did to a block because the client had done it.
func imports(entry *store.Entry, block transcript.BlockID) ([]api.WhyEntry, error) {
	var data hold.Imported
	if err := json.Unmarshal(entry.Data, &data); err != nil {
		return nil, fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
	}
	w := api.WhyEntry{Op: entry.ID, Actor: entry.Actor, Time: entry.Time}
	switch c := data.Compacted; {
	case c != nil && slices.Contains(c.Blocks, block):
		w.Kind, w.Actor, w.Reason = "compacted", c.Actor, string(c.Rule)
	case slices.Contains(data.Back, block):
		w.Kind, w.Reason = "back", "in the conversation again, whole"
	default:
		return nil, nil
	}
	return []api.WhyEntry{w}, nil
}

// history returns what the journal says about a block.
func (e *Windows) history(ctx context.Context, scope governance.Scope, ref store.Ref) ([]api.WhyEntry, error) {
	var history []api.WhyEntry
	for entry, err := range e.Store.Entries(ctx, scope, ref.Session, 0) {
		if err != nil {
			return nil, err
		}
		w := api.WhyEntry{Op: entry.ID, Kind: entry.Op, Actor: entry.Actor, Time: entry.Time}
		if entry.Op == "import" {
			if len(history) == 0 {
				history = append(history, w)
			}
			more, err := imports(entry, ref.Block)
			if err != nil {
				return nil, err
			}
			history = append(history, more...)
			continue
		}
		var data struct {
			Budget token.Count `json:"budget"`
			Moves  []hold.Move `json:"moves"`
			Pins   []pinning   `json:"pins"`
		}
		if err := json.Unmarshal(entry.Data, &data); err != nil {
			return nil, fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
		}
		w.Budget = data.Budget
		for i := range data.Moves {
			if data.Moves[i].Block == ref.Block {
				w.Decision = &data.Moves[i].Decision
				history = append(history, w)
			}
		}
		for i := range data.Pins {
			if data.Pins[i].Block == ref.Block {
				w.Pinned = &data.Pins[i].Pinned
				history = append(history, w)
			}
		}
	}
	return history, nil
}
