package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An UndoRequest names an operation of a session.
type UndoRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // by default that of Op
	Op      string               `json:"op,omitempty"`      // the last that is not undone by default
	DryRun  bool                 `json:"dry_run,omitempty"`
}

// An UndoResult says what was taken back.
type UndoResult struct {
	Session transcript.SessionID `json:"session"`
	Op      string               `json:"op,omitempty"` // of the undoing
	Undone  string               `json:"undone"`
	Kind    string               `json:"kind"`
	Blocks  int                  `json:"blocks"` // that changed
	Before  token.Count          `json:"before"` // tokens of the window
	After   token.Count          `json:"after"`  // tokens of the window
}
