package api

import (
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/transcript"
)

// A HandoffRequest asks for a packet that hands a session over. Empty fields are
// filled from the record of the session.
type HandoffRequest struct {
	Session transcript.SessionID `json:"session"`
	For     string               `json:"for,omitempty"`    // recipient
	By      string               `json:"by,omitempty"`     // sender; by default the actor
	Next    string               `json:"next,omitempty"`   // recommended next action
	Notes   string               `json:"notes,omitempty"`  // notes for the recipient
	Domain  string               `json:"domain,omitempty"` // word with which the file name begins
	Title   string               `json:"title,omitempty"`  // part of the file name, after the date
	Strict  bool                 `json:"strict,omitempty"` // only keys of the published schema; see [handoff.Packet.Published]
}

// A HandoffResult is a packet and the findings of [handoff.Check], which checks it against the
// rules of honesty. It is also the result of CheckHandoff.
type HandoffResult struct {
	Session  transcript.SessionID `json:"session"`
	File     string               `json:"file,omitempty"` // name for the Markdown file of a new packet
	Packet   *handoff.Packet      `json:"packet"`
	LeftOut  []string             `json:"left_out,omitempty"` // keys that a strict packet lacks
	Findings []handoff.Finding    `json:"findings,omitempty"` // they are no errors
}

// A CheckHandoffRequest asks for a check of a packet in Markdown or JSON, against
// itself and, if it names the session that the packet describes, against its record.
type CheckHandoffRequest struct {
	Name    string               `json:"name,omitempty"` // name of the file, for errors
	Data    []byte               `json:"data"`
	Session transcript.SessionID `json:"session,omitempty"`
}

// An AcceptRequest begins a session with a packet in Markdown or JSON.
type AcceptRequest struct {
	Name   string `json:"name,omitempty"` // of the file, for errors
	Data   []byte `json:"data"`
	Format string `json:"format,omitempty"` // format of the new conversation; "openai" by default
	DryRun bool   `json:"dry_run,omitempty"`
}

// An AcceptResult names the session that a packet began.
type AcceptResult struct {
	Session  transcript.SessionID `json:"session"`
	File     string               `json:"file"` // the ImportRequest.Name with which an import of the conversation continues the session
	Packet   *handoff.Packet      `json:"packet"`
	Findings []handoff.Finding    `json:"findings,omitempty"`
	Contract int                  `json:"contract"` // number of statements of the new contract
	Op       string               `json:"op,omitempty"`
}
