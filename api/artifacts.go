package api

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// A GetRequest asks for an artifact by its id, or by the beginning of one.
type GetRequest struct {
	ID string `json:"id"`

	// Refetch fetches the content from its source, also if the artifact has
	// expired. It fails if there is no source.
	Refetch bool `json:"refetch,omitempty"`

	// Info leaves the content out, and asks no source.
	Info bool `json:"info,omitempty"`
}

// A GetResult is an artifact with its content.
type GetResult struct {
	Artifact
	Content []byte                `json:"content,omitempty"`
	Fetch   manifest.FetchOutcome `json:"fetch,omitempty"` // what its source said
}

// An ArtifactsRequest says which artifacts are wanted.
type ArtifactsRequest struct {
	Class   provenance.Class `json:"class,omitempty"`   // only of this class
	Status  store.Status     `json:"status,omitempty"`  // only with this status; live by default
	All     bool             `json:"all,omitempty"`     // whatever the status
	Subject string           `json:"subject,omitempty"` // only about this subject
	Source  string           `json:"source,omitempty"`  // only from this source
	Stash   bool             `json:"stash,omitempty"`   // only what is in the stash
	Expired bool             `json:"expired,omitempty"` // only what has expired
	Cursor
}

// A RemovalResult says which artifacts were removed, refuted or purged, and
// which contexts had used them.
type RemovalResult struct {
	Artifacts []store.ArtifactID `json:"artifacts"` // those named first, then what was made from them
	Derived   int                `json:"derived"`   // how many of them were not named
	Cells     int                `json:"cells,omitempty"`
	Manifests []string           `json:"manifests"` // oldest first
}

// A RefuteRequest names what turned out to be wrong: artifacts by id, or all
// that came from a source.
type RefuteRequest struct {
	IDs    []string `json:"ids,omitempty"`
	Source string   `json:"source,omitempty"`
}
