package api

import (
	"encoding/json"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A NewArtifact is an artifact to store.
type NewArtifact struct {
	// ID is the id of the artifact: up to 64 lower-case letters, digits, _ and -. If an
	// artifact has this id, it is replaced. The default is a new id.
	ID store.ArtifactID `json:"id,omitempty"`

	Class   provenance.Class `json:"class"`
	Title   string           `json:"title,omitempty"`
	Content []byte           `json:"content"`

	// Source names the origin of the content. A source with a scheme that
	// package artifact describes is asked again whenever the artifact is
	// used; any other text is only displayed.
	Source string `json:"source,omitempty"`

	// Subject names the person or thing that the content is about.
	Subject string `json:"subject,omitempty"`

	// TTL is the time to live, counted from Created. 0 has expired at once;
	// nil never expires.
	TTL *time.Duration `json:"ttl,omitempty"`

	// Created is the time from which the content is true. The default is now.
	Created time.Time `json:"created,omitzero"`

	// VerifiedBy is the person who verified a memory. The class
	// [provenance.Verified] requires it; every other class refuses it.
	VerifiedBy string `json:"verified_by,omitempty"`

	Pinned bool `json:"pinned,omitempty"`

	// From lists the artifacts that the content was derived from. It is
	// refuted and purged with them.
	From []store.ArtifactID `json:"from,omitempty"`

	// AllowSecrets allows content that looks as if it held a credential.
	AllowSecrets bool `json:"allow_secrets,omitempty"`

	// Redact removes e-mail addresses and telephone numbers from the stored
	// content, see [secret.RedactPersonal]. The engine's options can redact
	// always.
	Redact bool `json:"redact,omitempty"`
}

// An Artifact is the record of an artifact without its content.
type Artifact struct {
	ID         store.ArtifactID `json:"id"`
	Class      provenance.Class `json:"class"`
	Status     store.Status     `json:"status"`
	Title      string           `json:"title,omitempty"`
	Source     string           `json:"source,omitempty"`
	Subject    string           `json:"subject,omitempty"`
	VerifiedBy string           `json:"verified_by,omitempty"`
	Pinned     bool             `json:"pinned,omitempty"`
	Stash      bool             `json:"stash,omitempty"`
	Bytes      int64            `json:"bytes"`
	Tokens     token.Count      `json:"tokens"` // tokens in a context, including the fence
	Created    time.Time        `json:"created"`
	Expires    time.Time        `json:"expires,omitzero"`
	Expired    bool             `json:"expired,omitempty"`
	Version    store.Version    `json:"version"`
	Gate       json.RawMessage  `json:"gate,omitempty"` // record of the gate
}
