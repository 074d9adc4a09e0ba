package api

import "github.com/carrel-dev/carrel/transcript"

// A PinRequest names blocks by their ids or the beginnings of them.
type PinRequest struct {
	Blocks []string `json:"blocks"`
	Unpin  bool     `json:"unpin,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// A PinResult says which blocks changed.
type PinResult struct {
	Pinned  bool                 `json:"pinned"`
	Blocks  []transcript.BlockID `json:"blocks"`        // all that were named
	Changed []transcript.BlockID `json:"changed"`       // those that were not so before
	Ops     []string             `json:"ops,omitempty"` // one for each session
	Session transcript.SessionID `json:"session"`       // of the last block
}
