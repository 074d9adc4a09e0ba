package api

import (
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionRemoval says what became of a session that was removed, restored or purged.
type SessionRemoval struct {
	Session  transcript.SessionID   `json:"session"`
	Op       string                 `json:"op"`                // in its journal; of a purge, the receipt
	Status   store.Status           `json:"status"`            // that it has now
	Derived  []transcript.SessionID `json:"derived,omitempty"` // sessions purged with it, which began with a packet of it
	Heirs    []transcript.SessionID `json:"heirs,omitempty"`   // sessions whose contract inherited from its contract; they stay as they are
	Memories []store.ArtifactID     `json:"memories,omitempty"`
	Cells    int                    `json:"cells,omitempty"` // that were erased; their commitments stay

	// Manifests are of the contexts that its window was in, newest first. They stay, and
	// verify; what was in them of the session is gone.
	Manifests []string `json:"manifests,omitempty"`
}
