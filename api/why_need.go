package api

import (
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyNeed says what of a block is likely to be needed again, as of now, and what
// became of its calls.
type WhyNeed struct {
	Names []WhyName `json:"names"` // the likeliest first, ten at most
	Lines []WhyLine `json:"lines"` // the likeliest first, ten at most
	Calls []WhyCall `json:"calls"` // whose results later ones have overtaken
}

// A WhyName is an identifier that a block has.
type WhyName struct {
	Name    string               `json:"name"`
	Chance  ratio.Ratio          `json:"chance"` // that the agent uses it in its next calls
	Kept    bool                 `json:"kept"`   // it is in the window
	Because []facts.Contribution `json:"because"`
}

// A WhyLine is a line of a block that may be copied.
type WhyLine struct {
	Text    string               `json:"text"`
	Chance  ratio.Ratio          `json:"chance"` // that the agent copies it in its next calls
	Kept    bool                 `json:"kept"`   // it is in the window
	Because []facts.Contribution `json:"because"`
}

// A WhyCall is a call of a block that a later one has overtaken.
type WhyCall struct {
	CallID string             `json:"call_id"`
	State  facts.Validity     `json:"state"`
	By     transcript.BlockID `json:"by"`
	About  string             `json:"about"`          // the file, the command or the entry
	Part   bool               `json:"part,omitempty"` // only part of it is overtaken
}
