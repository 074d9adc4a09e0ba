package calls

import (
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/engine/record"
)

// A wouldTally sums up what managing sessions would have changed.
type wouldTally struct {
	engine   *Calls
	tally    api.UnmanagedTally
	forecast record.Forecast
	priced   bool
}

// add adds the calls of a session that was not managed, last begun first. It skips a session
// without estimates.
func (w *wouldTally) add(calls []api.Call) {
	t := w.tally
	t.Sessions++
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Usage == (api.Usage{}):
		case c.Would == nil:
			t.Missing++
		default:
			t.Calls++
			t.Came += c.Usage.Prompt()
			t.Tokens += c.Would.Tokens
			t.Results += c.Would.Results
		}
	}
	if t.Calls == w.tally.Calls {
		return
	}
	model := calls[0].Model
	slices.Reverse(calls)
	invoices := record.Invoices(calls)
	bill := w.engine.Opts.Prices.Bill(invoices)
	t.Cost += bill.Total
	w.tally, w.priced = t, w.priced || bill.Unpriced < bill.Calls
	w.forecast.Add(invoices, w.engine.Capacity(model))
}

func (w *wouldTally) done() api.UnmanagedTally {
	if w.priced {
		w.tally.Managed = w.forecast.Cost()
	}
	return w.tally
}
