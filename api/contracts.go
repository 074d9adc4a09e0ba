package api

import (
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript"
)

// An AmendContractRequest has the additions to the contract of a session.
// They are added in the order of the fields, all or none.
type AmendContractRequest struct {
	// Session is the session. With Init it may be a session without a
	// conversation, or empty for a new one.
	Session transcript.SessionID `json:"session,omitempty"`

	// Init begins the contract with states, lists, guards and the payload. A
	// contract begins once. Passes over the window work without it.
	Init    bool              `json:"init,omitempty"`
	Payload *contract.Payload `json:"payload,omitempty"`

	// Parent is the session whose decisions, corrections, questions and
	// verified claims are inherited, or empty.
	Parent transcript.SessionID `json:"parent,omitempty"`

	Decisions   []string             `json:"decisions,omitempty"`
	Resolution  contract.Resolution  `json:"resolution,omitempty"` // for decisions that contradict others
	Questions   []string             `json:"questions,omitempty"`
	Answered    []string             `json:"answered,omitempty"` // questions that are closed
	Corrections []ContractCorrection `json:"corrections,omitempty"`

	Sources     []contract.PayloadSource `json:"sources,omitempty"`
	Claims      []contract.PayloadSource `json:"claims,omitempty"`
	Verified    []ContractClaim          `json:"verified,omitempty"`
	Checked     []string                 `json:"checked,omitempty"` // names checked before a commit
	SourceState contract.SourceState     `json:"source_state,omitempty"`
	ClaimBasis  contract.ClaimBasis      `json:"claim_basis,omitempty"`
	ResumeState string                   `json:"resume_state,omitempty"`

	// Statements are the caller's own statements, a line each. They may read
	// Carrel's variables and must not change them. A requirement among them
	// is evaluated once, where it stands; use Rules for lasting ones.
	Statements []string `json:"statements,omitempty"`

	// Rules are statements such as "require evicted-blocks not includes ...",
	// a line each, that must hold after every later pass.
	Rules []string `json:"rules,omitempty"`

	Close  bool `json:"close,omitempty"` // nothing can be added afterwards
	DryRun bool `json:"dry_run,omitempty"`
}

// A ContractCorrection is a correction, by its name or in the user's words,
// with the ids (or prefixes) of the blocks that record it. Those blocks never
// leave the window.
type ContractCorrection struct {
	Text   string   `json:"text"`
	Blocks []string `json:"blocks,omitempty"`
}

// A ContractClaim is a verified claim and its source, which may be empty.
type ContractClaim struct {
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
}

// An AmendContractResult lists the additions to a contract.
type AmendContractResult struct {
	Session transcript.SessionID `json:"session"`
	Added   []string             `json:"added"` // added statements
	Total   int                  `json:"total"` // number of statements of the contract
	Closed  bool                 `json:"closed"`
	Said    []string             `json:"said,omitempty"` // output of the contract's last run
	Op      string               `json:"op,omitempty"`
}
