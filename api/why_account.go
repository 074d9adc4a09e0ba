package api

import (
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyAccount says what the account of a session has of a block, and why, as of now.
// Worths are for each byte, with the heads that a unit needs and beside what was taken
// before it; 1 is the mean of the session.
type WhyAccount struct {
	Floor ratio.Ratio `json:"floor"` // worth of the first unit of the session for which the last budget has no room; 0: it has room for all
	Total int         `json:"total"` // units of the block
	Kept  int         `json:"kept"`  // of these, those in the window
	Units []WhyUnit   `json:"units"` // ten at most that are in the window, and then ten at most that are not; of both, the worthiest first
}

// A WhyUnit is a unit of a block: see package account.
type WhyUnit struct {
	Text   string      `json:"text"`
	Kind   string      `json:"kind"`   // see [account.Features]
	Tokens token.Count `json:"tokens"` // that it costs
	Worth  ratio.Ratio `json:"worth"`  // 0 also where a rule or the end of the conversation keeps it
	Kept   bool        `json:"kept"`   // it is in the window

	// In is the block that says it in its place, which is worth more: it has a later copy of the
	// same lines of a file, or the same text.
	In transcript.BlockID `json:"in,omitempty"`

	// Target is the smallest target of a compression that brings it back, a few tokens more
	// or less; 0 if it is there, or if only a recall shows it.
	Target token.Count `json:"target,omitempty"`

	// Because has what speaks for and against its being something that a reader must know.
	Because []facts.Contribution `json:"because"`
}
