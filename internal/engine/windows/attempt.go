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
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A way is one way to try a compression.
type way struct {
	strategy api.Strategy
	model    bool        // the draft is written by the generator
	detail   ratio.Ratio // share of the budget that the summary may take
	keepLast int         // newest blocks that stay as they are
	account  bool        // beside the summary stands an account; without detail, of the summary only its id
}

// plans returns the strategy by which a way plans what stands beside its summary.
func (w *way) plans() api.Strategy {
	if w.account {
		return api.StrategyAccount
	}
	return w.strategy
}

// Shares of the budget that a summary may take, and how many blocks stay raw
// when less detail was not enough.
const (
	detail     = 250_000
	moreDetail = 500_000
	retryLast  = 10
)

// ways returns what is tried, in order: the strategy that was asked for, first
// with a draft of the model's if there is one; anchored as an account; then, if it makes a
// summary, that in the window, more detail, more blocks as they are, and a sliding window.
func (e *Windows) ways(req *api.CompressRequest) []way {
	last := e.keepLast(req.KeepLast)
	var all []way
	if !summarizes(req.Strategy) {
		if req.Strategy == api.StrategyAccount && e.Opts.Generator != nil && !req.Smallest {
			all = append(all, way{strategy: req.Strategy, model: true, detail: detail, keepLast: last})
		}
		return append(all, way{strategy: req.Strategy, keepLast: last})
	}
	anchored := req.Strategy == api.StrategyAnchored
	if e.Opts.Generator != nil {
		all = append(all, way{strategy: req.Strategy, model: true, detail: detail, keepLast: last, account: anchored})
	}
	if anchored {
		all = append(all, way{strategy: req.Strategy, keepLast: last, account: true})
	}
	return append(all,
		way{strategy: req.Strategy, detail: detail, keepLast: last},
		way{strategy: req.Strategy, detail: moreDetail, keepLast: last},
		way{strategy: req.Strategy, detail: moreDetail, keepLast: max(last, retryLast)},
		way{strategy: api.StrategyWindow, keepLast: max(last, retryLast)},
	)
}

// keepLast returns how many of the newest blocks stay in the window.
func (e *Windows) keepLast(asked int) int {
	if asked == 0 {
		asked = e.Opts.KeepLast
	}
	switch {
	case asked == 0:
		return 5
	case asked < 0:
		return 0
	}
	return asked
}

// A compression is what the attempts at one compression share.
type compression struct {
	engine *Windows
	pass   *pass
	req    *api.CompressRequest
	policy *probe.Policy // nil: everything is accepted
	inputs []digest.Digest
	texts  map[int][]facts.Fact  // facts of the first n blocks
	probes []probe.Probe         // asked of every attempt
	drafts map[draftKey]*drafted // made once
	past   *summary.Summary      // of the earlier windows, made once
}

type draftKey struct {
	covers int
	model  bool
	anew   bool
}

// attempts tries the ways of a request in order and returns the first outcome
// that is accepted.
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
			return nil, nil, api.About(api.SubjectCritical, fmt.Errorf("%w: the session is critical, and nobody could check what an opaque summary keeps", api.ErrPolicy))
		}
	}
	switch {
	case req.Strategy == api.StrategyOpaque && req.ProbeMin == nil:
		c.policy = policyOf(new(ratio.Ratio)) // it is graded, and nobody could read it anyway
	case summarizes(req.Strategy) || req.ProbeMin != nil:
		c.policy = policyOf(req.ProbeMin)
	}
	var tried []api.Attempt
	var last *probe.Report
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
			a.Reasons = append(a.Reasons, err.Error()) // another way may do
			tried = append(tried, a)
			continue
		}
		tried = append(tried, a)
		if a.Accepted {
			return o, tried, nil
		}
		last = o.report
	}
	if last == nil && floor != nil {
		return nil, nil, floor
	}
	return nil, nil, &api.ProbesError{Attempts: tried, Report: last}
}

// try goes one way.
func (c *compression) try(ctx context.Context, w way) (*outcome, api.Attempt, error) {
	o, a, err := c.outcome(ctx, w)
	if err != nil {
		return nil, a, err
	}
	if c.policy != nil {
		o.report = c.grade(o)
		if c.point(o) {
			o.report = c.grade(o)
		}
	}
	a.After = o.plan.After
	a.Summary = o.kept.Size()
	if c.policy == nil {
		if a.Accepted = true; o.drafted != nil {
			c.judge(o, &a)
		}
		return o, a, nil
	}
	a.Passed, a.Probes, a.Score = o.report.Passed, o.report.Total, o.report.Score
	v := o.report.Judge(c.policy, c.pass.held.Head.Tokens, o.plan.After)
	if n := o.report.Lost(); n > 0 && c.policy.Overall > 0 {
		v.Accepted, v.Reasons = false, append(v.Reasons, fmt.Sprintf("%d probes are more than one recall away", n))
	}
	a.Reasons, a.RedFlags = v.Reasons, v.RedFlags
	a.Accepted = v.Accepted && (len(v.RedFlags) == 0 || w.strategy == api.StrategyOpaque)
	o.warnings = append(o.warnings, v.Warnings...)
	if o.drafted != nil {
		c.judge(o, &a)
	}
	return o, a, nil
}

// judge judges the new summary of an outcome as CheckSummary will. An attempt whose
// summary is refused is refused, too.
func (c *compression) judge(o *outcome, a *api.Attempt) {
	o.figure(c.pass.held)
	n := o.kept.Covers
	made := o.kept.Whole()
	j, _ := c.engine.judge(c.pass.held, []byte(made.Markdown()), &judging{
		blocks: n, found: c.factsOf(n), made: made, counter: c.pass.meter.Counter, policy: cmp.Or(c.policy, policyOf(c.req.ProbeMin)),
	})
	a.Judged = &api.Judged{Passed: j.Probes.Passed, Probes: j.Probes.Total, Score: j.Probes.Score, Problems: len(j.Problems), Verdict: j.Verdict}
	for _, reason := range j.Verdict.Reasons {
		a.Accepted, a.Reasons = false, append(a.Reasons, "the summary alone: "+reason)
	}
}

// covers returns how many blocks a summary covers if so many of the newest are
// left out.
func (c *compression) covers(keepLast int) int { return max(len(c.pass.held.Blocks)-keepLast, 0) }

// outcome makes the summary and the plan of one way.
func (c *compression) outcome(ctx context.Context, w way) (*outcome, api.Attempt, error) {
	h := c.pass.held
	a := api.Attempt{Strategy: w.strategy, Account: w.account, Detail: w.detail, KeepLast: w.keepLast}
	o := &outcome{strategy: w.strategy, kept: h.Summary}
	req := c.pass.request(c.req)
	c.keep(req, w.keepLast)
	if (summarizes(w.strategy) || w.model) && c.covers(w.keepLast) > 0 {
		if w.model {
			a.Model = c.engine.Opts.Generator.Name()
		}
		d, err := c.draft(ctx, w)
		if err != nil {
			return nil, a, err
		}
		c.standFor(o, d, w, req)
	}
	switch {
	case o.drafted != nil:
	case summarizes(w.strategy):
		o.without(c, w.account)
	case w.model:
		return nil, a, fmt.Errorf("%w: %s", errDraft, cmp.Or(strings.Join(o.warnings, "; "), "there is nothing to write: all blocks are among the last"))
	}
	c.pass.told, c.pass.verbatim = o.kept.Tells(), w.strategy == api.StrategyAnchored
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

// without says that an outcome has no new summary although its strategy makes one, and
// which strategy it comes to.
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

// keep puts more of the newest blocks under the rule for them.
func (c *compression) keep(req *pager.Request, last int) {
	for i := c.covers(last); i < len(req.Blocks); i++ {
		if req.Blocks[i].Rule == "" {
			req.Blocks[i].Rule = pager.RuleRecent
		}
	}
}

// standFor sets the summary of an outcome: as much of it as its share of the
// budget has room for, or as the rules leave, if that is less.
func (c *compression) standFor(o *outcome, d *drafted, w way, req *pager.Request) {
	h := c.pass.held
	room := req.Budget - c.least(w.plans(), req)
	limit := min(token.Count(w.detail.Scale(int64(req.Budget))), room)
	s := &hold.StandIn{ID: hold.SummaryID(h.Head.ID), After: c.anchor(d.covers), Covers: d.covers, Input: c.inputs[d.covers], Summary: d.summary, Before: c.earlier()}
	head := fmt.Sprintf(transcript.Mark+" %s: summary of blocks 1 to %d, %d tokens; recall any id]\n", s.ID, d.covers, c.tokensOf(d.covers))
	cost := func(text string) token.Count {
		return c.pass.meter.Entries([]transcript.Entry{transcript.Stub(s.ID, text)}) + c.pass.end()
	}
	var left []summary.Elision
	switch {
	case w.account && w.detail == 0:
		s.Text = strings.TrimRight(head, "\n")
	case w.strategy == api.StrategyOpaque:
		s.Text = head + transcript.Quote(c.dense(d.covers, min(limit, opaqueLimit)))
	default:
		var text string
		ledger := ""
		if w.strategy == api.StrategyAnchored {
			ledger = c.pass.ledger(d.covers, limit/ledgerShare)
		}
		text, left, _ = d.summary.Fit(&summary.FitOptions{
			Limit: max(limit-cost(head+ledger), 1), ID: string(s.ID), Size: c.pass.meter.Counter.Count,
		})
		s.Text = head + transcript.Quote(strings.TrimRight(text, "\n")+ledger)
	}
	s.Tokens = cost(s.Text)
	if s.Tokens > room {
		o.warnings = append(o.warnings, fmt.Sprintf("no summary fits: rules hold all but %d tokens of the budget", max(room, 0)))
		return
	}
	d.left = left
	o.kept, o.drafted = s, d
}

// least returns what a window takes at least, without a summary.
func (c *compression) least(s api.Strategy, req *pager.Request) token.Count {
	low := *req
	low.Budget, low.Fixed = -1, c.pass.meter.Fixed(c.pass.held.Session)
	plan := pager.Slide
	if s == api.StrategyAccount {
		plan = c.pass.planAccount
	}
	_, err := plan(&low)
	if f, ok := errors.AsType[*pager.FloorError](err); ok {
		return f.Need
	}
	return 0
}

// anchor returns the block behind which a summary of the first n blocks stands: the
// first task among them, or else the last system text at the beginning; or the last
// compaction by the provider, which reads nothing that stands before it.
func (c *compression) anchor(n int) transcript.BlockID {
	h := c.pass.held
	var at transcript.BlockID
	tasked := false
	for i := range n {
		switch {
		case c.pass.rules[i] == pager.RuleFirstTask && !tasked, pager.Compaction(h.Session.Messages, &h.Blocks[i]):
			at, tasked = h.Blocks[i].ID, true
		case !tasked && h.Blocks[i].Kind == transcript.KindSystem && (i == 0 || h.Blocks[i-1].ID == at):
			at = h.Blocks[i].ID
		}
	}
	return at
}

func (c *compression) tokensOf(n int) token.Count {
	var sum token.Count
	for i := range n {
		sum += c.pass.held.Rows[i].Tokens
	}
	return sum
}

// grade asks an outcome's window what the originals answered. Every attempt is
// asked the same.
func (c *compression) grade(o *outcome) *probe.Report {
	return probe.Grade(c.asked(), evidenceOf(c.pass.held, o.rows, o.stubs, o.kept))
}

// askedOf returns the probes: about all blocks that the first way covers, and so about
// all that any does.
func (c *compression) asked() []probe.Probe {
	if c.probes == nil {
		n := c.covers(c.engine.keepLast(c.req.KeepLast))
		c.probes = append([]probe.Probe{}, c.engine.probesFrom(c.pass.held, n, c.factsOf(n))...)
	}
	return c.probes
}

// point adds to the summary of an outcome the ids of blocks that have what neither
// the window nor one recall answers, and reports whether it did. There must be
// room for them.
func (c *compression) point(o *outcome) bool {
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

// evidenceOf returns what a window has, and what is one recall away: the whole of
// the summary, and the blocks whose ids are in the window.
func evidenceOf(h *hold.Held, rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *hold.StandIn) *probe.Evidence {
	ev := &probe.Evidence{}
	named := make(map[string]bool)
	if sum != nil {
		ev.Window = append(ev.Window, sum.Text)
		ev.Recall = append(ev.Recall, sum.Whole().Markdown())
		addShortIDs(named, sum.Text)
	}
	for i := range rows {
		switch form := pager.Form(rows[i].Form); form {
		case pager.Whole, pager.Bare:
			ev.Window = append(ev.Window, h.Texts()[i])
		case pager.Calls, pager.Lines, pager.Line:
			ev.Window = append(ev.Window, said(pager.Entries(h.Session.Messages, &h.Blocks[i], form, stubs[rows[i].ID])))
			ev.Recall = append(ev.Recall, h.Texts()[i])
		case pager.Gone:
			if named[rows[i].ID.Short()] {
				ev.Recall = append(ev.Recall, h.Texts()[i])
			}
		}
	}
	return ev
}

// said returns what entries of a window say.
func said(entries []transcript.Entry) string {
	var b strings.Builder
	for i := range entries {
		for _, p := range entries[i].Parts {
			switch p := p.(type) {
			case transcript.Text:
				b.WriteString(string(p))
			case transcript.ToolCall:
				b.WriteString(p.Name + " " + string(p.Input))
			case transcript.ToolResult:
				b.WriteString(p.Text())
			case transcript.Thinking, transcript.Media, transcript.Opaque:
				continue
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// addShortIDs adds the words of a text that look like the short form of a block's
// id.
func addShortIDs(ids map[string]bool, text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		if len(word) == 8 {
			ids[word] = true
		}
	}
}
