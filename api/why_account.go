package api

import (
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyAccount lists the units into which an account of the session divides a block, with reasons,
// as of now. The worth of a unit is the value that it adds to the account when it is chosen,
// divided by the bytes that it adds: its own, and those of headings that it needs. Values of units
// that were chosen before do not count again. 1 is the mean of the session.
type WhyAccount struct {
	Floor ratio.Ratio `json:"floor"` // worth of the first unit of the session that does not fit the last budget; 0: all fit
	Total int         `json:"total"` // number of units of the block
	Kept  int         `json:"kept"`  // number of units in the window
	Units []WhyUnit   `json:"units"` // up to ten units in the window, then up to ten others, each the worthiest first
}

// A WhyUnit is a unit of a block: see package account.
type WhyUnit struct {
	Text   string      `json:"text"`
	Kind   string      `json:"kind"`   // see [account.Features]
	Tokens token.Count `json:"tokens"` // its cost in tokens
	Worth  ratio.Ratio `json:"worth"`  // 0 for a unit of no value, and for one that a rule keeps or that is in the newest blocks
	Kept   bool        `json:"kept"`   // it is in the window

	// In is the block that has the kept copy of the unit, if the unit is left out
	// because of a copy: later the same lines of a file, or the same text.
	In transcript.BlockID `json:"in,omitempty"`

	// Target is the smallest target of a compression that includes the unit,
	// give or take a few tokens; 0 if it is in the window or only a recall
	// returns it.
	Target token.Count `json:"target,omitempty"`

	// Because lists the contributions to the unit's probability of being
	// needed.
	Because []facts.Contribution `json:"because"`
}
