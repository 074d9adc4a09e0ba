package record

import (
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// Spend converts the usage of a call for package economy.
func Spend(u *api.Usage) economy.Spend {
	return economy.Spend{Uncached: u.Input, Read: u.CacheRead, Write5m: u.CacheWrite5m, Write1h: u.CacheWrite1h, Output: u.Output}
}

// Invoices converts the calls of one session for package economy, in the order in which they began.
// It adds the tokens that the calls would have sent if the proxy had managed the session. Calls
// without a usage are left out. A call with fewer messages than the one before means that the
// client went back.
func Invoices(calls []api.Call) []economy.Invoice {
	var list []economy.Invoice
	var before *api.Call
	epoch := -1 // epoch that a managed session would be in
	for i := range calls {
		c := &calls[i]
		if c.Usage == (api.Usage{}) {
			continue
		}
		v := economy.Invoice{
			Begun: c.Begun, Ended: c.Ended, Model: c.Model, Spend: Spend(&c.Usage),
			After: len(list) - 1, Frame: c.Frame, Managed: c.Managed,
		}
		if w := c.Would; w != nil {
			v.Would = &economy.Estimated{Prompt: w.Tokens, Frame: w.Frame, Cut: strings.HasPrefix(w.Reason, api.ReasonEpoch) || epoch >= 0 && w.Epoch > epoch}
			epoch = w.Epoch
		}
		if c.Session == "" { // calls without a session are unrelated
			v.After = -1
		} else if before != nil {
			v.Compacted = compacts(before)
			back := c.Epoch < before.Epoch
			v.Edited = c.Messages < before.Messages || back && !resigned(c)
			v.Cut = c.Epoch > before.Epoch || before.Managed && !c.Managed || back && resigned(c)
		}
		list = append(list, v)
		before = c
	}
	return list
}

// resigned reports whether Carrel let the messages of a call pass as they came, because the provider
// had refused a managed body or managing failed.
func resigned(c *api.Call) bool {
	return c.Reason == "stopped" || strings.HasPrefix(c.Reason, "not managed: ")
}

// compacts reports whether a call asked for the client's own compaction.
func compacts(c *api.Call) bool {
	return c.Reason == api.ReasonCompacts || c.Would != nil && c.Would.Reason == api.ReasonCompacts
}

// basis describes the assumptions of a [Forecast].
const basis = "for imported sessions: a window is made smaller when it is 80% full, and when its cache has expired and it is above its target, which is 40% of it for the lower figure and 60% for the higher; " +
	"no tool result is shortened before it is sent; for calls through the proxy: the estimate recorded with them, and for the higher figure a quarter of the removed tokens is sent all the same; " +
	"for both, the higher figure has two look-ups after each time; the model otherwise acts the same"

// A Forecast estimates what calls would have cost with managed windows.
type Forecast struct {
	Prices      *economy.Table
	least, most economy.Forecast
}

// Add adds the calls of a session whose model has the given context window.
func (f *Forecast) Add(calls []economy.Invoice, window token.Count) {
	assumptions := economy.Assumptions{Window: window, Full: ratio.Of(80, 100), Target: ratio.Of(40, 100)}
	low := f.Prices.Managed(calls, assumptions)
	assumptions.Target, assumptions.Lookups, assumptions.Stays = ratio.Of(60, 100), 2, ratio.Of(1, 4)
	high := f.Prices.Managed(calls, assumptions)
	f.least.Charge, f.most.Charge = f.least.Charge.Plus(low.Charge), f.most.Charge.Plus(high.Charge)
	f.least.Epochs, f.most.Epochs = f.least.Epochs+low.Epochs, f.most.Epochs+high.Epochs
}

// Cost returns the estimated costs.
func (f *Forecast) Cost() *api.ManagedCost {
	low, high := f.least.Charge.Total(), f.most.Charge.Total()
	return &api.ManagedCost{Least: min(low, high), Most: max(low, high), Epochs: max(f.least.Epochs, f.most.Epochs), Basis: basis}
}
