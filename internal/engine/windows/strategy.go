package windows

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/ratio"
)

// summarizes reports whether s makes a new summary.
func summarizes(s api.Strategy) bool {
	return s != api.StrategyWindow && s != api.StrategyImportance && s != api.StrategyPager && s != api.StrategyAccount
}

// covers reports whether s keeps single lines of blocks.
func covers(s api.Strategy) bool { return s == api.StrategyImportance || s == api.StrategyAnchored }

// A way is one way to try a compression: a strategy and its parameters.
type way struct {
	strategy api.Strategy
	model    bool        // a model writes the draft
	detail   ratio.Ratio // share of the budget that the summary may take
	keepLast int         // newest blocks that stay as they are
	account  bool        // an account stands beside the summary; if detail is 0, the summary is only its id
}

// plans returns the strategy that decides about the blocks that the summary does not replace.
func (w *way) plans() api.Strategy {
	if w.account {
		return api.StrategyAccount
	}
	return w.strategy
}

// Shares of the budget that a summary may take, and how many blocks stay raw
// when less detail was not enough.
const (
	textDetail = 750_000 // of a model's text beside an account: doc/design/account.md has the measurements
	detail     = 250_000
	moreDetail = 500_000
	retryLast  = 10
)

// ways returns the ways to try a request, in order. The first ways use the strategy of the request:
// with a draft by the model, if a model is set, and then without. With the anchored strategy an
// account stands beside the summary. If the strategy makes a summary, further ways follow: the
// summary in the window, a larger summary, a larger summary with more blocks left whole, and a
// sliding window.
func (e *Windows) ways(req *api.CompressRequest) []way {
	last, anchored := e.keepLast(req.KeepLast), req.Strategy == api.StrategyAnchored
	told := way{strategy: req.Strategy, model: true, detail: detail, keepLast: last, account: anchored}
	if told.plans() == api.StrategyAccount {
		told.detail = textDetail
	}
	var all []way
	if e.Opts.Generator != nil && (summarizes(req.Strategy) || req.Strategy == api.StrategyAccount && !req.Smallest) {
		all = append(all, told)
	}
	if !summarizes(req.Strategy) {
		return append(all, way{strategy: req.Strategy, keepLast: last})
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

// keepLast returns how many of the newest blocks stay whole. It returns the argument asked or, if
// that is 0, the value of the options or, if that is 0 too, 5. A negative number means none.
func (e *Windows) keepLast(asked int) int {
	if asked == 0 {
		asked = e.Opts.KeepLast
	}
	if asked == 0 {
		return 5
	}
	return max(asked, 0)
}
