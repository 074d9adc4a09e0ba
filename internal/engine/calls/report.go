package calls

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// refused is the lowest HTTP status by which a provider refuses a call.
const refused = 400

// Report returns what was sent to models, and how much less that was than what clients sent.
func (e *Calls) Report(ctx context.Context, scope governance.Scope, req *api.ReportRequest) (_ *api.ReportResult, err error) {
	defer base.During("report", &err)

	res := &api.ReportResult{Since: req.Since}
	sessions := make(map[transcript.SessionID]*sessionTally)
	reasons := make(map[api.ReasonTally]int)
	asCame := make(map[transcript.SessionID][]api.Call)
	err = e.EachCall(ctx, scope, store.CallFilter{Since: req.Since}, func(c *api.Call) bool {
		of := sessions[c.Session]
		if of == nil {
			of = &sessionTally{epochs: make(map[int]bool), models: make(map[string]*api.ModelTally)}
			sessions[c.Session] = of
		}
		of.add(c)
		if !c.Managed {
			asCame[c.Session] = append(asCame[c.Session], *c)
		}
		res.Gaps += c.Gaps
		reasons[api.ReasonTally{Managed: c.Managed, Reason: c.Reason}]++
		if res.First.IsZero() || c.Begun.Before(res.First) {
			res.First = c.Begun
		}
		if c.Begun.After(res.Last) {
			res.Last = c.Begun
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	would := &wouldTally{engine: e, forecast: record.Forecast{Prices: e.Opts.Prices}}
	sums := make(map[*api.CallTally]*sessionTally)
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		one, kind := sessions[id], &res.Observed
		switch {
		case one.holdout:
			kind = &res.Holdout
		case one.tally.Managed > 0:
			kind = &res.Managed
		}
		if one.tally.Managed == 0 {
			would.add(asCame[id])
		}
		for _, into := range []*api.CallTally{&res.Total, kind} {
			if sums[into] == nil {
				sums[into] = &sessionTally{models: make(map[string]*api.ModelTally)}
			}
			sums[into].join(one, id != "")
		}
	}
	for _, into := range []*api.CallTally{&res.Total, &res.Managed, &res.Holdout, &res.Observed} {
		*into = sums[into].done(e.Opts.Prices)
	}
	res.Reasons, res.Would = byFrequency(reasons), would.done()
	return res, nil
}

// A sessionTally sums up the calls of one session or several.
type sessionTally struct {
	tally   api.CallTally
	holdout bool
	epochs  map[int]bool // epochs that began with a head
	models  map[string]*api.ModelTally
}

// add counts a call.
func (s *sessionTally) add(c *api.Call) {
	t := &s.tally
	t.Calls++
	switch c.State {
	case store.CallDone:
		t.Done++
	case store.CallFailed:
		t.Failed++
		if c.Status >= refused {
			t.Refused++
		}
	case store.CallUnknown:
		t.Unknown++
	case store.CallIntent:
		t.Open++
	}
	if c.Managed {
		t.Managed++
	}
	s.holdout = s.holdout || c.Holdout
	if c.Epoch > 0 {
		s.epochs[c.Epoch] = true
	}
	t.Bytes += int64(c.Bytes)
	t.SentBytes += int64(c.SentBytes)
	t.Received += int64(c.Received)
	if c.Usage != (api.Usage{}) {
		t.Usage.Add(&c.Usage)
		s.model(&api.ModelTally{Model: c.Model, Calls: 1, Usage: c.Usage})
	}
}

// model adds the usage of calls of a model.
func (s *sessionTally) model(m *api.ModelTally) {
	if s.models[m.Model] == nil {
		s.models[m.Model] = &api.ModelTally{Model: m.Model}
	}
	s.models[m.Model].Calls += m.Calls
	s.models[m.Model].Usage.Add(&m.Usage)
}

// join adds the calls of a session. If named is false, they are calls without a session.
func (s *sessionTally) join(one *sessionTally, named bool) {
	t, u := &s.tally, &one.tally
	if named {
		t.Sessions++
	}
	t.Calls += u.Calls
	t.Managed += u.Managed
	t.Done += u.Done
	t.Failed += u.Failed
	t.Refused += u.Refused
	t.Unknown += u.Unknown
	t.Open += u.Open
	t.Epochs += len(one.epochs)
	t.Bytes += u.Bytes
	t.SentBytes += u.SentBytes
	t.Received += u.Received
	t.Usage.Add(&u.Usage)
	for _, m := range one.models {
		s.model(m)
	}
}

// done returns the sums, with their cost. The sums of a nil tally are zero.
func (s *sessionTally) done(prices *economy.Table) api.CallTally {
	if s == nil {
		s = new(sessionTally)
	}
	t := s.tally
	t.Models = []api.ModelTally{}
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		m := s.models[name]
		if tariff, known := prices.Find(name); known && tariff.Priced() {
			m.Cost = tariff.Charge(record.Spend(&m.Usage)).Total()
			t.Cost += m.Cost
		} else {
			t.Unpriced += m.Calls
		}
		t.Models = append(t.Models, *m)
	}
	return t
}

// byFrequency returns reasons with their counts, the most frequent first, then by name.
func byFrequency(counts map[api.ReasonTally]int) []api.ReasonTally {
	list := make([]api.ReasonTally, 0, len(counts))
	for r, n := range counts {
		r.Calls = n
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b api.ReasonTally) int {
		if a.Calls == b.Calls && a.Reason == b.Reason && a.Managed != b.Managed {
			if a.Managed {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
