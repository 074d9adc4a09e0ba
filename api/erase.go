package api

import (
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionRemoval describes the removal, restoration or purge of a session.
type SessionRemoval struct {
	Session  transcript.SessionID   `json:"session"`
	Op       string                 `json:"op"`                 // id of the entry in its journal, which for a purge is the receipt
	Status   store.Status           `json:"status"`             // new status
	Derived  []transcript.SessionID `json:"derived,omitempty"`  // sessions that began with a packet of it and were purged with it
	Heirs    []transcript.SessionID `json:"heirs,omitempty"`    // sessions whose contract inherited from its contract; they are unchanged
	Memories []store.ArtifactID     `json:"memories,omitempty"` // memories from contexts with it, purged with it
	Cells    int                    `json:"cells,omitempty"`    // number of erased cells; their commitments stay

	// Manifests lists the manifests of contexts that held its window, newest
	// first. They stay and verify; the session's parts of these contexts are
	// gone.
	Manifests []string `json:"manifests,omitempty"`
}
