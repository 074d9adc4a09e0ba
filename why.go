package carrel

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyResult says why a block is where it is.
type WhyResult struct {
	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Tools   []string             `json:"tools,omitempty"`
	Turn    int                  `json:"turn"`
	Preview string               `json:"preview"`
	State   store.State          `json:"state"`
	Form    pager.Form           `json:"form"`
	Off     bool                 `json:"off,omitempty"`     // left the conversation by an import
	Earlier int                  `json:"earlier,omitempty"` // as in a [BlockInfo]
	Tokens  token.Count          `json:"tokens"`            // as imported
	Window  token.Count          `json:"window"`            // in the window now
	Stub    *pager.Stub          `json:"stub,omitempty"`
	Now     *pager.Decision      `json:"now,omitempty"` // rule, signals and score as of now
	Weights pager.Weights        `json:"weights"`
	Cuts    pager.Cuts           `json:"cuts"`
	Intent  []string             `json:"intent,omitempty"`
	Account *WhyAccount          `json:"account,omitempty"` // if the last pass made an account
	Need    *WhyNeed             `json:"need,omitempty"`    // what of it is likely to be needed again, as of now
	History []WhyEntry           `json:"history"`           // oldest first
}

// A WhyEntry is what the journal says about a block.
type WhyEntry struct {
	Op       string           `json:"op"`
	Kind     string           `json:"kind"` // "import", "compacted", "back", "page", "page-by-hand", "discard", "pin", "unpin", "undo"
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"`
	Budget   token.Count      `json:"budget,omitempty"`
	Decision *pager.Decision  `json:"decision,omitempty"`
	Pinned   *bool            `json:"pinned,omitempty"` // set or lifted by this entry
	Reason   string           `json:"reason,omitempty"` // if it is not the decision
}

// Why tells of every decision about a block, with the rule or the inputs of
// the score, and what rule and score it has now; and of its names and lines how
// likely the agent needs them again, by what, and whether they are in the window. If
// the last pass made an account, it tells the same of the units of the block, with what
// they cost and what brings back those that are not there.
func (e *Engine) Why(ctx context.Context, scope governance.Scope, block string) (_ *WhyResult, err error) {
	defer during("why "+block, &err)

	ref, row, err := e.findBlock(ctx, scope, block)
	if err != nil {
		return nil, err
	}
	h, err := e.load(ctx, scope, ref.Session)
	if err != nil {
		return nil, err
	}
	res := &WhyResult{
		Session: ref.Session, Block: row.ID, Kind: row.Kind, Tools: row.Tools, Turn: row.Turn, State: row.State,
		Form: pager.Form(row.Form), Off: row.Off, Tokens: row.Tokens, Window: row.Window,
		Weights: e.opts.Weights, Cuts: e.opts.Cuts,
	}
	if i := h.index(row.ID); i >= 0 {
		p, err := e.newPass(ctx, scope, h, &CompressRequest{Session: ref.Session})
		if err != nil {
			return nil, err
		}
		plan, err := pager.Make(p.request(&CompressRequest{Target: math.MaxInt}))
		if err != nil {
			return nil, err
		}
		res.Now, res.Intent = &plan.Decisions[i], p.intent
		res.Preview, res.Need = preview(h.session.Messages, &h.blocks[i]), p.need(i)
		if res.Account, err = e.whyAccount(ctx, scope, p, i); err != nil {
			return nil, err
		}
		if s, ok := p.stubs[row.ID]; ok {
			res.Stub = &s
		}
	}
	if all := h.entire(); res.Off {
		if i := all.index(row.ID); i >= 0 {
			res.Off, res.Earlier, res.Preview = false, h.windowOf(i), preview(all.session.Messages, &all.blocks[i])
		}
	}
	res.History, err = e.history(ctx, scope, ref)
	return res, err
}

// imports returns what an import did to a block because the client had done it.
func imports(entry *store.Entry, block transcript.BlockID) ([]WhyEntry, error) {
	var data imported
	if err := json.Unmarshal(entry.Data, &data); err != nil {
		return nil, fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
	}
	w := WhyEntry{Op: entry.ID, Actor: entry.Actor, Time: entry.Time}
	switch c := data.Compacted; {
	case c != nil && slices.Contains(c.Blocks, block):
		w.Kind, w.Actor, w.Reason = "compacted", c.Actor, string(c.Rule)
	case slices.Contains(data.Back, block):
		w.Kind, w.Reason = "back", "in the conversation again, whole"
	default:
		return nil, nil
	}
	return []WhyEntry{w}, nil
}

// history returns what the journal says about a block.
func (e *Engine) history(ctx context.Context, scope governance.Scope, ref store.Ref) ([]WhyEntry, error) {
	var history []WhyEntry
	for entry, err := range e.store.Entries(ctx, scope, ref.Session, 0) {
		if err != nil {
			return nil, err
		}
		w := WhyEntry{Op: entry.ID, Kind: entry.Op, Actor: entry.Actor, Time: entry.Time}
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
			Moves  []move      `json:"moves"`
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
