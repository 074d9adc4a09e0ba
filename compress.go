package carrel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Strategy says how a window is made smaller. It is stored as its text.
type Strategy string

// The strategies. The first four put a summary in place of older blocks; see
// [Engine.Compress].
const (
	StrategyAnchored     Strategy = "anchored"     // a merged summary, one recall away; an account that answers the probes
	StrategyHybrid       Strategy = "hybrid"       // a merged summary; of the blocks, the newest
	StrategyRegenerative Strategy = "regenerative" // a summary written anew; of the blocks, the newest
	StrategyOpaque       Strategy = "opaque"       // a dense line of names; of the blocks, the last few
	StrategyWindow       Strategy = "window"       // no new summary; the newest blocks
	StrategyImportance   Strategy = "importance"   // no new summary; the lines that are most likely needed
	StrategyAccount      Strategy = "account"      // no new summary; an account of what was said and done
	StrategyPager        Strategy = "pager"        // no new summary; blocks by rule and by the pager's score
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy {
	return []Strategy{StrategyAccount, StrategyImportance, StrategyAnchored, StrategyHybrid, StrategyRegenerative, StrategyOpaque, StrategyWindow, StrategyPager}
}

// summarizes reports whether s makes a new summary.
func (s Strategy) summarizes() bool {
	return s != StrategyWindow && s != StrategyImportance && s != StrategyPager && s != StrategyAccount
}

// covers reports whether s keeps lines, and not blocks.
func (s Strategy) covers() bool { return s == StrategyImportance || s == StrategyAnchored }

// slides reports whether s keeps the newest blocks, and not the best.
func (s Strategy) slides() bool { return !s.covers() && s != StrategyPager && s != StrategyAccount }

// A CompressRequest says how small a session's window is to become. Target and
// Share are two ways to say it; with neither, it is half of the context window
// of the session's model, and with [StrategyOpaque] a twentieth of what was
// imported.
type CompressRequest struct {
	Session transcript.SessionID `json:"session"`
	Target  token.Count          `json:"target,omitempty"` // tokens of the whole window
	Share   ratio.Ratio          `json:"share,omitempty"`  // of the conversation as it was imported; system text and tools stay beside it

	// Smallest asks for the smallest window that the strategy can make, in place of a
	// target: what [pager.FloorError.Need] says of a target that is too small. A strategy that
	// makes a summary has none.
	Smallest bool `json:"smallest,omitempty"`

	// Strategy is how. The default is that of the engine's options.
	Strategy Strategy `json:"strategy,omitempty"`

	// ProbeMin is the share of probes that the result must answer, besides all
	// critical ones; 0 accepts whatever comes. The default is
	// that of [probe.DefaultPolicy] where a summary is made. With it, results of the other strategies must
	// answer, too.
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`

	// Window is the context window, in tokens. The default is that of the
	// engine's options.
	Window token.Count `json:"window,omitempty"`

	// Auto marks a pass that nobody asked for: it goes no lower than the floor,
	// see [pager.Floor].
	Auto bool `json:"auto,omitempty"`

	// Intent has words for what the agent is about to do, or intents as JSON, see
	// [intent.Parse], of which the keywords count. The default is those keywords of
	// what a person asked for last that the session has fewest of.
	Intent []string `json:"intent,omitempty"`

	// Todos is a list of things to do, as [summary.ParseTodos] reads it. What the new
	// summary says is done is completed in it, and is among the summary's decisions.
	Todos json.RawMessage `json:"todos,omitempty"`

	KeepLast int  `json:"keep_last,omitempty"` // as in [Options]
	DryRun   bool `json:"dry_run,omitempty"`   // plan and check, write nothing
}

// A CompressResult says what a pass did, or would do.
type CompressResult struct {
	Session   transcript.SessionID `json:"session"`
	Op        string               `json:"op,omitempty"` // empty if nothing was written
	Strategy  Strategy             `json:"strategy"`     // that was accepted in the end
	Budget    token.Count          `json:"budget"`
	Share     ratio.Ratio          `json:"share,omitempty"`  // where one was asked for: the budget is this share of Leaves, and Stays
	Leaves    token.Count          `json:"leaves,omitempty"` // tokens of the conversation, as imported
	Stays     token.Count          `json:"stays,omitempty"`  // tokens of system text, tools and framing beside it
	Figures   pager.Figures        `json:"figures"`
	Imported  token.Count          `json:"imported"`       // tokens of all blocks, as they came in
	Before    token.Count          `json:"before"`         // tokens of the window
	After     token.Count          `json:"after"`          // tokens of the window
	Sent      token.Count          `json:"sent,omitempty"` // see [ContextResult]; it stays as it is
	Ratio     ratio.Ratio          `json:"ratio"`          // 1 − after/before
	Intent    []string             `json:"intent"`
	Blocks    Tally                `json:"blocks"` // by state, after the pass
	Tokens    Tally                `json:"tokens"` // as imported, by state after the pass; they sum to Imported
	Changed   int                  `json:"changed"`
	Provider  string               `json:"provider"`           // whose rules the result was checked by
	Summary   *SummaryInfo         `json:"summary,omitempty"`  // what stands in the window for older blocks
	Probes    *probe.Report        `json:"probes,omitempty"`   // of what was accepted
	Attempts  []Attempt            `json:"attempts,omitempty"` // in order; the last was accepted
	Warnings  []string             `json:"warnings,omitempty"`
	Todos     []Todo               `json:"todos,omitempty"`     // of the request's list, as they are now
	TodoList  []byte               `json:"todo_list,omitempty"` // that list, byte for byte but for statuses
	Decisions []pager.Decision     `json:"decisions"`
}

// A Todo is a thing to do.
type Todo struct {
	Content   string `json:"content"`
	Status    string `json:"status"`
	Completed bool   `json:"completed,omitempty"` // by this compression
}

// sync fills in the things to do of a request as they are after a compression.
func (r *CompressResult) sync(req *CompressRequest, d *drafted) {
	if req.Todos == nil {
		return
	}
	r.TodoList = req.Todos
	if d != nil {
		r.TodoList = d.todos
	}
	before, _ := summary.ParseTodos(req.Todos) // was read before
	now, _ := summary.ParseTodos(r.TodoList)
	for i, t := range now.Todos {
		r.Todos = append(r.Todos, Todo{t.Content, t.Status, t.Status != before.Todos[i].Status})
	}
}

// An Attempt is one way in which a compression was tried.
type Attempt struct {
	Strategy Strategy    `json:"strategy"`
	Model    string      `json:"model,omitempty"`     // that wrote the summary; empty for a program
	Account  bool        `json:"account,omitempty"`   // of anchored: an account is in the window; without Detail, of the summary only its id
	Detail   ratio.Ratio `json:"detail,omitempty"`    // share of the budget that the summary might take
	KeepLast int         `json:"keep_last"`           // newest blocks that no summary covers
	Summary  token.Count `json:"summary,omitempty"`   // that it took
	After    token.Count `json:"after,omitempty"`     // tokens of the window
	Passed   int         `json:"passed"`              // probes
	Probes   int         `json:"probes"`              // probes
	Score    ratio.Ratio `json:"score"`               // Passed of Probes
	Accepted bool        `json:"accepted"`            //
	Reasons  []string    `json:"reasons,omitempty"`   // why it was not
	RedFlags []string    `json:"red_flags,omitempty"` // of the skill's list

	// Judged is the judgement of the new summary alone; nil if none was made or nothing
	// is asked. It must accept the summary, besides what the window must answer.
	Judged *Judged `json:"judged,omitempty"`
}

// Judged is a [Judgement] in short.
type Judged struct {
	Passed   int            `json:"passed"` // probes
	Probes   int            `json:"probes"`
	Score    ratio.Ratio    `json:"score"`    // Passed of Probes
	Problems int            `json:"problems"` // of the summary
	Verdict  *probe.Verdict `json:"verdict"`
}

// ErrProbes means that nothing that was tried answers enough of what the
// original answers. The error is a [*ProbesError].
var ErrProbes = errors.New("the result does not answer the probes")

// A ProbesError is an [ErrProbes] with all that was tried, and the report of the
// last.
type ProbesError struct {
	Attempts []Attempt
	Report   *probe.Report
}

func (e *ProbesError) Error() string {
	best := slices.MaxFunc(e.Attempts, func(a, b Attempt) int { return cmp.Compare(a.Score, b.Score) })
	text := fmt.Sprintf("%v: the best of %d attempts, %s, answers %d of %d", ErrProbes, len(e.Attempts), best.Strategy, best.Passed, best.Probes)
	if len(best.Reasons) > 0 {
		text += " (" + best.Reasons[0] + ")"
	}
	return text
}

// Is makes errors.Is(e, ErrProbes) true.
func (e *ProbesError) Is(target error) bool { return target == ErrProbes }

// summaryMove says in the journal how the summary in the window changed.
type summaryMove struct {
	From       store.CellID `json:"from,omitempty"`
	To         store.CellID `json:"to,omitempty"`
	FromTokens token.Count  `json:"from_tokens,omitempty"`
	ToTokens   token.Count  `json:"to_tokens,omitempty"`
}

// Compress cuts what is in the window of a session until it fits a budget. A
// window that fits is left alone, unless somebody asks for a larger budget than that
// of the last pass: then what passes took out comes back, as far as it fits. What was
// discarded, paged by hand or compacted by the agent's client, does not.
//
// # Strategies
//
// Anchored, hybrid, regenerative and opaque put a summary in place
// of older blocks, all but the last few. It is made from the blocks that are new
// since the last compression, by a program or, if the options have a generator, by
// a model, and merged with what there was; regenerative makes it from all.
// What is still too large then leaves by rule and score, along the sequence that
// package pager describes, or, in a sliding window, oldest first. Account, which is the
// default, importance, pager and window do only that, each in its way.
//
// Anchored writes an account, and of its summary the id by which all of it is recalled. If
// that does not answer the probes, it puts the summary itself into the window, and keeps
// lines beside it.
//
// Account has a model's text, too, if the options have a generator: where it passes the
// checks, it takes the place of the agent's sentences, and all else of the account stays. If
// it does not, the account is as without a model.
//
// # Probes
//
// A window with a new summary is accepted if it answers probes that were
// generated from the originals; see package probe. If it does not, a summary with
// more detail is tried, then one that covers fewer blocks, then a sliding window.
// If none of it is accepted, the error is an [ErrProbes]. An opaque summary is
// graded, too, but refused only where the request says how much it must answer.
//
// Besides its window, the new summary alone must be accepted by the judgement that
// [Judgement] describes, so that [Engine.CheckSummary] accepts what was accepted here.
//
// # Writing
//
// The result is checked by the rules of the session's provider before anything is
// written, and written whole: the new places of the blocks, their stubs, the
// summary, the journal and the contract. Every byte stays in the store.
//
// It fails with [ErrBudget] if what rules hold does not fit, and says how small the window
// can become, which a request for the smallest makes; with [ErrInvalid] if
// the provider would refuse the result, and with [ErrPolicy] if the strategy is
// opaque and the session is critical. Then nothing has changed.
func (e *Engine) Compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (_ *CompressResult, err error) {
	defer during("compress session "+string(req.Session), &err)

	r := *req
	r.Strategy = cmp.Or(r.Strategy, e.opts.Strategy)
	switch {
	case r.Target < 0 || r.Share < 0 || r.Window < 0:
		return nil, fmt.Errorf("%w: a target of %d tokens, a share of %v, a window of %d: none can be below 0", ErrRequest, r.Target, r.Share, r.Window)
	case !slices.Contains(Strategies(), r.Strategy):
		return nil, fmt.Errorf("%w: no strategy is called %q: there are %v", ErrRequest, r.Strategy, Strategies())
	case r.Smallest && (r.Target > 0 || r.Share > 0):
		return nil, fmt.Errorf("%w: the smallest window, and a target besides: give one of them", ErrRequest)
	case r.Smallest && r.Strategy.summarizes():
		return nil, fmt.Errorf("%w: the smallest window that %s makes: its summary can be of any size; name a strategy that makes none, such as %s", ErrRequest, r.Strategy, StrategyAccount)
	case r.ProbeMin != nil && (*r.ProbeMin < 0 || *r.ProbeMin > ratio.One):
		return nil, fmt.Errorf("%w: a share of %v of the probes: it is from 0 to 1", ErrRequest, *r.ProbeMin)
	}
	if r.Todos != nil {
		if _, err := summary.ParseTodos(r.Todos); err != nil {
			return nil, fmt.Errorf("%w: todos: %w", ErrRequest, err)
		}
	}
	var res *CompressResult
	err = retry(ctx, func() error {
		res, err = e.compress(ctx, scope, &r)
		return err
	})
	return res, err
}

func (e *Engine) compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (*CompressResult, error) {
	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.conversation(); err != nil {
		return nil, err
	}
	p, err := e.newPass(ctx, scope, h, req)
	if err != nil {
		return nil, err
	}
	if req.Smallest {
		if req, err = p.toSmallest(req); err != nil {
			return nil, err
		}
	}
	if h.head.Window <= p.budget(req) {
		o, err := e.grow(ctx, scope, p, req)
		if err != nil {
			return nil, err
		}
		if o != nil {
			a := Attempt{Strategy: o.strategy, KeepLast: e.keepLast(req.KeepLast), After: o.plan.After, Summary: o.kept.tokens(), Accepted: true}
			return e.finish(ctx, scope, p, req, o, []Attempt{a})
		}
		plan, err := pager.Make(p.request(req))
		if err != nil {
			return nil, err
		}
		res := p.result(req, &outcome{strategy: req.Strategy, plan: plan, rows: h.rows, kept: h.summary})
		res.sync(req, nil)
		return res, nil
	}
	o, attempts, err := e.attempts(ctx, scope, p, req)
	if err != nil {
		return nil, err
	}
	return e.finish(ctx, scope, p, req, o, attempts)
}

// toSmallest returns a request for the smallest window with that as its target.
func (p *pass) toSmallest(req *CompressRequest) (*CompressRequest, error) {
	r := p.request(req)
	(&compression{engine: p.engine, pass: p}).keep(r, p.engine.keepLast(req.KeepLast))
	least, err := p.smallest(req.Strategy, r)
	if err != nil {
		return nil, err
	}
	to := *req
	to.Target = least
	return &to, nil
}

// finish checks and writes what a compression comes to.
func (e *Engine) finish(ctx context.Context, scope governance.Scope, p *pass, req *CompressRequest, o *outcome, attempts []Attempt) (*CompressResult, error) {
	h := p.held
	p.names, h.said = nil, nil // all stubs are made: what comes needs the room
	res := p.result(req, o)
	res.Attempts = attempts
	res.sync(req, o.drafted)
	if err := p.check(o.rows, o.stubs, o.kept); err != nil {
		return nil, err
	}
	if req.DryRun {
		return res, nil
	}
	c, err := e.passChange(ctx, scope, p, o)
	if err != nil {
		return nil, err
	}
	if _, err := e.store.Apply(ctx, scope, req.Session, h.head.Revision, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	e.opts.Logger.InfoContext(ctx, "compressed", "session", req.Session, "strategy", o.strategy, "before", o.plan.Before, "after", o.plan.After)
	return res, nil
}

// An outcome is what one attempt comes to.
type outcome struct {
	strategy Strategy
	plan     *pager.Plan
	rows     []store.Block
	stubs    map[transcript.BlockID]pager.Stub
	kept     *standIn // in the window, or nil
	drafted  *drafted // how kept was made, if it is new
	report   *probe.Report
	warnings []string
}
