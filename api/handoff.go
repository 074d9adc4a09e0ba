package api

import (
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/transcript"
)

// A HandoffRequest says which session is handed over, and to whom. What is empty
// is taken from what is on record.
type HandoffRequest struct {
	Session transcript.SessionID `json:"session"`
	For     string               `json:"for,omitempty"`   // who is to go on
	By      string               `json:"by,omitempty"`    // the actor by default
	Next    string               `json:"next,omitempty"`  // the recommended next action
	Notes   string               `json:"notes,omitempty"` // for who goes on
	Domain  string               `json:"domain,omitempty"`
	Title   string               `json:"title,omitempty"`  // of the file, besides its date
	Strict  bool                 `json:"strict,omitempty"` // only the keys of the published schema; see [handoff.Packet.Published]
}

// A HandoffResult is a packet, and what the rules of honesty say of it.
type HandoffResult struct {
	Session  transcript.SessionID `json:"session"`
	File     string               `json:"file,omitempty"` // as which the packet is kept, in Markdown; of a packet that was made
	Packet   *handoff.Packet      `json:"packet"`
	LeftOut  []string             `json:"left_out,omitempty"` // keys of the packet that a strict one lacks
	Findings []handoff.Finding    `json:"findings,omitempty"` // none of them an error
}

// A CheckHandoffRequest is a packet in Markdown or JSON, and the session that it
// claims to be of, or none.
type CheckHandoffRequest struct {
	Name    string               `json:"name,omitempty"` // of the file, for errors
	Data    []byte               `json:"data"`
	Session transcript.SessionID `json:"session,omitempty"`
}

// An AcceptRequest is a packet in Markdown or JSON.
type AcceptRequest struct {
	Name   string `json:"name,omitempty"` // of the file, for errors
	Data   []byte `json:"data"`
	Format string `json:"format,omitempty"` // of the new conversation; "openai" by default
	DryRun bool   `json:"dry_run,omitempty"`
}

// An AcceptResult says which session a packet began.
type AcceptResult struct {
	Session  transcript.SessionID `json:"session"`
	File     string               `json:"file"` // as which the conversation goes on with the session when it is imported
	Packet   *handoff.Packet      `json:"packet"`
	Findings []handoff.Finding    `json:"findings,omitempty"`
	Contract int                  `json:"contract"` // statements of the new contract
	Op       string               `json:"op,omitempty"`
}
