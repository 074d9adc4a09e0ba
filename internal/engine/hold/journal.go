package hold

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An Op is an entry of a session's journal.
type Op struct {
	store.Entry

	Undone bool
}

// Ops returns the journal of a session, in order, with what was undone.
func (e *Desk) Ops(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]Op, error) {
	var ops []Op
	for entry, err := range e.Store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		ops = append(ops, Op{Entry: *entry})
		if entry.Op != OpUndo {
			continue
		}
		var data struct {
			Undoes string `json:"undoes"`
		}
		if err := ReadEntry(entry, &data); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(ops, func(o Op) bool { return o.ID == data.Undoes }); i >= 0 {
			ops[i].Undone = true
		}
	}
	return ops, nil
}

// ReadEntry reads what the journal keeps with an entry.
func ReadEntry(entry *store.Entry, data any) error {
	if err := json.Unmarshal(entry.Data, data); err != nil {
		return fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
	}
	return nil
}

// The journal's words for what jobs did.
const (
	OpImport     = "import"
	OpPage       = "page"
	OpPageByHand = "page-by-hand"
	OpDiscard    = "discard"
	OpPin        = "pin"
	OpUnpin      = "unpin"
	OpUndo       = "undo"
	OpContract   = "contract"
	OpRewrite    = "rewrite"
)

// ImportEntry is what the journal keeps of an import.
type ImportEntry struct {
	Bytes    int         `json:"bytes"`
	Messages int         `json:"messages"`
	Blocks   int         `json:"blocks"`
	Added    int         `json:"added"`
	Off      int         `json:"off"`
	Tokens   token.Count `json:"tokens"`
	Warnings int         `json:"warnings"`
	Reset    bool        `json:"reset,omitempty"`   // blocks that a summary stood for came back
	Rewind   bool        `json:"rewind,omitempty"`  // it was shorter than what was known, and meant to be
	Earlier  int         `json:"earlier,omitempty"` // blocks of earlier windows

	Compacted *CompactionEntry     `json:"compacted,omitempty"`
	Back      []transcript.BlockID `json:"back,omitempty"` // that are in the conversation again, as they came in
}

// CompactionEntry is what the journal keeps of blocks that the client took out of the window.
type CompactionEntry struct {
	Actor   governance.Actor     `json:"actor"`
	Rule    pager.Rule           `json:"rule"`
	Windows int                  `json:"windows"` // that there were before the present one
	Blocks  []transcript.BlockID `json:"blocks"`
}

// SummaryChange says in the journal how the summary in the window changed.
type SummaryChange struct {
	From       store.CellID `json:"from,omitempty"`
	To         store.CellID `json:"to,omitempty"`
	FromTokens token.Count  `json:"from_tokens,omitempty"`
	ToTokens   token.Count  `json:"to_tokens,omitempty"`
}

// HandoffTitle begins the title of a session that began with a packet.
const HandoffTitle = "Handoff: "

// A Move is a change of one block, as the journal keeps it: enough to explain
// it and to take it back.
type Move struct {
	pager.BlockDecision
	FromStub store.CellID `json:"from_stub,omitempty"`
	ToStub   store.CellID `json:"to_stub,omitempty"`
}

// PassEntry is what the journal keeps of a pass: the move of every block, also of
// those that stayed.
type PassEntry struct {
	Budget  token.Count   `json:"budget"`
	Before  token.Count   `json:"before"`
	After   token.Count   `json:"after"`
	Weights pager.Weights `json:"weights"`
	Cuts    pager.Cuts    `json:"cuts"`
	Intent  int           `json:"intent"` // how many terms it had
	Moves   []Move        `json:"moves"`

	Strategy api.Strategy   `json:"strategy,omitempty"`
	Summary  *SummaryChange `json:"summary,omitempty"` // if it changed
	Round    *api.Round     `json:"round,omitempty"`   // what the probes said
}
