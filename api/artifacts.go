package api

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// A GetRequest names an artifact by its id or a prefix of it.
type GetRequest struct {
	ID string `json:"id"`

	// Refetch fetches the content from its source even if the artifact has
	// not expired. It fails if the artifact has no source.
	Refetch bool `json:"refetch,omitempty"`

	// Info omits the content and asks no source.
	Info bool `json:"info,omitempty"`
}

// A GetResult is an artifact with its content.
type GetResult struct {
	Artifact
	Content []byte                `json:"content,omitempty"`
	Fetch   manifest.FetchOutcome `json:"fetch,omitempty"` // the source's answer
}

// An ArtifactsRequest selects artifacts. The list has the newest first.
type ArtifactsRequest struct {
	Class   provenance.Class `json:"class,omitempty"`   // only of this class
	Status  store.Status     `json:"status,omitempty"`  // only with this status; live by default
	All     bool             `json:"all,omitempty"`     // of every status
	Subject string           `json:"subject,omitempty"` // only about this subject
	Source  string           `json:"source,omitempty"`  // only from this source
	Stash   bool             `json:"stash,omitempty"`   // only stashed outputs
	Expired bool             `json:"expired,omitempty"` // only expired artifacts
	Cursor
}

// A RemovalResult lists the artifacts that were removed, refuted, restored or purged, and the
// contexts that had used them. It is the result of Remove, Refute, Restore, Purge and CollectStash.
type RemovalResult struct {
	Artifacts []store.ArtifactID `json:"artifacts"`       // the named ones first, then those derived from them
	Derived   int                `json:"derived"`         // number of artifacts that were derived, not named
	Cells     int                `json:"cells,omitempty"` // number of erased cells
	Manifests []string           `json:"manifests"`       // oldest first
}

// A RefuteRequest names wrong artifacts: by id, all of a source, or both.
type RefuteRequest struct {
	IDs    []string `json:"ids,omitempty"`
	Source string   `json:"source,omitempty"`
}
