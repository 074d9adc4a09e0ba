package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// callsBefore is how many earlier calls of a session are searched for the call that a call
// continues.
const callsBefore = 50

// Call describes one call, named by its id or number: what was sent, how much of it the former
// call had sent, its cost, and why the provider's cache was not read.
func (e *Calls) Call(ctx context.Context, scope governance.Scope, req *api.IDRequest) (_ *api.CallResult, err error) {
	defer base.During("show", &err, "call "+req.ID)

	filter := store.CallFilter{ID: req.ID}
	number, notNumber := strconv.ParseInt(req.ID, 10, 64)
	switch {
	case req.ID == "":
		return nil, fmt.Errorf("%w: no call is named: give its id or number", api.ErrRequest)
	case notNumber == nil:
		filter = store.CallFilter{Before: number + 1, Limit: 1}
	}
	res := &api.CallResult{Segments: []api.CallPart{}}
	err = e.EachCall(ctx, scope, filter, func(c *api.Call) bool {
		if notNumber != nil || c.Seq == number {
			res.Call = *c
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if res.ID == "" {
		return e.loggedCall(ctx, scope, req.ID)
	}
	if err := e.account(ctx, scope, res); err != nil {
		return nil, err
	}
	if err := e.addBefore(ctx, scope, res); err != nil {
		return nil, err
	}
	return res, e.addHead(ctx, scope, res)
}

// addBefore adds the cost of the call, the call that it continues, and why the cache of that call
// was not read.
func (e *Calls) addBefore(ctx context.Context, scope governance.Scope, res *api.CallResult) error {
	calls := []api.Call{res.Call}
	if res.Session != "" {
		err := e.EachCall(ctx, scope, store.CallFilter{Session: res.Session, Before: res.Seq, Limit: callsBefore}, func(c *api.Call) bool {
			calls = append(calls, *c)
			return true
		})
		if err != nil {
			return err
		}
	}
	slices.Reverse(calls)
	e.compare(res, calls)
	return nil
}

// compare sets the fields of res that [Calls.addBefore] describes. calls has the calls of the
// session up to this one, oldest first.
func (e *Calls) compare(res *api.CallResult, calls []api.Call) {
	for i := range calls[:len(calls)-1] {
		if calls[i].Usage != (api.Usage{}) {
			res.Before = &calls[i]
		}
	}
	if res.Before != nil && res.Frame != (digest.Digest{}) && res.Before.Frame.Equal(res.Frame) {
		for i := range res.Segments {
			if s := &res.Segments[i]; s.Kind == manifest.KindFrame {
				s.Origin, s.Before = api.OriginBefore, res.Before.ID
			}
		}
	}
	for i := range res.Segments {
		if res.Segments[i].Origin != api.OriginBefore {
			break
		}
		res.Kept += res.Segments[i].Bytes
	}
	if res.Usage == (api.Usage{}) {
		return
	}
	invoices := record.Invoices(calls)
	bill := e.Opts.Prices.Bill(invoices)
	for i := range bill.Breaks {
		if bill.Breaks[i].Call == len(invoices)-1 {
			res.Break = &bill.Breaks[i]
		}
	}
	if own := e.Opts.Prices.Bill(invoices[len(invoices)-1:]); own.Unpriced == 0 {
		res.Cost, res.Uncached = &own.Total, &own.Uncached
	}
}

// account adds the manifest of the request body, if there is one.
func (e *Calls) account(ctx context.Context, scope governance.Scope, res *api.CallResult) error {
	if res.Manifest == "" {
		return nil
	}
	sealed, err := e.SealedCall(ctx, scope, res.ID)
	if err != nil {
		return err
	}
	for _, it := range sealed.Sealed.Manifest().Items {
		s, ok := it.(*manifest.Segment)
		if !ok {
			continue
		}
		p := api.CallPart{Kind: s.Kind, Start: s.Start, Bytes: s.Bytes, Chain: s.Ref, Origin: api.OriginClient}
		switch {
		case record.CallManifest(s.Cell) != "":
			p.Origin, p.Before = api.OriginBefore, s.Cell
		case s.Kind == manifest.KindStub:
			p.Origin = api.OriginCarrel
		}
		res.Segments = append(res.Segments, p)
	}
	return nil
}

// addHead adds the messages that replaced the start of the conversation, if they are still
// stored.
func (e *Calls) addHead(ctx context.Context, scope governance.Scope, res *api.CallResult) error {
	if res.Epoch == 0 || !res.Managed || res.Session == "" {
		return nil
	}
	switch h, err := e.Store.Head(ctx, scope, res.Session); {
	case api.KindOf(err).Exit == api.ExitNotFound, err == nil && h.Status != "":
		return nil // the conversation is erased, and so is everything made from it
	case err != nil:
		return err
	}
	for r, err := range e.Store.Rewrites(ctx, scope, res.Session) {
		if err != nil {
			return err
		}
		if r.Kind != store.RewriteHead || r.Epoch != res.Epoch {
			continue
		}
		bodies, err := e.Bodies(ctx, scope, []store.CellID{r.Cell})
		if err != nil {
			return err
		}
		res.Head, res.HeadFor = json.RawMessage(bodies[0]), r.Messages
	}
	return nil
}
