package config

import (
	"cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
)

// StrategyWords returns the values of compress.strategy.
func StrategyWords() []string {
	words := make([]string, 0, len(carrel.Strategies()))
	for _, s := range carrel.Strategies() {
		words = append(words, string(s))
	}
	return words
}

// ProbeMin returns the share of probes that must be answered, or nil if nothing
// but the built-in one is set.
func (s *Settings) ProbeMin() *ratio.Ratio {
	v := s.value("probes.accept")
	least, ok := v.Value.(ratio.Ratio)
	if !ok || v.Origin.Kind == "built-in" {
		return nil
	}
	return &least
}

// Request fills in what a request leaves open. A strategy that makes no summary
// is not probed unless the request asks for it.
func (s *Settings) Request(r *carrel.CompressRequest) {
	if r.Target == (carrel.Target{}) && !r.Smallest {
		r.Target = carrel.Target{Tokens: get[token.Count](s, "budget.target"), Share: get[ratio.Ratio](s, "budget.target")}
	}
	if summarizes(cmp.Or(r.Strategy, s.strategy())) {
		r.ProbeMin = cmp.Or(r.ProbeMin, s.ProbeMin())
	}
}

// Summarize fills in the strategy of a request that is about a summary, where it is
// left open: that of the settings, or anchored if that makes none.
func (s *Settings) Summarize(r *carrel.CompressRequest) {
	if r.Strategy == "" && !summarizes(s.strategy()) {
		r.Strategy = carrel.StrategyAnchored
	}
}

// summarizes reports whether a strategy makes a summary.
func summarizes(s carrel.Strategy) bool {
	switch s {
	case carrel.StrategyImportance, carrel.StrategyAccount, carrel.StrategyWindow, carrel.StrategyPager:
		return false
	case carrel.StrategyAnchored, carrel.StrategyHybrid, carrel.StrategyRegenerative, carrel.StrategyOpaque:
		return true
	}
	return false
}

func (s *Settings) strategy() carrel.Strategy {
	return carrel.Strategy(get[string](s, "compress.strategy"))
}

// Scratch returns a store that is gone with the process, for what is done to a
// file alone.
func Scratch() store.Store { return memory.New() }
