package api

import "github.com/carrel-dev/carrel/transcript"

// A MarkRequest marks a session as critical, which forbids [StrategyOpaque], or removes the mark.
type MarkRequest struct {
	Session  transcript.SessionID `json:"session"`
	Critical bool                 `json:"critical"` // false removes the mark
	DryRun   bool                 `json:"dry_run,omitempty"`
}

// A MarkResult is the new mark of a session.
type MarkResult struct {
	Session  transcript.SessionID `json:"session"`
	Critical bool                 `json:"critical"`
	Changed  bool                 `json:"changed"`
	Op       string               `json:"op,omitempty"`
}
