package windows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Cost returns what the calls of sessions cost: of the session in the request, or of all sessions
// of the scope.
func (e *Windows) Cost(ctx context.Context, scope governance.Scope, req *api.CostRequest) (_ *api.CostResult, err error) {
	about := "of the sessions"
	if req.Session != "" {
		about = "of session " + string(req.Session)
	}
	defer base.During("cost", &err, about)

	c := &costs{engine: e, since: req.Since, one: req.Session != "", res: &api.CostResult{Sessions: []api.SessionCost{}, Unmetered: []transcript.SessionID{}}}
	c.forecast.Prices = e.Opts.Prices
	if err := c.read(ctx, scope, req.Session); err != nil {
		return nil, err
	}
	ids := []transcript.SessionID{req.Session}
	if !c.one {
		if ids, err = e.usedSince(ctx, scope, req.Since); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if err := c.addSession(ctx, scope, id); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.calls)) { // calls of sessions that are not, or no longer, stored
		c.addCalls(&api.SessionInfo{Session: id}, c.calls[id])
	}
	if len(ids)+len(c.invoices) == 0 && req.Since.IsZero() {
		return nil, api.About(api.SubjectSession, base.Statef(store.ErrNotFound, "no session is stored"))
	}
	return c.result(), nil
}

// addSession adds the calls of a session, as its client recorded them. If the client records no
// usage, it adds the calls that the proxy recorded. It decodes a session only if the client records
// usage and the session changed since it was decoded last.
func (c *costs) addSession(ctx context.Context, scope governance.Scope, id transcript.SessionID) error {
	head, err := c.engine.Head(ctx, scope, id)
	if errors.Is(err, store.ErrNotFound) && len(c.calls[id]) > 0 {
		return nil
	}
	if errors.Is(err, store.ErrGone) && (len(c.calls[id]) > 0 || !c.one) {
		return nil // calls stay when their conversation is purged
	}
	if err != nil {
		return err
	}
	metered := hold.MeteredBy(head)
	if metered == nil && !c.one && len(c.calls[id]) == 0 {
		c.res.Unmetered = append(c.res.Unmetered, id)
		return nil
	}
	info, err := c.engine.Info(ctx, scope, head)
	if errors.Is(err, store.ErrGone) && !c.one { // a purge is not yet at its end
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case metered != nil:
		r, err := c.engine.Receipts(ctx, scope, head, metered)
		if err != nil {
			return err
		}
		c.add(&info, r)
		if c.one {
			delete(c.calls, id)
		}
	case len(c.calls[id]) > 0:
		c.addCalls(&info, c.calls[id])
		delete(c.calls, id)
	default:
		return fmt.Errorf("%w: the format %s records no prices, and none of the session's calls went through the proxy", api.ErrRequest, head.Format)
	}
	return nil
}

// skew is the most by which the clock of a client may be ahead of the engine's.
const skew = 24 * time.Hour

// usedSince returns the sessions that may have calls since a time: those that were written later,
// because a session is imported after its calls were answered.
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
	return ids, nil
}

// costs gathers the costs of sessions.
type costs struct {
	engine   *Windows
	since    time.Time
	one      bool // the request names a session
	res      *api.CostResult
	invoices []economy.Invoice
	forecast record.Forecast
	calls    map[transcript.SessionID][]api.Call // calls through the proxy, oldest first
	replies  map[string]bool                     // provider ids of the replies to these calls
}

// read reads the calls through the proxy: those of a session, or all.
func (c *costs) read(ctx context.Context, scope governance.Scope, session transcript.SessionID) error {
	c.calls, c.replies = make(map[transcript.SessionID][]api.Call), make(map[string]bool)
	err := c.engine.EachCall(ctx, scope, store.CallFilter{Session: session, Since: c.since}, func(k *api.Call) bool {
		if k.Usage != (api.Usage{}) {
			c.calls[k.Session] = append(c.calls[k.Session], *k)
			if k.Reply != "" {
				c.replies[k.Reply] = true
			}
		}
		return true
	})
	for _, list := range c.calls {
		slices.Reverse(list)
	}
	return err
}

// addCalls adds a session from its calls through the proxy.
func (c *costs) addCalls(info *api.SessionInfo, list []api.Call) {
	calls := record.Invoices(list)
	c.bill(&api.SessionCost{
		Session: info.Session, Title: info.Title, Project: info.Project, Model: list[len(list)-1].Model,
		First: list[0].Ended, Last: list[len(list)-1].Ended, Proxied: len(list),
	}, calls)
}

// add adds a session from the receipts that its client recorded. If all sessions are asked for,
// add skips calls that also came through the proxy.
func (c *costs) add(info *api.SessionInfo, receipts *hold.Receipts) {
	all := receipts.List
	place := make([]int, len(all)) // index in calls of each receipt, or -1
	var calls []economy.Invoice    // with After as an index in calls
	logged := make(map[string]int) // index in the client's log, by the id of the reply
	for i := range receipts.Log {
		logged[receipts.Log[i].Reply] = i
	}
	sum := api.SessionCost{Session: info.Session, Title: info.Title, Project: info.Project, Model: info.Model}
	for i := range all {
		r := &all[i]
		place[i] = -1
		if r.Ended.Before(c.since) {
			continue
		}
		if !c.one && c.replies[r.ID] {
			c.res.Twice++
			continue
		}
		place[i] = len(calls)
		v := invoice(r)
		if r.After >= 0 {
			v.After = place[r.After]
		}
		if k, ok := logged[r.ID]; ok {
			v.Frame = receipts.Log[k].Frame
			if before, ok := logged[replyAt(all, r.After)]; ok && before == k-1 {
				v.Edited = receipts.Log[k].Kept < receipts.Log[before].Messages
			}
		}
		calls = append(calls, v)
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
		c.res.Unseen += receipts.Unseen
	}
	if len(calls) > 0 {
		c.bill(&sum, calls)
	}
}

// replyAt returns the provider's id of a reply, or "" for the index -1.
func replyAt(all []transcript.Receipt, i int) string {
	if i < 0 {
		return ""
	}
	return all[i].ID
}

// bill adds the calls of a session and their price.
func (c *costs) bill(sum *api.SessionCost, calls []economy.Invoice) {
	b := c.engine.Opts.Prices.Bill(calls)
	sum.Calls, sum.Spend, sum.Total, sum.Breaks, sum.Unpriced = b.Calls, b.Spend, b.Total, len(b.Breaks), b.Unpriced
	for _, k := range b.Causes {
		sum.Extra += k.Extra
	}
	c.res.Sessions = append(c.res.Sessions, *sum)
	c.forecast.Add(calls, c.engine.Capacity(sum.Model))
	from := len(c.invoices)
	for _, v := range calls {
		if v.After >= 0 {
			v.After += from
		}
		c.invoices = append(c.invoices, v)
	}
}

// invoice converts a receipt of the client to an invoice.
func invoice(r *transcript.Receipt) economy.Invoice {
	return economy.Invoice{
		Begun: r.Begun, Ended: r.Ended, Model: r.Model, After: -1, Compacted: r.Compacted,
		Spend: economy.Spend{
			Uncached: token.Count(r.Uncached), Read: token.Count(r.Read),
			Write5m: token.Count(r.Write5m), Write1h: token.Count(r.Write1h), Output: token.Count(r.Output),
		},
	}
}

// result returns the costs gathered so far. It lists breaks only for a single session.
func (c *costs) result() *api.CostResult {
	b := c.engine.Opts.Prices.Bill(c.invoices)
	if !c.one {
		b.Breaks = []economy.Break{}
	}
	c.res.Total = *b
	came := slices.ContainsFunc(c.invoices, func(i economy.Invoice) bool { return !i.Managed })
	if b.Unpriced < b.Calls && came {
		c.res.Managed = c.forecast.Cost()
	}
	slices.SortStableFunc(c.res.Sessions, func(x, y api.SessionCost) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(y.Spend.Prompt(), x.Spend.Prompt()), cmp.Compare(x.Session, y.Session))
	})
	return c.res
}
