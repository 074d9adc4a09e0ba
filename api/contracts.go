package api

import (
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript"
)

// An AmendContractRequest has the additions to the contract of a session. They are added all or
// none, in the order of the fields, but Sources and Claims before Decisions. Package contract
// describes the language, Carrel's variables and the values of the fields.
type AmendContractRequest struct {
	// Session is the session. With Init it may be one that is not stored yet, and if it is empty,
	// it gets a new id; such a session begins without a conversation.
	Session transcript.SessionID `json:"session,omitempty"`

	// Init begins the contract with Carrel's variables, lists and guards, and with the Payload. A
	// Payload without Init is an [ErrRequest], a second Init an [ErrPolicy]. Compression needs no
	// contract.
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

	Sources     []contract.PayloadSource `json:"sources,omitempty"` // texts that claims rest on, by name
	Claims      []contract.PayloadSource `json:"claims,omitempty"`  // claims, by name
	Verified    []ContractClaim          `json:"verified,omitempty"`
	Checked     []string                 `json:"checked,omitempty"`      // checks that were made before a commit, such as of the list of its files
	SourceState contract.SourceState     `json:"source_state,omitempty"` // how much of the sources was read
	ClaimBasis  contract.ClaimBasis      `json:"claim_basis,omitempty"`
	ResumeState string                   `json:"resume_state,omitempty"` // where to resume the session

	// Statements are the caller's own Liminate statements, a line each. They may read
	// Carrel's variables and must not change them. A requirement among them
	// is evaluated once, where it stands; use Rules for lasting ones.
	Statements []string `json:"statements,omitempty"`

	// Rules are statements such as "require evicted-blocks not includes ...",
	// a line each, that must hold after every later pass.
	Rules []string `json:"rules,omitempty"`

	Close  bool `json:"close,omitempty"` // nothing can be added afterwards
	DryRun bool `json:"dry_run,omitempty"`
}

// A ContractCorrection is a correction, by a name of [contract.Corrections] or in the user's words,
// with the ids (or prefixes) of the blocks that record it. Those blocks never leave the window.
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
	Said    []string             `json:"said,omitempty"` // lines that the contract shows when it runs with the additions
	Op      string               `json:"op,omitempty"`
}
