package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A PageRequest names blocks to replace by stubs, by their ids or prefixes of
// ids.
type PageRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default the session of the first id that names a block
	Blocks  []string             `json:"blocks"`
	DryRun  bool                 `json:"dry_run,omitempty"`
}

// A PageResult lists the blocks that are stubs now or, in a dry run, would
// be.
type PageResult struct {
	Session  transcript.SessionID `json:"session"`
	Op       string               `json:"op,omitempty"` // empty if nothing was written
	Blocks   []PagedBlock         `json:"blocks"`       // each named block once, in the order of the request
	Before   token.Count          `json:"before"`       // tokens of the window
	After    token.Count          `json:"after"`        // tokens of the window
	Provider string               `json:"provider"`     // provider whose rules the result was checked by
}

// A PagedBlock is a block that is a stub in the window.
type PagedBlock struct {
	Block   transcript.BlockID `json:"block"`
	ShortID string             `json:"short_id"`
	Turn    int                `json:"turn"` // as in a [BlockInfo]
	Kind    transcript.Kind    `json:"kind"`
	Changed bool               `json:"changed"` // it was no stub before
	Before  token.Count        `json:"before"`  // tokens in the window
	After   token.Count        `json:"after"`   // tokens in the window
}
