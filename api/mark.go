package api

import "github.com/carrel-dev/carrel/transcript"

// A MarkRequest marks a session.
type MarkRequest struct {
	Session  transcript.SessionID `json:"session"`
	Critical bool                 `json:"critical"` // or not
	DryRun   bool                 `json:"dry_run,omitempty"`
}

// A MarkResult says how a session is marked.
type MarkResult struct {
	Session  transcript.SessionID `json:"session"`
	Critical bool                 `json:"critical"`
	Changed  bool                 `json:"changed"`
	Op       string               `json:"op,omitempty"`
}
