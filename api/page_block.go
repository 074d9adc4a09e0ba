package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A PageRequest names blocks that are to be stubs in the window, by their ids or the
// beginnings of them.
type PageRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default that of the first id that is known
	Blocks  []string             `json:"blocks"`
	DryRun  bool                 `json:"dry_run,omitempty"`
}

// A PageResult says which blocks are stubs now, or would be.
type PageResult struct {
	Session  transcript.SessionID `json:"session"`
	Op       string               `json:"op,omitempty"` // empty if nothing was written
	Blocks   []PagedBlock         `json:"blocks"`       // as they were named, each once
	Before   token.Count          `json:"before"`       // tokens of the window
	After    token.Count          `json:"after"`        // tokens of the window
	Provider string               `json:"provider"`     // whose rules the result was checked by
}

// A PagedBlock is a block that is a stub in the window.
type PagedBlock struct {
	Block   transcript.BlockID `json:"block"`
	ShortID string             `json:"short_id"`
	Turn    int                `json:"turn"`
	Kind    transcript.Kind    `json:"kind"`
	Changed bool               `json:"changed"` // it was none before
	Before  token.Count        `json:"before"`  // tokens in the window
	After   token.Count        `json:"after"`   // tokens in the window
}
