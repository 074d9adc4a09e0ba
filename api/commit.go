package api

import (
	"time"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

// A CommitRequest proposes a memory to the gate. Unless the gate refuses it, the decision is
// recorded beside the manifest of the context that the memory came from. A request without a memory
// records the verdict on the context itself. A request has a manifest, a memory, or both.
type CommitRequest struct {
	// Manifest is the id of the context's manifest, or a prefix of it. It is
	// empty for a memory that came from no context.
	Manifest string `json:"manifest,omitempty"`

	// Text is the proposed memory, or empty. Title, Subject and TTL are as in [NewArtifact].
	Text    string         `json:"text,omitempty"`
	Title   string         `json:"title,omitempty"`
	Subject string         `json:"subject,omitempty"`
	TTL     *time.Duration `json:"ttl,omitempty"`

	// From lists artifacts, beyond those of the context, from which the
	// memory was made.
	From []store.ArtifactID `json:"from,omitempty"`

	// Redact removes e-mail addresses and telephone numbers from the stored
	// text, see [secret.RedactPersonal]. The gate and the verdict refer to
	// the text in the request. The engine's options can redact always.
	Redact bool `json:"redact,omitempty"`

	// Verdict is the judgment of an external evaluator. Without one, no
	// memory is accepted. Its Content, Scope and Policy bind it to Text or,
	// without a Text, to the id of the manifest; see carrel.Engine.Bind.
	Verdict *assembly.Verdict `json:"verdict,omitempty"`
}

// A CommitResult is the decision of the gate. A memory that is held or refused is no error.
type CommitResult struct {
	Outcome    assembly.GateOutcome `json:"outcome"`
	Reasons    []assembly.Reason    `json:"reasons"`
	Confidence ratio.Ratio          `json:"confidence"`
	Manifest   string               `json:"manifest,omitempty"`
	Review     bool                 `json:"review"`             // a person should review it
	Artifact   *Artifact            `json:"artifact,omitempty"` // the memory, accepted or held; nil if it was refused
}

// A ReviewEntry is a memory that waits for a person's decision.
type ReviewEntry struct {
	Artifact
	Text       string            `json:"text"`
	Reason     string            `json:"reason,omitempty"` // given by the person
	Reasons    []assembly.Reason `json:"reasons"`
	Evaluator  string            `json:"evaluator,omitempty"`
	Confidence ratio.Ratio       `json:"confidence"`
	Manifest   string            `json:"manifest,omitempty"`
	From       []Artifact        `json:"from"` // artifacts that it was made from and that still exist
}

// A DecideRequest is a person's decision about a memory that the gate held.
type DecideRequest struct {
	ID      string `json:"id"`
	Approve bool   `json:"approve"`
	Text    string `json:"text,omitempty"`   // replaces the proposed text
	By      string `json:"by,omitempty"`     // who decides; by default the engine's actor
	Reason  string `json:"reason,omitempty"` // recorded with the decision
}
