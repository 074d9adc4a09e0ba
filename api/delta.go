package api

import (
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A DiffSessionRequest names two moments of a session. A moment is written as the id of an
// operation, which means the moment after it; as a revision; or as one of the words of
// [Moment].
type DiffSessionRequest struct {
	Session transcript.SessionID `json:"session"`
	From    string               `json:"from,omitempty"` // [MomentPass] by default
	To      string               `json:"to,omitempty"`   // [MomentNow] by default; not before From
}

// A Moment is a word for a moment of a session.
type Moment string

// The words.
const (
	MomentStart Moment = "start" // after the first import
	MomentPass  Moment = "pass"  // before the last operation that moved blocks; the start if none did
	MomentNow   Moment = "now"
)

// A SessionDelta describes how the window of a session differs between two moments, according
// to the journal of the session.
type SessionDelta struct {
	Session transcript.SessionID `json:"session"`
	From    SessionMoment        `json:"from"`
	To      SessionMoment        `json:"to"`
	Ops     []DeltaOp            `json:"ops"`    // the operations between both moments, oldest first
	Blocks  []BlockDelta         `json:"blocks"` // blocks that differ, in the order of turns; blocks that an import added are only counted, in Ops
}

// A SessionMoment is the moment after an operation of a session.
type SessionMoment struct {
	Revision store.Revision `json:"revision"`
	Op       string         `json:"op,omitempty"`
	Kind     string         `json:"kind,omitempty"` // of the operation, such as "import" or "page"
	Time     time.Time      `json:"time,omitzero"`
	Window   *token.Count   `json:"window,omitempty"` // tokens in the window; nil if the journal does not say
}

// A DeltaOp is an operation between two moments.
type DeltaOp struct {
	Op       string           `json:"op"`
	Kind     string           `json:"kind"`
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"`
	Revision store.Revision   `json:"revision"`
	Undone   bool             `json:"undone,omitempty"` // a later operation undid it
	Added    int              `json:"added,omitempty"`  // blocks that an import added
	Blocks   int              `json:"blocks"`           // number of blocks that it changed
	Before   *token.Count     `json:"before,omitempty"` // tokens in the window, if the journal says
	After    *token.Count     `json:"after,omitempty"`
}

// A BlockDelta says how the place of one block in the window differs between two moments.
type BlockDelta struct {
	Block   transcript.BlockID `json:"block"`
	Turn    int                `json:"turn"`           // as in a [BlockInfo]
	Kind    transcript.Kind    `json:"kind,omitempty"` // empty if the block is no longer of the conversation
	Tools   []string           `json:"tools,omitempty"`
	Preview string             `json:"preview,omitempty"`
	Tokens  token.Count        `json:"est_tokens"`     // as imported
	From    pager.Form         `json:"from,omitempty"` // empty if only its pin changed
	To      pager.Form         `json:"to,omitempty"`
	Before  token.Count        `json:"before"`           // tokens in the window
	After   token.Count        `json:"after"`            // tokens in the window
	Rule    pager.Rule         `json:"rule,omitempty"`   // rule of the last decision about it
	Step    pager.Stage        `json:"step,omitempty"`   // step of the last pass that decided about it
	Pinned  *bool              `json:"pinned,omitempty"` // the new pin; nil if it did not change
	Op      string             `json:"op"`               // operation that changed it last
}
