package api

import (
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A DiscardRequest takes blocks out of the window that an agent no longer needs. The agent names
// them, or with Auto package pager chooses them.
type DiscardRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default the session of the first of IDs that names a block
	IDs     []string             `json:"ids,omitempty"`     // ids of blocks, or prefixes of ids; all must name blocks of the session
	Auto    bool                 `json:"auto,omitempty"`    // choose the blocks; IDs must be empty

	// To is the target size of the window for an automatic discard, in
	// tokens. The default is the Target of a [MessagesResult].
	To token.Count `json:"to,omitempty"`

	// Trigger has the floor of the window, the least size that a discard may
	// leave, and the levels from which the default of To follows. The default
	// is that of the engine's options. MCP does not accept it from agents.
	Trigger *pager.Trigger `json:"trigger,omitempty"`

	DryRun bool `json:"dry_run,omitempty"`
}

// A DiscardResult lists the blocks that left the window or, in a dry run,
// would leave it.
type DiscardResult struct {
	Session   transcript.SessionID `json:"session"`
	Op        string               `json:"op,omitempty"`   // empty if nothing was written
	Discarded []Discarded          `json:"discarded"`      // in the order in which they left or were named
	Thinking  token.Count          `json:"thinking"`       // tokens of thinking that left because a change before it made it invalid
	Before    token.Count          `json:"before"`         // tokens of the window
	After     token.Count          `json:"after"`          // tokens of the window
	Sent      token.Count          `json:"sent,omitempty"` // see [ContextResult]; it stays as it is
	Target    token.Count          `json:"target_tokens"`
	Floor     token.Count          `json:"floor_tokens"`
	Provider  string               `json:"provider"` // provider whose rules the result was checked by
	Continue  bool                 `json:"continue"` // always true: the agent goes on with its task
	Message   string               `json:"message"`  // the result in words, for the agent
}

// A Discarded is a block that left the window.
type Discarded struct {
	pager.Discard

	ShortID string          `json:"short_id"`
	Kind    transcript.Kind `json:"kind"`
	Preview string          `json:"preview"`
}
