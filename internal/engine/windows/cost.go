package windows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Cost says what sessions cost: that of the request, or all of the scope.
func (e *Windows) Cost(ctx context.Context, scope governance.Scope, req *api.CostRequest) (_ *api.CostResult, err error) {
	about := "cost of the sessions"
	if req.Session != "" {
		about = "cost of session " + string(req.Session)
	}
	defer base.During(about, &err)

	ids := []transcript.SessionID{req.Session}
	if req.Session == "" {
		if ids, err = e.usedSince(ctx, scope, req.Since); err != nil {
			return nil, err
		}
	}
	c := &costs{table: e.Opts.Prices, since: req.Since, res: &api.CostResult{Sessions: []api.SessionCost{}, Unmetered: []transcript.SessionID{}}}
	for _, id := range ids {
		h, info, err := e.LoadInfo(ctx, scope, id)
		if err != nil {
			return nil, err
		}
		metered, ok := meteredBy(h)
		if !ok && req.Session != "" {
			return nil, fmt.Errorf("%w: its format, %q, does not say what the provider charged: import the session file of Claude Code", api.ErrRequest, h.Head.Format)
		}
		if !ok {
			c.res.Unmetered = append(c.res.Unmetered, id)
			continue
		}
		c.add(&info, h.Session, metered, e.Capacity(h.Session.Model))
	}
	return c.result(req.Session != ""), nil
}

// skew is how much the clock of a client may be ahead of the engine's.
const skew = 24 * time.Hour

// usedSince returns the sessions that may have calls since a time: those that were written
// later, since a call is answered before its session is imported.
func (e *Windows) usedSince(ctx context.Context, scope governance.Scope, since time.Time) ([]transcript.SessionID, error) {
	var ids []transcript.SessionID
	for h, err := range e.Store.Heads(ctx, scope) {
		switch {
		case err != nil:
			return nil, err
		case h.Status == "" && h.Format != "" && !h.Updated.Before(since.Add(-skew)):
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 && since.IsZero() {
		return nil, api.About(api.SubjectSession, fmt.Errorf("%w: no session is stored", store.ErrNotFound))
	}
	return ids, nil
}

// meteredBy returns what says what the provider charged for a session.
func meteredBy(h *hold.Snapshot) (transcript.Metered, bool) {
	f, err := hold.FormatNamed(h.Head.Format)
	if err != nil {
		return nil, false
	}
	m, ok := f.(transcript.Metered)
	return m, ok
}

// costs gathers what sessions cost.
type costs struct {
	table    *economy.Table
	since    time.Time
	res      *api.CostResult
	invoices []economy.Invoice
	least    economy.Forecast
	most     economy.Forecast
}

// add adds a session, whose model has a window.
func (c *costs) add(info *api.SessionInfo, s *transcript.Session, metered transcript.Metered, window token.Count) {
	all := metered.Receipts(s)
	from := len(c.invoices)
	place := make([]int, len(all)) // in the invoices, or -1
	var calls []economy.Invoice    // whose After counts in this session alone
	sum := api.SessionCost{Session: info.Session, Title: info.Title, Project: info.Project, Model: info.Model}
	for i := range all {
		r := &all[i]
		place[i] = -1
		if r.Ended.Before(c.since) {
			continue
		}
		place[i] = len(calls)
		v := invoice(r)
		if r.After >= 0 {
			v.After = place[r.After]
		}
		calls = append(calls, v)
		if v.After >= 0 {
			v.After += from
		}
		c.invoices = append(c.invoices, v)
		if r.Compacted {
			c.res.Compacted++
		}
		if r.Side {
			sum.Side++
		}
		if sum.First.IsZero() {
			sum.First = r.Ended
		}
		sum.Last = r.Ended
	}
	if c.since.IsZero() || len(calls) > 0 {
		c.res.Unseen += max(subAgents(s)-sideThreads(all), 0)
	}
	if len(calls) == 0 {
		return
	}
	b := c.table.Bill(calls)
	sum.Calls, sum.Spend, sum.Total, sum.Breaks, sum.Unpriced = b.Calls, b.Spend, b.Total, len(b.Breaks), b.Unpriced
	for _, k := range b.Causes {
		sum.Extra += k.Extra
	}
	c.res.Sessions = append(c.res.Sessions, sum)
	c.manage(calls, window)
}

// invoice returns what was charged for a call.
func invoice(r *transcript.Receipt) economy.Invoice {
	return economy.Invoice{
		Begun: r.Begun, Ended: r.Ended, Model: r.Model, After: -1, Compacted: r.Compacted,
		Spend: economy.Spend{
			Uncached: token.Count(r.Uncached), Read: token.Count(r.Read),
			Write5m: token.Count(r.Write5m), Write1h: token.Count(r.Write1h), Output: token.Count(r.Output),
		},
	}
}

// basis says what [Windows.Cost] assumes of managed windows.
const basis = "a window is made smaller when it is 80% full, and when it is cold and above its target, which is 40% of it at the least and 60% at the most; " +
	"at the most, the model looks something up twice after each time; the model does the same otherwise; no result of a tool is shortened before it is sent"

// manage adds what the calls of a session had cost with a managed window.
func (c *costs) manage(calls []economy.Invoice, window token.Count) {
	law := economy.Law{Window: window, Full: ratio.Of(80, 100), Target: ratio.Of(40, 100)}
	low := c.table.Managed(calls, law)
	law.Target, law.Lookups = ratio.Of(60, 100), 2
	high := c.table.Managed(calls, law)
	c.least.Charge, c.most.Charge = c.least.Charge.Plus(low.Charge), c.most.Charge.Plus(high.Charge)
	c.least.Epochs, c.most.Epochs = c.least.Epochs+low.Epochs, c.most.Epochs+high.Epochs
}

// result returns what was gathered. Breaks are listed if it is of one session.
func (c *costs) result(one bool) *api.CostResult {
	b := c.table.Bill(c.invoices)
	if !one {
		b.Breaks = []economy.Break{}
	}
	c.res.Total = *b
	if b.Unpriced < b.Calls {
		low, high := c.least.Charge.Total(), c.most.Charge.Total()
		c.res.Managed = &api.ManagedCost{Least: min(low, high), Most: max(low, high), Epochs: max(c.least.Epochs, c.most.Epochs), Basis: basis}
	}
	slices.SortStableFunc(c.res.Sessions, func(x, y api.SessionCost) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(y.Spend.Prompt(), x.Spend.Prompt()), cmp.Compare(x.Session, y.Session))
	})
	return c.res
}

// subAgents returns how many sub-agents a session asked.
func subAgents(s *transcript.Session) (n int) {
	for _, msgs := range append(slices.Clip(s.Earlier), s.Messages) {
		for i := range msgs {
			for _, call := range msgs[i].Calls() {
				if call.Name == "Task" || call.Name == "Agent" {
					n++
				}
			}
		}
	}
	return n
}

// sideThreads returns how many conversations of sub-agents have receipts.
func sideThreads(all []transcript.Receipt) (n int) {
	for i := range all {
		if all[i].Side && all[i].After < 0 {
			n++
		}
	}
	return n
}
