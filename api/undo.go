package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An UndoRequest names an operation of a session.
type UndoRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default the session of Op
	Op      string               `json:"op,omitempty"`      // by default the last operation that is not undone
	DryRun  bool                 `json:"dry_run,omitempty"`
}

// An UndoResult describes the undone operation.
type UndoResult struct {
	Session transcript.SessionID `json:"session"`
	Op      string               `json:"op,omitempty"` // journal entry of the undo
	Undone  string               `json:"undone"`
	Kind    string               `json:"kind"`
	Blocks  int                  `json:"blocks"` // number of changed blocks
	Before  token.Count          `json:"before"` // tokens of the window
	After   token.Count          `json:"after"`  // tokens of the window
}
