package windows

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A pass holds the inputs and caches of one plan for a session.
type pass struct {
	engine *Windows
	held   *hold.Snapshot
	meter  hold.Meter
	stubs  map[transcript.BlockID]pager.Stub // now in the window
	made   map[pageKey]pager.Stub            // made for the plan
	names  *pager.Mentions                   // set at first use
	intent pager.Terms
	hits   []int // number of terms of the intent in each block
	rules  []pager.Rule

	effects contract.Effects // of the corrections in the contract

	scope    governance.Scope
	capacity token.Count         // context window of the request, or 0
	needs    *needs              // set at first use
	skips    []string            // the result of the method skipped, set together with needs
	covering *pager.Passages     // set at first use
	account  *accountInput       // set at first use
	verbatim bool                // in an account, the user's messages under hard rules stay whole if the budget has room
	summary  *hold.WindowSummary // in the window, or nil
	heads    []string            // first lines of stubs, set at first use
}

type pageKey struct {
	block int
	form  pager.Form
}

func (e *Windows) newPass(ctx context.Context, scope governance.Scope, h *hold.Snapshot, req *api.CompressRequest) (*pass, error) {
	p := &pass{engine: e, held: h, scope: scope, capacity: req.Window, made: make(map[pageKey]pager.Stub), summary: h.Summary}
	var err error
	if p.meter, err = e.MeterFor(h.Session, h.Head.Encoding); err != nil {
		return nil, err
	}
	if p.stubs, err = e.Stubs(ctx, scope, h.Rows); err != nil {
		return nil, err
	}
	if p.rules, err = e.Rules(ctx, scope, h, req.KeepLast); err != nil {
		return nil, err
	}
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	p.effects = a.State.Effects()
	p.intent = hold.IntentOf(h, req.Intent)
	p.hits = p.intent.Hits(h.Texts())
	h.Said = nil // a plan of an account does without: free the memory
	return p, nil
}

// needs holds the texts of a session. For each name and line in them it has the chance that the
// agent needs it again.
type needs struct {
	Pieces []facts.Piece
	Need   *facts.Need
}

// likely returns the needs of the session. It reads the session at the first call only.
func (p *pass) likely() *needs {
	if p.needs == nil {
		pieces := p.engine.PiecesOfSession(p.scope, p.held)
		p.needs = &needs{pieces, facts.Estimate(pieces, p.engine.Opts.Model)}
		p.skips = nil
		for i := range pieces {
			if t := &pieces[i]; t.Skipped > 0 {
				p.skips = append(p.skips, fmt.Sprintf("block %s: of a text of %d bytes, %d in the middle were not looked at for what may be needed again; "+
					"carrel recall %[1]s prints all of it", p.held.Rows[t.Block].ID.Short(), len(t.Text), t.Skipped))
			}
		}
	}
	return p.needs
}

// skipped returns a warning for each text that is too long to be examined whole.
func (p *pass) skipped() []string {
	if p.account == nil { // otherwise the session was read
		p.likely()
	}
	return p.skips
}

// cover returns the passages of the session from which [pass.planCover] chooses the lines to keep.
// It reads the session at the first call only.
func (p *pass) cover() *pager.Passages {
	if p.covering == nil {
		l := p.likely()
		p.covering = pager.NewPassages(l.Pieces, l.Need, len(p.held.Blocks), -1)
		for i := range p.covering.Readings {
			p.covering.Readings[i].Head = len(p.head(i, false)) + 1
		}
	}
	return p.covering
}

// release frees what only plans need.
func (p *pass) release() {
	p.names, p.needs, p.covering, p.heads, p.held.Said = nil, nil, nil, nil, nil
	if a := p.account; a != nil {
		p.account = &accountInput{state: a.state, holder: a.holder}
	}
}

// end returns the tokens of the mark that closes a quotation, or 0 if the provider of the session
// does not need the mark.
func (p *pass) end() token.Count {
	if !hold.MergesMessages(p.held.Head.Format) {
		return 0
	}
	return p.count("\n" + transcript.End)
}

// count returns the tokens of a text.
func (p *pass) count(text string) token.Count {
	return p.meter.Counter.Count(text)
}

// FitWindow returns rows and stubs for a window of a session whose entries have at most target
// tokens, which must be above 0. The function count returns the most tokens that entries of one
// block, or that of the summary, have in the window. It may change them. FitWindow fails with a
// [*pager.FloorError] if no window is so small.
func (e *Windows) FitWindow(ctx context.Context, scope governance.Scope, h *hold.Snapshot, count func([]transcript.Entry) token.Count, target token.Count) ([]store.Block, map[transcript.BlockID]pager.Stub, error) {
	p, err := e.newPass(ctx, scope, h, &api.CompressRequest{Session: h.Session.ID})
	if err != nil {
		return nil, nil, err
	}
	r := p.request(&api.CompressRequest{Target: api.Target{Tokens: target}})
	r.Fixed = 0
	if h.Summary != nil {
		r.Fixed = count([]transcript.Entry{h.Summary.Entry()})
	}
	r.Size = func(i int, f pager.Form) token.Count {
		stub := p.stubs[h.Rows[i].ID]
		if f != pager.Form(h.Rows[i].Form) {
			stub = p.stub(i, f)
		}
		return count(pager.Entries(h.Session.Messages, &h.Blocks[i], f, stub))
	}
	plan, err := pager.Make(r)
	if err != nil {
		return nil, nil, err
	}
	rows, stubs := p.apply(plan)
	return rows, stubs, nil
}

// Planner returns a function that plans a request without reading and decoding the session again.
// Plans share only scans and token counts, so that benchmarks can measure one plan.
func (e *Windows) Planner(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (func() (*pager.Plan, error), error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	h.Texts()
	first, err := e.newPass(ctx, scope, h, req)
	if err != nil {
		return nil, err
	}
	return func() (*pager.Plan, error) {
		p := *first
		p.made, p.covering, p.heads, p.needs, p.account = make(map[pageKey]pager.Stub), nil, nil, nil, nil
		if req.Strategy == api.StrategyAccount {
			return p.planAccount(p.request(req))
		}
		return p.planCover(p.request(req))
	}, nil
}
