package api

import "github.com/carrel-dev/carrel/transcript"

// A PinRequest names blocks by their ids or prefixes of ids.
type PinRequest struct {
	Blocks []string `json:"blocks"`
	Unpin  bool     `json:"unpin,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// A PinResult lists the named blocks and the changed ones.
type PinResult struct {
	Pinned  bool                 `json:"pinned"`
	Blocks  []transcript.BlockID `json:"blocks"`        // all named blocks
	Changed []transcript.BlockID `json:"changed"`       // blocks whose pin changed
	Ops     []string             `json:"ops,omitempty"` // one for each session
	Session transcript.SessionID `json:"session"`       // session of the last block
}
