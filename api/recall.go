package api

import (
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A RecallRequest names a block, a summary or an artifact by its id or a
// prefix of it. Artifacts are searched last.
type RecallRequest struct {
	Block string `json:"block"`
	Text  bool   `json:"text,omitempty"` // return the text, not the imported bytes
	From  int    `json:"from,omitempty"` // first byte of the range
	To    int    `json:"to,omitempty"`   // byte after the range; 0 is the end
}

// A RecallResult has the whole of a block, an artifact or a summary, or a range of it. The whole is
// the imported bytes of a block or, with Text, its text; the text of an artifact; or a summary as
// Markdown. A range that is not within it is an [ErrRequest].
type RecallResult struct {
	Artifact store.ArtifactID `json:"artifact,omitempty"` // set for an artifact; Session and Block are then empty
	Class    provenance.Class `json:"class,omitempty"`

	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Turn    int                  `json:"turn"` // as in a [BlockInfo]
	State   store.State          `json:"state"`
	Tokens  token.Count          `json:"tokens"`
	Size    int                  `json:"size"`   // size of the whole in bytes
	Digest  digest.Digest        `json:"digest"` // digest of the whole
	Data    []byte               `json:"data"`   // the requested range
}
