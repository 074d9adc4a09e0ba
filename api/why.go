package api

import (
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyResult says why a block is where it is.
type WhyResult struct {
	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Tools   []string             `json:"tools,omitempty"`
	Turn    int                  `json:"turn"`
	Preview string               `json:"preview"`
	State   store.State          `json:"state"`
	Form    pager.Form           `json:"form"`
	Off     bool                 `json:"off,omitempty"`     // left the conversation by an import
	Earlier int                  `json:"earlier,omitempty"` // as in a [BlockInfo]
	Tokens  token.Count          `json:"tokens"`            // as imported
	Window  token.Count          `json:"window"`            // in the window now
	Stub    *pager.Stub          `json:"stub,omitempty"`
	Now     *pager.BlockDecision `json:"now,omitempty"` // rule, signals and score as of now
	Weights pager.Weights        `json:"weights"`
	Cuts    pager.Cuts           `json:"cuts"`
	Intent  []string             `json:"intent,omitempty"`
	Account *WhyAccount          `json:"account,omitempty"` // if the last pass made an account
	Need    *WhyNeed             `json:"need,omitempty"`    // what of it is likely to be needed again, as of now
	History []WhyEntry           `json:"history"`           // oldest first
}

// A WhyEntry is what the journal says about a block.
type WhyEntry struct {
	Op       string               `json:"op"`
	Kind     string               `json:"kind"` // "import", "compacted", "back", "page", "page-by-hand", "discard", "pin", "unpin", "undo"
	Actor    governance.Actor     `json:"actor"`
	Time     time.Time            `json:"time"`
	Budget   token.Count          `json:"budget,omitempty"`
	Decision *pager.BlockDecision `json:"decision,omitempty"`
	Pinned   *bool                `json:"pinned,omitempty"` // set or lifted by this entry
	Reason   string               `json:"reason,omitempty"` // if it is not the decision
}
