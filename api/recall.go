package api

import (
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A RecallRequest names a block by its id or the beginning of it, a session's
// summary, or an artifact if no block has it.
type RecallRequest struct {
	Block string `json:"block"`
	Text  bool   `json:"text,omitempty"` // what it says, not the bytes it came in
	From  int    `json:"from,omitempty"` // first byte of the range
	To    int    `json:"to,omitempty"`   // byte after the range; 0 is the end
}

// A RecallResult is a block as it was imported, or an artifact as it is stored.
type RecallResult struct {
	Artifact store.ArtifactID `json:"artifact,omitempty"` // then there is no session and no block
	Class    provenance.Class `json:"class,omitempty"`

	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Turn    int                  `json:"turn"`
	State   store.State          `json:"state"`
	Tokens  token.Count          `json:"tokens"`
	Size    int                  `json:"size"`   // bytes of the whole
	Digest  digest.Digest        `json:"digest"` // of the whole
	Data    []byte               `json:"data"`   // the range
}
