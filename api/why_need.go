package api

import (
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyNeed lists the names and lines of a block that are likely needed
// again, as of now, and its superseded calls.
type WhyNeed struct {
	Names []WhyName `json:"names"` // the most likely first, at most ten
	Lines []WhyLine `json:"lines"` // the most likely first, at most ten
	Calls []WhyCall `json:"calls"` // calls whose results later calls supersede
}

// A WhyName is an identifier in a block.
type WhyName struct {
	Name    string               `json:"name"`
	Chance  ratio.Ratio          `json:"chance"` // probability that the agent uses it in its next calls
	Kept    bool                 `json:"kept"`   // it is in the window
	Because []facts.Contribution `json:"because"`
}

// A WhyLine is a line of a block that the agent may copy.
type WhyLine struct {
	Text    string               `json:"text"`
	Chance  ratio.Ratio          `json:"chance"` // probability that the agent copies it in its next calls
	Kept    bool                 `json:"kept"`   // it is in the window
	Because []facts.Contribution `json:"because"`
}

// A WhyCall is a call that a later one supersedes.
type WhyCall struct {
	CallID string             `json:"call_id"`
	State  facts.Validity     `json:"state"`          // stale, redundant, resolved or superseded: see package facts
	By     transcript.BlockID `json:"by"`             // block with the later call
	About  string             `json:"about"`          // the file, the command or the entry
	Part   bool               `json:"part,omitempty"` // only part of the result is superseded
}
