package windows

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An accountInput holds the units of a session, their worth and the final state, from which an
// account is planned.
type accountInput struct {
	units []account.Unit
	of    [][2]int // the units of block i are units[of[i][0]:of[i][1]]
	worth *account.Worth
	state *account.State
	signs string // explains the signs of an account
	whole string // the text behind the account, with the state
	end   string // the text behind the account as planned: whole, or cutLegend where the budget has no room for the state

	holder int // index of the block whose stub ends with the text end, or -1
}

// Texts that explain an account to the agent. They stand behind the account, above the state if
// there is one.
const (
	legend    = `Above: "$" command, "•" other call, "→" outcome; ` + cutLegend
	talk      = `Above: "•" is a call; ` + cutLegend
	cutLegend = "recall with an id in brackets returns the cut text."
	callsTold = "The agent's last calls, shortened. The user did not write this."
	stateHead = "STATE at the very end, computed by Carrel. "
)

// accountInput returns the units, their worth and the state of the session. It reads the session
// at the first call only.
func (p *pass) accountInput() *accountInput {
	if p.account != nil {
		return p.account
	}
	h, l := p.held, p.likely()
	o := &account.Options{Tools: p.engine.Opts.Tools, Project: h.Session.Project}
	a := &accountInput{of: make([][2]int, len(h.Blocks))}
	a.units, a.state = account.Read(h.Session.Messages, h.Blocks, o)
	a.worth = account.NewWorth(a.units, l.Pieces, l.Need, p.engine.Opts.Prior)
	p.needs = nil // the worth has what the plan needs: free the memory
	for i := 0; i < len(a.units); {
		from, b := i, a.units[i].Block
		for i < len(a.units) && a.units[i].Block == b {
			i++
		}
		a.of[b] = [2]int{from, i}
	}
	a.signs, a.holder = talk, -1
	if slices.ContainsFunc(a.units, func(u account.Unit) bool { return strings.HasPrefix(u.Text, "$") }) {
		a.signs = legend
	}
	p.account = a
	return a
}

// told returns the text of a model in the window, or "".
func (p *pass) told() string {
	if p.summary.ModelCovers() == 0 {
		return ""
	}
	return p.summary.Text
}

// beside returns what the window says beside the account: the text of a model, and the state unless
// the account is planned without it.
func (p *pass) beside() string {
	if a := p.account; a.end != a.whole {
		return p.told()
	}
	return p.told() + "\n" + p.account.state.Text(p.told())
}

// text returns the text that the account has in place of block i. It consists of the units of the
// block that the plan keeps.
func (a *accountInput) text(plan *account.Plan, i int, id transcript.BlockID) string {
	from, to := a.of[i][0], a.of[i][1]
	return account.Text(a.units[from:to], plan.Kept[from:to], id)
}

// planAccount returns the plan of an account within the budget of req. The tokens of the units,
// counted one by one, may sum to more or less than the tokens of the whole text. If the text
// turns out smaller, planAccount plans once more with a larger budget; if it turns out larger, it
// lowers the budget until the text fits. If the budget has no room for the state, the window gets
// no state.
func (p *pass) planAccount(req *pager.Request) (*pager.Plan, error) {
	plan := pager.NewPlan(req)
	if plan.Before <= req.Budget {
		return plan, nil
	}
	a := p.accountInput()
	r, end := p.accountRequest(req, plan)
	for extended := false; ; {
		made, err := account.Make(r)
		if small, ok := errors.AsType[*account.TooSmallError](err); ok {
			if a.end != cutLegend {
				a.end = cutLegend
				r.Budget += end - p.count(a.end+"\n")
				r.Beside = p.beside()
				continue
			}
			return p.leastAccount(req, plan, r, small.Need)
		}
		if err != nil {
			return nil, err
		}
		over := p.applyAccount(req, plan, made) - req.Budget
		if room := -over - (r.Budget - made.Tokens); !extended && room > req.Budget/100 {
			extended = true
			r.Budget += room
			made.Extend(r.Budget)
			over = p.applyAccount(req, plan, made) - req.Budget
		}
		if over <= 0 {
			return plan, nil
		}
		r.Budget -= over
	}
}

// accountRequest returns the request with which [account.Make] plans the account for req, and the
// tokens of the text that stands behind the account.
func (p *pass) accountRequest(req *pager.Request, plan *pager.Plan) (r *account.Request, end token.Count) {
	a := p.accountInput()
	if a.whole = a.signs; a.state.Text(p.told()) != "" {
		a.whole = stateHead + a.signs + "\n" + transcript.Quote(a.state.Text(p.told()))
	}
	a.end = a.whole
	end = p.count(a.end + "\n")
	return &account.Request{
		Units: a.units, Worth: a.worth, Blocks: p.accountBlocks(req, plan), Budget: req.Budget - req.Fixed - end,
		Beside: p.beside(), Count: func(i int) token.Count { return p.count(a.units[i].Quotation()) },
	}, end
}

// Shares of the budget, as divisors, for user messages under hard rules that stay whole:
// onceShare limits one block, saidShare limits all of them together. Package pager has the same
// limits for its plans of lines.
const (
	onceShare = 16
	saidShare = 4
)

// accountBlocks returns, for each block of req, what [account.Make] needs: tokens, rule and form.
func (p *pass) accountBlocks(req *pager.Request, plan *pager.Plan) []account.Block {
	h := p.held
	all := make([]account.Block, len(req.Blocks))
	verbatim := token.Count(0)
	holder := -1 // block that can hold the state
	for i := range req.Blocks {
		c, b := &req.Blocks[i], &all[i]
		b.Frame, b.Mark = p.meter.Framing.Message, p.count(account.Mark(h.Blocks[i].ID)+"\n")
		switch {
		case c.Form == pager.Gone:
			b.Absent = true
			continue
		case c.Rule.Absolute():
			b.Fixed, b.Tokens = true, plan.Decisions[i].Before
			continue
		}
		told := i < p.summary.ModelCovers()
		b.Told = told && account.Role(&h.Blocks[i]) == transcript.RoleAssistant
		b.Cut = c.Form != pager.Whole && c.Form != pager.Bare
		b.Traced = c.Rule.Hard() || c.Rule != "" && !told // what a model's text tells has its ids
		b.Urgent = c.Rule.Hard() && h.Blocks[i].Kind == transcript.KindUser
		if !b.Cut {
			b.Tokens = req.Size(i, uncut(c))
			b.Fixed = b.Traced && b.Tokens <= b.Frame+b.Mark // a stub with only the id would take no less
		}
		if p.verbatim && b.Urgent && !b.Cut && b.Tokens <= req.Budget/onceShare && verbatim+b.Tokens <= req.Budget/saidShare {
			b.Fixed = true
			verbatim += b.Tokens
		}
		if !b.Fixed && account.Role(&h.Blocks[i]) == transcript.RoleAssistant {
			holder = i
		}
	}
	if holder >= 0 {
		all[holder].Traced = true
	}
	return all
}

// uncut returns the form of a block that stays in the window: the form without thinking if the
// thinking may leave, and otherwise the whole form.
func uncut(c *pager.Candidate) pager.Form {
	if c.Thinking && !c.Rule.Hard() {
		return pager.Bare
	}
	return pager.Whole
}

// applyAccount sets the decisions of plan to what made, the plan of an account, keeps. It makes the
// stubs, counts their real tokens, and returns the tokens of the window.
func (p *pass) applyAccount(req *pager.Request, plan *pager.Plan, made *account.Plan) token.Count {
	a := p.account
	a.holder = -1
	open := p.unanswered()
	for i := range made.Opened {
		if made.Opened[i] && account.Role(&p.held.Blocks[i]) == transcript.RoleAssistant && (i != open || a.holder < 0) {
			a.holder = i
		}
	}
	plan.After = req.Fixed
	for i := range plan.Decisions {
		d, c := &plan.Decisions[i], &req.Blocks[i]
		switch {
		case c.Form == pager.Gone || c.Rule.Absolute():
			d.To, d.After = c.Form, d.Before
		case made.Whole[i]:
			d.To = uncut(c)
			d.After, d.Recut = req.Size(i, d.To), false
		case made.Opened[i]:
			p.applyStub(req, plan, i, made)
		default:
			d.To, d.After, d.Recut = pager.Gone, 0, false
		}
		if d.Changed() {
			d.Step = pager.StageAccount
		} else {
			d.Step = ""
		}
		plan.After += d.After
	}
	return plan.After
}

// applyStub sets the decision about block i, which gets a stub. If the account keeps all units of
// the block and the block itself takes no more tokens, the block stays whole.
func (p *pass) applyStub(req *pager.Request, plan *pager.Plan, i int, made *account.Plan) {
	h, a, d := p.held, p.account, &plan.Decisions[i]
	from, to := a.of[i][0], a.of[i][1]
	kept := 0
	for k := from; k < to; k++ {
		if made.Kept[k] {
			kept++
		}
	}
	if whole := uncut(&req.Blocks[i]); kept == to-from && kept > 0 && a.holder != i && req.Blocks[i].Form == whole {
		if size := req.Size(i, whole); size <= p.meter.Framing.Message+p.count(a.text(made, i, h.Blocks[i].ID)) {
			d.To, d.After, d.Recut = whole, size, false
			return
		}
	}
	s := pager.Stub{Text: a.text(made, i, h.Blocks[i].ID), Agent: account.Role(&h.Blocks[i]) == transcript.RoleAssistant}
	if a.holder == i {
		s.Text += "\n\n" + a.end
	}
	d.To, d.Lines = pager.Lines, kept
	if kept == 0 {
		d.To = pager.Line
	}
	if i == p.unanswered() && p.callsFrame(i) <= req.Budget/callsShare {
		s, d.To = p.callsStub(i, made), pager.Calls
	} else if i == p.unanswered() {
		s.Text, s.Agent = p.head(i, true)+" "+callsTold+"\n"+s.Text, false
	}
	p.made[pageKey{i, d.To}] = s
	d.After = p.meter.Entries(pager.Entries(h.Session.Messages, &h.Blocks[i], d.To, s))
	if !s.Agent {
		d.After += p.end()
	}
	now := p.stubs[d.Block]
	d.Recut = d.From == d.To && !s.Same(&now)
}

// leastAccount plans the smallest possible account. Its last argument is the budget of the account,
// in tokens. If even then the window does not fit the budget of req, it returns a
// [*pager.FloorError] with the tokens of the window.
func (p *pass) leastAccount(req *pager.Request, plan *pager.Plan, r *account.Request, by token.Count) (*pager.Plan, error) {
	r.Budget = by
	made, err := account.Make(r)
	if err != nil {
		return nil, err
	}
	need := p.applyAccount(req, plan, made)
	if need <= req.Budget {
		return plan, nil
	}
	e := &pager.FloorError{Budget: req.Budget, Need: need, Fixed: need}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.After > 0 {
			e.Held = append(e.Held, pager.Holding{Block: d.Block, Rule: d.Rule, Tokens: d.After})
			e.Fixed -= d.After
		}
	}
	slices.SortStableFunc(e.Held, func(a, b pager.Holding) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return nil, e
}

// plan returns the plan that strategy s makes for a request.
func (p *pass) plan(s api.Strategy, req *pager.Request) (*pager.Plan, error) {
	switch {
	case s == api.StrategyAccount:
		return p.planAccount(req)
	case covers(s):
		return p.planCover(req)
	case s == api.StrategyPager:
		return pager.Make(req)
	}
	return pager.Slide(req)
}

// smallest returns the tokens of the smallest window that strategy s can make.
func (p *pass) smallest(s api.Strategy, req *pager.Request) (token.Count, error) {
	for req.Budget = -1; ; {
		_, err := p.plan(s, req)
		floor, ok := errors.AsType[*pager.FloorError](err)
		if !ok || floor.Need <= req.Budget {
			return req.Budget, err
		}
		req.Budget = floor.Need // Need sums the parts; the whole text may take a little more
	}
}
