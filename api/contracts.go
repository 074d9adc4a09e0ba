package api

import (
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript"
)

// A AmendContractRequest says what is to be added to the contract of a session. What
// it has is added in the order of its fields, all of it or nothing.
type AmendContractRequest struct {
	// Session is the session. With Init it may be one that has no conversation yet,
	// or empty, for a new one.
	Session transcript.SessionID `json:"session,omitempty"`

	// Init begins the contract: states, lists and guards, and what the payload has.
	// A contract begins once; passes over the window need no beginning.
	Init    bool              `json:"init,omitempty"`
	Payload *contract.Payload `json:"payload,omitempty"`

	// Parent is the session whose decisions, corrections, questions and verified
	// claims are taken over, or empty.
	Parent transcript.SessionID `json:"parent,omitempty"`

	Decisions   []string             `json:"decisions,omitempty"`
	Resolution  contract.Resolution  `json:"resolution,omitempty"` // of decisions that contradict others
	Questions   []string             `json:"questions,omitempty"`
	Answered    []string             `json:"answered,omitempty"` // questions that are open no more
	Corrections []ContractCorrection `json:"corrections,omitempty"`

	Sources     []contract.PayloadSource `json:"sources,omitempty"`
	Claims      []contract.PayloadSource `json:"claims,omitempty"`
	Verified    []ContractClaim          `json:"verified,omitempty"`
	Checked     []string                 `json:"checked,omitempty"` // before a commit
	SourceState contract.SourceState     `json:"source_state,omitempty"`
	ClaimBasis  contract.ClaimBasis      `json:"claim_basis,omitempty"`
	ResumeState string                   `json:"resume_state,omitempty"`

	// Statements are of the caller's own, a line each. They may read what Carrel
	// writes and must not change it. A requirement among them is judged where it
	// stands, so it does not bind what comes later: that is for Rules.
	Statements []string `json:"statements,omitempty"`

	// Rules are statements such as "require evicted-blocks not includes ...", a line
	// each, that must hold at the end from now on, whatever a pass appends.
	Rules []string `json:"rules,omitempty"`

	Close  bool `json:"close,omitempty"` // nothing can be added afterwards
	DryRun bool `json:"dry_run,omitempty"`
}

// A ContractCorrection is a correction by its name or in the user's words, and the
// blocks that record it, by their ids or the beginnings of them. Those never leave
// the window.
type ContractCorrection struct {
	Text   string   `json:"text"`
	Blocks []string `json:"blocks,omitempty"`
}

// A ContractClaim is a claim that was verified, and the source that says so, which
// may be empty.
type ContractClaim struct {
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
}

// A AmendContractResult says what was added to a contract.
type AmendContractResult struct {
	Session transcript.SessionID `json:"session"`
	Added   []string             `json:"added"` // statements
	Total   int                  `json:"total"` // statements of the contract
	Closed  bool                 `json:"closed"`
	Said    []string             `json:"said,omitempty"` // what the contract prints when it is run
	Op      string               `json:"op,omitempty"`
}
