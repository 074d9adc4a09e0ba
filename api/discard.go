package api

import (
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A DiscardRequest names blocks that an agent no longer needs, or leaves the
// choice to the order of package pager.
type DiscardRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default that of the first id that is known
	IDs     []string             `json:"ids,omitempty"`     // of blocks, or the beginnings of them
	Auto    bool                 `json:"auto,omitempty"`    // choose the blocks

	// To is what an automatic discard brings the window to, in tokens. The
	// default is that of carrel.Engine.Messages.
	To token.Count `json:"to,omitempty"`

	// Trigger has the floor of the window. The default is that of
	// the engine's options. Who serves agents does not take it from them.
	Trigger *pager.Trigger `json:"trigger,omitempty"`

	DryRun bool `json:"dry_run,omitempty"`
}

// A DiscardResult says what left the window, or would leave it.
type DiscardResult struct {
	Session   transcript.SessionID `json:"session"`
	Op        string               `json:"op,omitempty"`   // empty if nothing was written
	Discarded []Discarded          `json:"discarded"`      // in the order in which they went, or were named
	Thinking  token.Count          `json:"thinking"`       // that left with them: what stands behind a change is not valid any more
	Before    token.Count          `json:"before"`         // tokens of the window
	After     token.Count          `json:"after"`          // tokens of the window
	Sent      token.Count          `json:"sent,omitempty"` // see [ContextResult]; it stays as it is
	Target    token.Count          `json:"target_tokens"`
	Floor     token.Count          `json:"floor_tokens"`
	Provider  string               `json:"provider"` // whose rules the result was checked by
	Continue  bool                 `json:"continue"` // the agent may go on
	Message   string               `json:"message"`  // says so
}

// A Discarded is a block that left the window.
type Discarded struct {
	pager.Discard

	ShortID string          `json:"short_id"`
	Kind    transcript.Kind `json:"kind"`
	Preview string          `json:"preview"`
}
