package api

import (
	"time"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

// A CommitRequest says what came of a context: how good it was, and perhaps
// what should be remembered from it.
type CommitRequest struct {
	// Manifest is the id of the context's manifest, or the beginning of it. It
	// may be empty for a memory that came from no context.
	Manifest string `json:"manifest,omitempty"`

	// Text is the memory that is proposed, or empty.
	Text    string         `json:"text,omitempty"`
	Title   string         `json:"title,omitempty"`
	Subject string         `json:"subject,omitempty"`
	TTL     *time.Duration `json:"ttl,omitempty"`

	// From has more artifacts from which the memory was made. Those of the
	// context are known.
	From []store.ArtifactID `json:"from,omitempty"`

	// Redact takes addresses of e-mail and numbers of telephones out of what is kept, see
	// [secret.RedactPersonal]; the gate and the verdict are about the text as it came. The engine's options can ask for it always.
	Redact bool `json:"redact,omitempty"`

	// Verdict is what an evaluator outside says. Without one, nothing is
	// committed. Its Content, Scope and Policy are what it is bound to: see
	// carrel.Engine.Bind.
	Verdict *assembly.Verdict `json:"verdict,omitempty"`
}

// A CommitResult says what the gate decided.
type CommitResult struct {
	Outcome    assembly.GateOutcome `json:"outcome"`
	Reasons    []assembly.Reason    `json:"reasons"`
	Confidence ratio.Ratio          `json:"confidence"`
	Manifest   string               `json:"manifest,omitempty"`
	Review     bool                 `json:"review"`             // a person should look
	Artifact   *Artifact            `json:"artifact,omitempty"` // the memory, committed or held
}

// A ReviewEntry is a memory that waits for a person.
type ReviewEntry struct {
	Artifact
	Text       string            `json:"text"`
	Reason     string            `json:"reason,omitempty"` // that a person gave
	Reasons    []assembly.Reason `json:"reasons"`
	Evaluator  string            `json:"evaluator,omitempty"`
	Confidence ratio.Ratio       `json:"confidence"`
	Manifest   string            `json:"manifest,omitempty"`
	From       []Artifact        `json:"from"` // what it was made from, as far as it is still there
}

// A DecideRequest is what a person decides about a memory that the gate held.
type DecideRequest struct {
	ID      string `json:"id"`
	Approve bool   `json:"approve"`
	Text    string `json:"text,omitempty"`   // replaces what was proposed
	By      string `json:"by,omitempty"`     // who decides; the engine's actor by default
	Reason  string `json:"reason,omitempty"` // why, for whoever asks later
}
