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

// ProbeMin returns the setting probes.accept, the share of probes that must be answered. It returns
// nil if the setting has its built-in value because nobody set it.
func (s *Settings) ProbeMin() *ratio.Ratio {
	v := s.value("probes.accept")
	if v.Origin.Kind == "built-in" {
		return nil
	}
	return new(get[ratio.Ratio](s, v.Key))
}

// Request sets the fields that a request leaves empty to the values of the settings. It sets the
// share of probes that must be answered only if the strategy makes a summary.
func (s *Settings) Request(r *carrel.CompressRequest) {
	if r.Target == (carrel.Target{}) && !r.Smallest {
		r.Target = carrel.Target{Tokens: get[token.Count](s, "budget.target"), Share: get[ratio.Ratio](s, "budget.target")}
	}
	if Summarizes(cmp.Or(r.Strategy, s.strategy())) {
		r.ProbeMin = cmp.Or(r.ProbeMin, s.ProbeMin())
	}
}

// Summarize sets the strategy of a request for a summary to anchored, if the request names none and
// that of the settings makes no summary. Otherwise it changes nothing.
func (s *Settings) Summarize(r *carrel.CompressRequest) {
	if r.Strategy == "" && !Summarizes(s.strategy()) {
		r.Strategy = carrel.StrategyAnchored
	}
}

// Summarizes reports whether a strategy makes a summary.
func Summarizes(s carrel.Strategy) bool {
	switch s {
	case carrel.StrategyImportance, carrel.StrategyAccount, carrel.StrategyWindow, carrel.StrategyPager:
	case carrel.StrategyAnchored, carrel.StrategyHybrid, carrel.StrategyRegenerative, carrel.StrategyOpaque:
		return true
	}
	return false
}

func (s *Settings) strategy() carrel.Strategy {
	return carrel.Strategy(get[string](s, "compress.strategy"))
}

// Scratch returns a store in memory, for commands that work on a file only.
func Scratch() store.Store { return memory.New() }
