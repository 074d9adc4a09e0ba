package api

import (
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A DiffSessionRequest names two moments of a session. A moment is the id of an operation,
// after which it is; a revision; or one of the words of [Moment].
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

// A SessionDelta is the difference of the window of a session at two moments, by its journal.
type SessionDelta struct {
	Session transcript.SessionID `json:"session"`
	From    SessionMoment        `json:"from"`
	To      SessionMoment        `json:"to"`
	Ops     []DeltaOp            `json:"ops"`    // between both, oldest first
	Blocks  []BlockDelta         `json:"blocks"` // that are not as they were, by turn; those that an import added are only counted
}

// A SessionMoment is a moment of a session: that after an operation.
type SessionMoment struct {
	Revision store.Revision `json:"revision"`
	Op       string         `json:"op,omitempty"`
	Kind     string         `json:"kind,omitempty"` // of the operation, such as "import" or "page"
	Time     time.Time      `json:"time,omitzero"`
	Window   *token.Count   `json:"window,omitempty"` // tokens in the window; none if the journal does not say
}

// A DeltaOp is an operation between two moments.
type DeltaOp struct {
	Op       string           `json:"op"`
	Kind     string           `json:"kind"`
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"`
	Revision store.Revision   `json:"revision"`
	Undone   bool             `json:"undone,omitempty"` // by a later one
	Added    int              `json:"added,omitempty"`  // blocks that an import added
	Blocks   int              `json:"blocks"`           // that it changed
	Before   *token.Count     `json:"before,omitempty"` // tokens in the window, if the journal says
	After    *token.Count     `json:"after,omitempty"`
}

// A BlockDelta is the difference of one block at two moments.
type BlockDelta struct {
	Block   transcript.BlockID `json:"block"`
	Turn    int                `json:"turn"`
	Kind    transcript.Kind    `json:"kind,omitempty"` // empty if the block is no longer of the conversation
	Tools   []string           `json:"tools,omitempty"`
	Preview string             `json:"preview,omitempty"`
	Tokens  token.Count        `json:"est_tokens"`     // as imported
	From    pager.Form         `json:"from,omitempty"` // empty if only its pin changed
	To      pager.Form         `json:"to,omitempty"`
	Before  token.Count        `json:"before"`           // tokens in the window
	After   token.Count        `json:"after"`            // tokens in the window
	Rule    pager.Rule         `json:"rule,omitempty"`   // of the last decision
	Step    pager.Stage        `json:"step,omitempty"`   // of the pass that decided last
	Pinned  *bool              `json:"pinned,omitempty"` // set or lifted
	Op      string             `json:"op"`               // that changed it last
}
