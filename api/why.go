package api

import (
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WhyResult explains the present place of a block.
type WhyResult struct {
	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Tools   []string             `json:"tools,omitempty"`
	Turn    int                  `json:"turn"` // as in a [BlockInfo]
	Preview string               `json:"preview"`
	State   store.State          `json:"state"`
	Form    pager.Form           `json:"form"`
	Off     bool                 `json:"off,omitempty"`     // an import dropped it from the conversation
	Earlier int                  `json:"earlier,omitempty"` // as in a [BlockInfo]
	Tokens  token.Count          `json:"tokens"`            // imported tokens
	Window  token.Count          `json:"window"`            // tokens of the block now in the window
	Stub    *pager.Stub          `json:"stub,omitempty"`
	Now     *pager.BlockDecision `json:"now,omitempty"`     // rule, signals and score as of now
	Weights pager.Weights        `json:"weights"`           // of the engine's options, as in Now
	Cuts    pager.Cuts           `json:"cuts"`              // of the engine's options, as in Now
	Intent  []string             `json:"intent,omitempty"`  // words of the intent, as in Now
	Account *WhyAccount          `json:"account,omitempty"` // if the last pass made an account
	Need    *WhyNeed             `json:"need,omitempty"`    // likelihood of later need, as of now
	History []WhyEntry           `json:"history"`           // oldest first
}

// A WhyEntry is a journal entry about a block. An entry is "compacted" if the client's compaction
// put the block into an earlier window, "back" if an import has it in the conversation again,
// "page" if a pass changed it, and "page-by-hand" if the job Page did.
type WhyEntry struct {
	Op       string               `json:"op"`
	Kind     string               `json:"kind"` // "import", "compacted", "back", "page", "page-by-hand", "discard", "pin", "unpin", "undo"
	Actor    governance.Actor     `json:"actor"`
	Time     time.Time            `json:"time"`
	Budget   token.Count          `json:"budget,omitempty"`
	Decision *pager.BlockDecision `json:"decision,omitempty"`
	Pinned   *bool                `json:"pinned,omitempty"` // true if this entry pinned the block, false if it unpinned it
	Reason   string               `json:"reason,omitempty"` // set if Decision is not the reason
}
