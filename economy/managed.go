package economy

import (
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A Law says when a window is made smaller and to what, for [Table.Managed].
type Law struct {
	Window  token.Count // of the model
	Full    ratio.Ratio // of the window: a prompt above it is made smaller
	Target  ratio.Ratio // of the window: what it is made to; a larger prompt is, too, when it is cold
	Lookups int         // calls that each time come to it, because the model looks up what left
	Stays   ratio.Ratio // of what was reckoned to leave: as much is sent all the same
}

// A Reckoned call is what managing would have sent for a call, as somebody reckoned who saw it.
type Reckoned struct {
	Prompt token.Count // of it, as the provider counts
	Frame  token.Count // of it, system text and tools: what a new window leaves as it is
	Cut    bool        // the window was made smaller for it
}

// What a call takes that looks something up, in tokens.
const (
	lookupOutput token.Count = 200
	lookupResult token.Count = 2000
)

// A Forecast is what calls had cost under a [Law].
type Forecast struct {
	Epochs int    // how often a window was made smaller
	Charge Charge // of the calls whose prices are known
}

// Managed reckons what calls had cost if their windows had been made smaller: as somebody
// reckoned who saw them, where [Invoice.Would] says it, and otherwise by a law, from what was
// charged alone. Calls that were managed cost what they did. The model says and does the
// same, and what left a window is missing from all later prompts until the client compacts.
// A window that was made smaller while it was warm is written anew, but for its frame, or, by
// a law, for as much as the first prompt of its conversation had. It is arithmetic and no promise: a model with
// another window may do more or less.
func (t *Table) Managed(calls []Invoice, law Law) Forecast {
	var f Forecast
	target := token.Count(law.Target.Scale(int64(law.Window)))
	full := token.Count(law.Full.Scale(int64(law.Window)))
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
			left -= token.Count(law.Stays.Scale(int64(left)))
			to, cut = c.Prompt()-left, c.Would.Cut
		default:
			cut = size > to && (size > full || cold)
		}
		spend := without(c.Spend, removed[i], broken)
		if c.Would != nil && !c.Managed { // what is new left before it was sent
			spend = without(without(c.Spend, min(removed[i], c.Prompt()-to), broken), max(size-to, 0), true)
			removed[i] = c.Prompt() - to
		}
		if cut {
			f.Epochs++
			removed[i] = c.Prompt() - to
			spend = m.anew(c.Spend, to, fixed[i], cold)
			look := Spend{Read: to, Output: lookupOutput}
			for range law.Lookups {
				f.Charge = f.Charge.Plus(m.Charge(look.Plus(m.send(lookupResult, c.Write1h > 0))))
			}
		}
		f.Charge = f.Charge.Plus(m.Charge(spend))
	}
	return f
}

// without returns what a call had taken with a prompt that is smaller: of one that was
// read, it read less, and of one that was not, it wrote less.
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

// anew returns what a call had taken whose prompt was rewritten to a size: but for the
// fixed beginning of a warm one, all of it is written.
func (m *Tariff) anew(s Spend, size, fixed token.Count, cold bool) Spend {
	u := Spend{Output: s.Output}
	if !cold {
		u.Read = min(fixed, s.Read, size)
	}
	return u.Plus(m.send(size-u.Read, s.Write1h > s.Write5m))
}

// send returns what n tokens are that are sent for the first time.
func (m *Tariff) send(n token.Count, long bool) Spend {
	switch {
	case m.FreeWrite:
		return Spend{Uncached: n}
	case long:
		return Spend{Write1h: n}
	}
	return Spend{Write5m: n}
}
