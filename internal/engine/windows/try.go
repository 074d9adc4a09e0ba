package windows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A compression holds what all attempts at one compression share.
type compression struct {
	engine *Windows
	pass   *pass
	req    *api.CompressRequest
	policy *probe.Criteria // nil accepts every attempt
	inputs []digest.Digest
	texts  map[int][]facts.Fact  // facts of the first n blocks, by n
	probes []probe.Probe         // the same for every attempt
	drafts map[draftKey]*drafted // made at first use
	past   *summary.Summary      // summary of the earlier windows, made at first use
}

type draftKey struct {
	covers int
	room   token.Count // for a model's draft
	model  bool
	anew   bool
}

// attempts tries the ways of a request in order and returns the first accepted outcome, with all
// attempts. If none is accepted, it fails with an error that wraps [api.ErrBudget] or with an
// [*api.ProbesError].
func (e *Windows) attempts(ctx context.Context, scope governance.Scope, p *pass, req *api.CompressRequest) (*outcome, []api.Attempt, error) {
	c := &compression{
		engine: e, pass: p, req: req, inputs: inputsOf(p.held),
		texts: make(map[int][]facts.Fact), drafts: make(map[draftKey]*drafted),
	}
	if req.Strategy == api.StrategyOpaque {
		a, err := e.About(ctx, scope, p.held.Head)
		if err != nil {
			return nil, nil, err
		}
		if a.Critical {
			return nil, nil, api.About(api.SubjectCritical, fmt.Errorf("%w: the session is critical, and an opaque summary cannot be checked: use another strategy, or remove the mark", api.ErrPolicy))
		}
	}
	switch {
	case req.Strategy == api.StrategyOpaque && req.ProbeMin == nil:
		c.policy = policyOf(new(ratio.Ratio)) // it is graded, but no grade rejects it
	case summarizes(req.Strategy) || req.ProbeMin != nil:
		c.policy = policyOf(req.ProbeMin)
	}
	var tried []api.Attempt
	var best *probe.Report
	var floor error
	for _, w := range e.ways(req) {
		o, a, err := c.try(ctx, w)
		if err != nil {
			isFloor := errors.Is(err, api.ErrBudget)
			if !isFloor && !errors.Is(err, errDraft) || ctx.Err() != nil {
				return nil, nil, err
			}
			if isFloor && floor == nil {
				floor = err
			}
			a.Reasons = append(a.Reasons, err.Error()) // go on with the next way
			tried = append(tried, a)
			continue
		}
		tried = append(tried, a)
		if a.Accepted {
			return o, tried, nil
		}
		if best == nil || o.report.Score > best.Score {
			best = o.report
		}
	}
	if best == nil && floor != nil {
		return nil, nil, floor
	}
	return nil, nil, &api.ProbesError{Attempts: tried, Report: best}
}

// try tries one way, grades the result and reports in the attempt whether it is accepted.
func (c *compression) try(ctx context.Context, w way) (*outcome, api.Attempt, error) {
	o, a, err := c.outcome(ctx, w)
	if err != nil {
		return nil, a, err
	}
	if c.policy != nil {
		o.report = c.grade(o)
		if c.nameLost(o) {
			o.report = c.grade(o)
		}
	}
	a.After = o.plan.After
	a.Summary = o.kept.Size()
	if c.policy == nil {
		if a.Accepted = true; o.drafted != nil {
			c.judge(o, &a, w)
		}
		return o, a, nil
	}
	a.Passed, a.Probes, a.Score = o.report.Passed, o.report.Total, o.report.Score
	v := o.report.Judge(c.policy, c.pass.held.Head.Tokens, o.plan.After)
	if n := o.report.Lost(); n > 0 && c.policy.Overall > 0 {
		v.Accepted, v.Reasons = false, append(v.Reasons, notRecalled(n))
	}
	a.Reasons, a.RedFlags = v.Reasons, v.RedFlags
	a.Accepted = v.Accepted && (len(v.RedFlags) == 0 || w.strategy == api.StrategyOpaque)
	o.warnings = append(o.warnings, v.Warnings...)
	if o.drafted != nil {
		c.judge(o, &a, w)
	}
	return o, a, nil
}

// notRecalled says that n probes are lost.
func notRecalled(n int) string {
	if n == 1 {
		return "1 probe is answered neither by the window nor by one recall"
	}
	return fmt.Sprintf("%d probes are answered neither by the window nor by one recall", n)
}

// judge judges the new summary of an outcome as CheckSummary does. If the summary is refused, so
// is the attempt. A model's text beside an account must answer only half of the probes, because the
// account has the user's words, the outcomes, the changes and the state.
func (c *compression) judge(o *outcome, a *api.Attempt, w way) {
	policy := *cmp.Or(c.policy, policyOf(c.req.ProbeMin))
	if w.model && w.plans() == api.StrategyAccount {
		policy.Overall, policy.Critical, policy.Ordinary = min(policy.Overall, ratio.One/2), -1, -1
	}
	o.figure(c.pass.held)
	n := o.kept.Covers
	made := o.kept.Whole()
	j, _ := c.engine.judge(c.pass.held, []byte(made.Markdown()), &judging{
		blocks: n, found: c.factsOf(n), made: made, counter: c.pass.meter.Counter, policy: &policy,
	})
	a.Judged = &api.Judged{Passed: j.Probes.Passed, Probes: j.Probes.Total, Score: j.Probes.Score, Problems: len(j.Problems), Verdict: j.Verdict}
	for _, reason := range j.Verdict.Reasons {
		a.Accepted, a.Reasons = false, append(a.Reasons, "the summary alone: "+reason)
	}
}

// covers returns how many blocks a summary covers if keepLast of the newest are left out.
func (c *compression) covers(keepLast int) int { return max(len(c.pass.held.Blocks)-keepLast, 0) }

// outcome makes the summary and the plan of one way.
func (c *compression) outcome(ctx context.Context, w way) (*outcome, api.Attempt, error) {
	h := c.pass.held
	a := api.Attempt{Strategy: w.strategy, Account: w.account, Detail: w.detail, KeepLast: w.keepLast}
	o := &outcome{strategy: w.strategy, kept: h.Summary}
	req := c.pass.request(c.req)
	c.keepNewest(req, w.keepLast)
	if (summarizes(w.strategy) || w.model) && c.covers(w.keepLast) > 0 {
		if w.model {
			a.Model = c.engine.Opts.Generator.Name()
		}
		d, err := c.draft(ctx, w, token.Count(w.detail.Scale(int64(req.Budget))))
		if err != nil {
			return nil, a, err
		}
		c.setSummary(o, d, w, req)
	}
	switch {
	case o.drafted != nil:
	case summarizes(w.strategy):
		o.without(c, w.account)
	case w.model:
		return nil, a, fmt.Errorf("%w: %s", errDraft, cmp.Or(strings.Join(o.warnings, "; "), "there is nothing to write: all blocks are among the last"))
	}
	c.pass.summary, c.pass.verbatim = o.kept, w.strategy == api.StrategyAnchored
	req.Fixed = c.pass.meter.Fixed(h.Session) + o.kept.Size()
	var err error
	planned := w.plans()
	if o.plan, err = c.pass.plan(planned, req); err != nil {
		return nil, a, err
	}
	if planned == api.StrategyAccount || covers(w.strategy) && o.plan.Picks != nil {
		o.warnings = append(o.warnings, c.pass.skipped()...)
	}
	o.rows, o.stubs = c.pass.apply(o.plan)
	return o, a, nil
}

// without records that an outcome has no new summary although its strategy makes one: it adds a
// warning and sets the strategy that was used instead.
func (o *outcome) without(c *compression, account bool) {
	asked := o.strategy
	switch o.strategy = api.StrategyWindow; {
	case account:
		o.strategy = api.StrategyAccount
	case covers(asked):
		o.strategy = api.StrategyImportance
	}
	if len(o.warnings) == 0 {
		o.warnings = append(o.warnings, fmt.Sprintf("there is nothing to summarize: all %d blocks are among the last, which stay as they are", len(c.pass.held.Blocks)))
	}
	o.warnings[0] = fmt.Sprintf("%s; %s made no new summary and did as %s does", o.warnings[0], asked, o.strategy)
}

// keepNewest puts the last blocks of a request under [pager.RuleRecent], unless they have a rule.
func (c *compression) keepNewest(req *pager.Request, last int) {
	for i := c.covers(last); i < len(req.Blocks); i++ {
		if req.Blocks[i].Rule == "" {
			req.Blocks[i].Rule = pager.RuleRecent
		}
	}
}

// grade runs the probes about the original blocks against the window of an outcome. Every attempt
// gets the same probes.
func (c *compression) grade(o *outcome) *probe.Report {
	return probe.Grade(c.asked(), evidenceOf(c.pass.held, o.rows, o.stubs, o.kept))
}

// asked returns the probes that each attempt must answer. They are about the blocks that the
// summary of the first way covers; no other way covers more blocks.
func (c *compression) asked() []probe.Probe {
	if c.probes == nil {
		n := c.covers(c.engine.keepLast(c.req.KeepLast))
		c.probes = append([]probe.Probe{}, c.engine.probesFrom(c.pass.held, n, c.factsOf(n))...)
	}
	return c.probes
}

// nameLost adds to the summary the ids of the blocks whose probes neither the window nor one
// recall answers. It reports false and changes nothing if there is no room for them.
func (c *compression) nameLost(o *outcome) bool {
	if o.drafted == nil || o.report.Lost() == 0 {
		return false
	}
	h := c.pass.held
	lost := make(map[string]bool)
	for i := range o.report.Results {
		if r := &o.report.Results[i]; r.Place == probe.Lost {
			lost[r.Probe.Source] = true
		}
	}
	s := *o.kept
	s.Text += "\nNot in the summary:\n"
	for i := range h.Rows {
		if id := h.Rows[i].ID.Short(); lost[id] {
			what, excerpt := pager.Describe(h.Session.Messages, &h.Blocks[i])
			s.Text += fmt.Sprintf("- %s: %s [%s]\n", what, excerpt, id)
		}
	}
	s.Tokens = c.pass.meter.Entries([]transcript.Entry{s.Entry()}) + c.pass.end()
	after := o.plan.After + s.Tokens - o.kept.Tokens
	if after > o.plan.Budget {
		return false
	}
	o.plan.After, o.kept = after, &s
	return true
}
