package economy

import (
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// Assumptions are the assumptions of [Table.Managed] about the windows that Carrel makes. There are
// no defaults: Window, Full and Target must be set.
type Assumptions struct {
	Window  token.Count // of the model
	Full    ratio.Ratio // share of Window above which a prompt is made smaller
	Target  ratio.Ratio // share of Window after a cut; a prompt that has left the cache is cut, too, if it is above this share
	Lookups int         // additional calls after each cut, in which the model looks up removed text
	Stays   ratio.Ratio // share of the tokens missing from Estimated.Prompt that would be sent after all
}

// An Estimated is the estimate of the prompt that Carrel would have made, recorded when the
// call was sent.
type Estimated struct {
	Prompt token.Count // tokens of the prompt, by the provider's count
	Frame  token.Count // part of Prompt for system text and tools, which a cut keeps
	Cut    bool        // Carrel would have made the window smaller at this call
}

// The sizes of a call that looks up removed text and of its result, in tokens.
const (
	lookupOutput token.Count = 200
	lookupResult token.Count = 2000
)

// A Forecast is the estimated cost of calls under some [Assumptions]. Calls without a known price
// are left out of both figures.
type Forecast struct {
	Epochs int    // number of cuts
	Charge Charge // of calls with a known price
}

// Managed estimates the cost of calls if Carrel had made their windows smaller: as in
// [Invoice.Would] if it is set, and otherwise by assumptions and the charges alone. Calls with
// [Invoice.Managed] count with their real cost.
//
// It assumes that the model's answers stay the same, and that removed text is missing from all
// later prompts until the client compacts. If a warm window is cut, all of it is written to
// the cache again except a fixed beginning: the frame of [Invoice.Would] or, without it, as
// many tokens as the smallest prompt of the conversation so far.
func (t *Table) Managed(calls []Invoice, assumptions Assumptions) Forecast {
	var f Forecast
	target := token.Count(assumptions.Target.Scale(int64(assumptions.Window)))
	full := token.Count(assumptions.Full.Scale(int64(assumptions.Window)))
	removed, fixed := make([]token.Count, len(calls)), make([]token.Count, len(calls))
	for i := range calls {
		c := &calls[i]
		fixed[i] = c.Prompt()
		if c.After >= 0 && c.After < i {
			fixed[i] = min(fixed[i], fixed[c.After])
			if !c.Compacted && !c.Managed {
				removed[i] = min(removed[c.After], c.Prompt()-fixed[i])
			}
		}
		if c.Would != nil {
			fixed[i] = min(fixed[i], c.Would.Frame)
		}
		m, known := t.Find(c.Model)
		if !known || !m.Priced() {
			continue
		}
		b, broken := breakOf(calls, i, m)
		cold := broken && b.Cause == CauseExpired
		size := c.Prompt() - removed[i]
		to, cut := max(target, fixed[i]), false
		switch {
		case c.Managed:
		case c.Would != nil:
			left := max(c.Prompt()-c.Would.Prompt, 0)
			left -= token.Count(assumptions.Stays.Scale(int64(left)))
			to, cut = c.Prompt()-left, c.Would.Cut
		default:
			cut = size > to && (size > full || cold)
		}
		spend := without(c.Spend, removed[i], broken)
		if c.Would != nil && !c.Managed { // newly removed tokens were never cached: subtract them from writes first
			spend = without(without(c.Spend, min(removed[i], c.Prompt()-to), broken), max(size-to, 0), true)
			removed[i] = c.Prompt() - to
		}
		if cut {
			f.Epochs++
			removed[i] = c.Prompt() - to
			spend = m.rewritten(c.Spend, to, fixed[i], cold)
			look := Spend{Read: to, Output: lookupOutput}
			for range assumptions.Lookups {
				f.Charge = f.Charge.Plus(m.Charge(look.Plus(m.send(lookupResult, c.Write1h > 0))))
			}
		}
		f.Charge = f.Charge.Plus(m.Charge(spend))
	}
	return f
}

// without returns the spend of a call whose prompt is n tokens smaller. It subtracts n from the read
// tokens, then from the written and the uncached ones, each down to 0. If broken is set, the cache was
// missed, and the read tokens are the last.
func without(s Spend, n token.Count, broken bool) Spend {
	parts := []*token.Count{&s.Read, &s.Write5m, &s.Write1h, &s.Uncached}
	if broken {
		parts = []*token.Count{&s.Write5m, &s.Write1h, &s.Uncached, &s.Read}
	}
	for _, p := range parts {
		k := min(*p, n)
		*p, n = *p-k, n-k
	}
	return s
}

// rewritten returns the spend of a call whose prompt was cut to size tokens. All of them are
// written, except the fixed beginning if the cache is warm.
func (m *Tariff) rewritten(s Spend, size, fixed token.Count, cold bool) Spend {
	u := Spend{Output: s.Output}
	if !cold {
		u.Read = min(fixed, s.Read, size)
	}
	return u.Plus(m.send(size-u.Read, s.Write1h > s.Write5m))
}

// send returns the spend of n tokens that are sent for the first time.
func (m *Tariff) send(n token.Count, long bool) Spend {
	switch {
	case m.FreeWrite:
		return Spend{Uncached: n}
	case long:
		return Spend{Write1h: n}
	}
	return Spend{Write5m: n}
}
