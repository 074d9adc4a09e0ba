package api

import (
	"encoding/json"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A NewArtifact is an artifact that is brought in.
type NewArtifact struct {
	// ID is the artifact's. The default is a new one; that of an artifact that
	// is there replaces it.
	ID store.ArtifactID `json:"id,omitempty"`

	Class   provenance.Class `json:"class"`
	Title   string           `json:"title,omitempty"`
	Content []byte           `json:"content"`

	// Source says where the content comes from. One that begins with a scheme,
	// as package artifact describes them, is asked again whenever the artifact
	// is used; any other is only told.
	Source string `json:"source,omitempty"`

	// Subject is whom or what the content is about.
	Subject string `json:"subject,omitempty"`

	// TTL is how long the artifact lives, from Created on. 0 is expired at once;
	// nil is without end.
	TTL *time.Duration `json:"ttl,omitempty"`

	// Created is since when the content is true. The default is now.
	Created time.Time `json:"created,omitzero"`

	// VerifiedBy is the person who vouches for a memory. It is required by the
	// class [provenance.Verified] and refused by every other.
	VerifiedBy string `json:"verified_by,omitempty"`

	Pinned bool `json:"pinned,omitempty"`

	// From has the artifacts that the content was made from. What is done to
	// them, it shares: it is refuted and purged with them.
	From []store.ArtifactID `json:"from,omitempty"`

	// AllowSecrets lets content in that looks as if it held a credential.
	AllowSecrets bool `json:"allow_secrets,omitempty"`

	// Redact takes addresses of e-mail and numbers of telephones out of what is kept, see
	// [secret.RedactPersonal]. The engine's options can ask for it always.
	Redact bool `json:"redact,omitempty"`
}

// An Artifact is what there is to know of an artifact, apart from its content.
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
	Tokens     token.Count      `json:"tokens"` // in a context, with its fence
	Created    time.Time        `json:"created"`
	Expires    time.Time        `json:"expires,omitzero"`
	Expired    bool             `json:"expired,omitempty"`
	Version    store.Version    `json:"version"`
	Gate       json.RawMessage  `json:"gate,omitempty"` // what the gate found
}
